/** What stood before the turns of a conversation, and what replies leave of it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { composeTurn } from "../../src/context/turn.ts";
import { makeEchoStripper, stripEchoes } from "../../src/gateway/reply-echo.ts";
import { VOICE_TURN_DIRECTIVE } from "../../src/gateway/voice-steering.ts";
import { blockNumber } from "../helpers/gateway-rig.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

const { composed: INJECTED } = composeTurn({
  events: [
    { ts: "2026-11-27 16:10:00 UTC", text: "Exec finished with code 0: make\nall is built" },
  ],
  activity: [
    {
      kind: "realtime",
      lines: [
        '- Focused: Code: "retry.ts — payments-api", since 16:00 (12 min)',
        "- System: online; memory 41 %",
      ],
    },
  ],
  ownerText: "",
});
const numRuns = propertyRuns(300, 20_000);

/** Pieces of what was injected, in other dress, and what may stand around them. */
const piece = fc.oneof(
  fc.constantFrom(
    INJECTED,
    INJECTED.toUpperCase(),
    `\`\`\`\n${INJECTED}\`\`\``,
    VOICE_TURN_DIRECTIVE,
    "---",
    "---\n\n",
    "\n",
    " ",
    "Hi.",
    "😀",
  ),
  fc.nat(INJECTED.length).map((end) => INJECTED.slice(0, end)),
  fc.nat(INJECTED.length).map((start) => INJECTED.slice(start)),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const reply = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(""));

describe("a reply that may begin with what was injected", { timeout: 60_000 }, () => {
  test("loses the blocks and the directive, in any order and dress", () => {
    for (const echo of [
      INJECTED,
      `${VOICE_TURN_DIRECTIVE}\n\n${INJECTED}`,
      `${INJECTED}${VOICE_TURN_DIRECTIVE}\n`,
      `\`\`\`\n${INJECTED.toLowerCase()}\`\`\`\n\n`,
      `${INJECTED}${VOICE_TURN_DIRECTIVE}\n\n${INJECTED}`,
      `\`\`\`\n${VOICE_TURN_DIRECTIVE}\n\`\`\`\n\n`,
      `~~~\n${INJECTED}~~~\n`,
      `"${INJECTED.trimEnd()}"\n\n`,
      `${INJECTED.trimEnd().replace(/^/gm, "> ")}\n\n`,
      INJECTED.replace("---", "***"),
    ])
      expect(stripEchoes(`${echo}Good morning.`, [INJECTED])).toBe("Good morning.");
  });

  test("keeps a fence, a rule and a list of its own behind the echo", () => {
    for (const answer of ["```\nmake\n```\n", "---\ntitle: x\n---\n", "- one\n- two\n", "**Yes**"])
      expect(stripEchoes(INJECTED + answer, [INJECTED])).toBe(answer);
  });

  test("loses the blocks of the last ten turns, in any order", () => {
    const before = Array.from({ length: 12 }, (_, turn) => blockNumber(12 - turn));
    expect(stripEchoes(`${blockNumber(3)}${blockNumber(12)}Hi.`, before)).toBe("Hi.");
    expect(stripEchoes(`${blockNumber(2)}Hi.`, before)).not.toBe("Hi.");
  });

  test("that quotes some of them stays as it is", () => {
    for (const answer of [
      'You are in "retry.ts — payments-api" since 16:00.',
      '- Focused: Code: "retry.ts — payments-api", since 16:00 (12 min)',
      "Device Activity says that you code.",
      "System: all is well.",
      "Exec finished with code 0: make",
    ])
      expect(stripEchoes(answer, [INJECTED])).toBe(answer);
  });

  test("ends the same whatever the pieces, and is never anything but an end of what came", () => {
    fc.assert(
      fc.property(
        reply,
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }),
        (text, sizes) => {
          const stripper = makeEchoStripper([INJECTED]);
          let out = "";
          for (let at = 0, turn = 0; at < text.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            out += stripper.push(text.slice(at, at + size));
            at += size;
          }
          out += stripper.flush();
          expect(out).toBe(stripEchoes(text, [INJECTED]));
          expect(text.endsWith(out)).toBe(true);
        },
      ),
      { numRuns },
    );
  });
});
