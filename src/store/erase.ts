/**
 * Taking events out again, for retention and for forgetting. It promises that whatever only those events
 * held goes with them: labels, documents, search entries, visits and, when forgetting, their share of the
 * totals; and that no reader waits longer than a few milliseconds meanwhile.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFacts } from "../capture/events.ts";
import type { StoreDatabase } from "./database.ts";
import type { Documents } from "./documents.ts";
import { isOfKind } from "./stored-facts.ts";
import type { Settlement } from "./settlement.ts";
import type { Visits } from "./visits.ts";

/**
 * `forget`: as if it had never been, totals included. `expire`: the totals stay, told by application alone
 * where the title is gone.
 */
export type EraseMode = "forget" | "expire";

export interface ErasedCounts {
  readonly events: number;
  readonly labels: number;
  readonly documents: number;
}

export interface Eraser {
  /** Erases the events of these ids; ids of none are passed over. Each step is committed as it is done. */
  readonly events: (ids: Iterable<number>, mode: EraseMode) => Promise<ErasedCounts>;
  /**
   * Gives events other facts of the same kind, as a privacy rule does that is applied backwards; what only the
   * old facts held goes. Ids of none are passed over.
   */
  readonly rewrite: (
    changes: Iterable<{ readonly id: number; readonly facts: EventFacts }>,
  ) => Promise<ErasedCounts>;
  /** Erases the text of labels, and what only they held, where no event of any device bears them any more. */
  readonly sweep: (labelIds: ReadonlySet<number>) => Promise<Omit<ErasedCounts, "events">>;
  /** Erases every total of an application, also of days whose events have expired. */
  readonly totalsOf: (app: string) => void;
  /**
   * Makes what was erased unreadable in the database and its log, and gives free pages back to the file
   * system. False when a reader kept the log from being emptied: try again when it is done.
   */
  readonly shred: () => Promise<boolean>;
}

export interface EraserParts {
  readonly database: StoreDatabase;
  readonly documents: Documents;
  readonly visits: Visits;
  readonly settlement: Settlement;
  readonly onErased: (events: number) => void;
}

