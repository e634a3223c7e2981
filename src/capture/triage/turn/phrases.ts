/** Looks up words and phrases in a turn, the longest first. It hides spelling: case, diacritics, "ue" for "ü". */
import { foldWord, type Token } from "./tokens.ts";

/** Meanings and the words, parted by "|", that have them. */
export type PhraseTable<T> = readonly (readonly [T, string])[];

export interface PhraseMatch<T> {
  readonly meaning: T;
  /** Index after the phrase. */
  readonly next: number;
}

export interface Phrases<T> {
  /** The longest phrase that starts at `index`, or null. */
  readonly match: (tokens: readonly Token[], index: number) => PhraseMatch<T> | null;
  /** Every phrase of one word. */
  readonly words: ReadonlyMap<string, T>;
}

/** @param merge Joins two meanings of one phrase; the later row counts when it is left out. */
export function compilePhrases<T>(
  table: PhraseTable<T>,
  merge: (known: T, more: T) => T = (_known, more) => more,
): Phrases<T> {
  const phrases = new Map<string, T>();
  for (const [meaning, spellings] of table) {
    for (const phrase of spellings.split("|").flatMap(spellingsOf)) {
      const known = phrases.get(phrase);
      phrases.set(phrase, known === undefined ? meaning : merge(known, meaning));
    }
  }
  const entries = new Map<string, { readonly rest: readonly string[]; readonly meaning: T }[]>();
  const words = new Map<string, T>();
  for (const [phrase, meaning] of phrases) {
    const [head = "", ...rest] = phrase.split(" ");
    if (rest.length === 0) words.set(head, meaning);
    const list = entries.get(head) ?? [];
    list.push({ rest, meaning });
    entries.set(head, list);
  }
  for (const list of entries.values()) list.sort((a, b) => b.rest.length - a.rest.length);
  return {
    words,
    match: (tokens, index) => {
      const token = tokens[index];
      if (token === undefined || token.type === "gap") return null;
      for (const { rest, meaning } of entries.get(token.folded) ?? []) {
        if (rest.every((part, offset) => tokens[index + 1 + offset]?.folded === part)) {
          return { meaning, next: index + 1 + rest.length };
        }
      }
      return null;
    },
  };
}

/** "früh" is typed "früh", "fruh" and "frueh". */
function spellingsOf(phrase: string): readonly string[] {
  const plain = phrase.split(" ").map(foldWord).join(" ");
  const long = phrase.replaceAll("ä", "ae").replaceAll("ö", "oe").replaceAll("ü", "ue");
  const folded = long.split(" ").map(foldWord).join(" ");
  return folded === plain ? [plain] : [plain, folded];
}
