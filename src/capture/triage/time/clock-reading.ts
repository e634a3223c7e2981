/**
 * The hour and the minutes of a clock time, in the orders in which languages say them: "14:30", "half past three",
 * "fünf vor halb drei", "3 y cuarto". It promises to say which words it took, and to take none where they may be
 * something else.
 */
import { isAskingWord, isFunctionWord } from "../turn/languages.ts";
import type { Lexed } from "./lexer.ts";

/** As it was said: "at 3" may be morning or afternoon. */
export interface HourAndMinute {
  readonly hour: number;
  readonly minute: number;
  /** Whether minutes were named. */
  readonly fine: boolean;
  /** Where the words that follow begin. */
  readonly next: number;
}

/** What the words around it let a clock time be. */
export interface Allowed {
  /** A preposition asks for an hour: a bare number is one. */
  readonly bare: boolean;
  /** A word for the hour may follow: "à 3 heures". */
  readonly hours: boolean;
  /** A dash may follow at once: "2-4pm". */
  readonly dash: boolean;
  /** "entre 5 y 10" is two hours, "5 y 10" one time. */
  readonly between: boolean;
  /** Whether a part of the day follows at an index. */
  readonly isPart: (index: number) => boolean;
}

/** The hour and minutes at `start`, or null where there are none. */
export function readHourAndMinute(
  lexed: Lexed,
  start: number,
  allowed: Allowed,
): HourAndMinute | null {
  return (
    minutesFirst(lexed, start, allowed.hours, allowed.isPart) ??
    military(lexed, start, allowed.bare) ??
    hourFirst(lexed, start, allowed)
  );
}

/** "pm", "p.m.", "p m". */
export function readMeridiem(
  lexed: Lexed,
  start: number,
): { readonly pm: boolean; readonly next: number } | null {
  const word = lexed.word(start);
  if (word.meridiem !== undefined) return { pm: word.meridiem === "pm", next: lexed.after(start) };
  const letter = lexed.tokens[start]?.folded;
  if (letter !== "a" && letter !== "p") return null;
  const dotted = lexed.tokens[start + 1]?.text === "." ? start + 2 : start + 1;
  if (lexed.tokens[dotted]?.folded !== "m") return null;
  const closed = lexed.tokens[dotted + 1]?.text === "." ? dotted + 2 : dotted + 1;
  return { pm: letter === "p", next: closed };
}

/** "half past three", "zehn vor drei", "fünf vor halb drei", "halb drei", "half three". */
function minutesFirst(
  lexed: Lexed,
  start: number,
  context: boolean,
  isPart: Allowed["isPart"],
): HourAndMinute | null {
  const word = lexed.word(start);
  if (word.halfBefore === true) {
    const hour = readNumber(lexed, lexed.after(start));
    return hour === null ? null : backHalf(hour.value, 0, hour.next);
  }
  const count = word.clockMinutes ?? readNumber(lexed, start)?.value;
  if (count === undefined || (count > 30 && word.clockMinutes === undefined)) return null;
  let signAt = lexed.after(start);
  if (lexed.word(signAt).unit === "minute") signAt = lexed.after(signAt);
  const { clockSign } = lexed.word(signAt);
  if (clockSign === undefined) {
    // "half three" is said for half past three; "viertel drei" and "dreiviertel drei" count towards three.
    if (word.clockMinutes === undefined) return null;
    const hour = readNumber(lexed, lexed.after(start));
    if (hour === null || hour.value > 12 || !(context || isPart(hour.next))) return null;
    if (word.clockMinutes === 30)
      return { hour: hour.value, minute: 30, fine: true, next: skipHour(lexed, hour.next) };
    return { ...backHalf(hour.value, word.clockMinutes - 30, hour.next) };
  }
  const plain = word.clockMinutes === undefined;
  const surely = lexed.word(signAt).links?.includes("to") !== true;
  // "10 to 4" is a range unless something asks for a clock time, and minutes are told in fives.
  if (
    plain &&
    ((!context && !surely) || count % 5 !== 0) &&
    lexed.word(lexed.after(signAt)).halfBefore !== true
  )
    return null;
  const after = lexed.after(signAt);
  if (lexed.word(after).halfBefore === true) {
    const hour = readNumber(lexed, lexed.after(after));
    return hour === null ? null : backHalf(hour.value, clockSign * count, hour.next);
  }
  const named = lexed.word(after).clock;
  const hour =
    named === undefined
      ? readNumber(lexed, after)
      : { value: named / 60, next: lexed.after(after) };
  if (hour === null || hour.value > 24) return null;
  // "Los 5 vor zwei Tagen" is no time on the clock.
  const counted = lexed.word(hour.next);
  if (counted.unit !== undefined && counted.oclock !== true) return null;
  // "3 y media" begins with the hour; its sign is read there.
  if (lexed.word(signAt).links?.includes("and") === true) return null;
  return shift(hour.value, clockSign * count, skipHour(lexed, hour.next));
}

