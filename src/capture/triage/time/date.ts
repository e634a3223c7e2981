/** Calendar dates in digits and words: "2026-11-12", "12.11.", "12/11", "Nov 12", "el 12 de noviembre", "the 12th". */
import { isFunctionWord } from "../turn/languages.ts";
import type { Lexed } from "./lexer.ts";

export interface DateNode {
  readonly type: "date";
  readonly day: number;
  /** Null: the last such day of a month. */
  readonly month: number | null;
  /** Null: the last such date. */
  readonly year: number | null;
  /** "12/11" is the 12th of November or, the American way, the 11th of December; both may be meant. */
  readonly swappable: boolean;
}

/** @param linked Whether "on" or its like stands before. */
export function parseDate(
  lexed: Lexed,
  start: number,
  linked: boolean,
): { readonly node: DateNode; readonly next: number } | null {
  return (
    parseIso(lexed, start) ??
    parseMarked(lexed, start, linked) ??
    parseDayMonth(lexed, start) ??
    parseMonthDay(lexed, start) ??
    parseDayOfMonth(lexed, start, linked)
  );
}

function made(
  day: number,
  month: number | null,
  year: number | null,
  next: number,
  swappable = false,
): { readonly node: DateNode; readonly next: number } | null {
  const possible =
    day >= 1 && day <= 31 && (month === null || (month >= 1 && (swappable || month <= 12)));
  return possible ? { node: { type: "date", day, month, year, swappable }, next } : null;
}

/** The digits at `at` when they touch what stands before. */
function touching(lexed: Lexed, at: number, maxDigits: number): number | null {
  const token = lexed.tokens[at];
  const joined = token?.type === "number" && token.start === lexed.tokens[at - 1]?.end;
  return joined && token.text.length <= maxDigits ? Number(token.text) : null;
}

function markAt(lexed: Lexed, at: number): string | null {
  const token = lexed.tokens[at];
  return token?.type === "mark" && token.start === lexed.tokens[at - 1]?.end ? token.text : null;
}

function parseIso(
  lexed: Lexed,
  start: number,
): { readonly node: DateNode; readonly next: number } | null {
  const token = lexed.tokens[start];
  if (token?.type !== "number" || !/^20\d\d$/.test(token.text)) return null;
  if (markAt(lexed, start + 1) !== "-" || markAt(lexed, start + 3) !== "-") return null;
  const month = touching(lexed, start + 2, 2);
  const day = touching(lexed, start + 4, 2);
  return month === null || day === null ? null : made(day, month, Number(token.text), start + 5);
}

/** "12.11.", "12.11.2026", "12/11", "12/11/26". */
function parseMarked(
  lexed: Lexed,
  start: number,
  linked: boolean,
): { readonly node: DateNode; readonly next: number } | null {
  const token = lexed.tokens[start];
  if (token?.type !== "number" || token.text.length > 2) return null;
  const mark = markAt(lexed, start + 1);
  const second = touching(lexed, start + 2, 2);
  if (second === null || mark === null || !/^[./-]$/.test(mark)) return null;
  const closed = markAt(lexed, start + 3) === mark;
  const year = closed ? fullYear(touching(lexed, start + 4, 4)) : null;
  const next = start + (year !== null ? 5 : closed && mark === "." ? 4 : 3);
  const first = Number(token.text);
  // "12-11" is a range of numbers; with a year it is a date.
  if (mark === "-" && year === null) return null;
  if (mark !== ".") {
    if (first > 31 || second > 31 || (first > 12 && second > 12)) return null;
    return made(first, second, year, next, true);
  }
  // "3.5" is a number; "3.5." after nothing, or "am 3.5", is a day.
  if (year === null && !closed && !linked) return null;
  return second > 12 ? null : made(first, second, year, next);
}

function fullYear(digits: number | null): number | null {
  if (digits === null) return null;
  if (digits < 100) return 2000 + digits;
  return digits >= 2000 && digits < 2100 ? digits : null;
}

/** "12 Nov 2026", "12th of November", "12. November", "12 de noviembre", "zwölfter November". */
function parseDayMonth(
  lexed: Lexed,
  start: number,
): { readonly node: DateNode; readonly next: number } | null {
  const day = readDay(lexed, start);
  if (day === null) return null;
  let at = day.next;
  for (let count = 0; count < 2 && isOf(lexed, at); count++) at = lexed.after(at);
  const { month } = lexed.word(at);
  if (month === undefined) return null;
  const year = readYear(lexed, lexed.after(at));
  return made(day.value, month, year?.value ?? null, year?.next ?? lexed.after(at));
}

