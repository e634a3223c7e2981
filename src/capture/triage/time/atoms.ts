/**
 * The pieces that a moment is made of: a day, a week, a part of the day, a time on the clock. It promises to take no word
 * that a turn may mean otherwise.
 */
import { readMeridiem } from "./clock-reading.ts";
import { parseClock, parseClockRange, type ClockNode } from "./clock.ts";
import { readCount } from "./count.ts";
import { parseDate } from "./date.ts";
import { readLead, skipFill, type Lead } from "./lead.ts";
import type { Lexed } from "./lexer.ts";
import { parseNumbered } from "./numbered.ts";
import type { DayNode, MomentNode, PeriodNode } from "./nodes.ts";
import type { PartOfDay, Shade, TimeUnit, TimeWord } from "./words.ts";

/** One thing said about a moment, and the index of the token after it. */
export interface Atom {
  readonly day?: DayNode;
  readonly period?: PeriodNode;
  readonly part?: PartOfDay;
  readonly shade?: Shade;
  readonly clock?: ClockNode;
  readonly clockNow?: true;
  readonly clockEnd?: ClockNode;
  readonly whole?: true;
  readonly future: boolean;
  readonly next: number;
}

/** The piece that begins at `start`, or null; `moment` is what is said already. */
export function parseAtom(
  lexed: Lexed,
  start: number,
  lead: Lead,
  moment: MomentNode,
): Atom | null {
  if (isPerson(lexed, start)) return null;
  const numbered = parseNumbered(lexed, start, lead);
  if (numbered !== null) return { period: numbered.period, future: false, next: numbered.next };
  const date = parseDate(lexed, start, lead.links.includes("on"));
  if (date !== null) return { day: date.node, future: false, next: date.next };
  const dated = moment.day !== null || moment.part !== null;
  const context = { links: lead.links, dated, isPart: (at: number) => isPart(lexed, at) };
  const range = parseClockRange(lexed, start, context, (at) => isDayOrPart(lexed, at));
  if (range !== null)
    return { clock: range.from, clockEnd: range.to, future: false, next: range.next };
  const present = parseClockNow(lexed, start, moment);
  if (present !== null) return present;
  const clock = parseClock(lexed, start, context);
  if (clock !== null) return { clock: clock.node, future: false, next: clock.next };
  return (
    parseNamed(lexed, start, lead, moment) ??
    parsePeriod(lexed, start, lead, moment) ??
    parseAgoBeside(lexed, start, moment) ??
    parseHalfOfDay(lexed, start, moment)
  );
}

/** "Mr Friday", "Frau Montag", "the call with August": days and months are names of people too. */
function isPerson(lexed: Lexed, start: number): boolean {
  const { weekday, month, part } = lexed.word(start);
  if ((weekday === undefined && month === undefined) || part !== undefined) return false;
  return TITLES.has(lexed.tokens[start - 1]?.folded ?? "");
}

const TITLES: ReadonlySet<string> = new Set(
  "mr mrs ms miss sir herr herrn frau fraulein with mit".split(" "),
);

/** "This time" is a clock time beside another day: "this time last week", "gestern um diese Zeit". */
function parseClockNow(lexed: Lexed, start: number, moment: MomentNode): Atom | null {
  if (lexed.word(start).clockNow !== true) return null;
  const next = lexed.after(start);
  const follows = isDayOrPart(lexed, next) || readAgo(lexed, skipFill(lexed, next)) !== null;
  if (moment.day === null && moment.period === null && !follows) return null;
  const clock = { minute: 0, settled: true, fine: false, reachMin: null };
  return { clock, clockNow: true, future: false, next };
}

interface Ago {
  readonly unit: TimeUnit;
  readonly back: number;
  readonly next: number;
}

/** "two weeks ago", "vor zwei Wochen". */
function readAgo(lexed: Lexed, start: number): Ago | null {
  const before = lexed.word(start).ago === "before";
  const count = readCount(lexed, before ? skipFill(lexed, lexed.after(start)) : start);
  if (count?.unit == null || count.value === null) return null;
  if (!before && lexed.word(count.next).ago !== "after") return null;
  const next = before ? count.next : lexed.after(count.next);
  return { unit: count.unit, back: Math.round(count.value), next };
}

/** Beside a day, a part of it or a clock time: "Dienstag vor zwei Wochen", "in the evening two days ago". */
function parseAgoBeside(lexed: Lexed, start: number, moment: MomentNode): Atom | null {
  const ago = readAgo(lexed, start);
  if (ago === null) return null;
  const { unit, back, next } = ago;
  if (unit === "week") {
    const period = { unit, back, month: null, year: null, loose: true } as const;
    return moment.day === null && moment.clock === null ? null : { period, future: false, next };
  }
  if (unit !== "day" || moment.day !== null) return null;
  if (moment.part === null && moment.clock === null) return null;
  return { day: { type: "back", days: back }, future: false, next };
}

