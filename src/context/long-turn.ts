/**
 * What of a very long turn is looked at to find out what it is about: a paste may stand before the question or behind
 * it. It promises a bounded length, so that no turn is too large to be asked about.
 */

/** UTF-16 code units of each end. */
const END_CHARS = 16_000;

/** `turn` itself, or its beginning and its end on lines of their own. For reading alone, never for a model. */
export function bothEnds(turn: string): string {
  if (turn.length <= 2 * END_CHARS) return turn;
  return `${turn.slice(0, END_CHARS)}\n${turn.slice(-END_CHARS)}`;
}
