/**
 * Tells turns that what was recorded cannot help with, by their shape: those that say how something was, ask for advice,
 * hand out a task, or ask after the world or the assistant. It promises false wherever a turn may ask what its owner did.
 */
import { isMediumWord } from "./languages.ts";
import { needsNoRecordRomance } from "./off-record-romance.ts";
import type { TurnLanguage } from "./reading.ts";
import type { Token } from "./tokens.ts";

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
export function needsNoRecord(
  tokens: readonly Token[],
  language: TurnLanguage,
  taken: ReadonlySet<number>,
): boolean {
  if (language === "other") return false;
  const words = tokens.filter(({ type }) => type === "word").map(({ folded }) => folded);
  if (language === "es" || language === "fr") return needsNoRecordRomance(tokens, language, taken);
  return (
    asksAdvice(words, language) ||
    asksElsewhere(words, language) ||
    handsOutTask(words, language) ||
    isTelling(tokens, language, taken)
  );
}

/** "What should I do tonight?", "soll ich …?"; but not "what did I say I should do?". */
function asksAdvice(words: readonly string[], language: "en" | "de"): boolean {
  // "What should I go back to?" asks where the owner was.
  if (TAKES_UP.test(words.join(" "))) return false;
  const at = words.findIndex((word, index) => {
    const who = words[index + 1] ?? "";
    return ADVICE[language].has(word) && (SELF[language].has(who) || ANYBODY.has(who));
  });
  return at !== -1 && !words.slice(0, at).some((word) => SELF[language].has(word));
}

/** "What comes after lunch in Spain?", "was hat am Sonntag offen?", "what did you do yesterday?" */
function asksElsewhere(words: readonly string[], language: "en" | "de"): boolean {
  if (words.some((word) => OWN[language].has(word) || KEPT.has(word))) return false;
  const [first = "", second = "", third = "", fourth = "", fifth = ""] = words;
  if (!QUESTIONS[language].has(first)) return false;
  // "What do you have for yesterday?", "was hast du von gestern?"
  if (HOLDS.test([second, third, fourth, fifth].join(" "))) return false;
  // "What does the contract come to in hours?"
  if (words.some((word) => SPENT.has(word))) return false;
  if (WORLD[language].has(second)) return true;
  return ASSISTANT[language].has(second) && (third === "you" || third === "du");
}

/**
 * "Remind me to ring the bank", "trag den Zahnarzt ein"; but not "write down what I did yesterday", nor a task about what
 * was done: "draft the weekly report", "email Jo about yesterday's call".
 */
function handsOutTask(words: readonly string[], language: "en" | "de"): boolean {
  if (words.some((word) => SELF[language].has(word) || word === "im" || word === "ive"))
    return false;
  const start = words.findIndex((word) => !POLITE.has(word));
  const [first = "", second = "", third = ""] = words.slice(Math.max(0, start));
  if (makesAnew(words.slice(Math.max(0, start)), language)) return true;
  if (!TASKS[language].has(first)) return false;
  if (language === "de") {
    return second !== "" && !words.some((word) => isAccount(word) || PAST.de.has(word));
  }
  if (first === "add" && (second === "up" || words.some((word) => SPENT.has(word)))) return false;
  if (first === "remind") return second === "me" && (third === "to" || third === "that");
  if (words.some((word) => ACCOUNTS.en.has(word) || PAST.en.has(word))) return false;
  // "Call with Ines yesterday" and "draft of the letter" are no commands.
  return DETERMINERS.has(second) || first === "put" || first === "add";
}

/** "Make me a playlist for the weekend", "mach mir einen Trainingsplan"; but not "make a list of the pages from Monday". */
function makesAnew(words: readonly string[], language: "en" | "de"): boolean {
  const [first = "", second = "", third = ""] = words;
  if (!MAKES[language].has(first) || !ANEW[language].has(RECEIVERS.has(second) ? third : second)) {
    return false;
  }
  return !words.some(
    (word, index) =>
      PAST[language].has(word) ||
      SEEN[language].has(word) ||
      isMediumWord(word, language) ||
      (language === "de" ? isAccount(word) : ACCOUNTS.en.has(word)) ||
      // A shopping list is one; a list of something may be of what was done.
      (LISTS.has(word) && (index === 0 || ANEW[language].has(words[index - 1] ?? ""))),
  );
}

function isTelling(
  tokens: readonly Token[],
  language: "en" | "de",
  taken: ReadonlySet<number>,
): boolean {
  const { self, other, verbs, asks } = TELLING[language];
  if (tokens.some(({ folded, text }) => asks.has(folded) || WOULD.test(text) || text === "?")) {
    return false;
  }
  // Who is at their timesheet needs what they did.
  if (tokens.some(({ folded }) => TIMESHEETS.has(folded))) return false;
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
  const isVerb = (word: string, index: number): boolean =>
    verbs.has(word) || (language === "en" && isDone(word, rest[index + 1] ?? ""));
  return !names && rest.some(isVerb);
}