/** "Friday pm", "weds a.m.": after a day, and not after a clock time. */
function parseHalfOfDay(lexed: Lexed, start: number, moment: MomentNode): Atom | null {
  if (moment.day === null || moment.clock !== null) return null;
  const half = readMeridiem(lexed, start);
  if (half === null) return null;
  return { part: half.pm ? "afternoon" : "morning", future: false, next: half.next };
}

/** Days and parts of the day by name, with "last" or "this" before or after. */
function parseNamed(lexed: Lexed, start: number, lead: Lead, moment: MomentNode): Atom | null {
  const first = lexed.word(start);
  const which = first.which ?? null;
  const at = which === null ? start : skipFill(lexed, lexed.after(start));
  const word = which === null ? first : lexed.word(at);
  const next = lexed.after(at);
  const part = {
    ...(word.part === undefined ? {} : { part: word.part }),
    ...(word.shade === undefined || word.part === undefined ? {} : { shade: word.shade }),
  };
  if (word.back !== undefined && which === null) {
    // "morgen" and "mañana" are the morning after a day or a preposition, else tomorrow.
    const both = word.part !== undefined && word.back < 0;
    if (both && (moment.day !== null || moment.shade !== null || lead.links.length > 0))
      return { ...part, future: false, next };
    if (word.back < 0) return { future: true, next };
    const whole = word.whole === undefined ? {} : { whole: word.whole };
    return { ...part, ...whole, day: { type: "back", days: word.back }, future: false, next };
  }
  const night = parseNightOnto(lexed, start, lead, moment);
  if (night !== null) return night;
  if (word.back !== undefined && word.back < 0 && word.part !== undefined && which !== "next") {
    return { ...part, day: { type: "back", days: which === "last" ? 1 : 0 }, future: false, next };
  }
  if (word.weekday !== undefined) {
    // "lundi dernier", but not "Tuesday last week".
    const follows = lexed.word(lexed.after(next));
    const own = follows.unit === undefined && follows.month === undefined;
    const after = own ? lexed.word(next).which : undefined;
    const side = which ?? after ?? null;
    if (word.unsure === true && !isClear(lexed, next, lead, side, moment)) return null;
    const end = which === null && after !== undefined ? lexed.after(next) : next;
    if (side === "next") return { future: true, next: end };
    if (side === "before-last") {
      const day = { type: "weekday", weekday: word.weekday, which: "last" } as const;
      const period = { unit: "week", back: 1, month: null, year: null, loose: true } as const;
      return { ...part, day, period, future: false, next: end };
    }
    const day = { type: "weekday", weekday: word.weekday, which: side } as const;
    return { ...part, day, future: false, next: end };
  }
  if (word.part !== undefined) {
    // "vor dem Mittag" and "after lunchtime" are about the meal, which is an event to look up.
    if (word.part === "midday" && which === null && standsBeside(lexed, start)) return null;
    if (which === "next") return { future: true, next };
    // "Sonntag um halb zwei nachts" is before that day's morning, "Sonntagnacht um halb zwei" after its evening.
    const isSmall = word.part === "late-night" && moment.clock !== null && moment.day !== null;
    if (which === null) {
      return { ...part, ...(isSmall ? { part: "small-hours" } : {}), future: false, next };
    }
    return { ...part, day: { type: "back", days: DAYS_BACK[which] }, future: false, next };
  }
  if (word.shade !== undefined && which === null) return { shade: word.shade, future: false, next };
  return null;
}

const DAYS_BACK = { "before-last": 2, last: 1, this: 0 } as const;

/** "In der Nacht auf Sonntag" began on Saturday. */
function parseNightOnto(lexed: Lexed, start: number, lead: Lead, moment: MomentNode): Atom | null {
  const { weekday, back, unsure } = lexed.word(start);
  const isNight = moment.part === "night" || moment.part === "late-night";
  if (!isNight || moment.day !== null || !lead.links.includes("onto")) return null;
  const next = lexed.after(start);
  if (weekday !== undefined && unsure !== true) {
    const day = { type: "weekday", weekday: (weekday + 6) % 7, which: null } as const;
    return { day, future: false, next };
  }
  if (back === undefined || back < 0) return null;
  return { day: { type: "back", days: back + 1 }, future: false, next };
}

function standsBeside(lexed: Lexed, start: number): boolean {
  return [start - 1, start - 2].some((at) => {
    const links = lexed.word(at).links ?? [];
    return links.includes("before") || links.includes("after");
  });
}

/** "on Sat", "last Sun", "sat morning"; but not "the cat sat". */
function isClear(
  lexed: Lexed,
  next: number,
  lead: Lead,
  side: string | null,
  moment: MomentNode,
): boolean {
  const linked = lead.links.some((link) => link !== "at" && link !== "around" && link !== "and");
  return (
    linked ||
    side !== null ||
    moment.part !== null ||
    moment.clock !== null ||
    (lexed.own && lexed.tokens[next]?.type === "number") ||
    isDayOrPart(lexed, next) ||
    isCapitalized(lexed, next - 1) ||
    (lexed.own && standsBesideWeekday(lexed, next))
  );
}

