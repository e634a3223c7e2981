/**
 * The syntax of time expressions, the same for every language: which words stand together and what they name.
 * Nothing here knows the present; `time-range.ts` turns what is found into instants.
 */
import { few, isPlural, readAndHalf, readCount, readLength, type Count } from "./count.ts";
import { readConnector, readLead, skipFill, type Bound, type Lead } from "./lead.ts";
import type { Lexed } from "./lexer.ts";
import { collectMoment, opensAt } from "./moment.ts";
import { EMPTY_MOMENT, type MomentNode } from "./nodes.ts";
import type { PartOfDay, TimeUnit } from "./words.ts";

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
  /** "And the day before?": counted from the time that the turn before was about. */
  | { readonly type: "beside"; readonly unit: "day" | "week"; readonly step: 1 | -1 | 2 | -2 }
  /** "And an hour later?": the same; `alone` where nothing was spoken of. */
  | {
      readonly type: "apart";
      readonly step: 1 | -1;
      readonly count: number;
      readonly unit: TimeUnit;
      readonly alone: TimeNode | null;
    }
  /** "tomorrow", "good night", "later": read, so that its words are not taken for something else, and left. */
  | { readonly type: "future" | "greeting" };

/** A node and the tokens it covers, half-open. */
export interface FoundTime {
  readonly node: TimeNode;
  readonly first: number;
  readonly next: number;
}

