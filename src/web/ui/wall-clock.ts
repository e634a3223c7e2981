/**
 * Days of one zone's wall clock: where each begins, whatever daylight saving does to it. It promises that days
 * follow each other without a hole, also those of 23 and 25 hours and those without a midnight.
 */

export const SECOND_US = 1_000_000;
export const MINUTE_US = 60 * SECOND_US;
export const HOUR_US = 60 * MINUTE_US;
export const DAY_US = 24 * HOUR_US;

/** All instants are integer microseconds since 1970 UTC; a day number counts local days since 1 January 1970. */
export interface WallClock {
  /** Local time minus UTC. */
  readonly offsetUs: (atUs: number) => number;
  readonly dayNumber: (atUs: number) => number;
  /** The first instant of a local day. */
  readonly dayStart: (dayNumber: number) => number;
  /** `2026-11-27` */
  readonly isoDay: (dayNumber: number) => string;
  /** The day number of `2026-11-27`; null when it is no date, or none that could have been recorded. */
  readonly parseDay: (isoDay: string) => number | null;
}

/** Clocks are put forward and back at full quarters of an hour, everywhere since 1972. */
const SLOT_US = 15 * MINUTE_US;
const MAX_KEPT_SLOTS = 4096;
/** In the year 2112; what is later is no day of a record, and no whole number of microseconds in the end. */
const LAST_DAY = 52_083;
/** No zone is further from UTC than 14 hours. */
const FURTHEST_US = 15 * HOUR_US;

export function createWallClock(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const offsets = new Map<number, number>();

  const offsetUs = (atUs: number): number => {
    const slot = Math.floor(atUs / SLOT_US);
    const kept = offsets.get(slot);
    if (kept !== undefined) return kept;
    const offset = readOffset(format, slot * SLOT_US);
    if (offsets.size >= MAX_KEPT_SLOTS) offsets.clear();
    offsets.set(slot, offset);
    return offset;
  };

  const dayNumber = (atUs: number): number => Math.floor((atUs + offsetUs(atUs)) / DAY_US);

  const dayStart = (day: number): number => {
    const midnight = day * DAY_US;
    const guess = midnight - offsetUs(midnight - offsetUs(midnight));
    if (dayNumber(guess) === day && dayNumber(guess - 1) < day) return guess;
    // The clock is put forward or back at midnight: the day begins with the first quarter that belongs to it.
    let low = Math.floor((midnight - FURTHEST_US) / SLOT_US);
    let high = Math.ceil((midnight + FURTHEST_US) / SLOT_US);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (dayNumber(middle * SLOT_US) >= day) high = middle;
      else low = middle;
    }
    return high * SLOT_US;
  };

  return { offsetUs, dayNumber, dayStart, isoDay: toIsoDay, parseDay: parseIsoDay };
}

function readOffset(format: Intl.DateTimeFormat, atUs: number): number {
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(atUs / 1000)) part[type] = Number(value);
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) * 1000 - atUs;
}

function toIsoDay(dayNumber: number): string {
  return new Date((dayNumber * DAY_US) / 1000).toISOString().slice(0, 10);
}

function parseIsoDay(isoDay: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(isoDay)) return null;
  const atMs = Date.parse(`${isoDay}T00:00:00Z`);
  if (Number.isNaN(atMs)) return null;
  const dayNumber = Math.round((atMs * 1000) / DAY_US);
  const isRecordable = dayNumber >= 0 && dayNumber <= LAST_DAY;
  return isRecordable && toIsoDay(dayNumber) === isoDay ? dayNumber : null;
}

/** 0 for Sunday to 6 for Saturday. */
export function weekdayOf(dayNumber: number): number {
  // 1 January 1970 was a Thursday.
  return (((dayNumber + 4) % 7) + 7) % 7;
}

/** Year, month (1 to 12) and day (1 to 31) of a day number. */
export function dateOf(dayNumber: number): {
  readonly year: number;
  readonly month: number;
  readonly day: number;
} {
  const date = new Date((dayNumber * DAY_US) / 1000);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** The day number of a date; months beyond 1 to 12 count on into the years beside. */
export function dayNumberOf(year: number, month: number, day: number): number {
  return Math.round((Date.UTC(year, month - 1, day) * 1000) / DAY_US);
}

/** The first day of the week in a language, 0 for Sunday; Monday where the browser does not know. */
export function firstWeekday(locale: string): number {
  const known = new Intl.Locale(locale);
  const info: unknown =
    "getWeekInfo" in known && typeof known.getWeekInfo === "function"
      ? known.getWeekInfo()
      : "weekInfo" in known
        ? known.weekInfo
        : null;
  const first =
    typeof info === "object" && info !== null && "firstDay" in info ? Number(info.firstDay) : 1;
  return Number.isInteger(first) ? first % 7 : 1;
}
