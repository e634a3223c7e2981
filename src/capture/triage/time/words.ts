/**
 * The vocabulary of time of one language, looked up by token with longest phrase first. It hides spelling:
 * case, diacritics ("fruh" and "frueh" for "früh") and slips of the keyboard in long words.
 */
import { compilePhrases, type PhraseTable } from "../turn/phrases.ts";
import { foldWord, type Token } from "../turn/tokens.ts";

export type TimeUnit =
  | "second"
  | "minute"
  | "hour"
  | "day"
  | "week"
  | "weekend"
  | "month"
  | "quarter"
  | "year";

export type PartOfDay =
  | "morning"
  | "afternoon"
  | "evening"
  | "night"
  | "late-night"
  | "small-hours"
  | "midday"
  /** The last hours of work: "en fin de journée". */
  | "day-end"
  | "siesta";

/** Which stretch of a part of the day, or of a week or month: "early", "mitten", "fin de". */
export type Shade = "early" | "mid" | "late";

export type Link =
  | "at"
  /** French "à": before "3 heures", but not before a bare number. */
  | "at-hours"
  | "around"
  | "on"
  | "in"
  | "of"
  | "from"
  | "between"
  | "and"
  | "to"
  | "since"
  /** "ab 15 Uhr gestern": until that day ends. */
  | "onward"
  /** "in der Nacht auf Sonntag": the night before that day. */
  | "onto"
  | "before"
  | "after"
  | "until";

/** What a word or phrase can mean in a time expression; one word may have several roles. */
export interface TimeWord {
  readonly num?: number;
  /** "a few": how many depends on the unit. */
  readonly few?: true;
  /** Says how long an amount felt: "une petite heure", "una buena media hora". */
  readonly felt?: true;
  /** "twelfth". */
  readonly ordinal?: number;
  /** The ending of "12th". */
  readonly ordinalEnding?: true;
  readonly unit?: TimeUnit;
  /** "the week before last": the unit so many times back. */
  readonly unitsBack?: number;
  /** A week by its number follows: "KW 46", "calendar week 46". */
  readonly calendarWeek?: true;
  /** 0 for Sunday to 6 for Saturday. */
  readonly weekday?: number;
  readonly month?: number;
  /** Also an everyday word ("may", "march", "sat"): a month or weekday only in a clear place. */
  readonly unsure?: true;
  readonly part?: PartOfDay;
  /** Days back: yesterday 1, today 0, tomorrow -1. */
  readonly back?: number;
  /** "all day": the day as a whole, of which another word may say which. */
  readonly whole?: true;
  /**
   * "last" and "this" of calendars, `before-last` for "vorletzten Montag", `rolling` for the span that ends now ("past
   * hour"), `next` to throw away.
   */
  readonly which?: "last" | "before-last" | "this" | "next";
  readonly rolling?: true;
  readonly ago?: "before" | "after";
  readonly links?: readonly Link[];
  readonly meridiem?: "am" | "pm";
  readonly oclock?: true;
  /** Behind a time, that it begins there: "from 3 pm onwards", "de las 3 en adelante". */
  readonly onward?: true;
  /** Behind a clock time, how exactly it is meant: "pile", "y pico". */
  readonly exactness?: true;
  /** Minutes that stand in for a number in a spoken clock: quarter 15, half 30. */
  readonly clockMinutes?: number;
  /** German "halb drei": half an hour before the hour named. */
  readonly halfBefore?: true;
  readonly clockSign?: 1 | -1;
  /** A clock time with a name, minutes since midnight, and how far around it the word reaches. */
  readonly clock?: number;
  readonly reachMin?: number;
  /** "this time yesterday", "um diese Zeit": what the clock shows now, on the day that is named beside it. */
  readonly clockNow?: true;
  readonly shade?: Shade;
  /** Span that ends now, in minutes; 0 for the part of today that has passed. */
  readonly recentMin?: number;
  readonly now?: true;
  /** "the day before", "am Tag davor": a neighbour of the time that was spoken of. */
  readonly beside?: { readonly unit: "day" | "week"; readonly step: 1 | -1 | 2 | -2 };
  /** "an hour later", "deux jours plus tôt": so long after or before the time that was spoken of. */
  readonly apart?: 1 | -1;
  /** Before an amount, the time until something: "dans deux heures", "dentro de un rato". */
  readonly ahead?: true;
  /** "Good morning": words of time that speak of none. */
  readonly greeting?: true;
  /** A word that a time expression may contain without meaning anything by it. */
  readonly fill?: true;
  /** The article before a day of the month: "the 12th", "el 12", "am 12.". */
  readonly dayArticle?: true;
  /** "right before", "kurz vor". */
  readonly close?: true;
}

