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