/** "Mo bis Mi", "sat and sun", "mon/tue": short names of days are plain beside each other. */
function standsBesideWeekday(lexed: Lexed, next: number): boolean {
  const after = isJoint(lexed, next) ? next + 1 : next;
  const before = isJoint(lexed, next - 2) ? next - 3 : next - 2;
  return [after, before].some((at) => lexed.word(at).weekday !== undefined);
}

function isJoint(lexed: Lexed, at: number): boolean {
  const links = lexed.word(at).links ?? [];
  const joins = links.includes("to") || links.includes("until") || links.includes("and");
  return joins || /^[-–—/,&+]$/.test(lexed.tokens[at]?.text ?? "");
}

/** "What did I do Sat?": short names of days are written large; "sat", "so" and "do" within a turn are other words. */
function isCapitalized(lexed: Lexed, at: number): boolean {
  const before = lexed.tokens[at - 1];
  const within = before !== undefined && !/^[.?!:]$/.test(before.text);
  return lexed.own && within && /^\p{Lu}\p{Ll}/u.test(lexed.tokens[at]?.text ?? "");
}

/** "3 in the afternoon", "ten thirty this morning", "las 3 de la tarde". */
function isPart(lexed: Lexed, start: number): boolean {
  const at = readLead(lexed, start, false).next;
  const word = lexed.word(at);
  const named = word.which === "this" ? lexed.word(lexed.after(at)) : word;
  return named.part !== undefined && (named.back ?? 0) <= 0;
}

function isDayOrPart(lexed: Lexed, start: number): boolean {
  const word = lexed.word(readLead(lexed, start, true).next);
  const sure = word.weekday !== undefined && word.unsure !== true;
  return sure || word.part !== undefined || word.back !== undefined || word.which === "last";
}

const PERIODS: Partial<Record<TimeUnit, PeriodNode["unit"]>> = {
  week: "week",
  weekend: "weekend",
  month: "month",
  quarter: "quarter",
  year: "year",
};
const BACK = { "before-last": 2, last: 1, this: 0, next: -1 } as const;

function parsePeriod(lexed: Lexed, start: number, lead: Lead, moment: MomentNode): Atom | null {
  const first = lexed.word(start);
  const at = first.which === undefined ? start : skipFill(lexed, lexed.after(start));
  const word = lexed.word(at);
  let next = lexed.after(at);
  if (word.month !== undefined) return parseMonth(lexed, at, lead, first.which);
  const year = parseYear(lexed, start, lead);
  if (year !== null) return year;
  const unit = word.unit === undefined ? undefined : PERIODS[word.unit];
  if (unit === undefined) return null;
  const after = lexed.word(next).which;
  const which = first.which ?? after;
  if (first.which === undefined && after !== undefined) next = lexed.after(next);
  if (which === "next") return { future: true, next };
  // "am WE" and "ce we", but not the English "we".
  if (word.unsure === true && which === undefined && !lead.links.some((link) => link !== "and"))
    return null;
  // A bare "week" names none, but "the start of the week" does; a bare "weekend" is the last one there was.
  const named = unit === "weekend" || word.unitsBack !== undefined || moment.shade !== null;
  if (which === undefined && !named) return null;
  const back = word.unitsBack ?? BACK[which ?? "this"];
  return { period: { unit, back, month: null, year: null, loose: false }, future: false, next };
}

function parseMonth(lexed: Lexed, at: number, lead: Lead, which: TimeWord["which"]): Atom | null {
  const word = lexed.word(at);
  const month = word.month ?? null;
  let next = lexed.after(at);
  if (which === "next") return { future: true, next };
  const yearAt =
    lexed.word(next).links?.includes("of") === true || lexed.word(next).fill === true
      ? lexed.after(next)
      : next;
  const year = readYear(lexed, yearAt);
  if (year !== null) next = yearAt + 1;
  const linked = lead.links.some(
    (link) => link === "in" || link === "since" || link === "of" || link === "until",
  );
  if (word.unsure === true && which === undefined && year === null && !linked) return null;
  return { period: { unit: "month", back: null, month, year, loose: false }, future: false, next };
}

function parseYear(lexed: Lexed, at: number, lead: Lead): Atom | null {
  const year = readYear(lexed, at);
  if (year === null || !lead.links.some((link) => link === "in" || link === "since")) return null;
  return {
    period: { unit: "year", back: null, month: null, year, loose: false },
    future: false,
    next: at + 1,
  };
}

function readYear(lexed: Lexed, at: number): number | null {
  const token = lexed.tokens[at];
  return token?.type === "number" && /^20\d\d$/.test(token.text) ? Number(token.text) : null;
}