/** "The builder cancelled the visit": done to something, and no participle as in "the contract signed on Friday". */
function isDone(word: string, next: string): boolean {
  return /^[a-z]{3,}ed$/u.test(word) && OBJECTS.has(next);
}

const OBJECTS = set("the a an my our his her their its me us him it them everyone everything");
/** "Würde" and "bräuchte" are wishes; folded they are no other words than "wurde" and "brauchte". */
const WOULD = /^(?:w(?:ü|ue)rde|br(?:ä|ae)uchte)/iu;

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

const TAKES_UP =
  /\b(?:go back|get back|pick up|return|continue|resume|carry on|weitermachen|weiterarbeiten|fortfahren|anknupfen|weiter machen)\b/u;
const HOLDS = /^(?:do you have|have you|hast du) (?:for|from|on|about|fur|von|vom|zu|uber)\b/u;
const SPENT = set("hours minutes time stunden minuten zeit");
const TIMESHEETS = set(
  "timesheet timesheets standup stundenzettel tagesbericht wochenbericht arbeitsbericht zeiterfassung",
);

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
      "was wo wann wie wer wen wem wieso warum welche welcher welches welchen welchem woran womit worauf wofur worum wohin woher wovon wobei benotige benotigen worin wozu wieviel find finde finden zeig zeige such suche suchen gib fasse hol hole kram erinner erinnere sag liste ob hilf erklar will mochte gern brauch brauche muss musste weiss vergessen verloren verlegt zugemacht geschlossen bitte nochmal weiter doch",
    ),
  },
};

type Words = Readonly<Record<"en" | "de", ReadonlySet<string>>>;

const SELF: Words = { en: set("i we"), de: set("ich wir") };
const ANYBODY = set("one you people man a everyone");
const ADVICE: Words = {
  en: set("should shall"),
  de: set("soll sollte sollten sollen konnte konnten"),
};
const QUESTIONS: Words = {
  en: set("what when where who how"),
  de: set("was wann wo wer wie"),
};
/** Whoever says one of these speaks of themselves. */
const OWN: Words = {
  en: set("i im ive id me my mine we us our"),
  de: set("ich mir mich mein meine meinen meinem meiner wir uns unser unsere"),
};
/** What the present tells of the world after a question word. */
const WORLD: Words = {
  en: set("comes come happens goes do does opens closes starts begins lasts takes"),
  de: set(
    "kommt kommen passiert geschieht hat haben macht machen wird werden dauert beginnt braucht",
  ),
};
const POLITE = set(
  "please pls bitte can could would will you kannst konntest du ok okay and also und",
);
const TASKS: Words = {
  en: set(
    "remind put add draft write compose send book schedule set cancel move reschedule order translate rewrite call text email ring phone wake buy recommend suggest plan",
  ),
  de: set(
    "erinner erinnere trag trage schreib schreibe verfass verfasse formulier formuliere schick schicke setz setze stell stelle bestell bestelle buche reservier reserviere verschieb verschiebe ruf rufe ubersetz ubersetze kauf kaufe weck wecke",
  ),
};
/** Verbs of tasks that make something which was not there. */
const MAKES: Words = {
  en: set("make create build generate prepare design plan invent suggest compose draft"),
  de: set("mach mache erstell erstelle plan plane bau baue entwirf erfind erfinde nenn nenne"),
};
const RECEIVERS = set("me us mir uns");
const ANEW: Words = {
  en: set("a an some two three four five ten"),
  de: set("ein eine einen nen ne n paar zwei drei vier funf zehn"),
};
const LISTS = set("list table timeline chart liste tabelle auflistung aufstellung zeitleiste");
/** What is asked of the record, whatever it is to be made into. */
const SEEN: Words = {
  en: set("what where which open opened visited read did done link from about"),
  de: set("was wo welche welchen offen geoffnet gemacht besucht link von vom uber"),
};
/** What tells of time that was spent. */
const ACCOUNTS: Words = {
  en: set(
    "summary recap report overview account log minutes notes timesheet timesheets hours stand standup retro retrospective review changelog worklog",
  ),
  de: set(
    "zusammenfassung bericht uberblick ubersicht ruckblick protokoll notizen stundenzettel stunden standup",
  ),
};
/** German writes such words in one with what they tell of: "Wochenbericht", "Besprechungsprotokoll". */
function isAccount(word: string): boolean {
  return (
    [...ACCOUNTS.de].some((account) => word.endsWith(account) && account.length > 4) ||
    ACCOUNTS.de.has(word)
  );
}
const PAST: Words = {
  en: set("yesterday yesterdays earlier ago last previous"),
  de: set(
    "gestern gestrige gestrigen gestriges vorgestern vorhin eben letzte letzten letztes letzter vergangene vergangenen",
  ),
};
const DETERMINERS = set("a an the my me it this that him her them us our");
const ASSISTANT: Words = { en: set("did do have were are"), de: set("hast warst machst bist") };
/** "What have you got for yesterday?" asks for the record. */
const KEPT = set(
  "got recorded record seen saw logged log noted know find found aufgezeichnet notiert gesehen gespeichert erfasst gemerkt this that these das dies dieser diese dieses hier here",
);
