/**
 * Finds the times a turn speaks of and says which stretch of the past each one means. A pure function of
 * (turn, now, zone): the reading is biased to the past and never ends after now.
 */
import {
  addDays,
  createLocalTime,
  daysBetween,
  firstOfMonth,
  validDay,
  weekdayOf,
  type LocalDay,
  type LocalTime,
} from "./local-time.ts";
import type { ClockNode } from "./time-clock.ts";
import {
  lexTimes,
  parseTimes,
  type Bound,
  type DayNode,
  type FoundTime,
  type MomentNode,
  type PeriodNode,
  type TimeNode,
} from "./time-grammar.ts";
import { TIME_WORDS } from "./time-vocabulary.ts";
import type { PartOfDay } from "./time-words.ts";
import type { TimeKind, TimeMention, TurnLanguage } from "./turn-reading.ts";
import type { Token } from "./turn-tokens.ts";

const MINUTE_US = 60_000_000;
const HOUR_US = 60 * MINUTE_US;
const DAY_MIN = 1440;

export interface TimesRead {
  /** In the order of the turn, not overlapping. */
  readonly times: readonly TimeMention[];
  /** Indexes of the tokens of every time expression, also of those that name the future. */
  readonly covered: ReadonlySet<number>;
}

/** @param language The grammar that reads first; the others may take what it leaves. */
export function readTimes(
  turn: string,
  tokens: readonly Token[],
  language: TurnLanguage,
  nowUs: number,
  timeZone: string,
): TimesRead {
  const covered = new Set<number>();
  const found = parseAll(tokens, language);
  if (found.length === 0) return { times: [], covered };
  const local = createLocalTime(timeZone);
  const present: Present = { nowUs, today: local.toLocal(nowUs), local };
  const times: TimeMention[] = [];
  for (const { node, first, next } of found) {
    for (let index = first; index < next; index++) covered.add(index);
    const span = resolve(node, present);
    const startIndex = tokens[first]?.start ?? 0;
    const endIndex = tokens[next - 1]?.end ?? startIndex;
    if (span === null) continue;
    const toUs = Math.min(span.toUs, nowUs);
    if (toUs <= span.fromUs) continue;
    const text = turn.slice(startIndex, endIndex);
    const { kind, fromUs, pointUs } = span;
    times.push({ kind, text, startIndex, endIndex, fromUs, toUs, pointUs });
  }
  return { times, covered };
}

const GRAMMARS = ["en", "de", "es", "fr"] as const;

function parseAll(tokens: readonly Token[], language: TurnLanguage): readonly FoundTime[] {
  const own = language === "other" ? [] : parseTimes(lexTimes(tokens, TIME_WORDS[language], true));
  const all = [...own];
  for (const other of GRAMMARS) {
    if (other === language) continue;
    // People mix languages ("was hab ich before lunch gemacht"), but only whole words of another count.
    for (const time of parseTimes(lexTimes(tokens, TIME_WORDS[other], false))) {
      const free = all.every((known) => time.next <= known.first || time.first >= known.next);
      if (free && time.node.type !== "now" && time.node.type !== "recent") all.push(time);
    }
  }
  return all.sort((a, b) => a.first - b.first);
}

interface Present {
  readonly nowUs: number;
  readonly today: LocalDay & { readonly minuteOfDay: number };
  readonly local: LocalTime;
}

interface Span {
  readonly kind: TimeKind;
  readonly fromUs: number;
  readonly toUs: number;
  readonly pointUs: number | null;
}

function resolve(node: TimeNode, present: Present): Span | null {
  switch (node.type) {
    case "now":
      return {
        kind: "now",
        fromUs: present.nowUs - 10 * MINUTE_US,
        toUs: present.nowUs,
        pointUs: present.nowUs,
      };
    case "recent":
      return resolveRecent(node.minutes, present);
    case "rolling":
      return resolveRolling(node, present);
    case "ago":
      return resolveAgo(node.minutes, node.bound, present);
    case "moment":
      return resolveBound(node.moment, node.bound, node.close, present);
    case "range":
      return resolveRange(node.from, node.to, present);
    case "future":
      return null;
  }
}

