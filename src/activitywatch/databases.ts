/**
 * The files in which ActivityWatch's servers keep their histories: where they lie, and how their three schemas
 * are read.
 *
 * @see https://github.com/ActivityWatch/aw-core/tree/master/aw_datastore/storages
 * @see https://github.com/ActivityWatch/aw-server-rust/blob/master/aw-datastore/src/datastore.rs
 */
import { join } from "node:path";
import { ActivityError, shellWord } from "../errors.ts";
import type { ForeignDatabase } from "../store/foreign.ts";
import { readOrTell, type History, type HistoryBucket, type Unreadable } from "./history.ts";
import { isObject, parseTimestamp, type JsonObject, type WireEvent } from "./wire.ts";

/** Newer schemas of aw-server-rust than this may mean something else. */
const NEWEST_RUST_VERSION = 6;

/** Where the servers of both kinds keep their histories on this system, most likely first. */
export function usualPlaces(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
  platform: NodeJS.Platform = process.platform,
): readonly string[] {
  const roots: Partial<Record<NodeJS.Platform, readonly string[]>> = {
    darwin: [join(home, "Library", "Application Support", "activitywatch")],
    // The library that names the folder doubles it there.
    win32: [
      join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "activitywatch", "activitywatch"),
      join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "activitywatch"),
    ],
  };
  const share = env["XDG_DATA_HOME"] ?? "";
  const linux = [join(share === "" ? join(home, ".local", "share") : share, "activitywatch")];
  return (roots[platform] ?? linux).flatMap((root) => [
    join(root, "aw-server-rust", "sqlite.db"),
    join(root, "aw-server", "peewee-sqlite.v2.db"),
    join(root, "aw-server", "sqlite.v1.db"),
  ]);
}

/**
 * The history in an open database of either server.
 *
 * @throws ActivityError `bad_request` when it is a database of something else, or of a newer server
 */
export function readDatabase(database: ForeignDatabase, path: string): History {
  if (database.columns("bucketmodel").length > 0) return readPeewee(database);
  const events = database.columns("events");
  if (events.includes("bucketrow") && events.includes("datastr")) return readSqliteV1(database);
  if (events.includes("bucketrow") && database.columns("buckets").includes("name")) {
    if (database.version <= NEWEST_RUST_VERSION) return readRust(database);
    throw new ActivityError(
      "bad_request",
      `${path} was written by a newer aw-server-rust (schema ${database.version}; ${NEWEST_RUST_VERSION} is known).`,
      "Export from its web page instead: Raw Data, Export all buckets as JSON.",
    );
  }
  if (database.columns("event").includes("label_id")) {
    throw new ActivityError(
      "bad_request",
      `${path} is a record of activityd itself, not of ActivityWatch.`,
      `Put it in place of this one with: activityd restore ${shellWord(path)}. To add it to this one, restore it elsewhere: ` +
        "activityd --home FOLDER restore FILE, and: activityd --home FOLDER export | activityd import -",
    );
  }
  throw new ActivityError(
    "bad_request",
    `${path} is no database of ActivityWatch.`,
    "Those are called peewee-sqlite.v2.db (aw-server) and sqlite.db (aw-server-rust).",
  );
}

/** aw-server: times as text in UTC, durations in seconds; `created` is local time without a zone. */
function readPeewee(database: ForeignDatabase): History {
  // Files that were made before buckets had data lack the column.
  const data = database.columns("bucketmodel").includes("datastr") ? "datastr" : "NULL";
  const buckets = [
    ...database.rows(
      `SELECT key, id, created, type, client, hostname, ${data} AS data FROM bucketmodel ORDER BY key`,
    ),
  ];
  return {
    kind: "aw-server",
    settings: new Map(),
    buckets: buckets.map((row) =>
      describeBucket(database, row, "eventmodel WHERE bucket_id = ?", () =>
        mapRows(
          database.rows(
            "SELECT timestamp, duration, datastr FROM eventmodel WHERE bucket_id = ? ORDER BY timestamp, id",
            keyOf(row),
          ),
          ({ timestamp, duration, datastr }) =>
            readOrTell({ timestamp, duration: Number(duration), data: parseData(datastr) }),
        ),
      ),
    ),
  };
}

