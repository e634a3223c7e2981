/** Amounts of time in figures and words: "20 minutes", "an hour and a half", "dreiviertelstunde", "unos minutos". */
import type { Lexed } from "./lexer.ts";
import type { TimeUnit } from "./words.ts";

export interface Count {
  /** Null for "a few". */
  readonly value: number | null;
  readonly unit: TimeUnit | null;
  readonly next: number;
}

/** "20 minutes", "an hour and a half", "1,5 Stunden", "dreiviertelstunde"; the unit may be missing. */
export function readCount(lexed: Lexed, start: number): Count | null {
  const token = lexed.tokens[start];
  if (token === undefined) return null;
  let value: number | null;
  let next = lexed.after(start);
  const word = lexed.word(start);
  if (token.type === "number" && token.text.length <= 4) {
    value = Number(token.text);
    const mark = lexed.tokens[next];
    const fraction = lexed.tokens[next + 1];
    if (
      mark?.start === token.end &&
      /^[.,]$/.test(mark.text) &&
      fraction?.type === "number" &&
      fraction.start === mark.end
    ) {
      value = Number(`${token.text}.${fraction.text}`);
      next += 2;
    }
  } else if (word.num !== undefined && word.unit !== undefined) {
    return { value: word.num, unit: word.unit, next };
  } else if (word.num !== undefined) value = word.num;
  else if (word.few === true) value = null;
  else if (word.clockMinutes !== undefined && lexed.word(next).unit === "hour")
    value = word.clockMinutes / 60;
  else return null;
  if (lexed.word(next).felt === true) next = lexed.after(next);
  // "unas dos horas": about two
  if (word.few === true && word.num === undefined) {
    const about = readCount(lexed, next);
    if (about?.unit != null && about.value !== null) return about;
  }
  // "einer" + "dreiviertelstunde", "una" + "media" + "hora", "a" + "few"
  const inner = lexed.word(next);
  if (inner.num !== undefined && inner.unit !== undefined) {
    return { value: inner.num, unit: inner.unit, next: lexed.after(next) };
  }
  if (
    value === 1 &&
    (inner.few === true ||
      (inner.num !== undefined && lexed.word(lexed.after(next)).unit !== undefined))
  ) {
    value = inner.few === true ? null : (inner.num ?? 1);
    next = lexed.after(next);
  }
  const fill = lexed.word(next).links?.includes("of") === true ? lexed.after(next) : next;
  const unit = lexed.word(fill).unit;
  if (unit === undefined) return { value, unit: null, next };
  const half = readAndHalf(lexed, lexed.after(fill));
  return { value: value === null ? null : value + half.value, unit, next: half.next };
}

/** As `readCount`, and what is said of hours and minutes together: "1h30", "2 h 15", "une heure et vingt minutes". */
export function readLength(lexed: Lexed, start: number, before: boolean): Count | null {
  const token = lexed.tokens[start];
  const joined = /^h([0-5]\d)$/.exec(lexed.tokens[start + 1]?.folded ?? "");
  if (before && token?.type === "number" && token.text.length <= 2 && joined !== null) {
    return { value: Number(token.text) + Number(joined[1]) / 60, unit: "hour", next: start + 2 };
  }
  const hours = readCount(lexed, start);
  if (hours?.unit !== "hour" || hours.value === null) return hours;
  const and = lexed.word(hours.next).links?.includes("and") === true;
  const minutes = readCount(lexed, and ? lexed.after(hours.next) : hours.next);
  const named = minutes?.unit === "minute" || (minutes?.unit === null && before && !and);
  if (minutes === null || minutes.value === null || !named) return hours;
  if (minutes.value < 5 || minutes.value > 59) return hours;
  return { value: hours.value + minutes.value / 60, unit: "hour", next: minutes.next };
}

/** "… and a half", "… y media", "… et demie", "… y cuarto". */
export function readAndHalf(
  lexed: Lexed,
  start: number,
): { readonly value: number; readonly next: number } {
  const none = { value: 0, next: start };
  if (lexed.word(start).links?.includes("and") !== true) return none;
  let next = lexed.after(start);
  if (lexed.word(next).num === 1) next = lexed.after(next);
  const { clockMinutes, num } = lexed.word(next);
  if (clockMinutes === 15) return { value: 0.25, next: lexed.after(next) };
  if (clockMinutes !== 30 && num !== 0.5) return none;
  return { value: 0.5, next: lexed.after(next) };
}

/** How many "a few" are. */
export function few(unit: TimeUnit): number {
  return unit === "minute" || unit === "second" ? 10 : unit === "hour" || unit === "day" ? 4 : 3;
}

/** "the last days": several of them, though not said how many. */
export function isPlural(lexed: Lexed, at: number): boolean {
  return PLURALS.has(lexed.tokens[at]?.folded ?? "");
}

const PLURALS: ReadonlySet<string> = new Set(
  (
    "minutes hours days weeks months minuten stunden tage tagen wochen monate monaten " +
    "minutos horas dias semanas meses heures jours semaines"
  ).split(" "),
);
