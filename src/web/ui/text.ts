/** Strangers' text made short enough to be drawn, without cutting through what a reader takes for one letter. */

/** The first `maxGraphemes` of a text, with an ellipsis when some are left out. */
export function cutText(text: string, maxGraphemes: number): string {
  if (text.length <= maxGraphemes) return text;
  let count = 0;
  // A single grapheme may be thousands of code units long (one letter and its marks), so code units are bounded too.
  const bounded = text.slice(0, maxGraphemes * 16);
  for (const { index, segment } of segmenter.segment(bounded)) {
    if (count === maxGraphemes || segment.length > 64) return `${text.slice(0, index)}…`;
    count += 1;
  }
  return bounded.length === text.length ? text : `${bounded}…`;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** A text with a direction of its own, for a canvas, where no element can isolate it. */
export function isolate(text: string): string {
  return `\u2068${withoutTurns(text)}\u2069`;
}

/** A text without what turns the direction of its letters: `\u202etxt.exe` must not be read as `exe.txt`. */
export function withoutTurns(text: string): string {
  return text.replaceAll(BIDI_CONTROLS, "");
}

// They act on what stands around the text: embeddings, overrides, isolates and marks that are not ours.
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
