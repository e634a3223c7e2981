/**
 * What can be said about one moment, in any order: a day, a week, a part of the day, a time on the clock. It
 * promises to begin a new moment where something is said twice.
 */
import { parseClock, parseClockRange, type ClockNode } from "./time-clock.ts";
import { readCount } from "./time-count.ts";
import { parseDate, type DateNode } from "./time-date.ts";
import { readLead, skipFill, type Bound, type Lead } from "./time-lead.ts";
import type { Lexed } from "./time-lexer.ts";
import type { PartOfDay, Shade, TimeUnit, TimeWord } from "./time-words.ts";

export type DayNode =
  | { readonly type: "back"; readonly days: number }
  | { readonly type: "weekday"; readonly weekday: number; readonly which: "last" | "this" | null }
  | DateNode;

export interface PeriodNode {
  readonly unit: "week" | "weekend" | "month" | "year";
  /** How many back from the present one; null when `month` or `year` names it. */
  readonly back: number | null;
  readonly month: number | null;
  readonly year: number | null;
  /** "a week ago" is a day or so around, "last week" is the week. */
  readonly loose: boolean;
}

/** What can be said about one moment, in any order: "around 3 on Tuesday", "gestern Nachmittag". */
export interface MomentNode {
  readonly day: DayNode | null;
  readonly period: PeriodNode | null;
  readonly part: PartOfDay | null;
  readonly shade: Shade | null;
  readonly clock: ClockNode | null;
  /** End of a range of clock times within the moment. */
  readonly clockEnd: ClockNode | null;
  readonly around: boolean;
  /** The day was only named as a whole ("all day"); another name for it takes its place. */
  readonly whole: boolean;
}

export const EMPTY_MOMENT: MomentNode = {
  day: null,
  period: null,
  part: null,
  shade: null,
  clock: null,
  clockEnd: null,
  around: false,
  whole: false,
};

export interface Collected {
  readonly moment: MomentNode;
  readonly bound: Bound | null;
  readonly future: boolean;
  readonly next: number;
}

/** Gathers what is said from `start` on; null when nothing is. `seed` ends at `seedNext`. */
export function collectMoment(
  lexed: Lexed,
  start: number,
  seed: MomentNode,
  lead: Lead,
  seedNext = start,
): Collected | null {
  let moment: MomentNode = lead.links.includes("around") ? { ...seed, around: true } : seed;
  let next = seedNext;
  let bound: Bound | null = null;
  let future = false;
  let current: Lead = lead;
  let at = start;
  for (;;) {
    const atom = parseAtom(lexed, at, current, moment);
    const merged = atom === null ? null : merge(moment, atom);
    if (atom === null || merged === null) break;
    moment = current.links.includes("around") ? { ...merged, around: true } : merged;
    future ||= atom.future;
    // "yesterday after 5", "on Tuesday from 3 pm": the bound stands inside.
    if (at !== start) bound = current.bound ?? (opensAt(current, atom) ? "since" : bound);
    next = atom.next;
    current = readLead(lexed, next, true);
    at = current.next;
  }
  if (
    moment.day === null &&
    moment.period === null &&
    moment.part === null &&
    moment.clock === null
  ) {
    return future && next !== seedNext ? { moment, bound, future, next } : null;
  }
  return { moment, bound, future, next };
}

/** "from 3 pm" without an end is the time since; "la réunion de 15h" is the one at three. */
export function opensAt(
  { opener, links }: Lead,
  { clock, clockEnd }: { readonly clock?: ClockNode | null; readonly clockEnd?: ClockNode | null },
): boolean {
  return opener === "from" && !links.includes("of") && clock != null && clockEnd == null;
}

interface Atom {
  readonly day?: DayNode;
  readonly period?: PeriodNode;
  readonly part?: PartOfDay;
  readonly shade?: Shade;
  readonly clock?: ClockNode;
  readonly clockEnd?: ClockNode;
  readonly whole?: true;
  readonly future: boolean;
  readonly next: number;
}