function backHalf(hour: number, minutes: number, next: number): HourAndMinute {
  return shift(hour, -30 + minutes, next);
}

function shift(hour: number, minutes: number, next: number): HourAndMinute {
  const total = ((hour === 0 ? 24 : hour) * 60 + minutes) % (24 * 60);
  const wrapped = Math.floor(total / 60);
  // "quarter to one" is 12:45, not 0:45.
  return { hour: wrapped === 0 && hour <= 12 ? 12 : wrapped, minute: total % 60, fine: true, next };
}

function skipHour(lexed: Lexed, at: number): number {
  return lexed.word(at).oclock === true ? lexed.after(at) : at;
}

function hourFirst(lexed: Lexed, start: number, allowed: Allowed): HourAndMinute | null {
  const hour = readNumber(lexed, start);
  if (hour === null || hour.value > 24) return null;
  const { value, next } = hour;
  const digital = digitalClock(lexed, start, value, allowed.bare);
  if (digital !== null) return digital;
  const token = lexed.tokens[start];
  const touching = token?.type === "number" && lexed.tokens[next]?.start === token.end;
  const oclock = isHourWord(lexed, next);
  const tail = minutesAfter(lexed, oclock ? lexed.after(next) : next, oclock, allowed.between);
  if (tail !== null) {
    const asked = oclock ? allowed.hours || touching : allowed.bare || allowed.isPart(tail.next);
    if (asked) return shift(value, tail.minute, tail.next);
  }
  if (oclock) {
    // "2 heures" alone is a length of time, "15h" is not, "3 Uhr" and "3 o'clock" never are.
    const sure = SURE_HOURS.has(lexed.tokens[next]?.folded ?? "");
    const named = allowed.isPart(lexed.after(next));
    if (!sure && !named && !allowed.hours && !(touching && value > 6)) return null;
    return { hour: value, minute: 0, fine: false, next: lexed.after(next) };
  }
  // "3ish", "8-ish"
  const dashed = lexed.tokens[next]?.text === "-" ? next + 1 : next;
  const closes = lexed.tokens[dashed + 1]?.type !== "word";
  if (lexed.tokens[dashed]?.folded === "ish" && (allowed.hours || closes)) {
    return { hour: value, minute: 0, fine: false, next: dashed + 1 };
  }
  const plain = { hour: value, minute: 0, fine: false, next };
  if (readMeridiem(lexed, next) !== null) return plain;
  if (allowed.isPart(next) && (allowed.bare || !isNamesNumber(lexed, start))) return plain;
  return allowed.bare && standsAlone(lexed, next, touching, allowed.dash) ? plain : null;
}

/** "Room 7 this morning": the number belongs to the word before it. */
function isNamesNumber(lexed: Lexed, start: number): boolean {
  const before = lexed.tokens[start - 1];
  if (before?.type !== "word" || lexed.match(start - 1) !== null) return false;
  return !isFunctionWord(before.folded, "other") && !isAskingWord(before.folded, "other");
}

const SURE_HOURS: ReadonlySet<string> = new Set(["uhr", "o", "oclock"]);

/** "at 0930", "around 1430"; a number that could be a year is none. */
function military(lexed: Lexed, start: number, bare: boolean): HourAndMinute | null {
  const digits = lexed.tokens[start]?.text ?? "";
  // "330pm", "1115am"
  if (/^(?:[1-9]|1[0-2])[0-5][05]$/.test(digits) && readMeridiem(lexed, start + 1) !== null) {
    const hour = Number(digits.slice(0, -2));
    return { hour, minute: Number(digits.slice(-2)), fine: true, next: start + 1 };
  }
  if (!bare || !/^([01]\d|2[0-3])[0-5][05]$/.test(digits) || /^(19|20)/.test(digits)) return null;
  const hour = Number(digits.slice(0, 2));
  return { hour, minute: Number(digits.slice(2)), fine: true, next: start + 1 };
}

/** "14:30", "14.30 Uhr", "3.30pm", "15h30". */
function digitalClock(
  lexed: Lexed,
  start: number,
  hour: number,
  bare: boolean,
): HourAndMinute | null {
  const token = lexed.tokens[start];
  const mark = lexed.tokens[start + 1];
  if (token?.type !== "number" || mark?.start !== token.end) return null;
  const joined = /^h(\d\d)$/.exec(mark.folded);
  if (joined !== null) return { hour, minute: Number(joined[1]), fine: true, next: start + 2 };
  const minute = lexed.tokens[start + 2];
  if (minute?.type !== "number" || minute.start !== mark.end || minute.text.length !== 2)
    return null;
  if (mark.text === ".") {
    const closed = lexed.tokens[start + 3];
    // "12.11." is a date, "14.30" alone a number.
    if (closed?.text === "." && closed.start === minute.end && !bare) return null;
    const asked = bare || isHourWord(lexed, start + 3) || readMeridiem(lexed, start + 3) !== null;
    if (!asked) return null;
  } else if (mark.text !== ":") return null;
  const next = skipHour(lexed, skipSeconds(lexed, start + 3));
  return { hour, minute: Number(minute.text), fine: true, next };
}

