/**
 * Days and their hours on the owner's wall clock, for a map of weeks and months. It promises that a day of which
 * nothing is known is not taken for a day on which nothing was done.
 */
import { localTime, type LocalTime } from "../../context/plain-text.ts";
import { ActivityError } from "../../errors.ts";
import type { StoreDatabase } from "../database.ts";
import { IS_WINDOW, isIndexedLike, KIND_CODES, KIND_OF_ROW } from "../stored-facts.ts";
import { createLocalDays, parseLocalDay, type DayPart } from "../local-day.ts";

export interface DaysRequest {
  /** "2026-11-01". */
  readonly fromDay: string;
  /** The last day, included; at most 400 days. */
  readonly toDay: string;
  /** Who asks, for the ledger. */
  readonly client?: string;
}

export interface DayActivity {
  /** "2026-11-01". */
  readonly day: string;
  /** Focused time; null when nothing was recorded that day. */
  readonly activeUs: number | null;
  /** When it began; null when there is none. */
  readonly firstUs: number | null;
  /** Focused time by local hour, 0 to 23; an hour that the clock repeats has both, one that it skips has 0. */
  readonly hours: readonly number[];
  /** How much of the day lies in holes of the record (paused, source lost, not running and so on). */
  readonly gapUs: number;
}

/** Days of this device; what others recorded is not among it. */
export interface DaysAnswer {
  /** Every day asked for, oldest first. */
  readonly days: readonly DayActivity[];
  /** The zone whose hours these are. */
  readonly timeZone: string;
}

/**
 * Totals of hours are kept by UTC. Where the local clock is no whole hours off, its hours are added up from the events, as
 * long as those are kept, and before that a total counts where its hour begins.
 *
 * @throws ActivityError `bad_request` when a day is none, or the range is empty or too long
 */
export function readDays(
  database: StoreDatabase,
  { fromDay, toDay }: DaysRequest,
  timeZone: string,
): DaysAnswer {
  const days = listDays(fromDay, toDay, timeZone);
  const total = database.prepare<{ activeUs: number; firstUs: number }>(
    "SELECT active_us AS activeUs, first_us AS firstUs FROM day WHERE local_day = ?",
  );
  const isAnything = database.prepare(
    `SELECT 1 FROM event WHERE start_us >= ? AND start_us < ? AND ${KIND_OF_ROW} <> ${KIND_CODES.gap} LIMIT 1`,
  );
  const hours = readHours(database, days, timeZone);
  const gaps = readGaps(database, days);
  return {
    timeZone,
    days: days.map((day) => {
      const known = total.get(day.localDay);
      const isRecorded = known !== undefined || isAnything.get(day.fromUs, day.toUs) !== undefined;
      return {
        day: toDayText(day.localDay),
        activeUs: known?.activeUs ?? (isRecorded ? 0 : null),
        firstUs: known?.firstUs ?? null,
        hours: hours.get(day.localDay) ?? NO_HOURS,
        gapUs: gaps.get(day.localDay) ?? 0,
      };
    }),
  };
}

const MOST_DAYS = 400;
const DAY_US = 86_400_000_000;
const HOUR_US = 3_600_000_000;
const NO_HOURS: readonly number[] = Array.from({ length: 24 }, () => 0);

function listDays(fromDay: string, toDay: string, timeZone: string): readonly DayPart[] {
  const [first, last] = [parseDay(fromDay), parseDay(toDay)];
  const count = (last.utcUs - first.utcUs) / DAY_US + 1;
  if (count < 1 || count > MOST_DAYS) {
    throw new ActivityError(
      "bad_request",
      `From ${fromDay} to ${toDay} are ${count} days.`,
      `Give 1 to ${MOST_DAYS} days.`,
    );
  }
  // No zone is further from UTC than these.
  return createLocalDays()
    .parts(first.utcUs - DAY_US, last.utcUs + 2 * DAY_US, timeZone)
    .filter(({ localDay }) => localDay >= first.localDay && localDay <= last.localDay);
}

function parseDay(text: string): { readonly localDay: number; readonly utcUs: number } {
  const localDay = parseLocalDay(text);
  const utcMs = Date.parse(`${text}T00:00:00Z`);
  // JavaScript takes the 30 February for the 2 March.
  const isDay = !Number.isNaN(utcMs) && new Date(utcMs).toISOString().startsWith(text);
  if (localDay === null || !isDay) {
    throw new ActivityError(
      "bad_request",
      `Cannot read ${JSON.stringify(text)} as a day.`,
      "Give days as 2026-11-27.",
    );
  }
  return { localDay, utcUs: utcMs * 1000 };
}

