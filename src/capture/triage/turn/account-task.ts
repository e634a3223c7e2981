/**
 * Tells tasks that give an account of a day or a week without asking: "write me a summary of the day", "mach mir den
 * Wochenbericht". What such a task needs is what was done.
 */
import type { Token } from "./tokens.ts";

/** The time that is to be told of, or null when the turn is no such task. */
export function accountTaskOf(tokens: readonly Token[]): "day" | "week" | null {
  const words = tokens.flatMap(({ type, folded }) => (type === "word" ? [folded] : []));
  const text = words.filter((word) => !POLITE.has(word)).join(" ");
  const isBare = SHOWN.test(text) || SO_FAR.test(text);
  if (!isBare && !(TASK.test(text) && ACCOUNT.test(text))) return null;
  if (WEEK.test(text)) return "week";
  return DAY.test(text) ? "day" : null;
}

const POLITE: ReadonlySet<string> = new Set(
  "please pls can could would you me us for bitte kannst konntest du mir mal ok okay and und".split(
    " ",
  ),
);
const TASK =
  /^(?:write|draft|make|create|prepare|generate|give|put together|compose|do|fill (?:in|out)|sum up|summari[sz]e|recap|schreib|schreibe|mach|mache|erstell|erstelle|gib|fass|fasse|verfass|verfasse|fuhr|full)\b/u;
const ACCOUNT =
  /\b(?:summary|recap|report|overview|log|timesheet|update|review|sum up|summari[sz]e|zusammenfassung|bericht|uberblick|ruckblick|protokoll|stundenzettel|zusammen|tagesbericht|wochenbericht|tagesruckblick|wochenruckblick)\b/u;
const SPAN =
  "(?:my|our|meine[nmr]?|mein|mi|ma) (?:whole |entire |working |work |ganze[nrs]? )?(?:day|week|tag|woche|arbeitstag|arbeitswoche|dia|semana|journee|semaine)";
/** "Show me my week", "walk me through my day": the day itself is the account. */
const SHOWN = new RegExp(
  `^(?:show|list|break down|walk through|talk through|run through|take through|go through|go over|look back (?:at|on)|zeig|zeige|geh|ensename|muestrame|montre moi|detaille)(?: all(?: of)?)? ${SPAN}(?: so far| today| durch| bisher| heute)?$`,
  "u",
);
/** What the day was like is in the record, what it will be is not. */
const SO_FAR = new RegExp(
  `^(?:so )?(?:${[
    `${SPAN} (?:so far|bisher|bis jetzt|hasta ahora|jusqu ici|jusqu a maintenant)`,
    `(?:how|what) (?:did|was|has) ${SPAN} (?:go|gone|been|like|look like|looked like)(?: so far| today)?`,
    `(?:how|what) (?:is|s|does) ${SPAN} (?:going|been|look|looking|look like) so far`,
    `wie (?:war|lief|sieht) ${SPAN}(?: aus)?(?: bisher| so)?(?: aus)?`,
    `como (?:fue|va|estuvo) ${SPAN}(?: hasta ahora)?`,
  ].join("|")})$`,
  "u",
);
const DAY =
  /\b(?:daily|(?:my|our) (?:whole |entire |working |work )?day|mi dia|ma journee|(?:the|this) (?:working |work )?day$|mein(?:en|em|es)? (?:ganze[nrs]? )?(?:arbeits)?tag(?:es)?|(?:de[sn]|vom) tag(?:es)?(?: zusammen)?$|tagesbericht|tagesruckblick)\b/u;
const WEEK =
  /\b(?:weekly|(?:my|our) (?:whole |entire |working |work )?week|mi semana|ma semaine|(?:the|this) (?:working |work )?week$|meine[rn]? (?:ganze[nrs]? )?(?:arbeits)?woche|der woche(?: zusammen)?$|wochenbericht|wochenruckblick)\b/u;
