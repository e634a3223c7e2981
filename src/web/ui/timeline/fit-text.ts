/**
 * How much of a text fits into a width, found so cheaply that it can be asked for every label of every frame:
 * widths of single letters are measured once and added up.
 */
import { isolate } from "../text.ts";

export interface TextFitter {
  /** The text, or its beginning with an ellipsis, isolated for a canvas; empty when not even that fits. */
  readonly fit: (text: string, widthPx: number) => string;
}

/** No label is longer, however wide its span. */
const MAX_GRAPHEMES = 160;
const MAX_KEPT_TEXTS = 2000;
const MAX_KEPT_GLYPHS = 4000;

interface Measured {
  /** Where each grapheme ends, in code units. */
  readonly ends: readonly number[];
  /** How wide the text is up to there, in pixels. */
  readonly widths: readonly number[];
  /** True when there is more text than was looked at. */
  readonly longer: boolean;
}

/** `measure` gives the width of a text in pixels. */
export function createTextFitter(measure: (text: string) => number): TextFitter {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const texts = new Map<string, Measured>();
  const glyphs = new Map<string, number>();
  const ellipsisPx = measure("…");

  const glyphWidth = (glyph: string): number => {
    const kept = glyphs.get(glyph);
    if (kept !== undefined) return kept;
    const width = measure(glyph);
    if (glyphs.size >= MAX_KEPT_GLYPHS) glyphs.clear();
    glyphs.set(glyph, width);
    return width;
  };

  const measured = (text: string): Measured => {
    const kept = texts.get(text);
    if (kept !== undefined) return kept;
    const ends: number[] = [];
    const widths: number[] = [];
    let width = 0;
    // One letter can have thousands of marks: what is looked at is bounded in code units too.
    const looked = text.slice(0, MAX_GRAPHEMES * 4);
    for (const { index, segment } of segmenter.segment(looked)) {
      if (ends.length === MAX_GRAPHEMES) break;
      width += glyphWidth(segment);
      ends.push(index + segment.length);
      widths.push(width);
    }
    const made = { ends, widths, longer: (ends.at(-1) ?? 0) < text.length };
    if (texts.size >= MAX_KEPT_TEXTS) texts.clear();
    texts.set(text, made);
    return made;
  };

  return {
    fit: (text, widthPx) => {
      const { ends, widths, longer } = measured(text);
      if (!longer && (widths.at(-1) ?? 0) <= widthPx) return text === "" ? "" : isolate(text);
      const room = widthPx - ellipsisPx;
      let low = 0;
      let high = widths.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((widths[middle] ?? 0) <= room) low = middle + 1;
        else high = middle;
      }
      const end = low === 0 ? undefined : ends[low - 1];
      // One or two letters and dots tell nothing.
      return end === undefined || low < 3 ? "" : `${isolate(text.slice(0, end).trimEnd())}…`;
    },
  };
}
