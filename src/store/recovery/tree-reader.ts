/**
 * Reading a damaged database through SQLite itself, where its pages cannot be read without a key. It promises
 * what lies before the first damage of each table and what lies behind the last.
 */
import { ActivityError } from "../../errors.ts";
import { openDatabase, type StoreDatabase } from "../database.ts";
import type { RawRecord, RawValue } from "./page-reader.ts";

/** Tables by their key, with the columns that follow it in a record. */
const TABLES: readonly {
  readonly name: string;
  readonly key: string;
  readonly columns: readonly string[];
}[] = [
  { name: "zone", key: "id", columns: ["name", "utc_offset_minutes"] },
  { name: "document", key: "id", columns: ["CAST(hash AS TEXT)", "kind", "app", "title", "place"] },
  { name: "label", key: "id", columns: ["CAST(hash AS TEXT)", "document_id", "title", "facts"] },
  { name: "event", key: "start_us", columns: ["duration_us", "label_id", "zone_id"] },
  { name: "day", key: "local_day", columns: ["first_us", "active_us"] },
  { name: "hour_total", key: "utc_hour", columns: ["active_us"] },
  {
    name: "bucket",
    key: "key",
    columns: ["id", "type", "client", "hostname", "created_us", "data", "longest_us"],
  },
  { name: "bucket_event", key: "id", columns: ["bucket_key", "start_us", "duration_us", "data"] },
  {
    name: "ledger",
    key: "id",
    columns:
      "first_us last_us times client session form intent source text tokens event_ids reasons untrusted owner_text".split(
        " ",
      ),
  },
];

/** The records that SQLite can still reach, in the shape in which they lie in the file. */
export function* readTreeRecords(path: string): Generator<RawRecord> {
  const database = openDatabase({ path, role: "reader" });
  try {
    for (const table of TABLES) yield* readTable(database, table);
    yield* readDayTotals(database);
  } finally {
    database.close();
  }
}

function* readTable(
  database: StoreDatabase,
  { name, key, columns }: (typeof TABLES)[number],
): Generator<RawRecord> {
  const chosen = [key, ...columns].map((column, index) => `${column} AS c${index}`).join(", ");
  const upward = `SELECT ${chosen} FROM ${name} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`;
  const downward = `SELECT ${chosen} FROM ${name} WHERE ${key} < ? ORDER BY ${key} DESC LIMIT ?`;
  let reached = Number.MIN_SAFE_INTEGER;
  for (const record of walk(database, upward, reached)) {
    reached = record.rowid ?? reached;
    yield record;
  }
  for (const record of walk(database, downward, Number.MAX_SAFE_INTEGER)) {
    if ((record.rowid ?? reached) <= reached) return;
    yield record;
  }
}

/** Reads on from a key until there is no more, or until not even one row can be read. */
function* walk(database: StoreDatabase, sql: string, start: number): Generator<RawRecord> {
  let last = start;
  let size = ROWS_PER_STEP;
  for (;;) {
    let rows: readonly Record<string, unknown>[];
    try {
      rows = database.prepare(sql).all(last, size);
    } catch (error) {
      if (!(error instanceof ActivityError)) throw error;
      if (size === 1) return;
      size = Math.max(1, Math.floor(size / 8));
      continue;
    }
    for (const row of rows) {
      const record = toRecord(row);
      last = record.rowid ?? last;
      yield record;
    }
    if (rows.length < size) return;
  }
}

const ROWS_PER_STEP = 512;

function toRecord(row: Record<string, unknown>): RawRecord {
  const [key, ...values] = Object.values(row).map(toRawValue);
  return { rowid: typeof key === "number" ? key : null, values: [null, ...values.map(toHash)] };
}

function toRawValue(value: unknown): RawValue {
  return typeof value === "number" || typeof value === "string" || typeof value === "bigint"
    ? value
    : null;
}

/** Hashes come as text, since a number would lose their last digits; no other text of ours is all digits there. */
function toHash(value: RawValue, index: number): RawValue {
  return index === 0 && typeof value === "string" && /^-?\d{1,19}$/.test(value)
    ? BigInt(value)
    : value;
}

/** The table without rowids: its records begin with their key. */
function* readDayTotals(database: StoreDatabase): Generator<RawRecord> {
  try {
    const rows = database.prepare<{ d: number; i: number; a: number }>(
      "SELECT local_day AS d, document_id AS i, active_us AS a FROM day_total",
    );
    for (const { d, i, a } of rows.iterate()) yield { rowid: null, values: [d, i, a] };
  } catch (error) {
    // Totals of days whose events are there are added up anew; of older ones those before the damage remain.
    if (!(error instanceof ActivityError)) throw error;
  }
}
