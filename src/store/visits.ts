/**
 * Visits and totals: what window events add up to, kept as they are written. It promises that the totals
 * of days and hours always equal the sum of the committed durations, and that visits are those which the
 * events of a document give, with interruptions under 90 seconds bridged.
 */
import type { StoreDatabase } from "./database.ts";
import { createLocalDays, type DayPart } from "./local-day.ts";
import { IS_WINDOW } from "./stored-facts.ts";

/** Two stretches of a document with less than this between them are one visit. */
export const VISIT_BRIDGE_US = 90_000_000;

/** A window event as far as visits and totals care. */
export interface Stretch {
  readonly documentId: number;
  readonly startUs: number;
  readonly timeZone: string;
}

/** Every method must run inside the transaction that changes the event itself. */
export interface Visits {
  /** A window event `[startUs, endUs)` was added. */
  readonly add: (stretch: Stretch, endUs: number) => void;
  /**
   * The end of a window event moved; the event row already has its new duration. Events that start after
   * `throughUs` are not looked at: they were not added yet.
   */
  readonly moveEnd: (
    stretch: Stretch,
    oldEndUs: number,
    newEndUs: number,
    throughUs?: number,
  ) => void;
  /** A window event was deleted: takes its time off the totals. Its visit follows by `rebuild`. */
  readonly subtract: (stretch: Stretch, endUs: number) => void;
  /** Makes the visits of a document that touch `[fromUs, toUs]` anew from its events. */
  readonly rebuild: (documentId: number, fromUs: number, toUs: number) => void;
}

interface VisitRow {
  readonly start_us: number;
  readonly end_us: number;
  readonly active_us: number;
}