function resolveRecent(minutes: number, { nowUs, today, local }: Present): Span {
  const dayStart = local.toUs(today, 0);
  // In the first hours of a day "earlier" may be before midnight.
  const fromUs =
    minutes === 0 ? Math.min(dayStart, nowUs - 4 * HOUR_US) : nowUs - minutes * MINUTE_US;
  return { kind: "recent", fromUs, toUs: nowUs, pointUs: null };
}

function resolveRolling(
  node: Extract<TimeNode, { type: "rolling" }>,
  { nowUs, today, local }: Present,
): Span {
  const relative = (fromUs: number): Span => ({
    kind: "relative",
    fromUs,
    toUs: nowUs,
    pointUs: null,
  });
  switch (node.unit) {
    case "second":
    case "minute":
    case "hour":
      return relative(
        nowUs -
          node.count *
            (node.unit === "hour" ? HOUR_US : node.unit === "minute" ? MINUTE_US : MINUTE_US / 60),
      );
    case "day":
      return relative(
        node.count === 1
          ? nowUs - 24 * HOUR_US
          : local.toUs(addDays(today, -Math.round(node.count)), 0),
      );
    case "week":
    case "weekend":
      return relative(local.toUs(addDays(today, -Math.round(7 * node.count)), 0));
    case "month": {
      const first = firstOfMonth(today, -Math.round(node.count));
      const day =
        validDay(first.year, first.month, today.day) ?? addDays(firstOfMonth(first, 1), -1);
      return relative(local.toUs(day, 0));
    }
    case "year":
      return relative(
        local.toUs(
          validDay(today.year - Math.round(node.count), today.month, today.day) ?? today,
          0,
        ),
      );
  }
}

/** "20 minutes ago" is a moment with some play that grows with the distance. */
function resolveAgo(minutes: number, bound: Bound | null, { nowUs }: Present): Span {
  const pointUs = nowUs - minutes * MINUTE_US;
  if (bound === "since" || bound === "after")
    return { kind: "open", fromUs: pointUs, toUs: nowUs, pointUs };
  if (bound === "before" || bound === "until") {
    return { kind: "open", fromUs: pointUs - 12 * HOUR_US, toUs: pointUs, pointUs };
  }
  const play = Math.min(45, Math.max(5, minutes / 3)) * MINUTE_US;
  return { kind: "relative", fromUs: pointUs - play, toUs: pointUs + play, pointUs };
}

// ---- moments

function resolveBound(
  moment: MomentNode,
  bound: Bound | null,
  close: boolean,
  present: Present,
): Span | null {
  const span = resolveMoment(moment, present);
  if (span === null || bound === null) return span;
  const { nowUs, local } = present;
  const pointUs =
    span.pointUs ??
    (bound === "since" || bound === "before" || bound === "until" ? span.fromUs : span.toUs);
  const day = local.toLocal(span.pointUs ?? span.fromUs);
  const open = (fromUs: number, toUs: number): Span => ({
    kind: "open",
    fromUs,
    toUs,
    pointUs: span.pointUs,
  });
  const reach = 30 * MINUTE_US;
  const daylong = moment.clock === null && moment.part === null;
  switch (bound) {
    case "since":
      return open(pointUs, nowUs);
    case "after":
      if (close && !daylong) return open(pointUs, pointUs + reach);
      return open(pointUs, daylong ? nowUs : local.toUs(day, DAY_MIN));
    case "before":
      if (close && !daylong) return open(pointUs - reach, pointUs);
      return open(daylong ? local.toUs(addDays(day, -7), 0) : local.toUs(day, 0), pointUs);
    case "until":
      if (daylong) return open(local.toUs(addDays(day, -7), 0), span.toUs);
      return open(local.toUs(day, 0), span.pointUs ?? span.toUs);
  }
}

