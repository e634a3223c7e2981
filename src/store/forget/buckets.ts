/**
 * Forgetting in the buckets that other recorders fill: rows of JSON beside our own events. It promises the same
 * as for those: what lies beside the wish stays, cut at its edges, and requests are answered meanwhile.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { BucketData, BucketKind } from "../../capture/privacy/buckets.ts";
import type { StoreDatabase } from "../database.ts";

/** What is to become of an event: `keep` it, `forget` it, or keep it with other data. */
export type BucketVerdict = "keep" | "forget" | BucketData;

export interface BucketWish {
  /** Half open; null: of all times. */
  readonly span: { readonly fromUs: number; readonly toUs: number } | null;
  readonly judge: (bucket: BucketKind, data: BucketData, startUs: number) => BucketVerdict;
  /** Tells a text that is meant. A bucket that says it of itself, such as by its name, goes with all that is in it. */
  readonly holds: ((text: string) => boolean) | null;
}

/** Carries the wish out, or only counts. Returns how many events and buckets it concerns. */
export async function forgetBucketEvents(
  database: StoreDatabase,
  { span, judge, holds }: BucketWish,
  dryRun: boolean,
): Promise<number> {
  const rows = database.prepare<BucketRow>(
    `SELECT event.id AS event_id, event.start_us, event.start_us + event.duration_us AS end_us, event.data AS data,
            event.bucket_key, bucket.id AS bucket_id, bucket.type AS type
       FROM bucket_event AS event JOIN bucket ON bucket.key = event.bucket_key
      WHERE event.id > ? ORDER BY event.id LIMIT ${ROWS_PER_STEP}`,
  );
  const newest = database.prepare<{ id: number | null }>("SELECT max(id) AS id FROM bucket_event");
  const drop = database.prepare("DELETE FROM bucket_event WHERE id = ?");
  const setData = database.prepare("UPDATE bucket_event SET data = ? WHERE id = ?");
  const setSpan = database.prepare(
    "UPDATE bucket_event SET start_us = ?, duration_us = ? WHERE id = ?",
  );
  const add = database.prepare(
    "INSERT INTO bucket_event(bucket_key, start_us, duration_us, data) VALUES(?, ?, ?, ?)",
  );

  const carryOut = (row: BucketRow, verdict: Exclude<BucketVerdict, "keep">): void => {
    if (verdict !== "forget") {
      setData.run(JSON.stringify(verdict), row.event_id);
      return;
    }
    const before = span !== null && row.start_us < span.fromUs ? span.fromUs : null;
    const after = span !== null && row.end_us > span.toUs ? span.toUs : null;
    if (before === null && after === null) drop.run(row.event_id);
    if (before !== null) setSpan.run(row.start_us, before - row.start_us, row.event_id);
    if (after === null) return;
    if (before === null) setSpan.run(after, row.end_us - after, row.event_id);
    else add.run(row.bucket_key, after, row.end_us - after, row.data);
  };

  const whole = new Set(
    database
      .prepare<Record<string, string | number>>("SELECT * FROM bucket")
      .all()
      .filter((row) => Object.values(row).some((text) => holds?.(String(text)) === true))
      .map(({ key }) => key),
  );

  // What comes in meanwhile, and the parts that are added, are not looked at again.
  const last = newest.get()?.id ?? 0;
  let lastId = 0;
  let count = 0;
  for (;;) {
    const step = rows.all(lastId).filter((row) => row.event_id <= last);
    database.transaction(() => {
      for (const row of step) {
        if (span !== null && (row.start_us >= span.toUs || row.end_us < span.fromUs)) continue;
        if (span !== null && row.end_us === span.fromUs && row.start_us < span.fromUs) continue;
        const bucket = { id: row.bucket_id, type: row.type };
        const verdict = whole.has(row.bucket_key)
          ? "forget"
          : judge(bucket, readData(row.data), row.start_us);
        if (verdict === "keep") continue;
        count += 1;
        if (!dryRun) carryOut(row, verdict);
      }
    });
    const end = step.at(-1);
    if (end === undefined) break;
    lastId = end.event_id;
    await nextTurn();
  }
  if (!dryRun) {
    database.transaction(() => {
      for (const key of whole) {
        // With what came in meanwhile: an event without its bucket could be neither read nor forgotten any more.
        for (const sql of REMOVE_BUCKET) database.prepare(sql).run(key ?? null);
      }
    });
  }
  return count + whole.size;
}

const REMOVE_BUCKET = [
  "DELETE FROM bucket_event WHERE bucket_key = ?",
  "DELETE FROM bucket WHERE key = ?",
];

const ROWS_PER_STEP = 500;

interface BucketRow {
  readonly event_id: number;
  readonly start_us: number;
  readonly end_us: number;
  readonly data: string;
  readonly bucket_key: number;
  readonly bucket_id: string;
  readonly type: string;
}

function readData(json: string): BucketData {
  const value: unknown = JSON.parse(json);
  return typeof value === "object" && value !== null ? { ...value } : {};
}
