import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameHidden, readGiven } from "../../../src/web/ui/given-lines.ts";
import { nastyText } from "../../helpers/arbitraries.ts";
import { law } from "../../helpers/laws.ts";

const BLOCK = `# Device Activity (exact, real-time)
- Now: Mon 30 Nov 2026 16:12 CET (UTC+01:00)
- Focused: Code: "retry.ts", since 16:00 (12 min)
---

`;

/** A line as one text, with what strangers wrote in brackets. */
const marked = (line: { pieces: readonly { text: string; untrusted: boolean }[] } | undefined) =>
  line?.pieces.map(({ text, untrusted }) => (untrusted ? `[${text}]` : text)).join("");

describe("what an assistant was given", () => {
  it("has what strangers wrote kept apart from the rest of its line", () => {
    const app = BLOCK.indexOf("Code");
    const title = BLOCK.indexOf("retry.ts");
    const { lines } = readGiven(
      BLOCK,
      [
        { start: title, end: title + 8 },
        { start: app, end: app + 4 },
      ],
      [],
    );
    expect(marked(lines[2])).toBe('- Focused: [Code]: "[retry.ts]", since 16:00 (12 min)');
    expect(marked(lines[1])).not.toContain("[");
  });

  it("has the reason of each told line beside it, and none beside headings and rules", () => {
    const { lines, moreReasons } = readGiven(BLOCK, [], ["the time", "in front", "2 lines left"]);
    expect(lines.map(({ reason }) => reason)).toEqual([null, "the time", "in front", null, null]);
    expect(moreReasons).toEqual(["2 lines left"]);
  });

  it("shows the blank line at its end", () => {
    expect(readGiven("a\n\n", [], []).lines).toEqual([
      { pieces: [{ text: "a", untrusted: false, sort: "text" }], ends: true, reason: null },
      { pieces: [], ends: true, reason: null },
    ]);
  });

  it("shows white space at the edges of a line and runs of it, and single spaces as they are", () => {
    const [line] = readGiven(" a b  c ", [], []).lines;
    expect(line?.pieces.map(({ text, sort }) => `${sort}:${text}`)).toEqual([
      "blank: ",
      "text:a b",
      "blank:  ",
      "text:c",
      "blank: ",
    ]);
  });

  it("names what shows nothing or turns the direction of reading", () => {
    const [line] = readGiven("a\u202eb\tc\u200b\r", [], []).lines;
    expect(line?.pieces.map(({ text, sort }) => `${sort}:${nameHidden(text)}`)).toEqual([
      "text:U+0061",
      "hidden:U+202E",
      "text:U+0062",
      "hidden:U+0009",
      "text:U+0063",
      "hidden:U+200B U+000D",
    ]);
  });

  it("is cut at a length and says how much is missing, never through a character", () => {
    const { lines, cutChars } = readGiven("ab😀cd", [{ start: 0, end: 99 }], ["x"], 3);
    expect(marked(lines[0])).toBe("[ab]");
    expect(cutChars).toBe(4);
  });

  law(
    "is the same bytes when its pieces are put together, whatever the spans",
    fc.property(
      fc.array(nastyText()).map((parts) => parts.join("\n")),
      fc.array(
        fc.record({ start: fc.integer({ min: -5, max: 60 }), end: fc.integer({ max: 60 }) }),
      ),
      (text, spans) => {
        const { lines } = readGiven(text, spans, []);
        const joined = lines
          .map(
            ({ pieces, ends }) => pieces.map((piece) => piece.text).join("") + (ends ? "\n" : ""),
          )
          .join("");
        return joined === text;
      },
    ),
  );

  law(
    "marks exactly the characters of the spans",
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.nat({ max: 20 }),
      fc.nat({ max: 20 }),
      (text, start, length) => {
        const spans = [{ start, end: start + length }];
        const flags = readGiven(text, spans, []).lines.flatMap(({ pieces, ends }) => [
          ...pieces.flatMap(({ text: part, untrusted }) =>
            Array.from({ length: part.length }, () => untrusted),
          ),
          ...(ends ? [null] : []),
        ]);
        return flags.every(
          (flag, at) => flag === null || flag === (at >= start && at < start + length),
        );
      },
    ),
  );
});