function resolveMoment(moment: MomentNode, present: Present): Span | null {
  if (moment.clock !== null) return resolveClock(moment, moment.clock, present);
  if (moment.part !== null || (moment.shade !== null && moment.day !== null))
    return resolvePart(moment, present);
  if (moment.day !== null) {
    const day = resolveDay(moment.day, moment.period, present);
    return day === null ? null : { kind: "day", ...wholeDays(day, 1, present), pointUs: null };
  }
  return moment.period === null ? null : resolvePeriod(moment.period, present);
}

function wholeDays(
  first: LocalDay,
  count: number,
  { local }: Present,
): { readonly fromUs: number; readonly toUs: number } {
  return { fromUs: local.toUs(first, 0), toUs: local.toUs(addDays(first, count), 0) };
}

/** Minutes since midnight; beyond 1440 it runs into the next day. Evening and night run late, as people do. */
const PARTS: Readonly<Record<PartOfDay, readonly [number, number]>> = {
  morning: [6 * 60, 12 * 60],
  midday: [11 * 60 + 30, 14 * 60],
  afternoon: [12 * 60, 18 * 60],
  // Spanish "tarde" lasts until nightfall.
  siesta: [12 * 60, 20 * 60],
  evening: [18 * 60, 24 * 60],
  night: [18 * 60, 28 * 60],
  // German "Nacht" and French "nuit" leave the evening out.
  "late-night": [20 * 60, 30 * 60],
};

function resolvePart(moment: MomentNode, present: Present): Span | null {
  const { today, local, nowUs } = present;
  const [start, end] = shaded(moment.part, moment.shade);
  let day = moment.day === null ? today : resolveDay(moment.day, moment.period, present);
  if (day === null) return null;
  const today0 = moment.day?.type === "back" && moment.day.days === 0;
  // "heute Nacht" and "cette nuit" are the night that has been, as long as the coming one has not begun.
  const shifts =
    moment.day === null || (today0 && (moment.part === "night" || moment.part === "late-night"));
  if (shifts && local.toUs(day, start) >= nowUs) day = addDays(day, -1);
  // "This morning", said at two at night, is what has been since midnight.
  const early = today0 && moment.part === "morning" && today.minuteOfDay < start;
  return {
    kind: "part",
    fromUs: local.toUs(day, early ? 0 : start),
    toUs: local.toUs(day, end, "last"),
    pointUs: null,
  };
}

function shaded(part: PartOfDay | null, shade: "early" | "late" | null): readonly [number, number] {
  if (part === null) return shade === "early" ? [5 * 60, 10 * 60] : [18 * 60, 24 * 60];
  const [start, end] = PARTS[part];
  if (shade === null) return [start, end];
  const half = (start + end) / 2;
  return shade === "early" ? [part === "morning" ? start - 60 : start, half] : [half, end];
}

function resolveDay(day: DayNode, period: PeriodNode | null, present: Present): LocalDay | null {
  const { today } = present;
  switch (day.type) {
    case "back":
      return addDays(today, -day.days);
    case "weekday":
      return resolveWeekday(day.weekday, day.which, period, today);
    case "date":
      return resolveDate(day, period, today);
  }
}

function resolveWeekday(
  weekday: number,
  which: "last" | "this" | null,
  period: PeriodNode | null,
  today: LocalDay,
): LocalDay | null {
  const monday = addDays(today, -((weekdayOf(today) + 6) % 7));
  const inWeek = (weekday + 6) % 7;
  if (period?.unit === "week" && period.back !== null) {
    // "a week ago Tuesday" counts from the last Tuesday, "Tuesday last week" by the calendar.
    if (!period.loose) return addDays(monday, inWeek - 7 * period.back);
    const back = (weekdayOf(today) - weekday + 7) % 7 || 7;
    return addDays(today, -back - 7 * period.back);
  }
  const thisWeek = addDays(monday, inWeek);
  if (which === "this" && daysBetween(thisWeek, today) <= 0) return thisWeek;
  // Said on the day itself, its name means the one a week ago.
  return addDays(today, -((weekdayOf(today) - weekday + 7) % 7 || 7));
}