/** "14:30:05". */
function skipSeconds(lexed: Lexed, at: number): number {
  const seconds = lexed.tokens[at + 1];
  return lexed.tokens[at]?.text === ":" && seconds?.type === "number" ? at + 2 : at;
}

function isHourWord(lexed: Lexed, at: number): boolean {
  return lexed.word(at).oclock === true;
}

/** What follows the hour: "… thirty", "… Uhr 30", "… y cuarto", "… et demie", "… moins vingt". */
function minutesAfter(
  lexed: Lexed,
  at: number,
  oclock: boolean,
  between: boolean,
): { readonly minute: number; readonly next: number } | null {
  const { clockSign, links } = lexed.word(at);
  const and = links?.includes("and") === true;
  if (clockSign !== undefined && (and || isMinus(lexed, at))) {
    const after = lexed.after(at);
    const named = lexed.word(after);
    // "moins le quart"
    const filled = named.clockMinutes === undefined && named.fill === true;
    const minuteAt = filled ? lexed.after(after) : after;
    // "et" and "and" join quarters and halves only, Spanish "y" any minutes.
    const counted = !and || (lexed.tokens[at]?.folded === "y" && !between);
    const five = counted ? fiveMinutes(lexed, minuteAt) : null;
    const minutes = lexed.word(minuteAt).clockMinutes ?? five;
    return minutes === null ? null : { minute: clockSign * minutes, next: lexed.after(minuteAt) };
  }
  const minute = readNumber(lexed, at);
  if (minute === null || minute.value > 59 || minute.value < 5) return null;
  const digits = lexed.tokens[at]?.type === "number";
  // "three thirty" in words; two numbers in digits only after "Uhr" or "h".
  if (digits ? !oclock : minute.value % 5 !== 0 && !oclock) return null;
  return standsAlone(lexed, minute.next, false, false)
    ? { minute: minute.value, next: minute.next }
    : null;
}

function isMinus(lexed: Lexed, at: number): boolean {
  return lexed.word(at).clockSign === -1 && lexed.word(at).links === undefined;
}

function fiveMinutes(lexed: Lexed, at: number): number | null {
  const count = readNumber(lexed, at);
  return count !== null && count.value < 60 && count.value % 5 === 0 ? count.value : null;
}

/** A whole number of one or two digits, or a number word from 1 to 59. */
function readNumber(
  lexed: Lexed,
  at: number,
): { readonly value: number; readonly next: number } | null {
  const token = lexed.tokens[at];
  if (token?.type === "number") {
    return token.text.length > 2 ? null : { value: Number(token.text), next: at + 1 };
  }
  const { num } = lexed.word(at);
  if (num === undefined || !Number.isInteger(num) || num > 59) return null;
  // "un", "ein" and "a couple" count things; "la una", "une heure" and "ein Uhr" are one o'clock.
  const one = lexed.tokens[at - 1]?.folded === "la" || isHourWord(lexed, lexed.after(at));
  if (NOT_HOURS.has(token?.folded ?? "") && !one) return null;
  return { value: num, next: lexed.after(at) };
}

const NOT_HOURS: ReadonlySet<string> = new Set([
  "a",
  "an",
  "couple",
  "un",
  "une",
  "una",
  "ein",
  "eine",
  "einen",
  "einer",
  "einem",
  "par",
]);

/** "at 3" and "at 3 yesterday", but not "after 3 attempts", "at 30%", "around 2,500". */
function standsAlone(lexed: Lexed, next: number, touching: boolean, dash: boolean): boolean {
  const token = lexed.tokens[next];
  if (token === undefined || token.type === "gap") return true;
  if (token.type === "number") return false;
  if (dash && /^[-–—]$/.test(token.text)) return true;
  if (token.type === "mark")
    return (
      !touching ||
      (/^[.,;:!?)\-–—]$/.test(token.text) && lexed.tokens[next + 1]?.start !== token.end)
    );
  const word = lexed.word(next);
  if (word.unit !== undefined || word.clockMinutes !== undefined) return false;
  if (lexed.match(next) !== null) return true;
  const { folded } = token;
  return isFunctionWord(folded, "other") || isAskingWord(folded, "other");
}