/** Roles and the words, parted by "|", that have them. */
export type TimeWordTable = PhraseTable<TimeWord>;

/** Rows for words that count up: `words` has one entry per number, parted by ", ", each with its spellings. */
export function series(
  role: (value: number) => TimeWord,
  first: number,
  words: string,
): TimeWordTable {
  return words.split(", ").map((spellings, index) => [role(first + index), spellings] as const);
}

export interface TimeWords {
  /** The longest phrase at `index`, or null; `next` is the index after it. `typo` for a word that was guessed. */
  readonly match: (tokens: readonly Token[], index: number) => TimeWordMatch | null;
  /** Whether a folded word stands in any phrase. */
  readonly holds: (folded: string) => boolean;
  /** Whether a folded word is known to mean something else than the one it is a slip away from. */
  readonly isOther: (folded: string) => boolean;
}

export interface TimeWordMatch {
  readonly word: TimeWord;
  readonly next: number;
  readonly typo: boolean;
}

/** Below this many letters a slip makes another word too easily. */
const TYPO_MIN_LETTERS = 6;
const TYPO_TWO_MIN_LETTERS = 8;

/** @param noTypos Words of the language that are one slip away from a time word and mean something else. */
export function compileTimeWords(table: TimeWordTable, noTypos: string): TimeWords {
  const phrases = compilePhrases(table, mergeRoles);
  const candidates = [...phrases.words].filter(
    ([word, meaning]) => word.length >= TYPO_MIN_LETTERS && isWorthGuessing(meaning),
  );
  const real = new Set(noTypos.split("|"));
  const held = new Set(table.flatMap(([, words]) => words.split(/[| ]/u)).map(foldWord));
  return {
    holds: (folded) => held.has(folded),
    isOther: (folded) => real.has(folded),
    match: (tokens, index) => {
      const token = tokens[index];
      if (token?.type !== "word") return null;
      const known = phrases.match(tokens, index);
      if (known !== null) return { word: known.meaning, next: known.next, typo: false };
      if (token.folded.length < TYPO_MIN_LETTERS || real.has(token.folded)) return null;
      const guessed = closest(token.folded, candidates);
      return guessed === null ? null : { word: guessed, next: index + 1, typo: true };
    },
  };
}

function mergeRoles(known: TimeWord, more: TimeWord): TimeWord {
  const links = [...(known.links ?? []), ...(more.links ?? [])];
  return links.length === 0 ? { ...known, ...more } : { ...known, ...more, links };
}

function isWorthGuessing(word: TimeWord): boolean {
  return (
    word.weekday !== undefined ||
    word.month !== undefined ||
    word.part !== undefined ||
    word.unit !== undefined ||
    (word.back !== undefined && word.back >= 0)
  );
}

function closest(
  typed: string,
  candidates: readonly (readonly [string, TimeWord])[],
): TimeWord | null {
  let best: TimeWord | null = null;
  let bestDistance = typed.length >= TYPO_TWO_MIN_LETTERS ? 3 : 2;
  for (const [word, meaning] of candidates) {
    // The first letter is rarely the wrong one; it may have changed places with the second.
    if (word[0] !== typed[0] && word[0] !== typed[1]) continue;
    // Two slips are one too many for a short word, however long the typed one is.
    const limit = Math.min(bestDistance, word.length >= TYPO_TWO_MIN_LETTERS ? 3 : 2);
    const distance = slips(typed, word, limit);
    if (distance < limit) {
      best = meaning;
      bestDistance = distance;
    }
  }
  return best;
}

/** Edits (insert, delete, replace, swap of neighbours) between two words; `limit` when there are that many or more. */
function slips(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(
        (last[j] ?? limit) + 1,
        (row[j - 1] ?? limit) + 1,
        (last[j - 1] ?? limit) + same,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (older[j - 2] ?? limit) + 1);
      }
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least >= limit) return limit;
    older = last;
    last = row;
  }
  return Math.min(limit, last[b.length] ?? limit);
}
