/**
 * Changing the record: events are begun, their ends move, and whole events are put in from elsewhere. It
 * promises that every change is one transaction, and that visits and totals follow by `settle`.
 */
import type { EventFacts, EventSpan } from "../capture/events.ts";
import { ActivityError } from "../errors.ts";
import type { StoreDatabase } from "./database.ts";
import type { Documents } from "./documents.ts";
import { IS_WINDOW, isOfKind, KIND_MASK } from "./stored-facts.ts";
import { createSettlement, type Settlement } from "./settlement.ts";
import type { Visits } from "./visits.ts";
import { createZones } from "./zones.ts";

/** What putting an event did: `present` when it was there already, `extended` when it only lasted longer. */
export type PutResult = "added" | "extended" | "present";

/** Where an event lies after a change. */
export interface Placed {
  readonly id: number;
  readonly endUs: number;
}

export interface EventWriter {
  /** See `EventStore.begin`. */
  readonly begin: (facts: EventFacts, span: EventSpan) => Placed;
  /** See `EventStore.setEnd`. */
  readonly setEnd: (id: number, endUs: number) => Placed;
  /** Puts in an event that may be there already: the same facts at the same start are one event. */
  readonly put: (facts: EventFacts, span: EventSpan) => PutResult;
  /** See `EventStore.redate`. */
  readonly redate: (byUs: number, nowUs: number) => ReadonlyMap<number, number>;
  /** The committed end and the kind of an event; null when there is none. */
  readonly find: (id: number) => { readonly endUs: number; readonly kindCode: number } | null;
  readonly settlement: Settlement;
}

