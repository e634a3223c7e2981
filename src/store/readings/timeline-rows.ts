/**
 * Events of one kind in a stretch of the record, to be drawn. It promises all that meet it, also what began long
 * before, and what goes on up to the present.
 */
import type { EventKind } from "../../capture/events.ts";
import type { StoreDatabase } from "../database.ts";
import { LONG_US } from "../event-rows.ts";
import { IS_WINDOW, isIndexedLike, KIND_CODES, KIND_OF_ROW } from "../stored-facts.ts";

/** What is to be drawn, and how finely. */
export interface Frame {
  readonly fromUs: number;
  readonly toUs: number;
  readonly resolutionUs: number;
}

/** What the asker knows and the database does not yet: which events go on, and what time it is. */
export interface Running {
  readonly ids: readonly number[];
  readonly nowUs: number;
}

export interface StretchRow {
  readonly startUs: number;
  readonly endUs: number;
  readonly labelId: number;
  readonly documentId: number | null;
}

/** Rows of one kind that meet the range, by start, clipped to it. */
export function* readRows(
  database: StoreDatabase,
  { fromUs, toUs }: Frame,
  running: Running,
  kind: EventKind,
): Generator<StretchRow> {
  const isKind =
    kind === "window"
      ? IS_WINDOW
      : `${KIND_OF_ROW} = ${KIND_CODES[kind]} AND ${isIndexedLike(KIND_CODES[kind])}`;
  const select = (source: string): string =>
    `SELECT event.start_us AS startUs, event.start_us + event.duration_us AS endUs,
      event.label_id AS labelId, label.document_id AS documentId
    FROM ${source} JOIN label ON label.id = event.label_id WHERE ${isKind}`;
  // Left to itself SQLite takes the index of kinds, and reads all events of the kind that ever were.
  const long = database.prepare<StretchRow>(
    `${select("event INDEXED BY event_long")}
       AND event.duration_us > ${LONG_US} AND event.start_us < ? ORDER BY event.start_us`,
  );
  const near = database.prepare<StretchRow>(
    `${select("event")} AND event.start_us >= ? AND event.start_us < ? ORDER BY event.start_us`,
  );
  const goesOn = new Set(running.ids);
  for (const rows of [
    // Those that begin long before the range are few, and found through an index of their own.
    long.iterate(fromUs - LONG_US),
    near.iterate(fromUs - LONG_US, toUs),
  ]) {
    for (const row of rows) {
      const endUs = goesOn.has(row.startUs) ? Math.max(row.endUs, running.nowUs) : row.endUs;
      const startUs = Math.max(row.startUs, fromUs);
      // What lasted no time cannot be drawn.
      if (endUs > startUs) yield { ...row, startUs, endUs: Math.min(endUs, toUs) };
    }
  }
}