/** aw-server's store of before: microseconds. */
function readSqliteV1(database: ForeignDatabase): History {
  const buckets = [
    ...database.rows(
      "SELECT rowid AS key, id, created, type, client, hostname, datastr AS data FROM buckets ORDER BY rowid",
    ),
  ];
  return {
    kind: "aw-server",
    settings: new Map(),
    buckets: buckets.map((row) => spanBucket(database, row, "datastr", 1)),
  };
}

/** aw-server-rust: nanoseconds, which no double holds, so that SQLite divides them. */
function readRust(database: ForeignDatabase): History {
  const data = database.columns("buckets").includes("data") ? "data" : "NULL";
  const buckets = [
    ...database.rows(
      `SELECT id AS key, name AS id, created, type, client, hostname, ${data} AS data FROM buckets ORDER BY id`,
    ),
  ];
  const settings = new Map<string, string>();
  if (database.columns("key_value").length > 0) {
    for (const { key, value } of database.rows("SELECT key, value FROM key_value")) {
      const name = typeof key === "string" && key.startsWith("settings.") ? key.slice(9) : null;
      if (name !== null && typeof value === "string" && parseJson(value) !== undefined)
        settings.set(name, value);
    }
  }
  return {
    kind: "aw-server-rust",
    settings,
    buckets: buckets.map((row) => spanBucket(database, row, "data", 1_000)),
  };
}

function spanBucket(
  database: ForeignDatabase,
  row: Row,
  dataColumn: "data" | "datastr",
  unitsPerUs: 1 | 1_000,
): HistoryBucket {
  return describeBucket(database, row, "events WHERE bucketrow = ?", () =>
    mapRows(
      database.rows(
        `SELECT starttime / ${unitsPerUs} AS start_us, (endtime - starttime) / ${unitsPerUs} AS duration_us,
                ${dataColumn} AS data
           FROM events WHERE bucketrow = ? ORDER BY starttime, id`,
        keyOf(row),
      ),
      ({ start_us: startUs, duration_us: durationUs, data }) => {
        if (!Number.isSafeInteger(startUs) || !Number.isSafeInteger(durationUs))
          return { unreadable: "An event needs a start and an end." };
        const parsed = parseData(data);
        if (!isObject(parsed)) return { unreadable: "The data of an event must be a JSON object." };
        return { id: null, startUs: Number(startUs), durationUs: Number(durationUs), data: parsed };
      },
    ),
  );
}

type Row = Readonly<Record<string, unknown>>;

function describeBucket(
  database: ForeignDatabase,
  row: Row,
  eventsOf: string,
  events: HistoryBucket["events"],
): HistoryBucket {
  const [counted] = database.rows(`SELECT count(*) AS count FROM ${eventsOf}`, keyOf(row));
  const text = (name: string): string => {
    const value = row[name];
    return typeof value === "string" && value !== "" ? value : "unknown";
  };
  const data: unknown = parseData(row["data"]);
  return {
    id: text("id"),
    type: text("type"),
    client: text("client"),
    hostname: text("hostname"),
    createdUs: parseCreated(text("created")),
    data: isObject(data) ? data : {},
    eventCount: Number(counted?.["count"] ?? 0),
    events,
  };
}

function* mapRows(
  rows: Iterable<Row>,
  read: (row: Row) => WireEvent | Unreadable,
): Iterable<WireEvent | Unreadable> {
  for (const row of rows) yield read(row);
}

function keyOf({ key }: Row): number {
  return typeof key === "number" ? key : -1;
}

/** What is no JSON is no data, and makes the event one that cannot be read. */
function parseData(text: unknown): JsonObject | string {
  const value = typeof text === "string" ? parseJson(text) : {};
  return isObject(value) ? value : "no JSON object";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Without a zone it is the time on the wall, which JavaScript takes it for as well. */
function parseCreated(text: string): number | null {
  if (/(?:Z|[+-]\d{2}:?\d{2})$/i.test(text)) return parseTimestamp(text);
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms * 1000;
}
