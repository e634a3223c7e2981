/**
 * Tells tasks that give an account of a day or a week without asking: "write me a summary of the day", "mach mir den
 * Wochenbericht". What such a task needs is what was done.
 */
import type { Token } from "./tokens.ts";

/** The time that is to be told of, or null when the turn is no such task. */
export function accountTaskOf(tokens: readonly Token[]): "day" | "week" | null {
  const words = tokens.flatMap(({ type, folded }) => (type === "word" ? [folded] : []));
  const text = words.filter((word) => !POLITE.has(word)).join(" ");
  if (!TASK.test(text) || !ACCOUNT.test(text)) return null;
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
const DAY =
  /\b(?:daily|my (?:working |work )?day|(?:the|this) (?:working |work )?day$|mein(?:en|em|es)? (?:arbeits)?tag(?:es)?|(?:de[sn]|vom) tag(?:es)?(?: zusammen)?$|tagesbericht|tagesruckblick)\b/u;
const WEEK =
  /\b(?:weekly|my (?:working |work )?week|(?:the|this) (?:working |work )?week$|meine[rn]? (?:arbeits)?woche|der woche(?: zusammen)?$|wochenbericht|wochenruckblick)\b/u;
