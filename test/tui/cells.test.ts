/** Text broken into lines of cells as it streams in. */
import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { createLineBreaker, flow } from "../../src/tui/cells.ts";
import { toTerminalText } from "../../src/tui/terminal-text.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { propertyRuns } from "../helpers/property-runs.ts";

function breakText(text: string, columns: number | null): string {
  const lines = createLineBreaker(() => columns);
  return lines.push(text) + lines.flush();
}

describe("a text broken into lines", () => {
  it("breaks at spaces, and a word that is longer than a line at its end", () => {
    expect(breakText("one two three", 8)).toBe("one two\nthree");
    expect(breakText("a abcdefghij b", 4)).toBe("a\nabcd\nefgh\nij b");
  });

  it("keeps the spaces a line begins with and counts tabs to their stops", () => {
    expect(breakText("if (x) {\n  y;\n\tz", 20)).toBe("if (x) {\n  y;\n        z");
  });

  it("counts wide characters as two and breaks between them", () => {
    expect(breakText("漢字漢字 ab", 5)).toBe("漢字\n漢字\nab");
  });

  it("breaks beside a character that is wider than two cells, and never within it", () => {
    expect(breakText("ab\u2E80\uA8B4cd", 4)).toBe("ab\n\u2E80\uA8B4\ncd");
    expect(breakText("ab\u2E80\uA8B4cd", 2)).toBe("ab\n\u2E80\uA8B4\ncd");
    // An accent that follows nothing takes no cell, so it takes no line of its own either.
    expect(breakText("\u0301\u2E80\uA880", 2)).toBe("\u0301\u2E80\uA880");
  });

  it("asks for the width anew, so that a resized terminal is filled", () => {
    let columns = 5;
    const lines = createLineBreaker(() => columns);
    let text = lines.push("aa bb cc\n");
    columns = 20;
    text += lines.push("aa bb cc") + lines.flush();
    expect(text).toBe("aa bb\ncc\naa bb cc");
  });

  it("without a width comes as it is and at once", () => {
    const lines = createLineBreaker(() => null);
    expect(lines.push("a \tb")).toBe("a \tb");
  });

  it("is nowhere wider than it was told, says the same words, and is the same for every way of cutting it", () => {
    fc.assert(
      fc.property(
        nastyText(),
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 1, max: 7 }),
        (raw, columns, size) => {
          const text = toTerminalText(raw);
          const whole = breakText(text, columns);
          const lines = createLineBreaker(() => columns);
          let pieces = "";
          for (let at = 0; at < text.length; at += size)
            pieces += lines.push(text.slice(at, at + size));
          pieces += lines.flush();
          expect(pieces.replace(/\s+/g, "")).toBe(text.replace(/\s+/g, ""));
          // A character with signs of its own beside it can be wider than a very narrow line, and is not torn.
          for (const line of whole.split("\n")) {
            const characters = [...new Intl.Segmenter().segment(line)];
            const seen = characters.filter(({ segment }) => stringWidth(segment) > 0);
            expect(seen.length === 1 || stringWidth(line) <= columns).toBe(true);
          }
        },
      ),
      { numRuns: propertyRuns(200, 5_000) },
    );
  });
});

describe("a list broken into lines", () => {
  it("breaks between its parts alone, and cuts one that is longer than a line", () => {
    const items = ["Code 2 h", "漢字 1 h", "a long name of something"].map((text) => ({ text }));
    expect(flow(items, 20)).toEqual(["Code 2 h · 漢字 1 h", "  a long name of so…"]);
    expect(flow([], 20)).toEqual([]);
  });

  it("counts no cell for the paint of a part", () => {
    const paint = (text: string): string => `<${text}>`;
    expect(flow([{ text: "ab", paint }, { text: "cd" }], 7)).toEqual(["<ab> · cd"]);
  });
});