function resolveDate(
  date: Extract<DayNode, { type: "date" }>,
  period: PeriodNode | null,
  today: LocalDay,
): LocalDay | null {
  if (date.month === null) {
    if (period?.month != null) return validDay(period.year ?? today.year, period.month, date.day);
    const start = period?.unit === "month" && period.back !== null ? period.back : 0;
    for (let back = start; back < start + 12; back++) {
      const month = firstOfMonth(today, -back);
      const day = validDay(month.year, month.month, date.day);
      if (day !== null && daysBetween(day, today) <= 0) return day;
    }
    return null;
  }
  const readings = [lastDate(date.day, date.month, date.year, today)];
  if (date.swappable) readings.push(lastDate(date.month, date.day, date.year, today));
  const past = readings.filter((day) => day !== null && daysBetween(day, today) <= 0);
  return past.reduce(
    (best, day) => (best === null || (day !== null && daysBetween(day, best) > 0) ? day : best),
    null,
  );
}

function lastDate(
  day: number,
  month: number,
  year: number | null,
  today: LocalDay,
): LocalDay | null {
  if (month > 12) return null;
  if (year !== null) return validDay(year, month, day);
  for (let back = 0; back <= 4; back++) {
    const made = validDay(today.year - back, month, day);
    if (made !== null && daysBetween(made, today) <= 0) return made;
  }
  return null;
}

function resolvePeriod(period: PeriodNode, present: Present): Span {
  const { today } = present;
  const spanOf = (first: LocalDay, days: number): Span => ({
    kind: "period",
    ...wholeDays(first, days, present),
    pointUs: null,
  });
  const back = period.back ?? 0;
  switch (period.unit) {
    case "week": {
      if (period.loose && back === 1) return spanOf(addDays(today, -8), 3);
      const monday = addDays(today, -((weekdayOf(today) + 6) % 7));
      return spanOf(addDays(monday, -7 * back), 7);
    }
    case "weekend": {
      const sinceSaturday = (weekdayOf(today) + 1) % 7;
      const running = sinceSaturday <= 1;
      const last = addDays(today, -sinceSaturday);
      return spanOf(addDays(last, -7 * (running ? back : Math.max(0, back - 1))), 2);
    }
    case "month": {
      if (period.loose && back === 1) {
        const first = firstOfMonth(today, -1);
        return spanOf(addDays(validDay(first.year, first.month, today.day) ?? first, -4), 9);
      }
      if (period.month === null) {
        const first = firstOfMonth(today, -back);
        return spanOf(first, daysBetween(firstOfMonth(first, 1), first));
      }
      const year = period.year ?? (period.month > today.month ? today.year - 1 : today.year);
      const first = { year, month: period.month, day: 1 };
      return spanOf(first, daysBetween(firstOfMonth(first, 1), first));
    }
    case "year": {
      const year = period.year ?? today.year - back;
      const first = { year, month: 1, day: 1 };
      return spanOf(first, daysBetween({ year: year + 1, month: 1, day: 1 }, first));
    }
  }
}

// ---- clock times