/** Null when the atom says again what is said already: a new expression begins there. */
function merge(moment: MomentNode, atom: Atom): MomentNode | null {
  const whole = atom.whole === true || moment.whole;
  const overDay = moment.day?.type === "back" && atom.period?.loose !== true;
  // "le jeudi 19 novembre": the weekday says again which day the date is.
  const sameDay = moment.day?.type === "weekday" && atom.day?.type === "date";
  const clash =
    (atom.day !== undefined && moment.day !== null && !whole && !sameDay) ||
    (atom.period !== undefined && (moment.period !== null || overDay)) ||
    (atom.part !== undefined && moment.part !== null) ||
    (atom.shade !== undefined && moment.shade !== null) ||
    (atom.clock !== undefined && moment.clock !== null);
  if (clash) return null;
  const named = atom.whole === true ? (moment.day ?? atom.day) : (atom.day ?? moment.day);
  return {
    day: named ?? null,
    period: atom.period ?? moment.period,
    part: atom.part ?? moment.part,
    shade: atom.shade ?? moment.shade,
    clock: atom.clock ?? moment.clock,
    clockEnd: atom.clockEnd ?? moment.clockEnd,
    around: moment.around,
    whole: atom.whole === true && moment.day === null,
  };
}

function parseAtom(lexed: Lexed, start: number, lead: Lead, moment: MomentNode): Atom | null {
  const date = parseDate(lexed, start, lead.links.includes("on"));
  if (date !== null) return { day: date.node, future: false, next: date.next };
  const dated = moment.day !== null || moment.part !== null;
  const context = { links: lead.links, dated, isPart: (at: number) => isPart(lexed, at) };
  const range = parseClockRange(lexed, start, context, (at) => isDayOrPart(lexed, at));
  if (range !== null)
    return { clock: range.from, clockEnd: range.to, future: false, next: range.next };
  const clock = parseClock(lexed, start, context);
  if (clock !== null) return { clock: clock.node, future: false, next: clock.next };
  return (
    parseNamed(lexed, start, lead, moment) ??
    parsePeriod(lexed, start, lead, moment) ??
    parseWeeksAgo(lexed, start, moment)
  );
}

/** After a day: "Dienstag vor zwei Wochen", "mardi d'il y a deux semaines". */
function parseWeeksAgo(lexed: Lexed, start: number, moment: MomentNode): Atom | null {
  if (moment.day === null || lexed.word(start).ago !== "before") return null;
  const count = readCount(lexed, skipFill(lexed, lexed.after(start)));
  if (count?.unit !== "week" || count.value === null) return null;
  const back = Math.round(count.value);
  const period = { unit: "week", back, month: null, year: null, loose: true } as const;
  return { period, future: false, next: count.next };
}

/** Days and parts of the day by name, with "last" or "this" before or after. */
function parseNamed(lexed: Lexed, start: number, lead: Lead, moment: MomentNode): Atom | null {
  const first = lexed.word(start);
  const which = first.which ?? null;
  const at = which === null ? start : skipFill(lexed, lexed.after(start));
  const word = which === null ? first : lexed.word(at);
  const next = lexed.after(at);
  const part = word.part === undefined ? {} : { part: word.part };
  if (word.back !== undefined && which === null) {
    // "morgen" and "mañana" are the morning after a day or a preposition, else tomorrow.
    const both = word.part !== undefined && word.back < 0;
    if (both && (moment.day !== null || lead.links.length > 0))
      return { ...part, future: false, next };
    if (word.back < 0) return { future: true, next };
    const whole = word.whole === undefined ? {} : { whole: word.whole };
    return { ...part, ...whole, day: { type: "back", days: word.back }, future: false, next };
  }
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
    const day = { type: "weekday", weekday: word.weekday, which: side } as const;
    return { ...part, day, future: false, next: end };
  }
  if (word.part !== undefined) {
    // "vor dem Mittag" and "after lunchtime" are about the meal, which is an event to look up.
    if (word.part === "midday" && which === null && standsBeside(lexed, start)) return null;
    if (which === "next") return { future: true, next };
    const shade = word.shade === undefined ? {} : { shade: word.shade };
    if (which === null) return { part: word.part, ...shade, future: false, next };
    return {
      part: word.part,
      day: { type: "back", days: which === "last" ? 1 : 0 },
      future: false,
      next,
    };
  }
  if (word.shade !== undefined && which === null) return { shade: word.shade, future: false, next };
  return null;
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
    isDayOrPart(lexed, next)
  );
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
  year: "year",
};
const BACK = { last: 1, this: 0, next: -1 } as const;

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
