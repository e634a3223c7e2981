/** Turns what the grammar found into stretches of time, as people mean them on the day they ask. */
import {
  addDays,
  daysBetween,
  firstOfMonth,
  validDay,
  weekdayOf,
  type LocalDay,
  type LocalTime,
} from "../local-time.ts";
import { resolveDay, resolvePeriod, shadeRun } from "./calendar.ts";
import type { ClockNode } from "./clock.ts";
import type { TimeNode } from "./grammar.ts";
import { clockReadings, orderClocks } from "./hours.ts";
import type { Bound } from "./lead.ts";
import type { MomentNode } from "./nodes.ts";
import { shaded } from "./parts.ts";
import type { TimeUnit } from "./words.ts";
import type { TimeKind } from "../turn/reading.ts";

const MINUTE_US = 60_000_000;
const HOUR_US = 60 * MINUTE_US;
const DAY_MIN = 1440;

export interface Present {
  readonly nowUs: number;
  readonly today: LocalDay & { readonly minuteOfDay: number };
  readonly local: LocalTime;
  readonly spoken: SpokenTime | null;
}

/** The time that a conversation is about: half-open, microseconds since 1970 UTC. */
export interface SpokenTime {
  readonly fromUs: number;
  readonly toUs: number;
  /** The instant that was named, or null. */
  readonly pointUs: number | null;
}

export interface Span {
  readonly kind: TimeKind;
  readonly fromUs: number;
  readonly toUs: number;
  readonly pointUs: number | null;
}

/** Null for the future and for days the calendar does not have. The span may end after now. */
export function resolveTime(node: TimeNode, present: Present): Span | null {
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
      return resolveBound(onSpokenDay(node.moment, present), node.bound, node.close, present);
    case "range":
      return resolveRange(onSpokenDay(node.from, present), onSpokenDay(node.to, present), present);
    case "beside":
      return resolveBeside(node.unit, node.step, present);
    case "apart":
      return resolveApart(node, present);
    case "future":
    case "greeting":
      return null;
  }
}

/** "And at 10?", "und nachmittags?": on the day that the turn before was about, when it was about one. */
function onSpokenDay(moment: MomentNode, present: Present): MomentNode {
  // "All day" is that of the day as well.
  const isDated = (moment.day !== null && !moment.whole) || moment.period !== null;
  const day = isDated ? null : spokenDay(present);
  if (day === null) return moment;
  const { year, month } = day;
  return {
    ...moment,
    day: { type: "date", day: day.day, month, year, swappable: false },
  };
}

function spokenDay({ spoken, local }: Present): LocalDay | null {
  if (spoken === null) return null;
  const first = local.toLocal(spoken.fromUs);
  const last = local.toLocal(spoken.toUs - 1);
  return daysBetween(last, first) === 0 ? first : null;
}

/** "And the day before?": before the day that the turn before was about, or before today. */
function resolveBeside(unit: "day" | "week", step: 1 | -1 | 2 | -2, present: Present): Span {
  const { spoken, today, local } = present;
  const day = spoken === null ? today : local.toLocal(spoken.fromUs);
  if (unit === "day") {
    return { kind: "day", ...wholeDays(addDays(day, step), 1, present), pointUs: null };
  }
  const monday = addDays(day, -((weekdayOf(day) + 6) % 7));
  return { kind: "period", ...wholeDays(addDays(monday, 7 * step), 7, present), pointUs: null };
}

/** "And an hour later?": so far from the time that the turn before was about. */
function resolveApart(
  { step, count, unit, alone }: Extract<TimeNode, { type: "apart" }>,
  present: Present,
): Span | null {
  const { spoken, local } = present;
  if (spoken === null) return alone === null ? null : resolveTime(alone, present);
  const lengthUs = SHORT_US[unit];
  if (lengthUs !== undefined) {
    const fromUs = spoken.pointUs ?? (step === 1 ? spoken.toUs : spoken.fromUs);
    const pointUs = fromUs + step * count * lengthUs;
    const reachUs = (unit === "hour" ? 30 : 15) * MINUTE_US;
    return { kind: "clock", fromUs: pointUs - reachUs, toUs: pointUs + reachUs, pointUs };
  }
  const first = local.toLocal(spoken.fromUs);
  if (unit === "day") {
    const day = addDays(first, step * Math.round(count));
    return { kind: "day", ...wholeDays(day, 1, present), pointUs: null };
  }
  if (unit !== "week") return null;
  const day = addDays(first, 7 * step * Math.round(count));
  const days = Math.max(1, daysBetween(local.toLocal(spoken.toUs - 1), first) + 1);
  return { kind: "period", ...wholeDays(day, days, present), pointUs: null };
}

const SHORT_US: Partial<Record<TimeUnit, number>> = {
  second: MINUTE_US / 60,
  minute: MINUTE_US,
  hour: HOUR_US,
};

function resolveRecent(minutes: number, { nowUs, today, local }: Present): Span {
  const dayStart = local.toUs(today, 0);
  // In the first hours of a day "earlier" may be before midnight.
  const fromUs =
    minutes === 0 ? Math.min(dayStart, nowUs - 4 * HOUR_US) : nowUs - minutes * MINUTE_US;
  return { kind: "recent", fromUs, toUs: nowUs, pointUs: null };
}