/** "Nov 12", "November the 12th, 2026". */
function parseMonthDay(
  lexed: Lexed,
  start: number,
): { readonly node: DateNode; readonly next: number } | null {
  const { month } = lexed.word(start);
  if (month === undefined) return null;
  let at = lexed.after(start);
  if (lexed.tokens[at]?.text === ".") at++;
  if (lexed.word(at).dayArticle === true) at = lexed.after(at);
  const day = readDay(lexed, at);
  if (day === null) return null;
  // "March 3pm" and "in May 10:30" name a clock time.
  if (
    /^[:h]/.test(lexed.tokens[day.next]?.folded ?? "") ||
    lexed.word(day.next).meridiem !== undefined
  )
    return null;
  const year = readYear(lexed, day.next);
  return made(day.value, month, year?.value ?? null, year?.next ?? day.next);
}

/** "the 12th", "am 12.", "el 12", "le 12", "on the twelfth". */
function parseDayOfMonth(
  lexed: Lexed,
  start: number,
  linked: boolean,
): { readonly node: DateNode; readonly next: number } | null {
  const day = readDay(lexed, start);
  if (day === null) return null;
  const { next } = day;
  const token = lexed.tokens[next];
  if (/^[:/%]/.test(token?.text ?? "") || token?.type === "number") return null;
  const word = lexed.word(next);
  if (word.unit !== undefined || word.oclock === true || word.meridiem !== undefined) return null;
  const isDigits = lexed.tokens[start]?.type === "number";
  // "Mardi 24 j'ai fait quoi": no hour has such a number, and nothing is counted by a small word.
  const isDate = isDigits && day.value > 12 && isFunctionWord(token?.folded ?? "", "other");
  const closes =
    token === undefined || token.type !== "word" || lexed.match(next) !== null || isDate;
  if (day.ending) return closes || linked ? made(day.value, null, null, next) : null;
  // "jeudi 19", but not "lundi 9 à 11".
  if (token?.folded === "ish") return null;
  const range = word.links?.includes("to") === true || /^[-–—]$/.test(token?.text ?? "");
  // "Thurs a.m." and "Montag ein": a number in words may be an article.
  const counts = lexed.tokens[start]?.type === "number" || day.value > 1;
  if (
    lexed.word(start - 1).weekday !== undefined &&
    counts &&
    closes &&
    !(range && day.value <= 24)
  )
    return made(day.value, null, null, next);
  const article =
    lexed.word(start - 1).dayArticle === true ||
    (lexed.word(start - 2).dayArticle === true && lexed.after(start - 2) === start);
  // "am 12. gemacht", but not "am 3. Schreibtisch".
  const dotted = day.dotted && /^\p{Ll}/u.test(token?.text ?? "");
  if (!article || !(closes || dotted)) return null;
  // In English a bare number after "the" counts things.
  const english = lexed.tokens[start - 1]?.folded === "the";
  return english && lexed.word(start).ordinal === undefined
    ? null
    : made(day.value, null, null, next);
}

interface DayNumber {
  readonly value: number;
  /** True when an ending marks it as an ordinal. */
  readonly ending: boolean;
  /** True when a full stop does, the German way. */
  readonly dotted: boolean;
  readonly next: number;
}

function readDay(lexed: Lexed, at: number): DayNumber | null {
  const token = lexed.tokens[at];
  const { ordinal, num } = lexed.word(at);
  if (ordinal !== undefined)
    return { value: ordinal, ending: false, dotted: false, next: lexed.after(at) };
  if (token?.type === "number" && token.text.length <= 2) {
    const value = Number(token.text);
    const after = lexed.tokens[at + 1];
    const joined = after?.start === token.end;
    if (joined && lexed.word(at + 1).ordinalEnding === true)
      return { value, ending: true, dotted: false, next: at + 2 };
    if (joined && after.text === "." && lexed.tokens[at + 2]?.start !== after.end)
      return { value, ending: false, dotted: true, next: at + 2 };
    return { value, ending: false, dotted: false, next: at + 1 };
  }
  // Spanish and French say the days of a month as plain numbers: "el doce de noviembre".
  return num !== undefined && Number.isInteger(num) && num <= 31
    ? { value: num, ending: false, dotted: false, next: lexed.after(at) }
    : null;
}

function isOf(lexed: Lexed, at: number): boolean {
  const word = lexed.word(at);
  return (
    word.month === undefined && (word.links?.includes("of") === true || word.dayArticle === true)
  );
}

function readYear(
  lexed: Lexed,
  at: number,
): { readonly value: number; readonly next: number } | null {
  let year = at;
  if (lexed.tokens[year]?.text === ",") year++;
  else if (isOf(lexed, year)) year = lexed.after(year);
  const token = lexed.tokens[year];
  if (token?.type !== "number" || !/^20\d\d$/.test(token.text)) return null;
  return { value: Number(token.text), next: year + 1 };
}
