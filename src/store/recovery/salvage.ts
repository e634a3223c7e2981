/**
 * Carrying over the rows of a damaged database. It promises that text is taken only when its hash proves it
 * to be what was written, that events are taken only with text that is there, and that totals of days
 * whose events have long expired are kept, and nothing is counted twice.
 */
import type { StoreDatabase } from "../database.ts";
import { documentHash, KIND_CODES, KIND_MASK, labelHash } from "../stored-facts.ts";
import { EVENT_KINDS } from "../../capture/events.ts";
import { isEncrypted } from "../cipher.ts";
import { readRawRecords, type RawRecord, type RawValue } from "./page-reader.ts";
import { createSettlement } from "../settlement.ts";
import { readTreeRecords } from "./tree-reader.ts";
import { createVisits } from "../visits.ts";

export interface SalvageCounts {
  readonly salvaged: number;
  /** Events without readable text. */
  readonly unreadable: number;
}

/**
 * Reads what can be read of the file at `path` into an empty database. Never throws at damage. Visits and totals are made
 * by `addUp`, after all events are there.
 */
export function salvage(path: string, fresh: StoreDatabase, nowUs: number): SalvageCounts {
  fresh.execute(`
    CREATE TEMP TABLE kept_day_total(local_day INTEGER, document_id INTEGER, active_us INTEGER);
    CREATE TEMP TABLE kept_day(local_day INTEGER, first_us INTEGER, active_us INTEGER);
    CREATE TEMP TABLE kept_hour(utc_hour INTEGER, active_us INTEGER)`);
  copyRecords(path, fresh, nowUs);
  fresh.execute("DELETE FROM bucket_event WHERE bucket_key NOT IN (SELECT key FROM bucket)");
  dropUnprovenLabels(fresh);
  const unreadable = dropEventsWithoutText(fresh);
  // What was settled in the damaged file does not matter: all is added up anew.
  fresh.execute("DELETE FROM meta WHERE name = 'settled'");
  const salvaged = fresh.prepare<{ n: number }>("SELECT count(*) AS n FROM event").get()?.n ?? 0;
  return { salvaged, unreadable };
}

/** Makes the visits and totals of all events that `salvage`, and others since, put into a database. */
export function addUp(fresh: StoreDatabase): void {
  createSettlement(fresh, createVisits(fresh)).settle();
  restoreTotals(fresh);
}

function copyRecords(path: string, fresh: StoreDatabase, nowUs: number): void {
  const takers = createTakers(fresh, nowUs);
  let batch: RawRecord[] = [];
  const take = (): void => {
    fresh.transaction(() => {
      for (const record of batch) takers.some((taker) => taker(record));
    });
    batch = [];
  };
  const records = isEncrypted(path) ? readTreeRecords(path) : readRawRecords(path);
  for (const record of records) {
    batch.push(record);
    if (batch.length >= RECORDS_PER_COMMIT) take();
  }
  take();
}

const RECORDS_PER_COMMIT = 5000;

/** Recognises a record by its shape and writes it; false when it is none of its kind. */
type Taker = (record: RawRecord) => boolean;

