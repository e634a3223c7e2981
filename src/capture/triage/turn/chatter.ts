/**
 * Tells turns in English and German that are said by the way (thanks, how a day was, how the assistant is) or ask what goes
 * on in the world, though they name a time; and where a turn brings the text that it is about. It promises false wherever a
 * turn may ask what its owner did.
 */
import type { TurnLanguage } from "./reading.ts";
import type { Token } from "./tokens.ts";

/** @param taken Indexes of tokens that belong to times. */
export function isChatter(
  tokens: readonly Token[],
  language: TurnLanguage,
  taken: ReadonlySet<number>,
): boolean {
  if (language !== "en" && language !== "de") return false;
  const said = saidOf(tokens, language, taken);
  if (said.words.length === 0) return false;
  return isThanks(said) || asksHowYouAre(said) || isVerdict(said, language) || asksTheWorld(said);
}

/** "Translate: …", "korrigier bitte: …": index of the text that is brought along, or null. */
export function broughtTextAt(turn: string): number | null {
  const start = BRINGS.exec(turn);
  if (start === null) return null;
  const text = turn.slice(start[0].length);
  // "Summarise: what did I do on Monday" asks.
  return OWN_ASKING.test(text) || text.trim().split(/\s+/u).length < 3 ? null : start[0].length;
}

const BRINGS =
  /^\s*(?:please |pls |bitte |can you |could you |kannst du |könntest du )*(?:translat|proofread|proof-read|fix\b|correct|rewrit|rephras|reword|paraphras|shorten|improv|polish|edit\b|spell-?check|grammar-?check|übersetz|uebersetz|korrigier|verbesser|lektorier|kürz|umformulier|formulier)[^\n:?]{0,40}:\s*(?=\S)/iu;
const OWN_ASKING =
  /^\s*(?:what|when|where|who|which|how|why|my|was|wann|wo|wie|wer|welche|woran|mein)\b|\?\s*$/iu;

interface Said {
  /** Folded words that belong to no time. */
  readonly words: readonly string[];
  readonly texts: readonly string[];
  readonly isTimed: boolean;
  /** Whether the turn begins with a time. */
  readonly startsTimed: boolean;
  readonly asks: boolean;
  readonly isOwn: boolean;
}

function saidOf(tokens: readonly Token[], language: "en" | "de", taken: ReadonlySet<number>): Said {
  const words: string[] = [];
  const texts: string[] = [];
  let startsTimed = false;
  for (const [index, { type, folded, text }] of tokens.entries()) {
    if (type !== "word" && type !== "number") continue;
    if (taken.has(index)) startsTimed ||= words.length === 0;
    else if (words.length > 0 || !OPENERS.has(folded)) {
      words.push(folded);
      texts.push(text);
    }
  }
  const isQuestion = tokens.some(({ text }) => text === "?");
  return {
    words,
    texts,
    isTimed: taken.size > 0,
    startsTimed,
    asks: isQuestion || words.some((word) => ASKS[language].has(word)),
    isOwn: words.some((word) => OWN[language].has(word)),
  };
}

/** "Thanks for yesterday"; but not "thanks, and what did I do on Monday". */
function isThanks({ words, asks, isOwn }: Said): boolean {
  const at = words.findIndex((word) => THANKS.has(word));
  return (at === 0 || (at === 1 && words[0] === "vielen")) && !asks && !isOwn;
}

/** "How was your weekend?", "wie läuft's heute?". */
function asksHowYouAre({ words, isOwn }: Said): boolean {
  if (isOwn || words.some((word) => KEPT.has(word))) return false;
  const [first = "", second = "", third = "", fourth = ""] = words;
  if (!HOW.has(first)) return false;
  if (words.some((word) => YOURS.has(word))) return true;
  const isGoing =
    (second === "is" && third === "it" && fourth === "going") ||
    (second === "s" && third === "it" && fourth === "going");
  const rest = words.slice(2).filter((word) => !GREETED.has(word));
  return isGoing || (GOES.has(second) && rest.length === 0);
}

