/**
 * Clock times as people write and say them: "14:30", "3pm", "half past three", "halb drei", "las tres y
 * media", "15h30". It promises to take a bare number for an hour only where a preposition asks for one.
 */
import { readHourAndMinute, readMeridiem, type HourAndMinute } from "./clock-reading.ts";
import type { Lexed } from "./lexer.ts";
import type { Link } from "./words.ts";

export interface ClockNode {
  /** Minutes since midnight; of an unsettled time the earlier of its two readings. */
  readonly minute: number;
  /** False for "at 3", which may be morning or afternoon. */
  readonly settled: boolean;
  /** True when minutes were named: "14:30", "half past three". */
  readonly fine: boolean;
  /** How far the word reaches around the time, in minutes, or null for the usual reach. */
  readonly reachMin: number | null;
}

/** What stands before the number. */
export interface ClockContext {
  readonly links: readonly Link[];
  /** A day or part of the day was named just before. */
  readonly dated: boolean;
  /** Whether a part of the day follows at an index: it makes a bare number before it an hour. */
  readonly isPart: (index: number) => boolean;
}

const HOUR_LINKS: readonly Link[] = [
  "at",
  "around",
  "since",
  "before",
  "after",
  "until",
  "between",
  "from",
];

/** A clock time at `start`, or null. */
export function parseClock(lexed: Lexed, start: number, context: ClockContext): FoundClock | null {
  return readClock(lexed, start, context, false);
}

export interface FoundClock {
  readonly node: ClockNode;
  readonly next: number;
}

function readClock(
  lexed: Lexed,
  start: number,
  context: ClockContext,
  dash: boolean,
): FoundClock | null {
  const named = lexed.word(start);
  if (named.clock !== undefined) {
    const reachMin = named.reachMin ?? 30;
    const node = { minute: named.clock, settled: true, fine: false, reachMin };
    return { node, next: lexed.after(start) };
  }
  const bare = HOUR_LINKS.some((link) => context.links.includes(link));
  const between = context.links.includes("between");
  const hours = bare || context.links.includes("at-hours") || context.dated;
  const read = readHourAndMinute(lexed, start, {
    bare,
    hours,
    dash,
    between,
    isPart: context.isPart,
  });
  return read === null ? null : settle(lexed, read);
}

/** "2 to 4", "2-4pm", "14–16 Uhr": two clock times of which the first may be a bare number. */
export function parseClockRange(
  lexed: Lexed,
  start: number,
  context: ClockContext,
  isDay: (index: number) => boolean,
): { readonly from: ClockNode; readonly to: ClockNode; readonly next: number } | null {
  const opened = context.links.includes("between") || context.links.includes("from");
  const from = readClock(lexed, start, { ...context, links: [...context.links, "at"] }, true);
  if (from === null) return null;
  const token = lexed.tokens[from.next];
  const links = lexed.word(from.next).links ?? [];
  const dash = token?.type === "mark" && /^[-–—]$/.test(token.text);
  const word =
    links.includes("to") ||
    links.includes("until") ||
    (context.links.includes("between") && links.includes("and"));
  if (!dash && !word) return null;
  const second = dash ? from.next + 1 : skipTo(lexed, lexed.after(from.next));
  const to = parseClock(lexed, second, { ...context, links: ["at"], dated: true });
  if (to === null) return null;
  // Bare numbers are a range of hours only beside a day, a preposition or a clock time that is plainly one.
  const marked = [from, to].some(
    ({ node, next }, which) =>
      node.settled || node.fine || next > (which === 0 ? start : second) + 1,
  );
  const last = lexed.tokens[to.next];
  const ends = !dash && (last === undefined || last.type !== "word");
  if (!marked && !opened && !context.dated && !isDay(to.next) && !ends) return null;
  return { from: from.node, to: to.node, next: to.next };
}

/** "to about 4", "bis um 4", "y las 4": over what may stand before the second time. */
function skipTo(lexed: Lexed, start: number): number {
  let next = start;
  for (let count = 0; count < 2; count++) {
    const word = lexed.word(next);
    const passes =
      word.links?.some((link) => link === "at" || link === "around" || link === "at-hours") ===
      true;
    if (!passes && word.fill !== true) break;
    if (word.num !== undefined || word.clock !== undefined) break;
    next = lexed.after(next);
  }
  return next;
}

function settle(
  lexed: Lexed,
  read: HourAndMinute,
): { readonly node: ClockNode; readonly next: number } | null {
  let { hour, next } = read;
  if (hour > 24 || read.minute > 59 || (hour === 24 && read.minute > 0)) return null;
  const meridiem = readMeridiem(lexed, next);
  let settled = hour > 12 || hour === 0;
  if (meridiem !== null) {
    if (hour > 12) return null;
    hour = (hour % 12) + (meridiem.pm ? 12 : 0);
    settled = true;
    next = meridiem.next;
  } else if (hour <= 12 && hour > 0) hour %= 12;
  if (lexed.word(next).exactness === true) next = lexed.after(next);
  return {
    node: { minute: hour * 60 + read.minute, settled, fine: read.fine, reachMin: null },
    next,
  };
}
