import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTextFitter } from "../../../../src/web/ui/timeline/fit-text.ts";
import { law } from "../../../helpers/laws.ts";

/** Every letter is ten pixels wide. */
const measure = (text: string): number => 10 * [...new Intl.Segmenter().segment(text)].length;
const fitter = createTextFitter(measure);
const bare = (text: string): string => text.replaceAll(/[\u2068\u2069]/g, "");

describe("a label", () => {
  it("is the whole text where it fits, its beginning where not, and nothing where that tells nothing", () => {
    expect(bare(fitter.fit("notes.md", 80))).toBe("notes.md");
    expect(bare(fitter.fit("notes.md", 60))).toBe("notes…");
    expect(fitter.fit("notes.md", 30)).toBe("");
    expect(fitter.fit("", 30)).toBe("");
  });

  it("is cut between letters, whatever they are made of", () => {
    expect(bare(fitter.fit("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 40))).toBe("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦…");
  });

  it("turns nothing around it: controls of direction are taken out, and it is isolated", () => {
    expect(fitter.fit("a\u202egnp.exe", 500)).toBe("\u2068agnp.exe\u2069");
  });

  it("looks at a bounded part of ten thousand marks on one letter", () => {
    expect(fitter.fit(`a${"\u0301".repeat(10_000)}`, 500).length).toBeLessThan(1000);
  });

  law(
    "is no wider than its room",
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.integer({ min: 0, max: 500 }),
      (text, room) => measure(bare(fitter.fit(text, room))) <= room,
    ),
  );
});