export function createEventWriter(
  database: StoreDatabase,
  documents: Documents,
  visits: Visits,
): EventWriter {
  const addEvent = database.prepare(
    `INSERT INTO event(start_us, duration_us, label_id, zone_id) VALUES(?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
  );
  const setDuration = database.prepare("UPDATE event SET duration_us = ? WHERE start_us = ?");
  const findEvent = database.prepare<EventRow>(
    `SELECT event.start_us + duration_us AS end_us, label_id, label.document_id AS document_id,
            zone.name AS time_zone
       FROM event JOIN zone ON zone.id = zone_id JOIN label ON label.id = label_id
      WHERE event.start_us = ?`,
  );
  const zoneId = createZones(database);
  const settlement = createSettlement(database, visits);
  const eventsFrom = database.prepare<MovableRow>(
    `SELECT event.start_us, event.start_us + duration_us AS end_us, label_id, zone_id,
            label.document_id AS document_id, zone.name AS time_zone
       FROM event JOIN zone ON zone.id = zone_id JOIN label ON label.id = label_id
      WHERE event.start_us >= ? AND event.start_us < ? ORDER BY event.start_us`,
  );
  const newestWindows = database.prepare<{ start_us: number; end_us: number }>(
    `SELECT start_us, start_us + duration_us AS end_us FROM event WHERE ${IS_WINDOW}
      ORDER BY start_us DESC LIMIT 20000`,
  );
  const dropEvent = database.prepare("DELETE FROM event WHERE start_us = ?");

  const moveEnd = (id: number, row: EventRow, endUs: number): void => {
    if (row.end_us === endUs) return;
    const { document_id: documentId, time_zone: timeZone } = row;
    const isWindow = isOfKind(row.label_id, "window");
    const isSettled = isWindow && settlement.isSettled(id);
    // Visits that fall apart are made anew from the events: all of them must have been added.
    if (isSettled) settlement.settle();
    setDuration.run(endUs - id, id);
    if (!isSettled || documentId === null) return;
    visits.moveEnd({ documentId, startUs: id, timeZone }, row.end_us, endUs);
  };

  /** Inserts at the first free microsecond, unless `isThere` recognises what stands at one before it. */
  const insert = (
    facts: EventFacts,
    span: EventSpan,
    isThere: (id: number, labelId: number) => boolean,
  ): Placed | null => {
    const zone = zoneId(span);
    const label = documents.intern(facts);
    const spanEndUs = Math.round(span.endUs);
    for (let startUs = Math.round(span.startUs); ; startUs += 1) {
      const endUs = Math.max(spanEndUs, startUs);
      if (addEvent.run(startUs, endUs - startUs, label.id, zone) === 0) {
        if (isThere(startUs, label.id)) return null;
        continue;
      }
      if (facts.kind === "window" && label.documentId !== null && settlement.isSettled(startUs)) {
        visits.add({ documentId: label.documentId, startUs, timeZone: span.timeZone }, endUs);
      }
      return { id: startUs, endUs };
    }
  };

  const isWindowRow = (row: EventRow): boolean =>
    isOfKind(row.label_id, "window") && row.document_id !== null;

  /** Moves what begins in `[untilUs, fromUs)` to `untilUs`, without length, and ends there what reaches beyond. */
  const cutBefore = (untilUs: number, fromUs: number, moved: Map<number, number>): void => {
    for (const row of eventsFrom.all(untilUs - LONGEST_CUT_US, fromUs)) {
      if (row.start_us > untilUs) {
        take(row);
        moved.set(row.start_us, place(row, untilUs, untilUs));
      } else if (row.end_us > untilUs) {
        moveEnd(row.start_us, row, untilUs);
      }
    }
  };

  /** Takes an event out, with its share of visits and totals. */
  const take = (row: MovableRow): void => {
    dropEvent.run(row.start_us);
    const { start_us: startUs, document_id: documentId, time_zone: timeZone } = row;
    if (!isWindowRow(row) || documentId === null) return;
    visits.subtract({ documentId, startUs, timeZone }, row.end_us);
    visits.rebuild(documentId, startUs, row.end_us);
  };

  /** Puts it in elsewhere. Where the start is taken, the start moves on and the end does not. */
  const place = (row: MovableRow, atUs: number, endUs: number): number => {
    let startUs = atUs;
    const durationUs = (): number => Math.max(endUs - startUs, 0);
    while (addEvent.run(startUs, durationUs(), row.label_id, row.zone_id) === 0) startUs += 1;
    const { document_id: documentId, time_zone: timeZone } = row;
    if (isWindowRow(row) && documentId !== null) {
      visits.add({ documentId, startUs, timeZone }, startUs + durationUs());
    }
    return startUs;
  };

  /** The start of the newest stretch of windows that has room before it to move into. */
  const stretchStart = (byUs: number, oldNowUs: number): number => {
    let startUs = oldNowUs;
    // The hole is where the clock leapt ahead, by as much as it comes back now but for the drift between.
    const holeUs = Math.min(Math.max(byUs / 2, byUs - DRIFT_US), LONGEST_STRETCH_US);
    for (const row of newestWindows.all()) {
      if (startUs - row.end_us >= holeUs || oldNowUs - startUs > LONGEST_STRETCH_US) break;
      startUs = Math.min(startUs, row.start_us);
    }
    return startUs;
  };

  const redate = (byUs: number, nowUs: number): ReadonlyMap<number, number> => {
    settlement.settle();
    const fromUs = stretchStart(byUs, nowUs + byUs);
    const rows = eventsFrom.all(fromUs, Number.MAX_SAFE_INTEGER);
    for (const row of rows) take(row);
    // With what moves out of the way, everything that is left is settled.
    settlement.declareSettled();
    const moved = new Map<number, number>();
    cutBefore(fromUs - byUs, fromUs, moved);
    settlement.settle();
    for (const row of rows) {
      moved.set(row.start_us, place(row, row.start_us - byUs, row.end_us - byUs));
    }
    settlement.declareSettled();
    return moved;
  };

  return {
    redate: (byUs, nowUs) => database.transaction(() => redate(byUs, nowUs)),
    begin: (facts, span) =>
      database.transaction(() => {
        const placed = insert(facts, span, () => false);
        if (placed === null)
          throw new ActivityError("internal", "A new event was taken for an old one.");
        return placed;
      }),
    setEnd: (id, endUs) =>
      database.transaction(() => {
        const row = findEvent.get(id);
        if (row === undefined) {
          const hint = "It may have been forgotten.";
          throw new ActivityError("not_found", `There is no event ${id}.`, hint);
        }
        const newEndUs = Math.max(Math.round(endUs), id);
        moveEnd(id, row, newEndUs);
        return { id, endUs: newEndUs };
      }),
    put: (facts, span) =>
      database.transaction(() => {
        let result: PutResult = "added";
        insert(facts, span, (id, labelId) => {
          const row = findEvent.get(id);
          if (row?.label_id !== labelId) return false;
          const isLonger = Math.round(span.endUs) > row.end_us;
          if (isLonger) moveEnd(id, row, Math.round(span.endUs));
          result = isLonger ? "extended" : "present";
          return true;
        });
        return result;
      }),
    find: (id) => {
      const row = findEvent.get(id);
      return row === undefined ? null : { endUs: row.end_us, kindCode: row.label_id & KIND_MASK };
    },
    settlement,
  };
}

const DRIFT_US = 1_000_000;
/** A clock that was wrong for longer than this was wrong for too long to be put right in the record. */
const LONGEST_STRETCH_US = 36 * 3_600_000_000;
/** What is cut lies right before; a sleep that is longer than this was no mistake of a clock. */
const LONGEST_CUT_US = 7 * 86_400_000_000;

interface EventRow {
  readonly end_us: number;
  readonly label_id: number;
  readonly document_id: number | null;
  readonly time_zone: string;
}

interface MovableRow extends EventRow {
  readonly start_us: number;
  readonly zone_id: number;
}
