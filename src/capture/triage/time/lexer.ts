/** A turn as the grammar of time sees it: tokens with the roles of the words and phrases among them. */
import type { TimeWord, TimeWordMatch, TimeWords } from "./words.ts";
import type { Token } from "../turn/tokens.ts";

export interface Lexed {
  readonly tokens: readonly Token[];
  /** True when the words are those of the turn's own language; of another, only what is certain counts. */
  readonly own: boolean;
  readonly match: (index: number) => TimeWordMatch | null;
  /** The roles of the phrase that starts at `index`. */
  readonly word: (index: number) => TimeWord;
  readonly after: (index: number) => number;
}

/** @param own Whether the words are those of the turn's language: only then are misspelt ones guessed. */
export function lexTimes(tokens: readonly Token[], words: TimeWords, own: boolean): Lexed {
  const known = tokens.map((_, index) => {
    const match = words.match(tokens, index);
    return match !== null && (own || !match.typo) ? match : null;
  });
  return {
    tokens,
    own,
    match: (index) => known[index] ?? null,
    word: (index) => known[index]?.word ?? NOTHING,
    after: (index) => known[index]?.next ?? index + 1,
  };
}

const NOTHING: TimeWord = {};
