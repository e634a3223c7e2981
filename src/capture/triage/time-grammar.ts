/**
 * The syntax of time expressions, the same for every language: which words stand together and what they name.
 * Nothing here knows the present; `time-range.ts` turns what is found into instants.
 */
import { parseClock, parseClockRange, type ClockNode } from "./time-clock.ts";
import { parseDate, type DateNode } from "./time-date.ts";
import type {
  Link,
  PartOfDay,
  TimeUnit,
  TimeWord,
  TimeWordMatch,
  TimeWords,
} from "./time-words.ts";
import type { Token } from "./turn-tokens.ts";

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
  readonly shade: "early" | "late" | null;
  readonly clock: ClockNode | null;
  /** End of a range of clock times within the moment. */
  readonly clockEnd: ClockNode | null;
  readonly around: boolean;
}

export type Bound = "since" | "before" | "after" | "until";

export type TimeNode =
  | {
      readonly type: "moment";
      readonly moment: MomentNode;
      readonly bound: Bound | null;
      readonly close: boolean;
    }
  | { readonly type: "range"; readonly from: MomentNode; readonly to: MomentNode }
  | { readonly type: "ago"; readonly minutes: number; readonly bound: Bound | null }
  | { readonly type: "rolling"; readonly count: number; readonly unit: TimeUnit }
  | { readonly type: "recent"; readonly minutes: number }
  | { readonly type: "now" }
  /** "tomorrow", "next week": read, so that its words are not taken for something else, and then left. */
  | { readonly type: "future" };

/** A node and the tokens it covers, half-open. */
export interface FoundTime {
  readonly node: TimeNode;
  readonly first: number;
  readonly next: number;
}

/** What the grammar sees of a turn. */
export interface Lexed {
  readonly tokens: readonly Token[];
  readonly match: (index: number) => TimeWordMatch | null;
  /** The roles of the phrase that starts at `index`. */
  readonly word: (index: number) => TimeWord;
  readonly after: (index: number) => number;
}

/** @param guess Whether misspelt words may be guessed. */
export function lexTimes(tokens: readonly Token[], words: TimeWords, guess: boolean): Lexed {
  const known = tokens.map((_, index) => {
    const match = words.match(tokens, index);
    return match !== null && (guess || !match.typo) ? match : null;
  });
  return {
    tokens,
    match: (index) => known[index] ?? null,
    word: (index) => known[index]?.word ?? NOTHING,
    after: (index) => known[index]?.next ?? index + 1,
  };
}

const NOTHING: TimeWord = {};

const EMPTY: MomentNode = {
  day: null,
  period: null,
  part: null,
  shade: null,
  clock: null,
  clockEnd: null,
  around: false,
};

/** Every time expression, left to right, the longest at each place. */
export function parseTimes(lexed: Lexed): readonly FoundTime[] {
  const found: FoundTime[] = [];
  let index = 0;
  while (index < lexed.tokens.length) {
    const time = parseTime(lexed, index);
    if (time === null) {
      index++;
      continue;
    }
    found.push(time);
    index = time.next;
  }
  return found;
}

function parseTime(lexed: Lexed, first: number): FoundTime | null {
  const lead = readLead(lexed, first, false);
  const start = lead.next;
  const rolling = parseRolling(lexed, start, lead);
  if (rolling !== null) return { ...rolling, first };
  const ago = parseAgo(lexed, start, lead);
  if (ago !== null) return { ...ago, first };
  const range = parseRange(lexed, start, lead);
  if (range !== null) return { ...range, first };
  const moment = parseMoment(lexed, start, lead);
  if (moment !== null) return { ...moment, first };
  const word = lexed.word(first);
  if (word.now === true) return { node: { type: "now" }, first, next: lexed.after(first) };
  if (word.recentMin === undefined) return null;
  return { node: { type: "recent", minutes: word.recentMin }, first, next: lexed.after(first) };
}

// ---- what stands before a time

interface Lead {
  readonly next: number;
  readonly links: readonly Link[];
  readonly bound: Bound | null;
  readonly opener: "from" | "between" | null;
  readonly close: boolean;
}

const MAX_LEAD_WORDS = 5;

