import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText, withoutTurns } from "../../../src/web/ui/text.ts";
import { law } from "../../helpers/laws.ts";

describe("a stranger's text on the page", () => {
  it("is cut between letters, not within one", () => {
    expect(cutText("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 2)).toBe("👩‍👩‍👧‍👦👩‍👩‍👧‍👦…");
    expect(cutText("e\u0301e\u0301e\u0301", 1)).toBe("e\u0301…");
  });

  it("is short also when one letter has ten thousand marks", () => {
    expect(cutText(`ab${"\u0301".repeat(10_000)}`, 50)).toBe("a…");
  });

  it("keeps its letters in the order in which they stand", () => {
    expect(withoutTurns("invoice\u202etxt.exe\u2066 \u200fمرحبا")).toBe("invoicetxt.exe مرحبا");
  });

  law(
    "is a beginning of it, as long as was asked for at most, and whole when it fits",
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 30 }), (text, max) => {
      const cut = cutText(text, max);
      const letters = (of: string): number => [...new Intl.Segmenter().segment(of)].length;
      if (letters(text) <= max) return cut === text;
      return text.startsWith(cut.replace(/…$/, "")) && letters(cut) <= max + 1;
    }),
  );
});