/** Every time expression, left to right, the longest at each place. */
export function parseTimes(lexed: Lexed): readonly FoundTime[] {
  if (isGreeting(lexed)) {
    return [{ node: { type: "greeting" }, first: 0, next: lexed.after(0) }];
  }
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

/** "Morning!" and "evening all" as the whole turn are no time. */
function isGreeting(lexed: Lexed): boolean {
  const { part, back, weekday } = lexed.word(0);
  const bare = part !== undefined && back === undefined && weekday === undefined;
  const words = lexed.tokens.filter(({ type }) => type !== "mark");
  return bare && words.length <= 2 && !lexed.tokens.some(({ text }) => text === "?");
}

function parseTime(lexed: Lexed, first: number): FoundTime | null {
  if (lexed.word(first).greeting === true) {
    return { node: { type: "greeting" }, first, next: lexed.after(first) };
  }
  if (lexed.word(first).ahead === true) {
    const until = readLength(lexed, lexed.after(first), true);
    if (until?.unit != null) return { node: { type: "future" }, first, next: until.next };
  }
  const lead = readLead(lexed, first, false);
  const start = lead.next;
  const rolling = parseRolling(lexed, start, lead);
  if (rolling !== null) return { ...rolling, first };
  const ago = parseAgo(lexed, start, lead);
  const apart = parseApart(lexed, start, ago?.node ?? null);
  if (apart !== null) return { ...apart, first };
  if (ago !== null) return { ...ago, first };
  const range = parseRange(lexed, start, lead);
  if (range !== null) return { ...range, first };
  const moment = growMoment(lexed, start, EMPTY_MOMENT, lead);
  if (moment !== null) return { ...moment, first };
  const word = lexed.word(first);
  const { beside } = word;
  // "The day before the fair" leans on what follows.
  if (beside !== undefined && lexed.tokens[lexed.after(first)]?.type !== "word") {
    return { node: { type: "beside", ...beside }, first, next: lexed.after(first) };
  }
  if (word.now === true) return { node: { type: "now" }, first, next: lexed.after(first) };
  // "Más tarde" is no afternoon.
  if (word.apart === 1 && lexed.after(first) > first + 1) {
    return { node: { type: "greeting" }, first, next: lexed.after(first) };
  }
  if (word.recentMin === undefined) return null;
  return { node: { type: "recent", minutes: word.recentMin }, first, next: lexed.after(first) };
}

// ---- spans counted from now

function parseRolling(lexed: Lexed, start: number, lead: Lead): Omit<FoundTime, "first"> | null {
  const word = lexed.word(start);
  // "Passé 15h" is after three.
  if (word.which === "last" && !(word.links?.includes("after") === true && !word.rolling)) {
    const count = readCount(lexed, skipFill(lexed, lexed.after(start)));
    if (count?.unit != null) return rolling(count.value ?? few(count.unit), count.unit, count.next);
    const at = skipFill(lexed, lexed.after(start));
    const unit = lexed.word(at).unit;
    const spansNow =
      word.rolling === true ||
      isPlural(lexed, at) ||
      unit === "hour" ||
      unit === "minute" ||
      unit === "day";
    if (unit !== undefined && spansNow && unit !== "weekend") {
      const half = readAndHalf(lexed, lexed.after(at));
      const count = isPlural(lexed, at) ? few(unit) : 1 + half.value;
      return rolling(count, unit, half.next);
    }
    return null;
  }
  const count = readCount(lexed, start);
  if (count === null) return null;
  if (count.unit === null) {
    // "les 2 dernières heures"
    const last = lexed.word(count.next);
    const unitAt = lexed.after(count.next);
    const unit = lexed.word(unitAt).unit;
    // "Ticket 12 last week" counts no weeks.
    if (last.which !== "last" || unit === undefined || !isPlural(lexed, unitAt)) return null;
    return rolling(count.value ?? few(unit), unit, lexed.after(lexed.after(count.next)));
  }
  // "à partir de 10h" is a time on the clock, and so is "depuis 8h ce matin".
  const clocked =
    lead.links.includes("at") || (count.unit === "hour" && isToday(lexed, count.next));
  const since = lead.links.includes("since") && !lead.links.includes("before") && !clocked;
  if (since && lexed.word(count.next).ago !== "after" && SHORT_UNITS.has(count.unit)) {
    return rolling(count.value ?? few(count.unit), count.unit, count.next);
  }
  // "las 2 horas pasadas", "les 20 minutes passées"
  if (lexed.word(count.next).which === "last" && lexed.word(count.next).rolling === true) {
    return rolling(count.value ?? few(count.unit), count.unit, lexed.after(count.next));
  }
  return null;
}

/** Whether a day or a part of it follows. */
function isToday(lexed: Lexed, start: number): boolean {
  const { next } = readLead(lexed, start, false);
  const { part, back } = lexed.word(lexed.word(next).which === "this" ? lexed.after(next) : next);
  return part !== undefined || back !== undefined;
}

const SHORT_UNITS: ReadonlySet<TimeUnit> = new Set(["second", "minute", "hour", "day", "week"]);

function rolling(count: number, unit: TimeUnit, next: number): Omit<FoundTime, "first"> {
  return { node: { type: "rolling", count, unit }, next };
}

function parseAgo(lexed: Lexed, start: number, lead: Lead): Omit<FoundTime, "first"> | null {
  const word = lexed.word(start);
  const before = word.ago === "before";
  const count = readLength(lexed, before ? skipFill(lexed, lexed.after(start)) : start, before);
  if (count === null) return null;
  if (count.unit === null) return parseNamedAgo(lexed, count, lead, before);
  const next = before ? count.next : afterAgo(lexed, count.next);
  if (next === null) return null;
  const { unit } = count;
  const value = count.value ?? few(unit);
  const minutes = MINUTES[unit];
  if (minutes !== undefined) {
    // "desde hace 2 horas"
    const bound = word.links?.includes("since") === true ? "since" : lead.bound;
    return { node: { type: "ago", minutes: value * minutes, bound }, next };
  }
  const back = Math.max(1, Math.round(value));
  const seed: MomentNode =
    unit === "day" || unit === "second" || unit === "minute" || unit === "hour"
      ? { ...EMPTY_MOMENT, day: { type: "back", days: back } }
      : { ...EMPTY_MOMENT, period: { unit, back, month: null, year: null, loose: true } };
  return growSeed(lexed, next, seed, lead);
}

/** "an hour later"; but "an hour before the meeting" leans on what follows. */
function parseApart(
  lexed: Lexed,
  start: number,
  alone: TimeNode | null,
): Omit<FoundTime, "first"> | null {
  const length = readLength(lexed, start, false);
  if (length?.unit == null) return null;
  const { apart } = lexed.word(length.next);
  const next = lexed.after(length.next);
  if (apart === undefined || lexed.tokens[next]?.type === "word") return null;
  const count = length.value ?? few(length.unit);
  return { node: { type: "apart", step: apart, count, unit: length.unit, alone }, next };
}

/** "two nights ago", "three Tuesdays ago", "hace dos jueves". */
function parseNamedAgo(
  lexed: Lexed,
  count: Count,
  lead: Lead,
  before: boolean,
): Omit<FoundTime, "first"> | null {
  const { part, weekday } = lexed.word(count.next);
  const named = lexed.after(count.next);
  const next = before ? named : afterAgo(lexed, named);
  const back = Math.round(count.value ?? 0);
  if (next === null || back < 1) return null;
  if (part !== undefined) {
    const day = { type: "back", days: back } as const;
    return growSeed(lexed, next, { ...EMPTY_MOMENT, part, day }, lead);
  }
  if (weekday === undefined) return null;
  const day = { type: "weekday", weekday, which: null } as const;
  const period = { unit: "week", back: back - 1, month: null, year: null, loose: true } as const;
  return growSeed(lexed, next, { ...EMPTY_MOMENT, day, period }, lead);
}

/** The index after "ago", also after "or so ago". */
function afterAgo(lexed: Lexed, start: number): number | null {
  if (lexed.word(start).ago === "after") return lexed.after(start);
  const filled = lexed.word(start).fill === true ? lexed.after(start) : start;
  return lexed.word(filled).ago === "after" ? lexed.after(filled) : null;
}

function growSeed(lexed: Lexed, next: number, seed: MomentNode, lead: Lead) {
  const inside = readLead(lexed, next, true);
  const bound = lead.bound ?? inside.bound;
  return growMoment(lexed, inside.next, seed, { ...inside, bound }, next);
}

const MINUTES: Partial<Record<TimeUnit, number>> = { second: 1 / 60, minute: 1, hour: 60 };

// ---- ranges and moments

function parseRange(lexed: Lexed, start: number, lead: Lead): Omit<FoundTime, "first"> | null {
  if (lead.opener === null) return null;
  const from = collectMoment(lexed, start, EMPTY_MOMENT, { ...lead, links: [...lead.links, "at"] });
  if (from === null) return null;
  const link = readConnector(lexed, from.next, lead.opener === "between");
  if (link === null) return null;
  const second = readLead(lexed, link, false);
  const to = collectMoment(lexed, second.next, EMPTY_MOMENT, {
    ...second,
    links: [...second.links, "at"],
  });
  if (to === null) return null;
  return { node: { type: "range", ...share(from.moment, to.moment) }, next: to.next };
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
    const to = second === null ? null : collectMoment(lexed, second.next, EMPTY_MOMENT, second);
    if (to !== null && to.moment.day !== null && to.moment.clock === null) {
      const { part } = moment;
      // "la nuit de mardi à mercredi" is one night, and begins on the first of the days.
      if (part !== null && NIGHTS.has(part) && to.moment.part === null) {
        const night = part === "small-hours" ? { ...to.moment, part } : moment;
        return {
          node: { type: "moment", moment: night, bound: null, close: lead.close },
          next: to.next,
        };
      }
      return { node: { type: "range", from: moment, to: to.moment }, next: to.next };
    }
  }
  // "on Tuesday from 3 pm" is the rest of that day, "since 3 pm on Tuesday" all the time until now.
  const ofDay = moment.day !== null && (moment.clock !== null || moment.part !== null);
  const isOnward = lead.bound === null || lead.links.includes("onward");
  const since = grown.bound ?? (lead.links.includes("onward") ? lead.bound : null);
  const inside = since === "since" && ofDay && isOnward ? "onward" : grown.bound;
  // "from Monday" is Monday.
  const from = opensAt(lead, moment) ? (ofDay ? "onward" : "since") : null;
  const asked = inside ?? lead.bound ?? from;
  // "desde las 9 hasta las 11" is closed on both sides.
  const bound = moment.clockEnd === null ? asked : null;
  const close = lead.close || grown.close;
  return { node: { type: "moment", moment, bound, close }, next: grown.next };
}

const NIGHTS: ReadonlySet<PartOfDay> = new Set(["evening", "night", "late-night", "small-hours"]);
