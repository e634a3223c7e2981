/**
 * Weeks and quarters by their number: "KW 46", "the third quarter", "in Q2", "the last week of October". It promises null
 * where such words may as well be a name: "the Q4 budget", "week 5 of the course".
 */
import { skipFill, type Lead } from "./lead.ts";
import type { Lexed } from "./lexer.ts";
import type { PeriodNode } from "./nodes.ts";

interface Numbered {
  readonly period: PeriodNode;
  readonly next: number;
}

export function parseNumbered(lexed: Lexed, start: number, lead: Lead): Numbered | null {
  return (
    parseCalendarWeek(lexed, start, lead) ??
    parseQuarter(lexed, start, lead) ??
    parseWeekOfMonth(lexed, start)
  );
}

/** "KW 46", "kw46", "46. Kalenderwoche", "in week 46". */
function parseCalendarWeek(lexed: Lexed, start: number, lead: Lead): Numbered | null {
  const joined = /^[kc]w(\d{1,2})$/.exec(lexed.tokens[start]?.folded ?? "");
  if (joined !== null) return calendarWeek(Number(joined[1]), start + 1);
  const { calendarWeek: isCalendar, unit } = lexed.word(start);
  const after = lexed.after(start);
  // "An 11 kW charger": what a number stands before is an amount.
  const isAmount = lexed.tokens[start - 1]?.type === "number";
  if (isCalendar === true && !isAmount) {
    const number = readNumber(lexed, lexed.tokens[after]?.text === "." ? after + 1 : after);
    return number === null ? null : calendarWeek(number.value, number.next);
  }
  if (unit === "week" && isWithin(lexed, start, lead)) {
    const number = readNumber(lexed, after);
    return number === null ? null : calendarWeek(number.value, number.next);
  }
  const number = readNumber(lexed, start);
  if (number === null || !number.dotted || lexed.word(number.next).calendarWeek !== true)
    return null;
  return calendarWeek(number.value, lexed.after(number.next));
}

function calendarWeek(number: number, next: number): Numbered | null {
  if (number < 1 || number > 53) return null;
  return {
    period: { unit: "week", number, back: null, month: null, year: null, loose: false },
    next,
  };
}

/** "in Q3", "since Q2 2025", "the third quarter", "im 3. Quartal", "Quartal 3". */
function parseQuarter(lexed: Lexed, start: number, lead: Lead): Numbered | null {
  const short = /^q([1-4])$/.exec(lexed.tokens[start]?.folded ?? "");
  if (short !== null) {
    return isWithin(lexed, start, lead) ? quarter(lexed, Number(short[1]), start + 1) : null;
  }
  const after = lexed.after(start);
  if (lexed.word(start).unit === "quarter") {
    const number = readNumber(lexed, after);
    return number === null ? null : quarter(lexed, number.value, number.next);
  }
  const nth = readNth(lexed, start);
  if (nth === null || lexed.word(nth.next).unit !== "quarter") return null;
  return quarter(lexed, nth.value, lexed.after(nth.next));
}

function quarter(lexed: Lexed, number: number, next: number): Numbered | null {
  if (number < 1 || number > 4) return null;
  const isOf = lexed.word(next).links?.includes("of") === true;
  const year = readYear(lexed, isOf ? lexed.after(next) : next);
  return {
    period: {
      unit: "quarter",
      number,
      back: null,
      month: null,
      year: year?.value ?? null,
      loose: false,
    },
    next: year?.next ?? next,
  };
}

/** "the second week of November", "letzte Woche im Oktober", "in der ersten Novemberwoche", "the first week of last month". */
function parseWeekOfMonth(lexed: Lexed, start: number): Numbered | null {
  const isLast = lexed.word(start).which === "last";
  const nth = isLast ? { value: LAST, next: lexed.after(start) } : readNth(lexed, start);
  if (nth === null || nth.value > 5) return null;
  const week = lexed.word(nth.next);
  if (week.unit !== "week") return null;
  const weekOf = { unit: "week", number: nth.value, year: null, loose: false } as const;
  const next = lexed.after(nth.next);
  if (week.month !== undefined)
    return { period: { ...weekOf, month: week.month, back: null }, next };
  const links = lexed.word(next).links ?? [];
  if (!links.includes("of") && !links.includes("in")) return null;
  const at = skipFill(lexed, lexed.after(next));
  const { month, which } = lexed.word(at);
  if (month !== undefined) {
    const year = readYear(lexed, lexed.after(at));
    return {
      period: { ...weekOf, month, back: null, year: year?.value ?? null },
      next: year?.next ?? lexed.after(at),
    };
  }
  const unitAt = which === undefined ? at : lexed.after(at);
  if (lexed.word(unitAt).unit !== "month" || which === "next") return null;
  const back = which === "last" ? 1 : which === "before-last" ? 2 : 0;
  return { period: { ...weekOf, month: null, back }, next: lexed.after(unitAt) };
}

/** The last week of a month, counted from its end. */
const LAST = -1;

/** Whether a word for the time within stands before; "for Q3" says what something is for. */
function isWithin(lexed: Lexed, start: number, { links }: Lead): boolean {
  const before = lexed.tokens[start - 1]?.folded ?? "";
  if (before === "for" || before === "fur" || before === "uber" || before === "fuer") return false;
  return WITHIN.some((link) => links.includes(link));
}

const WITHIN = ["in", "since", "until", "before", "after"] as const;

function readNth(
  lexed: Lexed,
  start: number,
): { readonly value: number; readonly next: number } | null {
  const { ordinal } = lexed.word(start);
  if (ordinal !== undefined) return { value: ordinal, next: lexed.after(start) };
  const number = readNumber(lexed, start);
  return number?.dotted === true ? number : null;
}

/** A number of at most two digits; `dotted` with the full stop or the ending ("3rd") of an ordinal, which `next` is behind. */
function readNumber(
  lexed: Lexed,
  at: number,
): { readonly value: number; readonly dotted: boolean; readonly next: number } | null {
  const token = lexed.tokens[at];
  if (token?.type !== "number" || token.text.length > 2) return null;
  const behind = lexed.tokens[at + 1];
  const joins = behind?.start === token.end;
  const dotted = joins && (behind.text === "." || lexed.word(at + 1).ordinalEnding === true);
  return { value: Number(token.text), dotted, next: dotted ? at + 2 : at + 1 };
}

function readYear(
  lexed: Lexed,
  at: number,
): { readonly value: number; readonly next: number } | null {
  const token = lexed.tokens[at];
  if (token?.type !== "number" || !/^20\d\d$/.test(token.text)) return null;
  return { value: Number(token.text), next: at + 1 };
}
