/**
 * Going through the record event by event, of this device and of others. It promises every event that meets a span,
 * with its facts, and that requests are answered meanwhile.
 */
import type { EventFacts, EventSpan } from "../capture/events.ts";
import type { StoreDatabase } from "./database.ts";
import { IS_SILENT } from "./devices.ts";
import { FACTS_COLUMNS, readFacts, type FactsRow } from "./stored-facts.ts";
import type { RemoteId } from "./devices/remote-reader.ts";

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

interface EventRow {
  readonly start_us: number;
  readonly end_us: number;
  readonly label_id: number;
  readonly time_zone: string;
  readonly utc_offset_minutes: number;
}

/** A few milliseconds of work, most of it reading facts. */
const ROWS_PER_STEP = 500;
/** Beyond this an event stands in the index `event_long`. Part of the schema. */
const LONG_US = 3_600_000_000;
/** Calls `visit` for every event that meets the span, oldest first. */
export async function eachEvent(
  database: StoreDatabase,
  span: { readonly fromUs: number; readonly toUs: number } | null,
  visit: (event: FoundEvent, facts: EventFacts) => void,
): Promise<void> {
  const rows = database.prepare<EventRow>(
    `SELECT start_us, start_us + duration_us AS end_us, label_id, zone.name AS time_zone, zone.utc_offset_minutes
       FROM event JOIN zone ON zone.id = zone_id
      WHERE start_us > ? AND start_us < ? ORDER BY start_us LIMIT ${ROWS_PER_STEP}`,
  );
  const labels = createLabelReader(database);
  // An event that began long before the span may still reach into it.
  let lastUs = span === null ? Number.MIN_SAFE_INTEGER : span.fromUs - longestEventUs(database) - 1;
  const toUs = span?.toUs ?? Number.MAX_SAFE_INTEGER;
  for (;;) {
    const found = rows.all(lastUs, toUs);
    for (const row of found) {
      if (span !== null && row.end_us <= span.fromUs && row.start_us < span.fromUs) continue;
      const facts = labels(row.label_id);
      if (facts === null) continue;
      const { start_us: startUs, end_us: endUs, time_zone: timeZone } = row;
      const event = {
        id: startUs,
        startUs,
        endUs,
        timeZone,
        utcOffsetMinutes: row.utc_offset_minutes,
      };
      visit(event, facts);
    }
    const last = found.at(-1);
    if (last === undefined || found.length < ROWS_PER_STEP) return;
    lastUs = last.start_us;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/**
 * The same for the events of other devices, by start. With an origin: of that device what it had recorded by then, and of
 * others what nobody says anything of any more; a device that takes part says itself what a wish takes of its record.
 */
export async function eachRemoteEvent(
  database: StoreDatabase,
  span: { readonly fromUs: number; readonly toUs: number } | null,
  origin: WishOrigin | null,
  visit: (event: FoundRemoteEvent, facts: EventFacts) => void,
): Promise<void> {
  const rows = database.prepare<EventRow & { readonly device_key: number }>(
    `SELECT device_key, start_us, start_us + duration_us AS end_us, label_id, zone.name AS time_zone,
            zone.utc_offset_minutes
       FROM remote_event JOIN zone ON zone.id = zone_id
      WHERE (start_us, device_key) > (?, ?) AND start_us < ?
        AND (device_key BETWEEN ? AND ? AND remote_event.version < ? OR device_key IN (SELECT key FROM device WHERE ${IS_SILENT}))
      ORDER BY start_us, device_key LIMIT ${ROWS_PER_STEP}`,
  );
  const labels = createLabelReader(database);
  const toUs = span?.toUs ?? Number.MAX_SAFE_INTEGER;
  const only =
    origin === null
      ? ([0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const)
      : ([origin.deviceKey, origin.deviceKey, origin.version] as const);
  let last = {
    start_us: span === null ? Number.MIN_SAFE_INTEGER : span.fromUs - LONGEST_REMOTE_US,
    device_key: 0,
  };
  for (;;) {
    const found = rows.all(last.start_us, last.device_key, toUs, ...only);
    for (const row of found) {
      if (span !== null && row.end_us <= span.fromUs && row.start_us < span.fromUs) continue;
      const facts = labels(row.label_id);
      if (facts === null) continue;
      const { start_us: startUs, end_us: endUs, time_zone: timeZone } = row;
      const { device_key: deviceKey, utc_offset_minutes: utcOffsetMinutes } = row;
      visit({ id: startUs, deviceKey, startUs, endUs, timeZone, utcOffsetMinutes }, facts);
    }
    const end = found.at(-1);
    if (end === undefined || found.length < ROWS_PER_STEP) return;
    last = end;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** As far back as events of other devices are looked for before a span. */
const LONGEST_REMOTE_US = 36 * 3_600_000_000;

function longestEventUs(database: StoreDatabase): number {
  const longest = database
    .prepare<{ longest_us: number | null }>(
      `SELECT max(duration_us) AS longest_us FROM event INDEXED BY event_long WHERE duration_us > ${LONG_US}`,
    )
    .get();
  return longest?.longest_us ?? LONG_US;
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
