/**
 * When visits and totals follow the events. Bringing them along with every change would write five pages
 * where an event writes one, so the newest window events are settled together, about once a minute. This
 * file promises that what is settled and what is not is known exactly, also after a crash.
 */
import type { StoreDatabase } from "./database.ts";
import { createLocalDays, parseLocalDay } from "./local-day.ts";
import type { Visits } from "./visits.ts";
import { IS_WINDOW } from "./stored-facts.ts";

/**
 * Everything before `startUs` is settled, and the event at it up to `endUs`; null: there is no event at it.
 */
interface Position {
  readonly startUs: number;
  readonly endUs: number | null;
}

export interface Settlement {
  /** Whether the event at a start is settled whole, so that a change of it must be brought along at once. */
  readonly isSettled: (startUs: number) => boolean;
  /** Brings visits and totals up to all events, in a transaction of its own unless there is one. */
  readonly settle: () => void;
  /** Notes that an event is gone, after `settle` and in the same transaction. */
  readonly forgetEvent: (id: number) => void;
  /** Says that visits and totals are those of all events there are. In the transaction that made them so. */
  readonly declareSettled: () => void;
  /** What the unsettled events add to a local day ("2026-11-27"), and the first moment they add. */
  readonly pendingOn: (localDay: string) => {
    readonly activeUs: number;
    readonly firstUs: number | null;
  };
}

export function createSettlement(database: StoreDatabase, visits: Visits): Settlement {
  const days = createLocalDays();
  const readMeta = database.prepare<{ value: string }>("SELECT value FROM meta WHERE name = ?");
  const writeMeta = database.prepare(
    "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const windowsFrom = database.prepare<WindowRow>(
    `SELECT event.start_us, event.start_us + duration_us AS end_us, label.document_id AS document_id,
            zone.name AS time_zone
       FROM event JOIN zone ON zone.id = zone_id JOIN label ON label.id = label_id
      WHERE event.start_us >= ? AND ${IS_WINDOW} ORDER BY event.start_us LIMIT ${ROWS_PER_STEP}`,
  );
  const anyVisit = database.prepare("SELECT 1 FROM visit LIMIT 1");
  const newest = database.prepare<{ start_us: number; end_us: number }>(
    `SELECT start_us, start_us + duration_us AS end_us FROM event WHERE ${IS_WINDOW}
      ORDER BY start_us DESC LIMIT 1`,
  );

  const position = (): Position => {
    const value = readMeta.get(POSITION)?.value;
    if (value === undefined) return firstPosition();
    const [startUs = 0, endUs = Number.NaN] = value.split(" ").map(Number);
    return { startUs, endUs: Number.isNaN(endUs) ? null : endUs };
  };

  /** Before anything was settled; or a database from before this was kept, which is settled whole. */
  const firstPosition = (): Position => {
    const last = anyVisit.get() === undefined ? undefined : newest.get();
    return { startUs: last?.start_us ?? Number.MIN_SAFE_INTEGER, endUs: last?.end_us ?? null };
  };

  const setPosition = ({ startUs, endUs }: Position): void => {
    writeMeta.run(POSITION, `${startUs} ${endUs ?? "gone"}`);
  };

  function* pendingRows(startUs: number): Generator<WindowRow> {
    for (let fromUs = startUs; ;) {
      const rows = windowsFrom.all(fromUs);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_PER_STEP) return;
      fromUs = last.start_us + 1;
    }
  }

  /** Settles the next rows and says whether there may be more. */
  const step = (): boolean => {
    const from = position();
    const rows = windowsFrom.all(from.startUs);
    for (const { start_us: startUs, end_us: endUs, document_id: documentId, time_zone } of rows) {
      if (documentId === null) continue;
      const stretch = { documentId, startUs, timeZone: time_zone };
      if (startUs === from.startUs && from.endUs !== null) {
        visits.moveEnd(stretch, from.endUs, endUs, startUs);
      } else {
        visits.add(stretch, endUs);
      }
    }
    const last = rows.at(-1);
    const isMoved = last?.start_us !== from.startUs || last.end_us !== from.endUs;
    if (last !== undefined && isMoved) setPosition({ startUs: last.start_us, endUs: last.end_us });
    return rows.length === ROWS_PER_STEP;
  };

  return {
    isSettled: (startUs) => startUs < position().startUs,
    settle: () => {
      while (database.transaction(step));
    },
    forgetEvent: (id) => {
      if (position().startUs === id) setPosition({ startUs: id, endUs: null });
    },
    declareSettled: () => {
      const last = newest.get();
      setPosition({ startUs: last?.start_us ?? 0, endUs: last?.end_us ?? null });
    },
    pendingOn: (localDay) => {
      const from = position();
      const day = parseLocalDay(localDay);
      let activeUs = 0;
      let firstUs: number | null = null;
      for (const row of pendingRows(from.startUs)) {
        const isBegun = row.start_us === from.startUs && from.endUs !== null;
        const settledUs = isBegun ? (from.endUs ?? row.start_us) : row.start_us;
        const [fromUs, toUs] = [Math.min(settledUs, row.end_us), Math.max(settledUs, row.end_us)];
        for (const part of days.parts(fromUs, toUs, row.time_zone)) {
          if (part.localDay !== day) continue;
          const us = part.toUs - part.fromUs;
          activeUs += row.end_us < settledUs ? -us : us;
          if (row.end_us > settledUs) firstUs = Math.min(firstUs ?? part.fromUs, part.fromUs);
        }
      }
      return { activeUs, firstUs };
    },
  };
}

/** The name of the row in `meta`. */
const POSITION = "settled";
const ROWS_PER_STEP = 500;

interface WindowRow {
  readonly start_us: number;
  readonly end_us: number;
  readonly document_id: number | null;
  readonly time_zone: string;
}