export function createEraser(parts: EraserParts): Eraser {
  const { database, documents, visits, settlement, onErased } = parts;
  const findEvent = database.prepare<EventRow>(
    `SELECT event.start_us, event.start_us + duration_us AS end_us, label_id, document_id, zone.name AS time_zone
       FROM event JOIN zone ON zone.id = zone_id LEFT JOIN label ON label.id = label_id
      WHERE event.start_us = ?`,
  );
  const setLabel = database.prepare("UPDATE event SET label_id = ? WHERE start_us = ?");
  const dropEvent = database.prepare("DELETE FROM event WHERE start_us = ?");
  const eventsFrom = database.prepare<{ start_us: number; label_id: number }>(
    "SELECT start_us, label_id FROM event WHERE start_us >= ? ORDER BY start_us LIMIT ?",
  );
  const remoteFrom = database.prepare<RemoteLabelRow>(
    `SELECT device_key, start_us, label_id FROM remote_event
      WHERE (device_key, start_us) > (?, ?) ORDER BY device_key, start_us LIMIT ?`,
  );
  const documentOfLabel = database.prepare<{ document_id: number | null }>(
    "SELECT document_id FROM label WHERE id = ?",
  );
  const dropLabel = database.prepare("DELETE FROM label WHERE id = ?");
  const labelOfDocument = database.prepare("SELECT 1 FROM label WHERE document_id = ? LIMIT 1");
  const findDocument = database.prepare<{ app: string; kind: string; is_app_only: number }>(
    "SELECT app, kind, title IS NULL AND place IS NULL AS is_app_only FROM document WHERE id = ?",
  );
  const dropDocument = database.prepare("DELETE FROM document WHERE id = ?");
  const days = database.prepare<{ local_day: number }>(
    "SELECT local_day FROM day ORDER BY local_day",
  );
  const totalsOfDay = database.prepare<{ document_id: number; active_us: number }>(
    "SELECT document_id, active_us FROM day_total WHERE local_day = ?",
  );
  const totalOfDocument = database.prepare("SELECT 1 FROM day_total WHERE document_id = ? LIMIT 1");
  const addTotal = database.prepare(
    `INSERT INTO day_total(local_day, document_id, active_us) VALUES(?, ?, ?)
      ON CONFLICT DO UPDATE SET active_us = active_us + excluded.active_us`,
  );
  const dropTotal = database.prepare(
    "DELETE FROM day_total WHERE local_day = ? AND document_id = ?",
  );
  const freePages = database.prepare<{ freelist_count: number }>("PRAGMA freelist_count");
  const dropTotalsOfApp = database.prepare(
    "DELETE FROM day_total WHERE document_id IN (SELECT id FROM document WHERE app = ?)",
  );
  const dropAppOnly = database.prepare(
    `DELETE FROM document WHERE app = ? AND title IS NULL AND place IS NULL
        AND NOT EXISTS (SELECT 1 FROM label WHERE document_id = document.id)`,
  );

  const eraseOne = (id: number, mode: EraseMode): EventRow | null => {
    const row = findEvent.get(id);
    if (row === undefined) return null;
    dropEvent.run(id);
    settlement.forgetEvent(id);
    if (isOfKind(row.label_id, "window") && row.document_id !== null) {
      const stretch = { documentId: row.document_id, startUs: id, timeZone: row.time_zone };
      if (mode === "forget") visits.subtract(stretch, row.end_us);
      visits.rebuild(row.document_id, id, row.end_us);
    }
    return row;
  };

  const rewriteOne = (id: number, facts: EventFacts): EventRow | null => {
    const row = findEvent.get(id);
    if (row === undefined || !isOfKind(row.label_id, facts.kind)) return null;
    const label = documents.intern(facts);
    setLabel.run(label.id, id);
    const [from, to] = [row.document_id, label.documentId];
    if (facts.kind === "window" && from !== null && to !== null && from !== to) {
      const stretch = { documentId: from, startUs: id, timeZone: row.time_zone };
      visits.subtract(stretch, row.end_us);
      visits.rebuild(from, id, row.end_us);
      visits.add({ ...stretch, documentId: to }, row.end_us);
      // What lies between two visits of the document may join them.
      visits.rebuild(to, id, row.end_us);
    }
    return row;
  };

  /** Which of these labels no event bears any more. One pass over the events, in steps. */
  const unusedLabels = async (candidates: ReadonlySet<number>): Promise<Set<number>> => {
    const unused = new Set(candidates);
    let fromUs = Number.MIN_SAFE_INTEGER;
    while (unused.size > 0) {
      const rows = eventsFrom.all(fromUs, ROWS_PER_STEP);
      for (const row of rows) unused.delete(row.label_id);
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_PER_STEP) break;
      fromUs = last.start_us + 1;
      await nextTurn();
    }
    let from: RemoteLabelRow = { device_key: 0, start_us: 0, label_id: 0 };
    while (unused.size > 0) {
      const rows = remoteFrom.all(from.device_key, from.start_us, ROWS_PER_STEP);
      for (const row of rows) unused.delete(row.label_id);
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_PER_STEP) break;
      from = last;
      await nextTurn();
    }
    return unused;
  };

  /** Puts the totals of a document that goes on the account of its application. */
  const foldTotals = async (documentIds: ReadonlySet<number>): Promise<void> => {
    for (const { local_day: localDay } of days.all()) {
      const totals = totalsOfDay
        .all(localDay)
        .filter((total) => documentIds.has(total.document_id));
      if (totals.length === 0) continue;
      database.transaction(() => {
        for (const { document_id: documentId, active_us: activeUs } of totals) {
          const document = findDocument.get(documentId);
          if (document === undefined || document.is_app_only === 1) continue;
          dropTotal.run(localDay, documentId);
          addTotal.run(localDay, documents.internApp(document.app), activeUs);
        }
      });
      await nextTurn();
    }
  };

  const dropText = async (
    candidates: ReadonlySet<number>,
  ): Promise<{ labels: number; documents: number }> => {
    let labels = 0;
    const orphaned = new Set<number>();
    database.transaction(() => {
      for (const id of candidates) {
        const documentId = documentOfLabel.get(id)?.document_id ?? null;
        labels += dropLabel.run(id);
        if (documentId !== null && labelOfDocument.get(documentId) === undefined)
          orphaned.add(documentId);
      }
    });
    // Older days may still tell of them, when those days' events expired before.
    if (orphaned.size > 0) await foldTotals(orphaned);
    let dropped = 0;
    for (const batch of batches(orphaned, EVENTS_PER_STEP)) {
      database.transaction(() => {
        for (const id of batch) {
          // It may have been seen again while the totals were folded.
          if (labelOfDocument.get(id) !== undefined) continue;
          if (findDocument.get(id)?.is_app_only === 1 && totalOfDocument.get(id) !== undefined)
            continue;
          dropped += dropDocument.run(id);
        }
      });
      await nextTurn();
    }
    return { labels, documents: dropped };
  };

  /** Changes rows in steps, then erases the text that none of them bears any more. */
  const inSteps = async <T>(
    items: Iterable<T>,
    change: (item: T) => EventRow | null,
    onStep: (changed: number) => void,
  ): Promise<ErasedCounts> => {
    let events = 0;
    const labels = new Set<number>();
    for (const batch of batches(items, EVENTS_PER_STEP)) {
      const changed = database.transaction(() => {
        // What is taken off visits and totals must have been added before.
        settlement.settle();
        return batch.flatMap((item) => {
          const row = change(item);
          return row === null ? [] : [row];
        });
      });
      events += changed.length;
      onStep(changed.length);
      for (const row of changed) labels.add(row.label_id);
      await nextTurn();
    }
    return { events, ...(await sweep(labels)) };
  };

  const sweep = async (labels: ReadonlySet<number>): Promise<Omit<ErasedCounts, "events">> => {
    const interned = documents.trackInterned();
    try {
      const unused = await unusedLabels(labels);
      // An event that came in behind the sweep, by an import or a clock set back, saves its label.
      for (const id of interned.seen) unused.delete(id);
      return await dropText(unused);
    } finally {
      interned.stop();
    }
  };

  return {
    events: (ids, mode) => inSteps(ids, (id) => eraseOne(id, mode), onErased),
    rewrite: (changes) =>
      inSteps(
        changes,
        ({ id, facts }) => rewriteOne(id, facts),
        () => {},
      ),
    sweep,
    totalsOf: (app) => {
      database.transaction(() => {
        settlement.settle();
        dropTotalsOfApp.run(app);
        dropAppOnly.run(app);
      });
    },
    shred: async () => {
      for (let left = Infinity; ;) {
        const free = freePages.get()?.freelist_count ?? 0;
        if (free === 0 || free >= left) break;
        left = free;
        database.execute(`PRAGMA incremental_vacuum(${PAGES_PER_STEP})`);
        await nextTurn();
      }
      return database.scrub();
    },
  };
}

/** A few milliseconds of work. */
const EVENTS_PER_STEP = 200;
const ROWS_PER_STEP = 10_000;
const PAGES_PER_STEP = 500;

interface EventRow {
  readonly start_us: number;
  readonly end_us: number;
  readonly label_id: number;
  readonly document_id: number | null;
  readonly time_zone: string;
}

interface RemoteLabelRow {
  readonly device_key: number;
  readonly start_us: number;
  readonly label_id: number;
}

function* batches<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