function createTakers(fresh: StoreDatabase, nowUs: number): readonly Taker[] {
  const event = fresh.prepare(
    "INSERT OR IGNORE INTO event(start_us, duration_us, label_id, zone_id) VALUES(?, ?, ?, ?)",
  );
  const label = fresh.prepare(
    "INSERT OR IGNORE INTO label(id, hash, document_id, title, facts) VALUES(?, ?, ?, ?, ?)",
  );
  const document = fresh.prepare(
    "INSERT OR IGNORE INTO document(id, hash, kind, app, title, place) VALUES(?, ?, ?, ?, ?, ?)",
  );
  const zone = fresh.prepare(
    "INSERT OR IGNORE INTO zone(id, name, utc_offset_minutes) VALUES(?, ?, ?)",
  );
  const meta = fresh.prepare("INSERT OR IGNORE INTO meta(name, value) VALUES(?, ?)");
  const dayTotal = fresh.prepare("INSERT INTO kept_day_total VALUES(?, ?, ?)");
  const day = fresh.prepare("INSERT INTO kept_day VALUES(?, ?, ?)");
  const hour = fresh.prepare("INSERT INTO kept_hour VALUES(?, ?)");
  const bucket = fresh.prepare("INSERT OR IGNORE INTO bucket VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  const bucketEvent = fresh.prepare("INSERT OR IGNORE INTO bucket_event VALUES(?, ?, ?, ?, ?)");
  const bucketSetting = fresh.prepare("INSERT OR IGNORE INTO bucket_setting VALUES(?, ?)");
  const ledger = fresh.prepare(
    "INSERT OR IGNORE INTO ledger VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  // A clock may have run ahead for a while; years ahead it is damage.
  const isInstant = (us: number): boolean => us > 0 && us < nowUs + 400 * DAY_US;

  return [
    ({ rowid, values }) => {
      const [alias, durationUs, labelId, zoneId] = values;
      if (rowid === null || values.length !== 4 || alias !== null || !isInstant(rowid))
        return false;
      if (!isCount(durationUs) || !isCount(labelId) || !isCount(zoneId)) return false;
      // Visits have the same four columns; none of theirs is as small as the number of a zone.
      if (durationUs > 400 * DAY_US || labelId <= KIND_MASK || zoneId > MOST_ZONES) return false;
      event.run(rowid, durationUs, labelId, zoneId);
      return true;
    },
    ({ rowid, values }) => {
      const [alias, hash, kind, app, title, place] = values;
      if (rowid === null || values.length !== 6 || alias !== null || !isInteger(hash)) return false;
      if (typeof kind !== "string" || typeof app !== "string") return false;
      if (!isTextOrNull(title) || !isTextOrNull(place)) return false;
      if (documentHash(kind, { app, title, place }) !== BigInt(hash)) return false;
      document.run(rowid, hash, kind, app, title, place);
      return true;
    },
    ({ rowid, values }) => {
      const [alias, hash, documentId, title, facts] = values;
      if (rowid === null || values.length !== 5 || alias !== null || !isInteger(hash)) return false;
      if (documentId !== null && !isCount(documentId)) return false;
      if (!isTextOrNull(title) || !isTextOrNull(facts)) return false;
      label.run(rowid, hash, documentId, title, facts);
      return true;
    },
    ({ rowid, values }) => {
      const [alias, name, offset] = values;
      if (rowid === null || values.length !== 3 || alias !== null) return false;
      if (typeof name === "string" && typeof offset === "number" && Math.abs(offset) <= 1440) {
        zone.run(rowid, name, offset);
        return true;
      }
      if (!isLocalDay(rowid) || !isCount(name) || !isCount(offset)) return false;
      day.run(rowid, name, offset);
      return true;
    },
    ({ rowid, values }) => {
      const [first, second, third] = values;
      if (rowid !== null || values.length !== 3) return false;
      if (typeof first === "string") {
        // The index over zones tells them as well as their table does.
        if (typeof second !== "number" || Math.abs(second) > 1440 || !isCount(third)) return false;
        zone.run(third, first, second);
        return true;
      }
      if (!isLocalDay(first) || !isCount(second) || !isCount(third)) return false;
      dayTotal.run(first, second, third);
      return true;
    },
    ({ rowid, values }) => {
      const [first, second] = values;
      if (values.length !== 2) return false;
      if (typeof first === "string" && typeof second === "string") {
        // Both tables hold pairs of texts; that of the settings has rowids.
        (rowid === null ? meta : bucketSetting).run(first, second);
        return true;
      }
      if (rowid === null || first !== null || !isCount(second) || rowid > LAST_HOUR) return false;
      hour.run(rowid, second);
      return true;
    },
    ({ rowid, values }) => {
      const [alias, bucketKey, startUs, durationUs, data] = values;
      if (rowid === null || values.length !== 5 || alias !== null || !isJson(data)) return false;
      if (![bucketKey, startUs, durationUs].every(isCount)) return false;
      bucketEvent.run(rowid, ...values.slice(1));
      return true;
    },
    ({ rowid, values }) => {
      const [alias, id, type, client, hostname, createdUs, data, longestUs] = values;
      if (rowid === null || values.length !== 8 || alias !== null || !isJson(data)) return false;
      if (![id, type, client, hostname].every((value) => typeof value === "string")) return false;
      if (!isCount(createdUs) || !isCount(longestUs)) return false;
      bucket.run(rowid, ...values.slice(1));
      return true;
    },
    ({ rowid, values }) => {
      const [alias, firstUs, lastUs, times, client, session, form, intent, source, text, tokens] =
        values;
      // Rows of the time before the last two columns lack them.
      const [untrusted, ownerText] = values.length === 13 ? ["[]", null] : values.slice(13);
      if (rowid === null || ![13, 15].includes(values.length) || alias !== null) return false;
      if (!isJson(untrusted) || !isTextOrNull(ownerText)) return false;
      if (![firstUs, lastUs, times, tokens].every(isCount)) return false;
      if (![client, session, text].every(isTextOrNull)) return false;
      if (
        ![form, intent, source, ...values.slice(11, 13)].every((value) => typeof value === "string")
      )
        return false;
      ledger.run(rowid, ...values.slice(1, 13), untrusted, ownerText);
      return true;
    },
  ];
}

const DAY_US = 86_400_000_000;
const MOST_ZONES = 4095;
/** Hours since 1970 until 2200. */
const LAST_HOUR = 2_016_000;

function isCount(value: RawValue | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isInteger(value: RawValue | undefined): value is number | bigint {
  return typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
}

function isTextOrNull(value: RawValue | undefined): value is string | null {
  return typeof value === "string" || value === null;
}

function isJson(value: RawValue | undefined): value is string {
  if (typeof value !== "string") return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

function isLocalDay(value: RawValue | undefined): value is number {
  return isCount(value) && value >= 1970_01_01 && value <= 2199_12_31;
}

/** Drops every label whose hash does not prove it, with the document that it names. */
function dropUnprovenLabels(fresh: StoreDatabase): void {
  const from = fresh.prepare<LabelRow>(
    `SELECT label.id, CAST(label.hash AS TEXT) AS hash, label.document_id, label.title AS raw_title, facts, document.id AS found_id,
            app, document.title, place
       FROM label LEFT JOIN document ON document.id = document_id WHERE label.id > ?
      ORDER BY label.id LIMIT ${RECORDS_PER_COMMIT}`,
  );
  const drop = fresh.prepare("DELETE FROM label WHERE id = ?");
  for (let last = 0; ;) {
    const rows = from.all(last);
    fresh.transaction(() => {
      for (const row of rows) if (!isProven(row)) drop.run(row.id);
    });
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.id;
  }
}

interface LabelRow {
  readonly id: number;
  readonly hash: string;
  readonly document_id: number | null;
  readonly raw_title: string | null;
  readonly facts: string | null;
  readonly found_id: number | null;
  readonly app: string | null;
  readonly title: string | null;
  readonly place: string | null;
}

function isProven(row: LabelRow): boolean {
  const kind = EVENT_KINDS.find((kind) => KIND_CODES[kind] === (row.id & KIND_MASK));
  if (kind === undefined || (row.document_id !== null && row.found_id === null)) return false;
  const { app, title, place } = row;
  const document = app === null ? null : { app, title, place };
  return (
    labelHash(kind, { document, rawTitle: row.raw_title, rest: row.facts }) === BigInt(row.hash)
  );
}

function dropEventsWithoutText(fresh: StoreDatabase): number {
  // The offset of a zone that was lost is not known; the instants themselves are right in UTC.
  fresh.execute(`
    INSERT OR IGNORE INTO zone(id, name, utc_offset_minutes)
      VALUES((SELECT coalesce(max(id) + 1, 0) FROM zone), 'UTC', 0);
    UPDATE event SET zone_id = (SELECT id FROM zone WHERE name = 'UTC' AND utc_offset_minutes = 0)
      WHERE zone_id NOT IN (SELECT id FROM zone)`);
  return fresh.prepare("DELETE FROM event WHERE label_id NOT IN (SELECT id FROM label)").run();
}

/** Where a kept total is larger than what the events give, events are missing and the total is right. */
function restoreTotals(fresh: StoreDatabase): void {
  fresh.execute(`
    INSERT INTO day_total(local_day, document_id, active_us)
      SELECT local_day, document_id, max(active_us) FROM kept_day_total
       WHERE document_id IN (SELECT id FROM document) GROUP BY 1, 2
      ON CONFLICT DO UPDATE SET active_us = max(active_us, excluded.active_us);
    INSERT INTO day(local_day, first_us, active_us)
      SELECT local_day, min(first_us), max(active_us) FROM kept_day WHERE true GROUP BY 1
      ON CONFLICT DO UPDATE SET active_us = max(active_us, excluded.active_us), first_us = min(first_us, excluded.first_us);
    INSERT INTO hour_total(utc_hour, active_us)
      SELECT utc_hour, max(active_us) FROM kept_hour WHERE true GROUP BY 1
      ON CONFLICT DO UPDATE SET active_us = max(active_us, excluded.active_us);
    DROP TABLE kept_day_total; DROP TABLE kept_day; DROP TABLE kept_hour`);
}
