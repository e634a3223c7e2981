/** The words of time of every language, ready for lookup. */
import { compileTimeWords, type TimeWords } from "./words.ts";
import { ENGLISH_NO_TYPOS, ENGLISH_TIME_WORDS } from "./words-en.ts";
import { FRENCH_NO_TYPOS, FRENCH_TIME_WORDS } from "./words-fr.ts";
import { GERMAN_NO_TYPOS, GERMAN_TIME_WORDS } from "./words-de.ts";
import { OTHER_TIME_WORDS } from "./words-other.ts";
import { SPANISH_NO_TYPOS, SPANISH_TIME_WORDS } from "./words-es.ts";

export const TIME_WORDS: Readonly<Record<"en" | "de" | "es" | "fr" | "other", TimeWords>> = {
  en: compileTimeWords(ENGLISH_TIME_WORDS, ENGLISH_NO_TYPOS),
  de: compileTimeWords(GERMAN_TIME_WORDS, GERMAN_NO_TYPOS),
  es: compileTimeWords(SPANISH_TIME_WORDS, SPANISH_NO_TYPOS),
  other: compileTimeWords(OTHER_TIME_WORDS, ""),
  fr: compileTimeWords(FRENCH_TIME_WORDS, FRENCH_NO_TYPOS),
};
