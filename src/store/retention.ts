/**
 * Keeping no more than was asked for: by age and by size, oldest first. It promises that daily totals
 * outlive the events, that no title of an expired event is left in the files, and that two runs never
 * overlap.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Log } from "../log.ts";
import type { EventStore } from "./events.ts";
import { expireLedger } from "./ledger.ts";
import { KIND_CODES, KIND_OF_ROW } from "./stored-facts.ts";

export interface RetentionLimits {
  /** Events that ended longer ago are erased; null keeps them for ever. */
  readonly maxAgeDays: number | null;
  /** The oldest events are erased until the database is no larger; null sets no bound. */
  readonly maxBytes: number | null;
}

export interface RetentionReport {
  readonly events: number;
  readonly documents: number;
  /** Start of the oldest event left; the time of the run where none is. */
  readonly sinceUs: number;
  /** False when a reader kept the write-ahead log from being emptied; the next run does it. */
  readonly shredded: boolean;
}

export interface Retention {
  /** Runs once, as of `nowUs`. Null when a run is going on already. */
  readonly run: (nowUs: number) => Promise<RetentionReport | null>;
  /** Whether the last finished run lies more than `everyMs` back, such as after a night asleep. */
  readonly isDue: (nowUs: number, everyMs: number) => boolean;
}

