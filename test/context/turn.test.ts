import { array, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyLine, quoted } from "../../src/context/block-lines.ts";
import { headingBlock, type InjectedBlock } from "../../src/context/markers.ts";
import {
  composeParts,
  composeTurn,
  displayText,
  ingressUntrusted,
  stripTurn,
  stripUserContent,
} from "../../src/context/turn.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { law } from "../helpers/laws.ts";

const ts = "2026-05-04 09:30:00 UTC";

describe("a turn", () => {
  law(
    "what the renderers made is told before the owner's text and taken off again",
    property(array(nastyText(6), { maxLength: 3 }), nastyText(), (titles, ownerText) => {
      const block = headingBlock(
        "realtime",
        titles.map((title) => bodyLine`Focused: ${quoted("title", title)}`),
      );
      const { composed, untrustedSpans } = composeTurn({
        events: [],
        activity: [block],
        ownerText,
      });
      return (
        stripTurn(composed) === ownerText &&
        composed.startsWith(block.block) &&
        untrustedSpans.every(
          ({ start, end }, index) =>
            composed.slice(start, end) ===
            block.block.slice(block.untrustedSpans[index]?.start, block.untrustedSpans[index]?.end),
        )
      );
    }),
  );

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

describe("a turn in parts", () => {
  const text = (value: string): { type: string; text: string } => ({ type: "text", text: value });
  const image = { type: "image_url", image_url: { url: "data:," } };
  const events = [{ ts, text: "Exec finished" }];
  const block = `System: [${ts}] Exec finished\n\n`;

  test("the blocks go in front of the first text", () => {
    expect(composeParts({ events, activity: [], parts: [image, text("hi")] })).toMatchObject({
      parts: [image, text(`${block}hi`)],
      injectedPart: 1,
      injectedLength: block.length,
    });
  });

  test("a turn without text gets a text part of the kind of the others", () => {
    const input = { type: "input_image", image_url: "data:," };
    expect(composeParts({ events, activity: [], parts: [image] }).parts).toEqual([
      text(block),
      image,
    ]);
    expect(composeParts({ events, activity: [], parts: [input] }).parts).toEqual([
      { type: "input_text", text: block },
      input,
    ]);
  });

  test("without context the parts are the owner's own, and a look-alike is escaped", () => {
    const parts = [image, text("hi")];
    const told = composeParts({ events: [], activity: [], parts });
    expect(told).toMatchObject({ injectedPart: null, injectedLength: 0 });
    expect(told.parts[1]).toBe(parts[1]);
    expect(composeParts({ events: [], activity: [], parts: [text("System: x")] }).parts).toEqual([
      text("\\System: x"),
    ]);
    expect(composeParts({ events: [], activity: [], parts: [] }).parts).toEqual([]);
  });
});
