/**
 * Tells turns that say how something was from turns that ask for it: "I was at my sister's yesterday", "mein Zug hatte
 * heute früh Verspätung". It promises false wherever a turn may ask or wish for something.
 */
import type { TurnLanguage } from "./turn-reading.ts";
import type { Token } from "./turn-tokens.ts";

interface Telling {
  /** Who a sentence about oneself begins with. */
  readonly self: ReadonlySet<string>;
  /** What a sentence about something begins with. */
  readonly other: ReadonlySet<string>;
  /** Finite verbs that make such words a sentence. */
  readonly verbs: ReadonlySet<string>;
  /** What asks or wishes, wherever it stands. */
  readonly asks: ReadonlySet<string>;
}

/** @param taken Indexes of tokens that belong to times. */
export function isTelling(
  tokens: readonly Token[],
  language: TurnLanguage,
  taken: ReadonlySet<number>,
): boolean {
  if (language !== "en" && language !== "de") return false;
  const { self, other, verbs, asks } = TELLING[language];
  if (tokens.some(({ folded, text }) => asks.has(folded) || text === "?")) return false;
  const words = tokens.filter(({ type }, index) => type === "word" && !taken.has(index));
  const start = words.findIndex(({ folded }) => !OPENERS.has(folded));
  const sentence = words.slice(Math.max(0, start)).map(({ folded }) => folded);
  const [first = "", second = "", third = ""] = sentence;
  if (self.has(first)) return sentence.length > 1;
  // "Gestern war ich …": the time stands first, the verb second.
  const isTimed = taken.has(tokens.findIndex(({ type }) => type !== "mark"));
  if (language === "de" && isTimed && (verbs.has(first) || self.has(second))) {
    return self.has(second) && sentence.length > 2;
  }
  if (!other.has(first)) return false;
  // "The page I had open" and "das Blatt, das offen war" name something.
  const rest = sentence.slice(1);
  const names = rest.some((word) => self.has(word) || RELATIVE.has(word)) || third === "";
  return !names && rest.some((word) => verbs.has(word));
}

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

const OPENERS = set(
  "so well ugh wow oh ah hey yeah ok okay and but und aber also ja naja puh ach boah",
);
/** Of German only what cannot be an article as well. */
const RELATIVE = set("that which who whose welches welcher welche");

const TELLING: Readonly<Record<"en" | "de", Telling>> = {
  en: {
    self: set("i im ive id ill we weve were"),
    other: set("my our the it its he she they this"),
    verbs: set(
      "was were is are had has have went came took got did broke felt been ran kept left said told called arrived finished ended started",
    ),
    asks: set(
      "what whats which when where wheres who whom whose how hows why did do does can could would should find show list pull dig fetch remind recap summarise summarize tell give help explain check look looking want wanna need needed like wish cant cannot couldn t forgot forget lost closed wonder wondering remember trying must gotta please pls link",
    ),
  },
  de: {
    self: set("ich wir"),
    other: set("mein meine meinen unser unsere der die das es er sie"),
    verbs: set(
      "war waren hatte hatten hat haben hab ist sind bin lief kam kamen ging gingen wurde wurden dauerte fiel klappte sass lag",
    ),
    asks: set(
      "was wo wann wie wer wen wem wieso warum welche welcher welches welchen welchem woran womit worauf wofur worum wohin woher wovon wobei worin wozu wieviel find finde finden zeig zeige such suche suchen gib fasse hol hole kram erinner erinnere sag liste ob hilf erklar will mochte wurde gern brauch brauche muss musste weiss vergessen verloren verlegt zugemacht geschlossen bitte nochmal weiter doch",
    ),
  },
};