/** "Yesterday was exhausting", "gestern war echt viel los", "Urlaub war schön", "had a long day yesterday". */
function isVerdict(said: Said, language: "en" | "de"): boolean {
  const { words, texts, startsTimed, asks, isOwn } = said;
  const [first = "", second = ""] = words;
  if (asks || isOwn || words.length > 7) return false;
  // In German nouns are written large: what is said of a day has none behind the verb.
  const isPlain = (from: number): boolean =>
    words.length > from && texts.slice(from).every((text) => /^\p{Ll}/u.test(text));
  // "Boah, war das heute anstrengend!", "war gestern echt schön"
  const isOfIt = second === "das" || second === "es";
  if (language === "de" && said.isTimed && !startsTimed && WAS.has(first)) {
    return isPlain(isOfIt ? 2 : 1);
  }
  if (words.some((word) => POINTS.has(word))) return false;
  if (language === "en") {
    if (startsTimed && WAS.has(first)) return true;
    return first === "had" && words.length > 1 && LIVED.has(words.at(-1) ?? "");
  }
  if (startsTimed) return WAS.has(first) && isPlain(1);
  return /^\p{Lu}/u.test(texts[0] ?? "") && WAS.has(second) && isPlain(2) && words.length < 6;
}

/** "What was in the news on Tuesday?", "what day is it?", "is there a bank holiday on Monday?", "hilf mir … zu planen". */
function asksTheWorld({ words, isTimed, isOwn }: Said): boolean {
  const [first = "", second = "", third = ""] = words;
  const last = words.at(-1) ?? "";
  if (HELP.has(first)) return PLANS.has(third) || PLANS.has(last);
  if (isOwn || words.some((word) => KEPT.has(word))) return false;
  const text = ` ${words.join(" ")} `;
  if (!isTimed) return false;
  if (QUESTIONS.has(first) && THE_WORLD.test(text)) return true;
  if (QUESTIONS.has(first) && THE_DATE.test(text)) return true;
  // "On Monday" beside the present is the Monday to come.
  if (PRESENT.has(first) && !words.some((word) => PAST.has(word))) return true;
  if (first === "what" && second === "time" && PRESENT.has(third)) return true;
  return QUESTIONS.has(first) && GOING.has(third) && !PAST.has(second);
}

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

const OPENERS = set(
  "boah puh uff mann mensch so well ok okay na naja tja ja oh ah hey hi hallo moin great cool super",
);
const THANKS = set("thanks thank thx ta cheers danke dank dankeschon");
const OWN = {
  en: set("i im ive id my mine me we us our"),
  de: set("ich mir mich mein meine meinen meinem meiner meins wir uns unser unsere"),
} as const;
const ASKS = {
  en: set(
    "what whats which when where who whom whose how why show find list give tell open and now also then next",
  ),
  de: set(
    "was wann wo wie wer wen welche welcher welches woran womit zeig zeige such finde gib sag und jetzt noch auch dann doch mal",
  ),
} as const;
const YOURS = set("your yours dein deine deinen deinem deiner");
const HOW = set("how hows wie what whats was");
const GOES = set("geht gehts lauft laufts");
const GREETED = set("s es so dir euch ihnen denn");
const WAS = set("was is were feels felt has war waren ist sind wird wurde lief");
/** What points at something that was seen: "da so ein Artikel". */
const POINTS = set("da dort ein eine einen so diese dieser dieses das der die there that this");
const LIVED = set("day days night week weekend shift time sleep lunch dinner morning evening");
const KEPT = set(
  "got recorded record seen saw logged log logs noted know find found memory history page pages file files tab tabs document link anything something aufgezeichnet aufzeichnung aufzeichnungen notiert gesehen gespeichert erfasst gemerkt seite seiten datei dateien dokument gedachtnis etwas this these dies dieser diese dieses hier here still noch",
);
const HELP = set("help hilf");
const PLANS = set(
  "plan planen organise organize organisieren decide entscheiden schedule vorzubereiten",
);
const QUESTIONS = set(
  "what whats which who when where how was welche welcher welches wer wann wo wie",
);
const THE_WORLD =
  / (?:in the world|around the world|in the news|on the news|on (?:the )?tv|on telly|on the radio|in den nachrichten|in der welt|im fernsehen|im tv|im radio|in der tagesschau) /u;
const THE_DATE =
  /^ (?:what|whats|which|welcher|welches|welchen) (?:s |is |was )?(?:the )?(?:day|date|weekday|time|tag|datum|wochentag)(?: is| was| ist| war| haben wir)?(?: it| it s)? $/u;
const PRESENT = set("is are does do will can ist sind hat haben wird gibt fahrt fahren kann");
const GOING = set(
  "go goes run runs leave leaves open opens close closes fahren fahrt gehen geht offnen kommen kommt laufen",
);
const PAST = set("was were did had been war waren hatte hatten wurde gewesen");
