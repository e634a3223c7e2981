/** Tells a farewell, which names a day as well as a question does: "bis Montag", "hasta el lunes", "see you on Friday". */
import type { TimeMention, TurnLanguage } from "./reading.ts";
import type { Token } from "./tokens.ts";

/** @param times What was read as times that have been; `covered`: the tokens of all times. */
export function isFarewell(
  tokens: readonly Token[],
  language: TurnLanguage,
  times: readonly TimeMention[],
  covered: ReadonlySet<number>,
): boolean {
  // "Bis 15 Uhr" says until when.
  if (covered.size === 0 || times.some(({ pointUs }) => pointUs !== null)) return false;
  if (tokens.some(({ text }) => text === "?")) return false;
  const words = tokens.flatMap(({ folded, type }, index) =>
    type === "word" || type === "number" ? [{ folded, timed: covered.has(index) }] : [],
  );
  const start = words.findIndex(({ folded }) => !OPENERS.has(folded));
  const said = words.slice(Math.max(0, start));
  const text = said.map(({ folded }) => folded).join(" ");
  const until = (language === "fr" ? FRENCH : UNTIL).exec(text);
  if (until === null) return false;
  const rest = said.slice(until[0].split(" ").length);
  return rest.every(({ folded, timed }) => timed || ARTICLES.has(folded));
}

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

const UNTIL =
  /^(?:bis(?: zum| am)?|wir sehen uns|man sieht sich|hasta|nos vemos|nos leemos|hablamos|see (?:you|ya|u)|talk to you|until|till)(?= )/u;
const FRENCH = /^(?:a|au|on se voit|on se reparle|on en reparle)(?= )/u;
const OPENERS = set(
  "ok okay danke gut super dann also tschuss ciao gracias vale bueno pues entonces adios chao chau merci bon alors allez salut thanks great bye so then",
);
const ARTICLES = set("on am im the el la le en am den dem entonces pues dann also then alors donc");