export function createVisits(database: StoreDatabase): Visits {
  const days = createLocalDays();
  const visitBefore = database.prepare<VisitRow>(
    `SELECT start_us, end_us, active_us FROM visit
      WHERE document_id = ? AND start_us <= ? ORDER BY start_us DESC LIMIT 1`,
  );
  const visitAfter = database.prepare<VisitRow>(
    `SELECT start_us, end_us, active_us FROM visit
      WHERE document_id = ? AND start_us > ? ORDER BY start_us LIMIT 1`,
  );
  const addVisit = database.prepare(
    "INSERT INTO visit(start_us, document_id, span_us, active_us) VALUES(?, ?, ?, ?)",
  );
  const setVisit = database.prepare(
    "UPDATE visit SET span_us = ?, active_us = ? WHERE start_us = ?",
  );
  const dropVisit = database.prepare("DELETE FROM visit WHERE start_us = ?");
  const eventsOfDocument = database.prepare<{ start_us: number; end_us: number }>(
    `SELECT start_us, start_us + duration_us AS end_us FROM event
      WHERE start_us BETWEEN ? AND ? AND label_id IN (SELECT id FROM label WHERE document_id = ?)
      ORDER BY start_us`,
  );
  const addDayTotal = database.prepare(
    `INSERT INTO day_total(local_day, document_id, active_us) VALUES(?, ?, ?)
      ON CONFLICT DO UPDATE SET active_us = active_us + excluded.active_us`,
  );
  const dropEmptyDayTotal = database.prepare(
    "DELETE FROM day_total WHERE local_day = ? AND document_id = ? AND active_us <= 0",
  );
  const addDay = database.prepare(
    `INSERT INTO day(local_day, first_us, active_us) VALUES(?, ?, ?)
      ON CONFLICT DO UPDATE SET active_us = active_us + excluded.active_us, first_us = min(first_us, excluded.first_us)`,
  );
  const takeDay = database.prepare("UPDATE day SET active_us = active_us - ? WHERE local_day = ?");
  const dropEmptyDay = database.prepare("DELETE FROM day WHERE local_day = ? AND active_us <= 0");
  const dayFirst = database.prepare<{ first_us: number }>(
    "SELECT first_us FROM day WHERE local_day = ?",
  );
  const setDayFirst = database.prepare("UPDATE day SET first_us = ? WHERE local_day = ?");
  const firstActive = database.prepare<{ first_us: number }>(
    `SELECT max(start_us, ?) AS first_us FROM event
      WHERE start_us > ? - ${DAY_AT_MOST_US} AND start_us < ? + ${DAY_AT_MOST_US}
        AND ${IS_WINDOW} AND duration_us > 0 AND start_us + duration_us > ?
      ORDER BY start_us LIMIT 1`,
  );
  const addHour = database.prepare(
    `INSERT INTO hour_total(utc_hour, active_us) VALUES(?, ?)
      ON CONFLICT DO UPDATE SET active_us = active_us + excluded.active_us`,
  );
  const dropEmptyHour = database.prepare(
    "DELETE FROM hour_total WHERE utc_hour = ? AND active_us <= 0",
  );

  const credit = ({ documentId, timeZone }: Stretch, fromUs: number, toUs: number): void => {
    for (const part of days.parts(fromUs, toUs, timeZone)) {
      addDayTotal.run(part.localDay, documentId, part.toUs - part.fromUs);
      addDay.run(part.localDay, part.fromUs, part.toUs - part.fromUs);
    }
    for (const hour of hourParts(fromUs, toUs)) addHour.run(hour.utcHour, hour.us);
  };

  const debit = ({ documentId, timeZone }: Stretch, fromUs: number, toUs: number): void => {
    for (const part of days.parts(fromUs, toUs, timeZone)) {
      addDayTotal.run(part.localDay, documentId, part.fromUs - part.toUs);
      dropEmptyDayTotal.run(part.localDay, documentId);
      takeDay.run(part.toUs - part.fromUs, part.localDay);
      dropEmptyDay.run(part.localDay);
      refreshFirst(part);
    }
    for (const hour of hourParts(fromUs, toUs)) {
      addHour.run(hour.utcHour, -hour.us);
      dropEmptyHour.run(hour.utcHour);
    }
  };

  /** When the day's first moment was taken away, the next one takes its place. */
  const refreshFirst = ({ localDay, fromUs, toUs }: DayPart): void => {
    const day = dayFirst.get(localDay);
    if (day === undefined || day.first_us < fromUs || day.first_us >= toUs) return;
    const next = firstActive.get(fromUs, fromUs, fromUs, fromUs);
    if (next !== undefined) setDayFirst.run(next.first_us, localDay);
  };

  /** Joins a visit with those after it when the gap between them closed. */
  const joinNext = (documentId: number, visit: VisitRow): void => {
    let { end_us: endUs, active_us: activeUs } = visit;
    for (;;) {
      const next = visitAfter.get(documentId, visit.start_us);
      if (next === undefined || next.start_us - endUs >= VISIT_BRIDGE_US) return;
      dropVisit.run(next.start_us);
      endUs = Math.max(endUs, next.end_us);
      activeUs += next.active_us;
      setVisit.run(endUs - visit.start_us, activeUs, visit.start_us);
    }
  };

  const addToVisits = (documentId: number, startUs: number, endUs: number): void => {
    const before = visitBefore.get(documentId, startUs);
    if (before !== undefined && startUs - before.end_us < VISIT_BRIDGE_US) {
      const visit = {
        start_us: before.start_us,
        end_us: Math.max(before.end_us, endUs),
        active_us: before.active_us + endUs - startUs,
      };
      setVisit.run(visit.end_us - visit.start_us, visit.active_us, visit.start_us);
      joinNext(documentId, visit);
      return;
    }
    addVisit.run(startUs, documentId, endUs - startUs, endUs - startUs);
    joinNext(documentId, { start_us: startUs, end_us: endUs, active_us: endUs - startUs });
  };

  const rebuild = (
    documentId: number,
    fromUs: number,
    toUs: number,
    throughUs = Number.MAX_SAFE_INTEGER,
  ): void => {
    const before = visitBefore.get(documentId, fromUs);
    const first = before !== undefined && before.end_us >= fromUs ? before.start_us : fromUs;
    let last = toUs;
    let next = before?.start_us === first ? before : visitAfter.get(documentId, first - 1);
    while (next !== undefined && next.start_us <= toUs) {
      last = Math.max(last, next.end_us);
      dropVisit.run(next.start_us);
      next = visitAfter.get(documentId, next.start_us);
    }
    for (const event of eventsOfDocument.all(first, Math.min(last, throughUs), documentId)) {
      addToVisits(documentId, event.start_us, event.end_us);
    }
  };

  return {
    add: (stretch, endUs) => {
      addToVisits(stretch.documentId, stretch.startUs, endUs);
      credit(stretch, stretch.startUs, endUs);
    },
    moveEnd: (stretch, oldEndUs, newEndUs, throughUs) => {
      const { documentId, startUs } = stretch;
      if (newEndUs === oldEndUs) return;
      if (newEndUs > oldEndUs) credit(stretch, oldEndUs, newEndUs);
      else debit(stretch, newEndUs, oldEndUs);
      const visit = visitBefore.get(documentId, startUs);
      if (visit === undefined || newEndUs < oldEndUs) {
        // What an end that moves back leaves may fall apart.
        rebuild(documentId, startUs, Math.max(oldEndUs, newEndUs), throughUs);
        return;
      }
      const moved = {
        start_us: visit.start_us,
        end_us: Math.max(visit.end_us, newEndUs),
        active_us: visit.active_us + newEndUs - oldEndUs,
      };
      setVisit.run(moved.end_us - moved.start_us, moved.active_us, moved.start_us);
      joinNext(documentId, moved);
    },
    subtract: (stretch, endUs) => {
      debit(stretch, stretch.startUs, endUs);
    },
    rebuild,
  };
}

const HOUR_US = 3_600_000_000;
/** No local day is longer, even when daylight saving ends or a zone is crossed in flight. */
const DAY_AT_MOST_US = 26 * HOUR_US;

function hourParts(
  fromUs: number,
  toUs: number,
): { readonly utcHour: number; readonly us: number }[] {
  const parts: { readonly utcHour: number; readonly us: number }[] = [];
  for (let atUs = fromUs; atUs < toUs;) {
    const utcHour = Math.floor(atUs / HOUR_US);
    const endUs = Math.min((utcHour + 1) * HOUR_US, toUs);
    parts.push({ utcHour, us: endUs - atUs });
    atUs = endUs;
  }
  return parts;
}
