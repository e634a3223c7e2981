/**
 * Cuts text into words that can be compared across titles and turns, and tells how alike two words are. It
 * knows no dictionary: inflections, compounds and typing errors are told by their letters, so that
 * the same few rules serve every language written with spaces.
 */

import { openRankedTable } from "../../context/ranked-table.ts";

/** One word of a text, folded: lower case, without diacritics. */
export interface FoldedWord {
  readonly text: string;
  /** False for a piece of a longer word ("tile" of "MapTileCache") and for the joined form of pieces. */
  readonly whole: boolean;
}

/** Lower case, compatibility forms unified, diacritics off: "Übersicht" is "ubersicht", "ﬁle" is "file". */
export function foldWord(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/ß/gu, "ss")
    .replace(/ø/gu, "o")
    .replace(/ł/gu, "l")
    .replace(/œ/gu, "oe")
    .replace(/æ/gu, "ae");
}

/**
 * The words of a title or a place. Names that programs write together are given whole and in pieces:
 * "MapTileCache.swift" gives maptilecache, map, tile, cache, swift; "chapter3" gives chapter3, chapter.
 */
export function foldedWords(text: string): readonly FoldedWord[] {
  const found = new Map<string, boolean>();
  const add = (word: string, whole: boolean): void => {
    if (word !== "") found.set(word, whole || (found.get(word) ?? false));
  };
  for (const [run] of text
    .normalize("NFKC")
    .matchAll(/[\p{L}\p{N}\p{M}]+(?:[-_.'’][\p{L}\p{N}\p{M}]+)*/gu)) {
    const parts = run.split(/[-_.'’]/u);
    for (const part of parts) {
      for (const piece of cjkPieces(part)) add(foldWord(piece), true);
      const humps = part.split(
        /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u,
      );
      if (humps.length > 1 && humps.length < 8) {
        for (const hump of humps) if (hump.length > 1) add(foldWord(hump), false);
      }
    }
    if (parts.length > 1 && parts.length < 6) add(foldWord(parts.join("")), false);
  }
  return [...found].map(([word, whole]) => ({ text: word, whole }));
}

/**
 * What is left of a word when its inflection is off; a key, not a word to show. Both sides of a comparison
 * go through it, so that too much taken off costs little.
 */
export function stemWord(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  let stem = word;
  if (stem.endsWith("ies") && stem.length > 4) stem = `${stem.slice(0, -3)}y`;
  else if (stem.endsWith("s") && !stem.endsWith("ss")) stem = stem.slice(0, -1);
  // Twice, so that "gardening" meets "garden" wherever that one ends up.
  for (let round = 0; round < 2; round += 1) {
    const ending = ENDINGS.find((e) => stem.length - e.length >= 4 && stem.endsWith(e));
    if (ending === undefined) break;
    stem = stem.slice(0, -ending.length);
  }
  if (stem.length > 3 && /([bdfgklmnprt])\1$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.length > 4) stem = stem.replace(/[aeoiy]{1,2}$/, "");
  return stem;
}

/** What words have in common however they are inflected and spelt: "Kündigungen" and "kuendigung" have one key. */
export function matchKey(word: string): string {
  // After the endings: "steuern" loses its "ern" whole.
  return stemWord(word).replace(/([aou])e/g, "$1");
}

/** Endings of inflection in English, German, Spanish and French, longest first. */
const ENDINGS = ["ungen", "ings", "ing", "ern", "ers", "ung", "est", "ed", "er", "en", "em", "es"];

/**
 * How much a word tells that no title holds, and how far one that a title holds can be there by chance: 0.45 for
 * the commonest words of English to 1.35 for those it does not list: names, terms, and other languages.
 */
export function wordRarity(word: string): number {
  const bytes = Buffer.from(word);
  const ranks = [COMMON.rank(bytes, 0, bytes.length)];
  if (word.endsWith("s")) ranks.push(COMMON.rank(bytes, 0, bytes.length - 1));
  const rank = Math.min(...ranks.map((found) => (found === -1 ? Infinity : found)));
  if (rank < 1000) return 0.45;
  if (rank < 2500) return 0.65;
  if (rank < 5000) return 0.85;
  return rank < Infinity ? 1 : 1.35;
}

/** The commonest words of spoken English, written by scripts/make-common-words.mjs. */
const COMMON = openRankedTable(new URL("./common-words.bin", import.meta.url));

/**
 * How alike two folded words are that are not equal and share no stem, 0 to 1; 0 for "not at all".
 *
 * Long common beginnings ("vaccination", "vaccines") come before compounds ("steuer" in
 * "steuererklarung") and those before typing errors ("lisobn").
 */
export function wordLikeness(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  const gap = Math.abs(a.length - b.length);
  if (shorter < 4 || gap > MAX_COMPOUND_GAP) return 0;
  let common = 0;
  while (common < shorter && a.charCodeAt(common) === b.charCodeAt(common)) common += 1;
  const restA = a.length - common;
  const restB = b.length - common;
  if (common >= 5 && common >= 0.7 * shorter && restA <= 5 && restB <= 5) return 0.8;
  const isPart = common === shorter || a.endsWith(b) || b.endsWith(a);
  // The longer the part, the longer may be what it is a part of: "bescheinigung" in "arbeitsunfahigkeitsbescheinigung".
  if (isPart && shorter >= (gap > 12 ? 6 : 5)) return 0.7;
  if (common === 0 || gap > 2 || /\d/.test(a) || /\d/.test(b)) return 0;
  const allowed = shorter >= 8 ? 2 : shorter >= 5 ? 1 : 0;
  if (allowed === 0) return 0;
  const edits = editDistance(a, b, allowed);
  return edits <= allowed ? (edits === 1 ? 0.75 : 0.65) : 0;
}

/**
 * Whether one slip of the finger turns `meant` into `typed`: letters swapped, left out, doubled, added or wrong. The first
 * letter is nearly always right, and of a word of four letters only a swap or a letter left out is believed.
 */
export function isOneTypo(typed: string, meant: string): boolean {
  if (typed === meant || Math.abs(typed.length - meant.length) > 1) return false;
  if (typed.charCodeAt(0) !== meant.charCodeAt(0)) {
    return typed.length === meant.length && typed[1] === meant[0] && isSwap(typed, meant);
  }
  if (typed.length < 5)
    return meant.length > typed.length ? isLeftOut(typed, meant) : isSwap(typed, meant);
  return editDistance(typed, meant, 1) === 1;
}

/**
 * Whether a slip is plainly one although nobody knows the words of the language: letters swapped or doubled, or, in a long
 * word and before its ending, one of them wrong. Other slips make as many words as they miss: "main" is no "matin".
 */
export function isSureTypo(typed: string, meant: string): boolean {
  if (!isOneTypo(typed, meant)) return false;
  if (typed.length >= 5 && isSwap(typed, meant)) return true;
  let same = 0;
  while (same < typed.length && typed[same] === meant[same]) same += 1;
  const isInside = same < Math.min(typed.length, meant.length) - 2;
  const isDoubled = typed.length > meant.length && typed[same] === typed[same - 1];
  return isInside && (isDoubled || Math.min(typed.length, meant.length) >= 8);
}

const MAX_COMPOUND_GAP = 24;

function isSwap(a: string, b: string): boolean {
  return a.length === b.length && sorted(a) === sorted(b) && editDistance(a, b, 1) === 1;
}

function sorted(word: string): string {
  return Array.from(word)
    .sort((x, y) => (x < y ? -1 : 1))
    .join("");
}

function isLeftOut(typed: string, meant: string): boolean {
  return (
    meant.length === typed.length + 1 && meant.length >= 5 && editDistance(typed, meant, 1) === 1
  );
}

/** Insertions, deletions, substitutions and swaps of neighbours; more than `limit` is told as `limit + 1`. */
function editDistance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let cost = Math.min(
        (previous[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
      if (swapped) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least > limit) return limit + 1;
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? limit + 1;
}

/** Scripts without spaces are compared by pairs of characters. */
export function cjkPieces(part: string): readonly string[] {
  if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(part)) return [part];
  const characters = Array.from(part);
  if (characters.length <= 2) return [part];
  return characters.slice(1).map((character, index) => (characters[index] ?? "") + character);
}
