/**
 * Finds what a turn leaves out of what it asks for: "everything on Monday except the lease", "was hab ich außer der Akte gemacht".
 * It looks at the words alone; what is called so is for the record to say.
 */
import { compilePhrases } from "./phrases.ts";
import type { ContentWord } from "./reading.ts";
import type { Token } from "./tokens.ts";

const EXCEPT = compilePhrases<true>([
  [true, "except|except for|apart from|aside from|other than|not counting|excluding|but not"],
  [true, "außer|abgesehen von|mit ausnahme von"],
  [
    true,
    "excepto|salvo|aparte de|aparte del|además de|que no fuera|que no sea|que no fuese|quitando",
  ],
  [true, "sauf|à part|hormis|excepté|en dehors de|en dehors du|autre que"],
]);

/** The content words of a turn, parted: those behind such a word, up to the end of the clause, are left out. */
export function partLeftOut(
  tokens: readonly Token[],
  words: readonly ContentWord[],
): { readonly contentWords: readonly ContentWord[]; readonly leftOut: readonly ContentWord[] } {
  for (let at = 0; at < tokens.length; at++) {
    const match = EXCEPT.match(tokens, at);
    const cueIndex = tokens[at]?.start ?? 0;
    const fromIndex = match === null ? undefined : tokens[match.next]?.start;
    if (fromIndex === undefined) continue;
    const end = tokens.find(({ start, text }) => start >= fromIndex && /^[,;.?!:]$/u.test(text));
    const toIndex = end?.start ?? Infinity;
    const isBehind = ({ startIndex }: ContentWord): boolean =>
      startIndex >= fromIndex && startIndex < toIndex;
    const leftOut = words.filter(isBehind);
    if (leftOut.length === 0) continue;
    const contentWords = words.filter(
      ({ startIndex }) => startIndex < cueIndex || startIndex >= toIndex,
    );
    return { contentWords, leftOut };
  }
  return { contentWords: words, leftOut: [] };
}
