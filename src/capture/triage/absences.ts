/**
 * When the owner was not there. It joins what was recorded as idle, locked, asleep or unseen with holes between
 * visits, so that a weekend without the machine is an absence too, and picks out lunch and the night.
 */
import { localTime } from "../../context/plain-text.ts";
import type { AbsenceKind, ActivityHistory } from "../../store/history.ts";

export interface Away {
  readonly startUs: number;
  readonly endUs: number;
}

const MINUTE_US = 60_000_000;
const HOUR_US = 60 * MINUTE_US;
const NEARLY_ALL = 0.9;
/** Shorter stretches are pauses for thought. */
export const AWAY_MIN_US = 4 * MINUTE_US;

/**
 * Absences of at least four minutes that meet `[fromUs, toUs)`, oldest first, not overlapping. One that
 * lasts until `toUs` is among them. Whoever is at another device meanwhile is not away.
 */
export function readAbsences(
  history: ActivityHistory,
  fromUs: number,
  toUs: number,
): readonly Away[] {
  const spans: { startUs: number; endUs: number }[] = history
    .absencesBetween(fromUs, toUs)
    .map(({ startUs, endUs }) => ({ startUs, endUs: Math.min(endUs, toUs) }));
  const visits = history.visitsBetween(fromUs, toUs);
  const elsewhere = visits.filter(({ deviceKey }) => deviceKey !== 0);
  if (elsewhere.length > 0) spans.splice(0, spans.length, ...without(spans, elsewhere));
  let seenUs: number | null = null;
  for (const { startUs, endUs } of visits) {
    if (seenUs !== null && startUs - seenUs >= AWAY_MIN_US) {
      spans.push({ startUs: seenUs, endUs: startUs });
    }
    seenUs = Math.max(seenUs ?? 0, endUs);
  }
  spans.sort((a, b) => a.startUs - b.startUs);
  const joined: { startUs: number; endUs: number }[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    // Idle, then locked, then asleep is one absence, also with a second between.
    if (last !== undefined && span.startUs - last.endUs < MINUTE_US) {
      last.endUs = Math.max(last.endUs, span.endUs);
    } else joined.push({ ...span });
  }
  return joined.filter(({ startUs, endUs }) => endUs - startUs >= AWAY_MIN_US);
}

/** What is left of `spans` where none of `taken` is, which are in order of their starts. */
function without(
  spans: readonly Away[],
  taken: readonly Away[],
): readonly { startUs: number; endUs: number }[] {
  return spans.flatMap(({ startUs, endUs }) => {
    const left: { startUs: number; endUs: number }[] = [];
    let fromUs = startUs;
    for (const other of taken) {
      if (other.endUs <= fromUs || other.startUs >= endUs) continue;
      if (other.startUs > fromUs) left.push({ startUs: fromUs, endUs: other.startUs });
      fromUs = Math.max(fromUs, other.endUs);
    }
    if (fromUs < endUs) left.push({ startUs: fromUs, endUs });
    return left;
  });
}

/** What was so on this device for nearly all of `[fromUs, toUs)`; null when no one absence was. */
export function mainAbsence(
  history: ActivityHistory,
  fromUs: number,
  toUs: number,
): AbsenceKind | null {
  const covered = new Map<AbsenceKind, number>();
  for (const { kind, startUs, endUs } of history.absencesBetween(fromUs, toUs)) {
    const us = Math.min(endUs, toUs) - Math.max(startUs, fromUs);
    covered.set(kind, (covered.get(kind) ?? 0) + us);
  }
  const [most] = [...covered].sort(([, a], [, b]) => b - a);
  return most !== undefined && most[1] >= NEARLY_ALL * (toUs - fromUs) ? most[0] : null;
}

/** The last absence that began before `nowUs`, looked for as far back as `reachUs`; null when there is none. */
export function lastAbsence(
  history: ActivityHistory,
  nowUs: number,
  reachUs = 36 * HOUR_US,
): Away | null {
  // Most questions are about the last hours: look there first.
  for (const backUs of [4 * HOUR_US, reachUs]) {
    const found = readAbsences(history, nowUs - backUs, nowUs).at(-1);
    if (found !== undefined) return found;
  }
  return null;
}

