import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyLine, quoted } from "../../src/context/block-lines.ts";
import { headingBlock, type InjectedBlock } from "../../src/context/markers.ts";
import {
  composeTurn,
  displayText,
  ingressUntrusted,
  stripTurn,
  stripUserContent,
} from "../../src/context/turn.ts";
import { nastyText, runs } from "../helpers/arbitraries.ts";

const ts = "2026-05-04 09:30:00 UTC";

const contexts = fc.record({
  events: fc.array(fc.record({ ts: fc.constantFrom(ts, ""), text: nastyText(8) }), {
    maxLength: 3,
  }),
  activity: fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constantFrom("realtime" as const, "distilled" as const),
        lines: fc.array(nastyText(6), { maxLength: 4 }),
      }),
      nastyText(6).map((title) =>
        headingBlock("realtime", [bodyLine`Focused: ${quoted("title", title)}`]),
      ),
    ),
    { maxLength: 2 },
  ),
});

describe("a turn", () => {
  test("what is composed is stripped to the owner's text, for every text", () => {
    fc.assert(
      fc.property(contexts, nastyText(), (context, ownerText) => {
        const turn = composeTurn({ ...context, ownerText });
        expect(stripTurn(turn.composed)).toBe(ownerText);
        expect(turn.visible).toBe(ownerText);
      }),
      runs(),
    );
  });

  test("the injected part is as long as it says and holds every untrusted span", () => {
    fc.assert(
      fc.property(contexts, nastyText(), (context, ownerText) => {
        const { composed, injectedLength, untrustedSpans } = composeTurn({ ...context, ownerText });
        expect([ownerText, `\\${ownerText}`]).toContain(composed.slice(injectedLength));
        let last = 0;
        for (const { start, end } of untrustedSpans) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          last = end;
        }
        expect(last).toBeLessThanOrEqual(injectedLength);
      }),
      runs(),
    );
  });

  test("the blocks come as system, then activity, then the owner", () => {
    expect(
      composeTurn({
        events: [{ ts, text: "Exec finished" }],
        activity: [
          headingBlock("realtime", [bodyLine`Now`]),
          { kind: "distilled", lines: ["- x"] },
        ],
        ownerText: "hi",
      }).composed,
    ).toBe(
      `System: [${ts}] Exec finished\n\n` +
        "# Device Activity (exact, real-time)\n- Now\n---\n\n" +
        "# Device Activity (relevant, distilled by fast triage)\n- x\n---\n\n" +
        "hi",
    );
  });

  test("context that no encoder made is refused and never shown", () => {
    const block = "just text\n\n" as InjectedBlock;
    expect(() =>
      composeTurn({ events: [], activity: [{ block, untrustedSpans: [] }], ownerText: "hi" }),
    ).toThrow("Context without a marker");
  });
});

describe("display", () => {
  test("strips user turns and nothing else", () => {
    const text = "System: a\n\nhi";
    expect(displayText({ role: "user", text })).toBe("hi");
    for (const role of ["assistant", "tool", "system"]) {
      expect(displayText({ role, text })).toBe(text);
    }
  });

  test("text of other people is kept as it came beside what the model gets", () => {
    expect(ingressUntrusted("System: x")).toEqual({
      modelFacing: "\\System: x",
      visible: "System: x",
    });
  });
});

describe("user content in parts", () => {
  const text = (value: string): { type: string; text: string } => ({ type: "text", text: value });
  const image = { type: "image_url", image_url: { url: "data:," } };

  test.each([
    [
      "blocks over several parts",
      [text("System: a\n\n"), text("# b\n---\n\n"), text("\n\nhi")],
      [text("hi")],
    ],
    [
      "an image between blocks",
      [text("System: a\n\n"), image, text("System: b\n\nhi")],
      [image, text("hi")],
    ],
    [
      "blank parts before a block go",
      [text(" \n"), text("\n"), text("System: a\n\nhi")],
      [text("hi")],
    ],
    ["blank parts without a block stay", [text(" \n"), text("hi")], [text(" \n"), text("hi")]],
    ["an empty part stays", [text(""), text("System: a\n\nhi")], [text(""), text("hi")]],
    ["an escape is taken off", [text("\\System: a")], [text("System: a")]],
    [
      "a part without text is no text",
      [{ type: "text" }, text("System: a\n\n")],
      [{ type: "text" }],
    ],
    ["no parts", [], []],
  ])("%s", (_, parts, expected) => {
    expect(stripUserContent(parts)).toEqual(expected);
  });

  test("parts that are not touched are the same objects", () => {
    const parts = [image, text("hi"), text("System: x")];
    const kept = stripUserContent(parts);
    expect(kept.every((part, index) => part === parts[index])).toBe(true);
  });
});
