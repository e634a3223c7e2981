/** Tells which language a turn is in by its small words, and which of its words can name a topic. */
import { foldWord, type Token } from "./tokens.ts";
import { FOREIGN_WORDS, STOP_WORDS } from "./stop-words.ts";
import { TIME_WORDS } from "../time/vocabulary.ts";
import type { ContentWord, TurnLanguage } from "./reading.ts";

type Known = "en" | "de" | "es" | "fr";

const KNOWN: readonly Known[] = ["en", "de", "es", "fr"];

/** "other" when no small word of the four languages stands in the turn, or those of another language prevail. */
export function guessLanguage(tokens: readonly Token[]): TurnLanguage {
  const scores: Record<TurnLanguage, number> = { en: 0, de: 0, es: 0, fr: 0, other: 0 };
  tokens.forEach((token, index) => {
    if (token.type !== "word") return;
    for (const language of KNOWN) {
      if (WORDS[language].function.has(token.folded)) scores[language] += weightOf(token.folded);
      else if (WORDS[language].asking.has(token.folded)) scores[language] += weightOf(token.folded);
      else if (TIME_WORDS[language].match(tokens, index)?.typo === false) scores[language] += 0.5;
      // Letters that only one of the four writes.
      if (LETTERS[language].test(token.text)) scores[language] += 0.7;
    }
    if (FOREIGN.has(token.folded)) scores.other += weightOf(token.folded);
  });
  let best: TurnLanguage = "other";
  for (const language of KNOWN) {
    // On a tie with a foreign language the known one is the better guess.
    if (scores[language] > 0 && scores[language] >= scores[best]) {
      if (best === "other" || scores[language] > scores[best]) best = language;
    }
  }
  return best;
}

const LETTERS: Readonly<Record<Known, RegExp>> = {
  en: /^\b$/,
  de: /[äöüß]/i,
  es: /[ñ¿¡]|ción$/i,
  fr: /[çœêèùîô]/i,
};

/** A word that several languages share tells less. */
function weightOf(folded: string): number {
  let owners = FOREIGN.has(folded) ? 1 : 0;
  for (const language of KNOWN) {
    const words = WORDS[language];
    if (words.function.has(folded) || words.asking.has(folded)) owners++;
  }
  return owners === 0 ? 0 : 1 / owners;
}

/** Whether the word is one of the small words of the language ("other": of any of the four). */
export function isFunctionWord(folded: string, language: TurnLanguage): boolean {
  if (language !== "other") return WORDS[language].function.has(folded);
  return FOREIGN.has(folded) || KNOWN.some((known) => WORDS[known].function.has(folded));
}

/** Whether the word is part of how people ask ("worked", "geöffnet") rather than of what they ask about. */
export function isAskingWord(folded: string, language: TurnLanguage): boolean {
  if (language !== "other") return WORDS[language].asking.has(folded);
  return KNOWN.some((known) => WORDS[known].asking.has(folded));
}

/** Whether the word names the kind of thing sought ("page", "Datei"). */
export function isMediumWord(folded: string, language: TurnLanguage): boolean {
  if (language !== "other") return WORDS[language].medium.has(folded);
  return KNOWN.some((known) => WORDS[known].medium.has(folded));
}

/** @param taken Indexes of tokens that belong to times, sides or anchors. */
export function findContentWords(
  tokens: readonly Token[],
  language: TurnLanguage,
  taken: ReadonlySet<number>,
): readonly ContentWord[] {
  const words: ContentWord[] = [];
  const typed = tokens.length <= TYPED_TOKENS;
  tokens.forEach((token, index) => {
    if (taken.has(index) || token.type === "mark" || token.type === "gap") return;
    const { text, folded, start: startIndex } = token;
    // A single digit or letter finds everything; of "bed 7" and "bed 12" the digit decides.
    if (text.length < 2) {
      const before = tokens[index - 1];
      const named = before?.type === "word" && words.at(-1)?.startIndex === before.start;
      if (token.type === "number" && named) words.push({ text, folded, startIndex, generic: true });
      return;
    }
    if (isFunctionWord(folded, language)) return;
    const generic =
      isAskingWord(folded, language) ||
      isMediumWord(folded, language) ||
      (typed && isSlip(folded, language));
    words.push({ text, folded, startIndex, generic });
  });
  return words;
}

/** Slips are looked for in what somebody typed, not in what was pasted. */
const TYPED_TOKENS = 120;

/** Below this many letters a slip makes another word too easily. */
const SLIP_MIN_LETTERS = 4;
const DROPPED_MIN_LETTERS = 5;

/**
 * Whether a word is a small word with two letters swapped ("waht", "opne"), one doubled or one left out of a long one.
 * Replaced letters are not forgiven: "bread" is not "read".
 */
function isSlip(folded: string, language: TurnLanguage): boolean {
  if (folded.length < SLIP_MIN_LETTERS || folded.length > 14) return false;
  const isSmall = (word: string): boolean =>
    isFunctionWord(word, language) || isAskingWord(word, language);
  for (let at = 0; at + 1 < folded.length; at++) {
    const here = folded[at] ?? "";
    const after = folded[at + 1] ?? "";
    const swapped = folded.slice(0, at) + after + here + folded.slice(at + 2);
    if (here !== after && isSmall(swapped)) return true;
    if (here === after && isSmall(folded.slice(0, at) + folded.slice(at + 1))) return true;
  }
  if (folded.length < DROPPED_MIN_LETTERS) return false;
  for (let at = 1; at < folded.length; at++) {
    for (const letter of "abcdefghijklmnopqrstuvwxyz") {
      if (isSmall(folded.slice(0, at) + letter + folded.slice(at))) return true;
    }
  }
  return false;
}

function wordSet(words: string): ReadonlySet<string> {
  const set = new Set<string>();
  for (const word of words.split(" ")) {
    set.add(foldWord(word));
    set.add(foldWord(word.replaceAll("ä", "ae").replaceAll("ö", "oe").replaceAll("ü", "ue")));
  }
  return set;
}

const FOREIGN = wordSet(FOREIGN_WORDS);

const WORDS = Object.fromEntries(
  KNOWN.map((language) => {
    const { function: small, asking, medium } = STOP_WORDS[language];
    return [
      language,
      { function: wordSet(small), asking: wordSet(asking), medium: wordSet(medium) },
    ];
  }),
) as Record<Known, Record<"function" | "asking" | "medium", ReadonlySet<string>>>;