export function createRetention(store: EventStore, limits: RetentionLimits, log: Log): Retention {
  const { database, eraser } = store;
  const oldest = database.prepare<{ start_us: number }>(
    `SELECT start_us FROM event WHERE start_us + duration_us < ? AND start_us > ? AND start_us < ?
      ORDER BY start_us LIMIT ${IDS_PER_LOOK}`,
  );
  /** Of everything that an age can be told of. */
  const reachOfAll = database.prepare<{ oldest_us: number | null; newest_us: number | null }>(
    `SELECT min(first_us) AS oldest_us, max(last_us) AS newest_us FROM (
       SELECT min(start_us) AS first_us, max(start_us) AS last_us FROM event
       UNION ALL SELECT min(start_us), max(start_us) FROM remote_event
       UNION ALL SELECT min(at_us), max(at_us) FROM session_event
       UNION ALL SELECT (SELECT min(start_us) FROM bucket_event WHERE bucket_key = bucket.key),
                        (SELECT max(start_us) FROM bucket_event WHERE bucket_key = bucket.key)
         FROM bucket)`,
  );
  const pages = database.prepare<{ used: number; size: number }>(
    `SELECT page_count - freelist_count AS used, page_size AS size
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );
  const dropLedger = database.prepare(
    `DELETE FROM ledger WHERE last_us < ?
        OR EXISTS (SELECT 1 FROM json_each(ledger.event_ids) WHERE value < ?)`,
  );
  const bucketRows = database.prepare<{ id: number }>(
    `SELECT event.id FROM bucket JOIN bucket_event AS event ON event.bucket_key = bucket.key
      WHERE event.start_us < ? AND event.start_us + event.duration_us < ? LIMIT ${IDS_PER_LOOK}`,
  );
  const dropBucketRow = database.prepare("DELETE FROM bucket_event WHERE id = ?");
  const dropWaiting = database.prepare("DELETE FROM session_event WHERE at_us < ?");
  const firstEvent = database.prepare<{ start_us: number | null }>(
    "SELECT min(start_us) AS start_us FROM event",
  );
  const readMeta = database.prepare<{ value: string }>("SELECT value FROM meta WHERE name = ?");
  const writeMeta = database.prepare(
    "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const seenBefore = database.prepare<{ end_us: number }>(
    `SELECT start_us + duration_us AS end_us FROM event JOIN label ON label.id = label_id
      WHERE start_us < ? AND ${IS_SEEN} ORDER BY start_us DESC LIMIT 1`,
  );
  const seenSince = database.prepare<{ start_us: number }>(
    `SELECT start_us FROM event JOIN label ON label.id = label_id
      WHERE start_us >= ? AND ${IS_SEEN} ORDER BY start_us LIMIT 1`,
  );
  let running = false;

  /** Ids of what ended before an instant, found as they are asked for: the list may be long. */
  function* endedBefore(cutoffUs: number): Generator<number> {
    let lastUs = Number.MIN_SAFE_INTEGER;
    for (;;) {
      const rows = oldest.all(cutoffUs, lastUs, cutoffUs);
      for (const row of rows) yield row.start_us;
      const last = rows.at(-1);
      if (last === undefined) return;
      lastUs = last.start_us;
    }
  }

  const usedBytes = (): number => {
    const row = pages.get();
    return row === undefined ? 0 : row.used * row.size;
  };

  /**
   * Erases the oldest twentieth of the time that was recorded again and again: totals and text make it hard to foretell
   * what a row frees. All that has an age goes by the same one: where other recorders fill the file, our own events
   * alone would not help.
   */
  const fitInto = async (
    maxBytes: number,
    nowUs: number,
  ): Promise<{ events: number; documents: number }> => {
    let events = 0;
    let documents = 0;
    let untilUs = Number.MIN_SAFE_INTEGER;
    while (usedBytes() > maxBytes) {
      const { oldest_us: oldestUs = null, newest_us: newestUs = null } = reachOfAll.get() ?? {};
      if (oldestUs === null || newestUs === null) break;
      const fromUs = Math.max(untilUs, oldestUs);
      const leftUs = Math.min(newestUs, nowUs) - fromUs;
      untilUs = fromUs + Math.max(Math.ceil(leftUs / 20), SHORTEST_STEP_US);
      const erased = await eraser.events(startedBefore(untilUs), "expire");
      const elsewhere = await expireElsewhere(untilUs);
      const others = await expireOthers(untilUs);
      dropLedger.run(untilUs, untilUs);
      const gone = erased.events + elsewhere.events + others;
      // What goes on beyond now has no age.
      if (gone === 0 && untilUs > nowUs) break;
      events += gone;
      documents += erased.documents + elsewhere.documents;
    }
    return { events, documents };
  };

  /** What other devices recorded goes from here by the same age; they keep it as long as they like. */
  const expireElsewhere = async (
    beforeUs: number,
  ): Promise<{ events: number; documents: number }> => {
    let events = 0;
    const labels = new Set<number>();
    for (;;) {
      const ids = store.remote().endedBefore(beforeUs, IDS_PER_LOOK);
      if (ids.length === 0) break;
      events += ids.length;
      for (const label of store.remote().drop(ids)) labels.add(label);
      await nextTurn();
    }
    return { events, documents: (await eraser.sweep(labels)).documents };
  };

  const startedBefore = function* (untilUs: number): Generator<number> {
    yield* takeWhile(endedBefore(Number.MAX_SAFE_INTEGER), (startUs) => startUs < untilUs);
  };

  /** What other recorders sent, and what sessions were never told, goes by the same age. */
  const expireOthers = async (beforeUs: number): Promise<number> => {
    let dropped = dropWaiting.run(beforeUs);
    for (;;) {
      const rows = bucketRows.all(beforeUs, beforeUs);
      if (rows.length === 0) return dropped;
      database.transaction(() => {
        for (const { id } of rows) dropped += dropBucketRow.run(id);
      });
      await nextTurn();
    }
  };

  /**
   * The time from which ages count. A clock that is a year ahead for an hour would have all of last year erased: after a
   * leap it is believed when a day was recorded under it, and until then ages count from the end of what was recorded before.
   */
  const vouchedUs = (nowUs: number): number => {
    const dayAgoUs = nowUs - DAY_US;
    const before = seenBefore.get(dayAgoUs);
    const next = seenSince.get(dayAgoUs);
    if (before === undefined || next === undefined) return nowUs;
    return next.start_us - before.end_us > LEAP_US ? before.end_us : nowUs;
  };

  const runOnce = async (nowUs: number): Promise<RetentionReport> => {
    let events = 0;
    let documents = 0;
    if (limits.maxAgeDays !== null) {
      const beforeUs = vouchedUs(nowUs) - limits.maxAgeDays * DAY_US;
      const erased = await eraser.events(endedBefore(beforeUs), "expire");
      const elsewhere = await expireElsewhere(beforeUs);
      events += erased.events + elsewhere.events + (await expireOthers(beforeUs));
      documents += erased.documents + elsewhere.documents;
    }
    if (limits.maxBytes !== null) {
      const erased = await fitInto(limits.maxBytes, vouchedUs(nowUs));
      events += erased.events;
      documents += erased.documents;
    }
    const sinceUs = firstEvent.get()?.start_us ?? nowUs;
    // What a client was told of an expired event expires with it.
    if (events > 0) dropLedger.run(sinceUs, sinceUs);
    writeMeta.run(LAST_RUN, String(nowUs));
    // What clients were given of it goes with it, before the pages are overwritten.
    if (events > 0) expireLedger(database);
    const shredded = await eraser.shred();
    if (events > 0) log.info("expired events", { events, documents, shredded });
    return { events, documents, sinceUs, shredded };
  };

  return {
    run: async (nowUs) => {
      if (running) return null;
      running = true;
      try {
        return await runOnce(nowUs);
      } finally {
        running = false;
      }
    },
    isDue: (nowUs, everyMs) => {
      const last = Number(readMeta.get(LAST_RUN)?.value ?? "");
      // A last run that lies ahead was written under a clock that has since been put right.
      return !(last > 0 && last <= nowUs && nowUs - last < everyMs * 1000);
    },
  };
}

const DAY_US = 86_400_000_000;
const SHORTEST_STEP_US = 60_000_000;
/** Longer than any night: the machine was off, or its clock leapt. */
const LEAP_US = 36 * 3_600_000_000;
/** Not what only says that the daemon did not run or the machine slept, which a leap looks like. */
const IS_SEEN = `NOT (${KIND_OF_ROW} = ${KIND_CODES.sleep} OR ${KIND_OF_ROW} = ${KIND_CODES.gap}
  AND label.facts ->> '$.reason' IN ('not-running', 'stalled'))`;
const IDS_PER_LOOK = 500;
const LAST_RUN = "retention_last_us";

function* takeWhile<T>(items: Iterable<T>, holds: (item: T) => boolean): Generator<T> {
  for (const item of items) {
    if (!holds(item)) return;
    yield item;
  }
}