/** Reads over prepositions and fillers; `inside` a moment a comma may stand between, too. */
function readLead(lexed: Lexed, start: number, inside: boolean): Lead {
  let next = start;
  const links: Link[] = [];
  let close = false;
  for (let count = 0; count < MAX_LEAD_WORDS; count++) {
    const token = lexed.tokens[next];
    const word = lexed.word(next);
    if (inside && token?.type === "mark" && /^[,(]$/.test(token.text)) {
      next++;
      continue;
    }
    // "the day before yesterday" and "a las" are phrases already; a word that is more than a link ends the lead.
    if (isCore(word)) break;
    if (
      word.links === undefined &&
      word.fill === undefined &&
      word.close === undefined &&
      word.dayArticle === undefined
    ) {
      break;
    }
    // "and yesterday": the conjunction is the turn's.
    if (!inside && word.links?.every((link) => link === "and") === true) break;
    const counted = readCount(lexed, skipFill(lexed, lexed.after(next)));
    if (word.ago === "before" && counted?.unit != null) break;
    links.push(...(word.links ?? []));
    close ||= word.close === true;
    next = lexed.after(next);
  }
  const bound = BOUNDS.find((side) => links.includes(side)) ?? null;
  // "von 2 bis 4" opens a range, "seit" does not; Spanish "desde" does both.
  const opener = links.includes("between") ? "between" : links.includes("from") ? "from" : null;
  return { next, links, bound, opener, close };
}

const BOUNDS: readonly Bound[] = ["since", "before", "after", "until"];

function isCore(word: TimeWord): boolean {
  return (
    word.weekday !== undefined ||
    word.month !== undefined ||
    word.part !== undefined ||
    word.back !== undefined ||
    word.clock !== undefined ||
    word.unit !== undefined ||
    word.which !== undefined ||
    word.shade !== undefined
  );
}

// ---- spans counted from now

function parseRolling(lexed: Lexed, start: number, lead: Lead): Omit<FoundTime, "first"> | null {
  const word = lexed.word(start);
  if (word.which === "last") {
    const count = readCount(lexed, skipFill(lexed, lexed.after(start)));
    if (count?.unit != null) return rolling(count.value ?? few(count.unit), count.unit, count.next);
    const at = skipFill(lexed, lexed.after(start));
    const unit = lexed.word(at).unit;
    const spansNow =
      word.rolling === true || unit === "hour" || unit === "minute" || unit === "day";
    if (unit !== undefined && spansNow && unit !== "weekend") {
      const half = readAndHalf(lexed, lexed.after(at));
      return rolling(1 + half.value, unit, half.next);
    }
    return null;
  }
  const count = readCount(lexed, start);
  if (count === null) return null;
  if (count.unit === null) {
    // "les 2 dernières heures"
    const last = lexed.word(count.next);
    const unit = lexed.word(lexed.after(count.next)).unit;
    if (last.which !== "last" || unit === undefined) return null;
    return rolling(count.value ?? few(unit), unit, lexed.after(lexed.after(count.next)));
  }
  const since = lead.links.includes("since") && !lead.links.includes("before");
  if (since && lexed.word(count.next).ago !== "after" && SHORT_UNITS.has(count.unit)) {
    return rolling(count.value ?? few(count.unit), count.unit, count.next);
  }
  // "las 2 horas pasadas", "les 20 minutes passées"
  if (lexed.word(count.next).which === "last" && lexed.word(count.next).rolling === true) {
    return rolling(count.value ?? few(count.unit), count.unit, lexed.after(count.next));
  }
  return null;
}

const SHORT_UNITS: ReadonlySet<TimeUnit> = new Set(["second", "minute", "hour", "day", "week"]);

function rolling(count: number, unit: TimeUnit, next: number): Omit<FoundTime, "first"> {
  return { node: { type: "rolling", count, unit }, next };
}

function parseAgo(lexed: Lexed, start: number, lead: Lead): Omit<FoundTime, "first"> | null {
  const word = lexed.word(start);
  const before = word.ago === "before";
  const count = readCount(lexed, before ? skipFill(lexed, lexed.after(start)) : start);
  if (count?.unit == null) return null;
  let next = count.next;
  if (!before) {
    if (lexed.word(next).ago !== "after") return null;
    next = lexed.after(next);
  }
  const { unit } = count;
  const value = count.value ?? few(unit);
  const minutes = MINUTES[unit];
  if (minutes !== undefined) {
    // "desde hace 2 horas"
    const bound = word.links?.includes("since") === true ? "since" : lead.bound;
    return { node: { type: "ago", minutes: value * minutes, bound }, next };
  }
  const back = Math.max(1, Math.round(value));
  const moment: MomentNode =
    unit === "day" || unit === "second" || unit === "minute" || unit === "hour"
      ? { ...EMPTY, day: { type: "back", days: back } }
      : { ...EMPTY, period: { unit, back, month: null, year: null, loose: true } };
  const inside = readLead(lexed, next, true);
  return growMoment(
    lexed,
    inside.next,
    moment,
    { ...inside, bound: lead.bound ?? inside.bound },
    next,
  );
}

const MINUTES: Partial<Record<TimeUnit, number>> = { second: 1 / 60, minute: 1, hour: 60 };

function few(unit: TimeUnit): number {
  return unit === "minute" || unit === "second" ? 10 : unit === "hour" || unit === "day" ? 4 : 3;
}

interface Count {
  /** Null for "a few". */
  readonly value: number | null;
  readonly unit: TimeUnit | null;
  readonly next: number;
}

/** "20 minutes", "an hour and a half", "1,5 Stunden", "dreiviertelstunde"; the unit may be missing. */
function readCount(lexed: Lexed, start: number): Count | null {
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

/** "… and a half", "… y media", "… et demie". */
function readAndHalf(
  lexed: Lexed,
  start: number,
): { readonly value: number; readonly next: number } {
  const none = { value: 0, next: start };
  if (lexed.word(start).links?.includes("and") !== true) return none;
  let next = lexed.after(start);
  if (lexed.word(next).num === 1) next = lexed.after(next);
  if (lexed.word(next).clockMinutes !== 30 && lexed.word(next).num !== 0.5) return none;
  return { value: 0.5, next: lexed.after(next) };
}

function skipFill(lexed: Lexed, start: number): number {
  let next = start;
  for (let count = 0; count < 2; count++) {
    const word = lexed.word(next);
    if (word.fill !== true || isCore(word) || word.num !== undefined || word.few !== undefined) {
      if (word.links?.includes("around") !== true) break;
    }
    next = lexed.after(next);
  }
  return next;
}

// ---- ranges

function parseRange(lexed: Lexed, start: number, lead: Lead): Omit<FoundTime, "first"> | null {
  if (lead.opener === null) return null;
  const from = collectMoment(lexed, start, EMPTY, { ...lead, links: [...lead.links, "at"] });
  if (from === null) return null;
  const link = readConnector(lexed, from.next, lead.opener === "between");
  if (link === null) return null;
  const second = readLead(lexed, link, false);
  const to = collectMoment(lexed, second.next, EMPTY, {
    ...second,
    links: [...second.links, "at"],
  });
  if (to === null) return null;
  return { node: { type: "range", ...share(from.moment, to.moment) }, next: to.next };
}

/** The index after "to", "until", "bis" or a dash; of "and" only after "between". */
function readConnector(lexed: Lexed, start: number, between: boolean): number | null {
  const token = lexed.tokens[start];
  if (token?.type === "mark" && /^[-–—]$/.test(token.text)) return start + 1;
  const links = lexed.word(start).links ?? [];
  const joins =
    links.includes("to") || links.includes("until") || (between && links.includes("and"));
  return joins ? lexed.after(start) : null;
}

/** What is said once holds for both ends: "between 2 and 4 yesterday", "gestern von 2 bis 4". */
function share(
  from: MomentNode,
  to: MomentNode,
): { readonly from: MomentNode; readonly to: MomentNode } {
  const day = from.day ?? (from.period === null ? to.day : null);
  const period = from.period ?? (from.day === null ? to.period : null);
  const clocked = from.clock !== null || to.clock !== null;
  return {
    from: { ...from, day, period, part: from.part ?? (clocked ? to.part : null) },
    to: {
      ...to,
      day: to.day ?? (to.period === null ? day : null),
      period: to.period ?? (to.day === null ? period : null),
      part: to.part ?? (clocked ? from.part : null),
    },
  };
}

// ---- moments

function parseMoment(lexed: Lexed, start: number, lead: Lead): Omit<FoundTime, "first"> | null {
  return growMoment(lexed, start, EMPTY, lead);
}

function growMoment(
  lexed: Lexed,
  start: number,
  seed: MomentNode,
  lead: Lead,
  seedNext = start,
): Omit<FoundTime, "first"> | null {
  const grown = collectMoment(lexed, start, seed, lead, seedNext);
  if (grown === null) return null;
  if (grown.future) return { node: { type: "future" }, next: grown.next };
  const { moment } = grown;
  if (moment.day !== null && moment.clock === null && lead.bound === null) {
    const link = readConnector(lexed, grown.next, false);
    const second = link === null ? null : readLead(lexed, link, false);
    const to = second === null ? null : collectMoment(lexed, second.next, EMPTY, second);
    if (to !== null && to.moment.day !== null && to.moment.clock === null) {
      return { node: { type: "range", from: moment, to: to.moment }, next: to.next };
    }
  }
  // "from 3 pm" without an end is the time since; "from Monday" is Monday.
  const open = lead.opener === "from" && moment.clock !== null && moment.clockEnd === null;
  const asked = grown.bound ?? lead.bound ?? (open ? "since" : null);
  // "desde las 9 hasta las 11" is closed on both sides.
  const bound = moment.clockEnd === null ? asked : null;
  return { node: { type: "moment", moment, bound, close: lead.close }, next: grown.next };
}

interface Collected {
  readonly moment: MomentNode;
  readonly bound: Bound | null;
  readonly future: boolean;
  readonly next: number;
}

function collectMoment(
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
    // "yesterday after 5": the bound stands inside.
    if (at !== start && current.bound !== null) bound = current.bound;
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

interface Atom {
  readonly day?: DayNode;
  readonly period?: PeriodNode;
  readonly part?: PartOfDay;
  readonly shade?: "early" | "late";
  readonly clock?: ClockNode;
  readonly clockEnd?: ClockNode;
  readonly future: boolean;
  readonly next: number;
}

/** Null when the atom says again what is said already: a new expression begins there. */
function merge(moment: MomentNode, atom: Atom): MomentNode | null {
  const clash =
    (atom.day !== undefined && moment.day !== null) ||
    (atom.period !== undefined && (moment.period !== null || moment.day?.type === "back")) ||
    (atom.part !== undefined && moment.part !== null) ||
    (atom.shade !== undefined && moment.shade !== null) ||
    (atom.clock !== undefined && moment.clock !== null);
  if (clash) return null;
  return {
    day: atom.day ?? moment.day,
    period: atom.period ?? moment.period,
    part: atom.part ?? moment.part,
    shade: atom.shade ?? moment.shade,
    clock: atom.clock ?? moment.clock,
    clockEnd: atom.clockEnd ?? moment.clockEnd,
    around: moment.around,
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
  return parseNamed(lexed, start, lead, moment) ?? parsePeriod(lexed, start, lead);
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
    return { ...part, day: { type: "back", days: word.back }, future: false, next };
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
    if (which === null) return { part: word.part, future: false, next };
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

function parsePeriod(lexed: Lexed, start: number, lead: Lead): Atom | null {
  const first = lexed.word(start);
  const at = first.which === undefined ? start : skipFill(lexed, lexed.after(start));
  const word = lexed.word(at);
  let next = lexed.after(at);
  if (word.month !== undefined) return parseMonth(lexed, at, lead, first.which);
  const named = parseYear(lexed, start, lead);
  if (named !== null) return named;
  const unit = word.unit === undefined ? undefined : PERIODS[word.unit];
  if (unit === undefined) return null;
  const after = lexed.word(next).which;
  const which = first.which ?? after;
  if (first.which === undefined && after !== undefined) next = lexed.after(next);
  if (which === "next") return { future: true, next };
  // A bare "week" names none; a bare "weekend" is the last one there was.
  if (which === undefined && unit !== "weekend" && word.unitsBack === undefined) return null;
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