function toDayText(localDay: number): string {
  return String(localDay).replace(/^(\d{4})(\d{2})(\d{2})$/, "$1-$2-$3");
}

function readHours(
  database: StoreDatabase,
  days: readonly DayPart[],
  timeZone: string,
): ReadonlyMap<number, readonly number[]> {
  const clock = localTime(timeZone);
  const byDay = new Map<number, number[]>();
  let index = 0;
  for (const { atUs, activeUs } of readPieces(database, days, clock)) {
    while ((days[index]?.toUs ?? Infinity) <= atUs) index += 1;
    const day = days[index];
    if (day === undefined) break;
    const hours = byDay.get(day.localDay) ?? [...NO_HOURS];
    const hour = Math.floor(localUs(atUs, clock) / HOUR_US) % 24;
    hours[hour] = (hours[hour] ?? 0) + activeUs;
    byDay.set(day.localDay, hours);
  }
  return byDay;
}

/** Focused time within one hour of the local clock. */
interface Piece {
  readonly atUs: number;
  readonly activeUs: number;
}

/** Oldest first. */
function readPieces(
  database: StoreDatabase,
  days: readonly DayPart[],
  clock: LocalTime,
): Iterable<Piece> {
  const [fromUs, toUs] = [days[0]?.fromUs ?? 0, days.at(-1)?.toUs ?? 0];
  const isWhole = days.every(({ fromUs: atUs }) => clock.offsetMinutes(atUs) % 60 === 0);
  if (isWhole) return readTotals(database, fromUs, toUs);
  const oldest = database
    .prepare<{ startUs: number | null }>("SELECT min(start_us) AS startUs FROM event")
    .get()?.startUs;
  const keptFromUs = Math.min(Math.max(oldest ?? toUs, fromUs), toUs);
  return [
    ...readTotals(database, fromUs, keptFromUs),
    ...readEvents(database, keptFromUs, toUs).flatMap((span) => hourPieces(span, clock)),
  ];
}

function readTotals(database: StoreDatabase, fromUs: number, toUs: number): readonly Piece[] {
  return database
    .prepare<Piece>(
      `SELECT utc_hour * ${HOUR_US} AS atUs, active_us AS activeUs FROM hour_total
        WHERE utc_hour >= ? AND utc_hour < ? ORDER BY utc_hour`,
    )
    .all(fromUs / HOUR_US, toUs / HOUR_US);
}

interface Span {
  readonly startUs: number;
  readonly endUs: number;
}

function readEvents(database: StoreDatabase, fromUs: number, toUs: number): readonly Span[] {
  return database
    .prepare<Span>(
      `SELECT max(start_us, ?) AS startUs, min(start_us + duration_us, ?) AS endUs FROM event
        WHERE ${IS_WINDOW} AND start_us > ? AND start_us < ?
          AND start_us + duration_us > ? ORDER BY start_us`,
    )
    .all(fromUs, toUs, fromUs - LONGEST_US, toUs, fromUs);
}

/** Nobody looks at one window without a pause for longer than this. */
const LONGEST_US = 36 * HOUR_US;

function hourPieces({ startUs, endUs }: Span, clock: LocalTime): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let atUs = startUs; atUs < endUs;) {
    const nextUs = Math.min(endUs, atUs + HOUR_US - (localUs(atUs, clock) % HOUR_US));
    pieces.push({ atUs, activeUs: nextUs - atUs });
    atUs = nextUs;
  }
  return pieces;
}

function localUs(atUs: number, clock: LocalTime): number {
  return atUs + clock.offsetMinutes(atUs) * 60_000_000;
}

function readGaps(database: StoreDatabase, days: readonly DayPart[]): ReadonlyMap<number, number> {
  const rows = database.prepare<{ startUs: number; endUs: number }>(
    `SELECT start_us AS startUs, start_us + duration_us AS endUs FROM event
      WHERE ${KIND_OF_ROW} = ${KIND_CODES.gap} AND ${isIndexedLike(KIND_CODES.gap)} AND start_us < ?
        AND start_us + duration_us > ? ORDER BY start_us`,
  );
  const byDay = new Map<number, number>();
  const [fromUs, toUs] = [days[0]?.fromUs ?? 0, days.at(-1)?.toUs ?? 0];
  for (const { startUs, endUs } of rows.iterate(toUs, fromUs)) {
    for (const day of days) {
      const us = Math.min(endUs, day.toUs) - Math.max(startUs, day.fromUs);
      if (us > 0) byDay.set(day.localDay, (byDay.get(day.localDay) ?? 0) + us);
    }
  }
  return byDay;
}
