/**
 * Mends typing errors in the words that turns are asked with ("befroe lnuch"), so that everything behind reads them as
 * meant. Words that a language or the record knows are never touched: a topic may be spelled like nothing else.
 */
import { CUE_WORDS } from "./cue-words.ts";
import { isAskingWord, isFunctionWord, isMediumWord } from "./languages.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { TIME_WORDS } from "./time-vocabulary.ts";
import type { TurnLanguage } from "./turn-reading.ts";
import { foldWord, type Token } from "./turn-tokens.ts";
import { isOneTypo, wordRarity } from "./words.ts";

type Known = Exclude<TurnLanguage, "other">;

/** The rarity of words that no list of English words has. */
const UNLISTED = wordRarity("\0");

/**
 * The tokens with mended words folded anew; their text and place stay as written.
 *
 * @param isKnown Whether a folded word stands in any title of the record.
 */
export function mendTypos(
  tokens: readonly Token[],
  language: TurnLanguage,
  isKnown: (folded: string) => boolean,
): readonly Token[] {
  if (language === "other") return tokens;
  return tokens.map((token, index) => {
    const { type, folded } = token;
    if (type !== "word" || folded.length < 4 || folded.length > 14) return token;
    if (/\d/.test(folded) || isOrdinary(tokens, index, language) || isKnown(folded)) return token;
    const meant = ASKED_WITH[language].find((word) => isOneTypo(folded, word));
    return meant === undefined ? token : { ...token, folded: meant };
  });
}

function isOrdinary(tokens: readonly Token[], index: number, language: Known): boolean {
  const folded = tokens[index]?.folded ?? "";
  return (
    isFunctionWord(folded, language) ||
    isAskingWord(folded, language) ||
    isMediumWord(folded, language) ||
    CUES[language].has(folded) ||
    TIME_WORDS[language].match(tokens, index) !== null ||
    (language === "en" && wordRarity(folded) < UNLISTED)
  );
}

const CUES = eachLanguage((language) => {
  const words = CUE_WORDS[language].flatMap(([, phrases]) => phrases.split(/[| ]/u));
  return new Set(words.map(foldWord));
});

/** Cues first: of two words that may be meant they decide most. */
const ASKED_WITH = eachLanguage((language) => {
  const { function: small, asking, medium } = STOP_WORDS[language];
  const others = `${small} ${asking} ${medium}`.split(" ").map(foldWord);
  return [...new Set([...CUES[language], ...others])].filter((word) => word.length >= 4);
});

function eachLanguage<T>(make: (language: Known) => T): Readonly<Record<Known, T>> {
  return { en: make("en"), de: make("de"), es: make("es"), fr: make("fr") };
}