function resolveRolling(node: Extract<TimeNode, { type: "rolling" }>, present: Present): Span {
  const { nowUs, today, local } = present;
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
    case "quarter":
      return resolveRolling({ ...node, unit: "month", count: 3 * node.count }, present);
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
  const pointUs = span.pointUs ?? (bound === "after" ? span.toUs : span.fromUs);
  const day = local.toLocal(span.pointUs ?? span.fromUs);
  const open = (fromUs: number, toUs: number): Span => ({
    kind: "open",
    fromUs,
    toUs,
    pointUs: span.pointUs,
  });
  // "Kurz vor Feierabend" is vaguer than "kurz vor drei".
  const reach = Math.max(30, moment.clock?.reachMin ?? 0) * MINUTE_US;
  const daylong = moment.clock === null && moment.part === null;
  const isPartOfDay = moment.clock !== null && moment.part !== null;
  const partEndUs = isPartOfDay ? (resolvePart(moment, present)?.toUs ?? null) : null;
  switch (bound) {
    case "since":
      return open(pointUs, nowUs);
    case "onward":
      return open(pointUs, local.toUs(day, DAY_MIN));
    case "after":
      if (close && !daylong) return open(pointUs, pointUs + reach);
      // "This afternoon after three" ends with the afternoon.
      if (partEndUs !== null && partEndUs > pointUs) return open(pointUs, partEndUs);
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
    const day = resolveDay(moment.day, moment.period, present.today);
    if (day === null) return null;
    const whole = wholeDays(day, 1, present);
    const fromUs = isToday(moment) && isUpLate(present) ? lateDayStart(present) : whole.fromUs;
    return { kind: "day", fromUs, toUs: whole.toUs, pointUs: null };
  }
  if (moment.period === null) return null;
  const run = shadeRun(resolvePeriod(moment.period, present.today), moment.shade);
  return { kind: "period", ...wholeDays(run.first, run.days, present), pointUs: null };
}

function isToday({ day }: MomentNode): boolean {
  return day?.type === "back" && day.days === 0;
}

/** Until four the day before is still "today" for whoever has not gone to bed. */
const LATE_MIN = 4 * 60;

function isUpLate({ today }: Present): boolean {
  return today.minuteOfDay < LATE_MIN;
}

function lateDayStart({ today, local }: Present): number {
  return local.toUs(addDays(today, -1), LATE_MIN);
}

function wholeDays(
  first: LocalDay,
  count: number,
  { local }: Present,
): { readonly fromUs: number; readonly toUs: number } {
  return { fromUs: local.toUs(first, 0), toUs: local.toUs(addDays(first, count), 0) };
}

function resolvePart(moment: MomentNode, present: Present): Span | null {
  const { today, local, nowUs } = present;
  const [start, end] = shaded(moment.part, moment.shade);
  const named = momentDay(moment, present);
  if (named === null) return null;
  let day = named;
  const today0 = isToday(moment);
  // "heute Nacht" and "cette nuit" are the night that has been, as long as the coming one has not begun.
  const isNight = moment.part === "night" || moment.part === "late-night";
  const shifts =
    moment.day === null ||
    (today0 && (isNight || (isUpLate(present) && moment.part !== "morning")));
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

/** The day of a part or a clock time: the one that is named, or the one so many weeks ago, or today. */
function momentDay({ day, period }: MomentNode, { today }: Present): LocalDay | null {
  if (day !== null) return resolveDay(day, period, today);
  return period?.unit === "week" ? addDays(today, -7 * (period.back ?? 0)) : today;
}

// ---- clock times and ranges

function resolveClock(moment: MomentNode, clock: ClockNode, present: Present): Span | null {
  const { local, nowUs } = present;
  const day = momentDay(moment, present);
  if (day === null) return null;
  const dated = moment.day !== null || moment.period !== null;
  const isFixed = dated && !(isToday(moment) && isUpLate(present));
  const end = moment.clockEnd;
  if (end !== null) {
    const ordered = orderClocks(clock, end, moment.part);
    // Said while that night goes on, its hours are those that have been.
    const early = ordered[0] >= DAY_MIN && local.toUs(day, ordered[0]) >= nowUs ? DAY_MIN : 0;
    const [from, to] = [ordered[0] - early, ordered[1] - early];
    const on = !isFixed && local.toUs(day, from) >= nowUs ? addDays(day, -1) : day;
    return {
      kind: "range",
      fromUs: local.toUs(on, from),
      toUs: local.toUs(on, to, "last"),
      pointUs: null,
    };
  }
  if (moment.clockNow) {
    const pointUs = local.toUs(day, present.today.minuteOfDay);
    return {
      kind: "clock",
      fromUs: pointUs - 30 * MINUTE_US,
      toUs: pointUs + 30 * MINUTE_US,
      pointUs,
    };
  }
  const readings = clockReadings(clock, moment.part, dated, present.today.minuteOfDay);
  const past = readings.find((minute) => local.toUs(day, minute) <= nowUs);
  const minute = past ?? readings[0] ?? clock.minute;
  const on = past === undefined && !isFixed ? addDays(day, -1) : day;
  const pointUs = local.toUs(on, minute);
  const reach = (clock.reachMin ?? (clock.fine && !moment.around ? 15 : 30)) * MINUTE_US;
  return { kind: "clock", fromUs: pointUs - reach, toUs: pointUs + reach, pointUs };
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
