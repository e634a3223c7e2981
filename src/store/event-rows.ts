/**
 * How events lie in their rows, this device's in `event` and those of others in `remote_event`. It hides the tables that
 * a row leads to, and promises that an event reads the same wherever it comes from.
 */
import type { ActivityEvent, EventSpan } from "../capture/events.ts";
import type { StoreDatabase } from "./database.ts";
import { FACTS_COLUMNS, readFacts, type FactsRow } from "./stored-facts.ts";

type EventTable = "event" | "remote_event";

/** A row as {@link selectSpans} gives it. */
export interface SpanRow {
  readonly start_us: number;
  readonly duration_us: number;
  readonly time_zone: string;
  readonly utc_offset_minutes: number;
}

/** A row as {@link selectEvents} gives it. */
export interface EventRow extends SpanRow, FactsRow {}

/** SQL for the spans of events, up to its conditions; `columns` are those that are needed besides. */
export function selectSpans(table: EventTable, columns: readonly string[]): string {
  return `SELECT ${spanColumns(table, columns)} FROM ${table} JOIN zone ON zone.id = zone_id`;
}

/** SQL for whole events, up to its conditions; `columns` are those that are needed besides. */
export function selectEvents(table: EventTable, columns: readonly string[] = []): string {
  return `SELECT ${spanColumns(table, [FACTS_COLUMNS, ...columns])}
    FROM ${table} JOIN zone ON zone.id = zone_id JOIN label ON label.id = ${table}.label_id
    LEFT JOIN document ON document.id = label.document_id`;
}

function spanColumns(table: EventTable, columns: readonly string[]): string {
  return [
    `${table}.start_us`,
    `${table}.duration_us`,
    "zone.name AS time_zone",
    "zone.utc_offset_minutes",
    ...columns,
  ].join(", ");
}

export function readSpan(row: SpanRow): EventSpan {
  return {
    startUs: row.start_us,
    endUs: row.start_us + row.duration_us,
    utcOffsetMinutes: row.utc_offset_minutes,
    timeZone: row.time_zone,
  };
}

export function readEvent(row: EventRow): ActivityEvent {
  return { id: row.start_us, ...readSpan(row), ...readFacts(row) };
}

/** Beyond this an event of this device stands in the index `event_long`. Part of the schema. */
export const LONG_US = 3_600_000_000;

/** How far before a range an event of this device may begin that reaches into it. */
export function longestEventUs(database: StoreDatabase): number {
  const longest = database
    .prepare<{ longest_us: number | null }>(
      `SELECT max(duration_us) AS longest_us FROM event INDEXED BY event_long WHERE duration_us > ${LONG_US}`,
    )
    .get();
  return longest?.longest_us ?? LONG_US;
}

/** Nothing of another device is looked for that began longer than this before a range. */
export const REMOTE_REACH_US = 36 * 3_600_000_000;

/** No visit, and no window of another device, is believed to reach further back than this before a range. */
export const VISIT_REACH_US = 12 * 3_600_000_000;