function resolveClock(moment: MomentNode, clock: ClockNode, present: Present): Span | null {
  const { local, nowUs } = present;
  const day = clockDay(moment, present);
  if (day === null) return null;
  const dated = moment.day !== null;
  const end = moment.clockEnd;
  if (end !== null) {
    const [from, to] = orderClocks(clock, end, moment.part);
    const on = !dated && local.toUs(day, from) >= nowUs ? addDays(day, -1) : day;
    return {
      kind: "range",
      fromUs: local.toUs(on, from),
      toUs: local.toUs(on, to, "last"),
      pointUs: null,
    };
  }
  const readings = clockReadings(clock, moment.part, dated, present);
  const past = readings.find((minute) => local.toUs(day, minute) <= nowUs);
  const minute = past ?? readings[0] ?? clock.minute;
  const on = past === undefined && !dated ? addDays(day, -1) : day;
  const pointUs = local.toUs(on, minute);
  const reach = (clock.reachMin ?? (clock.fine && !moment.around ? 15 : 30)) * MINUTE_US;
  return { kind: "clock", fromUs: pointUs - reach, toUs: pointUs + reach, pointUs };
}

function clockDay(moment: MomentNode, present: Present): LocalDay | null {
  return moment.day === null ? present.today : resolveDay(moment.day, moment.period, present);
}

/** The readings of "at 3" in the order of likelihood: the part of the day decides, else waking hours. */
function clockReadings(
  clock: ClockNode,
  part: PartOfDay | null,
  dated: boolean,
  present: Present,
): readonly number[] {
  if (clock.settled)
    return (part === "night" || part === "late-night") && clock.minute < 6 * 60
      ? [clock.minute + DAY_MIN, clock.minute]
      : [clock.minute];
  const morning = clock.minute;
  const later = clock.minute + 720;
  switch (part) {
    case "morning":
      return [clock.minute < 60 ? later : morning];
    case "afternoon":
    case "evening":
    case "midday":
    case "siesta":
      return [later];
    case "night":
    case "late-night":
      return clock.minute >= 6 * 60 ? [later, morning] : [morning + DAY_MIN, morning];
    case null: {
      if (clock.minute < 7 * 60) return dated ? [later, morning] : [later];
      const sinceLater = present.today.minuteOfDay - later;
      return !dated && sinceLater > 0 && sinceLater < 4 * 60 ? [later, morning] : [morning, later];
    }
  }
}

/** "9 to 5", "11 to 1", "10 to 12 pm", "22 to 2": both ends as minutes since the midnight before the first. */
function orderClocks(
  from: ClockNode,
  to: ClockNode,
  part: PartOfDay | null,
): readonly [number, number] {
  const readings = (clock: ClockNode): readonly number[] =>
    clock.settled ? [clock.minute] : [clock.minute, clock.minute + 720];
  if (!from.settled && to.settled) {
    const start = readings(from).filter((minute) => minute < to.minute);
    const last = start[start.length - 1];
    return last === undefined ? [from.minute + 720, to.minute + DAY_MIN] : [last, to.minute];
  }
  const late = part !== null && part !== "morning";
  const start = from.settled
    ? from.minute
    : late || from.minute < 7 * 60
      ? from.minute + 720
      : from.minute;
  const end = [...readings(to), ...readings(to).map((minute) => minute + DAY_MIN)].find(
    (minute) => minute > start,
  );
  return [start, end ?? start + 60];
}

function resolveRange(from: MomentNode, to: MomentNode, present: Present): Span | null {
  if (from.clock !== null && to.clock !== null && sameDay(from, to)) {
    return resolveMoment({ ...from, part: from.part ?? to.part, clockEnd: to.clock }, present);
  }
  const start = resolveMoment(from, present);
  const end = resolveMoment(to, present);
  if (start === null || end === null) return null;
  const fromUs = start.pointUs ?? start.fromUs;
  const toUs = end.pointUs ?? end.toUs;
  // "from Friday to Monday": the Friday before that Monday.
  if (toUs <= fromUs) {
    const earlier = present.local.toLocal(fromUs);
    return {
      kind: "range",
      fromUs: present.local.toUs(addDays(earlier, -7), earlier.minuteOfDay),
      toUs,
      pointUs: null,
    };
  }
  return { kind: "range", fromUs, toUs, pointUs: null };
}

function sameDay(from: MomentNode, to: MomentNode): boolean {
  return JSON.stringify([from.day, from.period]) === JSON.stringify([to.day, to.period]);
}
