/**
 * Mends typing errors in the words that turns are asked with ("befroe lnuch"), so that everything behind reads them as
 * meant. Words that a language or the record knows are never touched: a topic may be spelled like nothing else.
 */
import { CUE_WORDS } from "./cue-words.ts";
import { isAskingWord, isFunctionWord, isMediumWord } from "./languages.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { TIME_WORDS } from "../time/vocabulary.ts";
import type { TurnLanguage } from "./reading.ts";
import { foldWord, type Token } from "./tokens.ts";
import { isOneTypo, isSureTypo, wordRarity } from "../words.ts";

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
    const rest = language === "fr" ? ELIDED.exec(folded)?.groups?.["rest"] : undefined;
    if (rest !== undefined && isWord(rest, language)) return { ...token, folded: rest };
    // Of English alone there is a list of the words that are none: elsewhere a slip must be plain.
    const isTypo = language === "en" ? isOneTypo : isSureTypo;
    const meant = ASKED_WITH[language].find((word) => isTypo(folded, word));
    return meant === undefined ? token : { ...token, folded: meant };
  });
}

/** An apostrophe left out: "lappel", "dhier", "cétait". */
const ELIDED = /^(?:[cdjlmnst]|qu)(?<rest>[aeiouyh][a-z]{3,})$/u;

/** Whether it is a word of asking as it stands. */
function isWord(folded: string, language: Known): boolean {
  return (
    isFunctionWord(folded, language) ||
    isAskingWord(folded, language) ||
    isMediumWord(folded, language) ||
    CUES[language].has(folded) ||
    TIME_WORDS[language].holds(folded)
  );
}

function isOrdinary(tokens: readonly Token[], index: number, language: Known): boolean {
  const folded = tokens[index]?.folded ?? "";
  return (
    isWord(folded, language) ||
    TIME_WORDS[language].isOther(folded) ||
    // A word of English stands in turns of other languages too: "apple" is no "appel".
    wordRarity(folded) < UNLISTED
  );
}

const CUES = eachLanguage((language) => {
  const words = CUE_WORDS[language].flatMap(([, phrases]) => phrases.split(/[| ]/u));
  return new Set(words.map(foldWord));
});

/** Names of times that are long enough to be known with a slip in them. */
const TIMES: Readonly<Record<Known, string>> = {
  en: "monday tuesday wednesday thursday friday saturday sunday yesterday morning afternoon evening tonight weekend minutes hours week month january february march april august september october november december",
  de: "montag dienstag mittwoch donnerstag freitag samstag sonntag gestern vorgestern heute vormittag nachmittag abend woche wochenende stunde stunden minuten januar februar april august september oktober november dezember",
  es: "lunes martes miercoles jueves viernes sabado domingo ayer manana tarde noche semana mes minutos horas enero febrero marzo abril agosto septiembre octubre noviembre diciembre",
  fr: "lundi mardi mercredi jeudi vendredi samedi dimanche hier matin soir semaine heures minutes janvier fevrier avril juillet septembre octobre novembre decembre",
};

/** Cues first: of two words that may be meant they decide most. */
const ASKED_WITH = eachLanguage((language) => {
  const { function: small, asking, medium } = STOP_WORDS[language];
  const others = `${small} ${asking} ${medium}`.split(" ").map(foldWord);
  const all = [...TIMES[language].split(" "), ...CUES[language], ...others];
  return [...new Set(all)].filter((word) => word.length >= 4);
});

function eachLanguage<T>(make: (language: Known) => T): Readonly<Record<Known, T>> {
  return { en: make("en"), de: make("de"), es: make("es"), fr: make("fr") };
}
