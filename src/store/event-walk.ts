/**
 * Going through the record event by event, of this device and of others. It promises every event that meets a span,
 * with its facts, and that requests are answered meanwhile.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFacts, EventSpan } from "../capture/events.ts";
import type { StoreDatabase } from "./database.ts";
import { IS_GONE } from "./devices.ts";
import type { RemoteId } from "./devices/remote-reader.ts";
import {
  longestEventUs,
  readSpan,
  REMOTE_REACH_US,
  selectSpans,
  type SpanRow,
} from "./event-rows.ts";
import { FACTS_COLUMNS, readFacts, type FactsRow } from "./stored-facts.ts";

/** The device on which a wish was made, and what it had recorded by then: records before a version. */
export interface WishOrigin {
  readonly deviceKey: number;
  readonly version: number;
}

/** An event as it is met. */
export interface FoundEvent extends EventSpan {
  readonly id: number;
}

/** An event of another device, under its start there. */
export interface FoundRemoteEvent extends FoundEvent, RemoteId {
  readonly startUs: number;
}

/** Calls `visit` for every event that meets the span, oldest first. */
export async function eachEvent(
  database: StoreDatabase,
  span: Range | null,
  visit: (event: FoundEvent, facts: EventFacts) => void,
): Promise<void> {
  const rows = database.prepare<WalkRow>(
    `${selectSpans("event", ["label_id"])} WHERE start_us > ? AND start_us < ?
      ORDER BY start_us LIMIT ${ROWS_PER_STEP}`,
  );
  // An event that began long before the span may still reach into it.
  const sinceUs =
    span === null ? Number.MIN_SAFE_INTEGER : span.fromUs - longestEventUs(database) - 1;
  const toUs = span?.toUs ?? Number.MAX_SAFE_INTEGER;
  await walk(
    database,
    span,
    (last) => rows.all(last?.start_us ?? sinceUs, toUs),
    (row, event, facts) => visit({ id: row.start_us, ...event }, facts),
  );
}

/**
 * The same for the events of other devices, by start. With an origin: of that device what it had recorded by then, and of
 * others what they say nothing of, because they are gone or have not told it, as after an import; of what it told a device
 * that takes part says itself what a wish takes.
 */
export async function eachRemoteEvent(
  database: StoreDatabase,
  span: Range | null,
  origin: WishOrigin | null,
  visit: (event: FoundRemoteEvent, facts: EventFacts) => void,
): Promise<void> {
  const rows = database.prepare<RemoteWalkRow>(
    `${selectSpans("remote_event", ["label_id", "device_key"])}
      WHERE (start_us, device_key) > (?, ?) AND start_us < ?
        AND (device_key BETWEEN ? AND ? AND remote_event.version < ? OR remote_event.version = 0
          OR device_key IN (SELECT key FROM device WHERE ${IS_GONE}))
      ORDER BY start_us, device_key LIMIT ${ROWS_PER_STEP}`,
  );
  const sinceUs = span === null ? Number.MIN_SAFE_INTEGER : span.fromUs - REMOTE_REACH_US;
  const toUs = span?.toUs ?? Number.MAX_SAFE_INTEGER;
  const only =
    origin === null
      ? ([0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const)
      : ([origin.deviceKey, origin.deviceKey, origin.version] as const);
  await walk<RemoteWalkRow>(
    database,
    span,
    (last) => rows.all(last?.start_us ?? sinceUs, last?.device_key ?? 0, toUs, ...only),
    (row, event, facts) => visit({ id: row.start_us, deviceKey: row.device_key, ...event }, facts),
  );
}

interface Range {
  readonly fromUs: number;
  readonly toUs: number;
}

interface WalkRow extends SpanRow {
  readonly label_id: number;
}

interface RemoteWalkRow extends WalkRow {
  readonly device_key: number;
}

/** A few milliseconds of work, most of it reading facts. */
const ROWS_PER_STEP = 500;

/** Goes through rows step by step: `rowsAfter` gives those of the next step, after the last one or from the beginning. */
async function walk<Row extends WalkRow>(
  database: StoreDatabase,
  span: Range | null,
  rowsAfter: (last: Row | undefined) => readonly Row[],
  visit: (row: Row, event: EventSpan, facts: EventFacts) => void,
): Promise<void> {
  const factsOf = createLabelReader(database);
  for (let last: Row | undefined; ;) {
    const rows = rowsAfter(last);
    for (const row of rows) {
      const event = readSpan(row);
      if (span !== null && event.endUs <= span.fromUs && event.startUs < span.fromUs) continue;
      const facts = factsOf(row.label_id);
      if (facts !== null) visit(row, event, facts);
    }
    last = rows.at(-1);
    if (rows.length < ROWS_PER_STEP) return;
    await nextTurn();
  }
}

/** Facts by label, each read once: a year of events has few distinct ones. */
function createLabelReader(database: StoreDatabase): (labelId: number) => EventFacts | null {
  const known = new Map<number, EventFacts | null>();
  const find = database.prepare<FactsRow>(
    `SELECT ${FACTS_COLUMNS} FROM label LEFT JOIN document ON document.id = label.document_id WHERE label.id = ?`,
  );
  return (labelId) => {
    let facts = known.get(labelId);
    if (facts === undefined) {
      const row = find.get(labelId);
      facts = row === undefined ? null : readFacts(row);
      if (known.size > 100_000) known.clear();
      known.set(labelId, facts);
    }
    return facts;
  };
}