/** Part of the day in which a meal is looked for, in local hours, and how long it takes at least. */
const MEALS = {
  breakfast: { from: 5, to: 11, minUs: 10 * MINUTE_US },
  lunch: { from: 10.5, to: 15.5, minUs: 12 * MINUTE_US },
  dinner: { from: 17, to: 22.5, minUs: 12 * MINUTE_US },
} as const;

export type Meal = keyof typeof MEALS;

/** The absence that had most of the meal's hours on the local day that holds `dayUs`; null when there is none. */
export function mealOn(
  history: ActivityHistory,
  meal: Meal,
  dayUs: number,
  nowUs: number,
  timeZone: string,
): Away | null {
  const { from, to, minUs } = MEALS[meal];
  const midnightUs = startOfDay(dayUs, timeZone);
  const fromUs = midnightUs + from * HOUR_US;
  const toUs = Math.min(midnightUs + to * HOUR_US, nowUs);
  if (toUs <= fromUs) return null;
  let best: Away | null = null;
  let bestInside = 0;
  for (const away of readAbsences(history, fromUs - HOUR_US, toUs + HOUR_US)) {
    const inside = Math.min(away.endUs, toUs) - Math.max(away.startUs, fromUs);
    const lengthUs = away.endUs - away.startUs;
    // An evening off is no dinner, and a machine that was first used at noon had no breakfast.
    if (inside < minUs || lengthUs > 5 * HOUR_US || away.startUs >= nowUs) continue;
    // Not the longest: an hour off at three reaches into the time of lunch too.
    if (inside <= bestInside) continue;
    best = away;
    bestInside = inside;
  }
  return best;
}

const NIGHT_MIN_US = 3 * HOUR_US;

/** The last night: the longest absence of at least three hours that ended in the 30 hours before `nowUs`. */
export function lastNight(history: ActivityHistory, nowUs: number): Away | null {
  return longest(
    readAbsences(history, nowUs - 48 * HOUR_US, nowUs).filter(
      ({ startUs, endUs }) => endUs - startUs >= NIGHT_MIN_US && endUs >= nowUs - 30 * HOUR_US,
    ),
  );
}

/**
 * The night that is meant with a time: the one that began in it or shortly after ("before bed on Tuesday"), or the one that
 * ended in it ("since I got up yesterday"), or the one that most of it was. Without a time the last one.
 */
export function nightNear(
  history: ActivityHistory,
  within: { readonly fromUs: number; readonly toUs: number } | null,
  edge: "start" | "end" | "either",
  nowUs: number,
): Away | null {
  if (within === null) return lastNight(history, nowUs);
  const { fromUs, toUs } = within;
  const nights = readAbsences(
    history,
    fromUs - 14 * HOUR_US,
    Math.min(nowUs, toUs + 20 * HOUR_US),
  ).filter(({ startUs, endUs }) => endUs - startUs >= NIGHT_MIN_US);
  if (edge === "start") {
    // Of a day the later one: the night before may have begun after midnight.
    return (
      nights.findLast(({ startUs }) => startUs >= fromUs && startUs < toUs + 4 * HOUR_US) ?? null
    );
  }
  if (edge === "end") return nights.find(({ endUs }) => endUs > fromUs && endUs <= toUs) ?? null;
  return longest(nights.filter(({ startUs, endUs }) => startUs < toUs && endUs > fromUs));
}

/** The longest of them, the first of equals; null of none. */
function longest(aways: readonly Away[]): Away | null {
  let best: Away | null = null;
  for (const away of aways) {
    if (best === null || away.endUs - away.startUs > best.endUs - best.startUs) best = away;
  }
  return best;
}

/** The longest that began and ended within a time; else the longest that reaches into it. A night before is no pause of a day. */
export function longestWithin(history: ActivityHistory, fromUs: number, toUs: number): Away | null {
  const aways = readAbsences(history, fromUs, toUs);
  return longest(aways.filter((a) => a.startUs > fromUs && a.endUs < toUs)) ?? longest(aways);
}

/** The instant at which the local day of `atUs` began, to the minute. */
export function startOfDay(atUs: number, timeZone: string): number {
  const local = localTime(timeZone);
  const [hours = 0, minutes = 0] = local.clock(atUs).split(":").map(Number);
  const guess = Math.floor(atUs / MINUTE_US) * MINUTE_US - (hours * 60 + minutes) * MINUTE_US;
  // A change of daylight saving between midnight and now moves midnight by the difference.
  return guess + (local.offsetMinutes(atUs) - local.offsetMinutes(guess)) * MINUTE_US;
}
