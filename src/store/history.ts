/**
 * Reads of what was recorded, for the answers that look back: documents, visits, absences, totals. It
 * promises prepared statements that touch an index only, and answers that do not depend on the present.
 */
import type { StoreDatabase } from "./database.ts";

/** Something that was looked at: one normalised (app, title, place). */
export interface HistoryDocument {
  readonly id: number;
  readonly app: string;
  /** Without counters and application name; null when it was unreadable or withheld. */
  readonly title: string | null;
  /** Host and path of a page; null for everything else. */
  readonly place: string | null;
}

/** A stretch of attention to one document; interruptions under 90 seconds are bridged. */
export interface Visit {
  readonly documentId: number;
  readonly startUs: number;
  readonly endUs: number;
  /** Time the document really had the focus, at most `endUs - startUs`. */
  readonly activeUs: number;
  /** Where: 0 stands for this device, another number for the row of `device` with that key. */
  readonly deviceKey: number;
}

/** The owner was not at the machine, or nothing could be seen. */
export interface Absence {
  readonly kind: "idle" | "lock" | "sleep" | "gap";
  readonly startUs: number;
  readonly endUs: number;
}

/** What the triage may ask of the record. Ranges are half open; spans that reach into them are included. */
export interface ActivityHistory {
  /** Start of the oldest visit, or null when nothing was recorded yet. */
  readonly firstUs: () => number | null;
  /** The greatest id of a document; 0 when there is none. */
  readonly lastDocumentId: () => number;
  /** How many documents there are: less than were added when some were forgotten. Counts them, one by one. */
  readonly documentCount: () => number;
  /** Window documents with an id above `id`, ascending. */
  readonly documentsAfter: (id: number, limit: number) => readonly HistoryDocument[];
  /** Those of `ids` that exist, in no particular order. */
  readonly documents: (ids: readonly number[]) => readonly HistoryDocument[];
  /** Visits that began in `[fromUs, toUs)`, oldest first, at most `limit`. */
  readonly visitsFrom: (fromUs: number, toUs: number, limit: number) => readonly Visit[];
  /** Visits that meet `[fromUs, toUs)`, oldest first, not clipped. */
  readonly visitsBetween: (fromUs: number, toUs: number) => readonly Visit[];
  /** Visits of these documents that began before `beforeUs`, newest first, at most `limit`. */
  readonly visitsOf: (
    documentIds: readonly number[],
    beforeUs: number,
    limit: number,
  ) => readonly Visit[];
  /** Absences that meet `[fromUs, toUs)`, oldest first, not clipped. */
  readonly absencesBetween: (fromUs: number, toUs: number) => readonly Absence[];
  /** Ids of the window events of a document that began in `[fromUs, toUs)`, oldest first. */
  readonly eventIds: (documentId: number, fromUs: number, toUs: number) => readonly number[];
}

/** No visit is believed to reach further back than this before the range that is asked for. */
const REACH_US = 12 * 3_600_000_000;

/** Reads over an open database; the statements are prepared once and live as long as it does. */
export function createHistory(database: StoreDatabase): ActivityHistory {
  const first = database.prepare<{ start_us: number }>(
    "SELECT start_us FROM visit ORDER BY start_us LIMIT 1",
  );
  const lastDocument = database.prepare<{ id: number | null }>(
    "SELECT max(id) AS id FROM document",
  );
  const countDocuments = database.prepare<{ documents: number }>(
    "SELECT count(*) AS documents FROM document",
  );
  const documentsAfter = database.prepare<HistoryDocument>(
    `SELECT id, app, title, place FROM document
      WHERE id > ? AND kind = 'window' ORDER BY id LIMIT ?`,
  );
  // A list travels as one JSON text, so that one prepared statement serves every length.
  const documents = database.prepare<HistoryDocument>(
    "SELECT id, app, title, place FROM document WHERE id IN (SELECT value FROM json_each(?))",
  );
  const visitsFrom = database.prepare<Visit>(
    `SELECT ${VISIT} FROM visit WHERE start_us >= ? AND start_us < ? ORDER BY start_us LIMIT ?`,
  );
  const visitsBetween = database.prepare<Visit>(
    `SELECT ${VISIT} FROM visit
      WHERE start_us >= ? AND start_us < ? AND start_us + span_us > ? ORDER BY start_us`,
  );
  const visitsOf = database.prepare<Visit>(
    `SELECT ${VISIT} FROM visit
      WHERE document_id IN (SELECT value FROM json_each(?)) AND start_us < ?
      ORDER BY start_us DESC LIMIT ?`,
  );
  const visitsOfOne = database.prepare<Visit>(
    `SELECT ${VISIT} FROM visit WHERE document_id = ? AND start_us < ? ORDER BY start_us DESC LIMIT ?`,
  );
  const anyRemote = database.prepare("SELECT 1 FROM remote_visit LIMIT 1");
  const remote = lazily(() => createRemoteHistory(database));
  const absences = database.prepare<{
    code: number;
    startUs: number;
    endUs: number;
    facts: string | null;
  }>(
    `SELECT event.label_id & 15 AS code, event.start_us AS startUs,
            event.start_us + event.duration_us AS endUs, label.facts AS facts
       FROM event LEFT JOIN label ON label.id = event.label_id
      WHERE event.label_id & 15 <> 0 AND event.label_id & 15 IN (1, 2, 3, 7)
        AND event.start_us >= ? AND event.start_us < ? AND event.start_us + event.duration_us > ?
      ORDER BY event.start_us`,
  );
  const eventIds = database.prepare<{ id: number }>(
    `SELECT start_us AS id FROM event
      WHERE start_us >= ? AND start_us < ? AND label_id IN (SELECT id FROM label WHERE document_id = ?)
      ORDER BY start_us`,
  );

  return {
    firstUs: () => {
      const firsts = [first.get()?.start_us, isAlone() ? null : remote().firstUs()].filter(
        (us) => us !== undefined && us !== null,
      );
      return firsts.length === 0 ? null : Math.min(...firsts);
    },
    lastDocumentId: () => lastDocument.get()?.id ?? 0,
    documentCount: () => countDocuments.get()?.documents ?? 0,
    documentsAfter: (id, limit) => documentsAfter.all(id, limit),
    documents: (ids) => (ids.length === 0 ? [] : documents.all(JSON.stringify(ids))),
    visitsFrom: (fromUs, toUs, limit) => {
      const own = visitsFrom.all(fromUs, toUs, limit);
      if (isAlone()) return own;
      return oldestFirst(own, remote().visitsFrom(fromUs, toUs, limit)).slice(0, limit);
    },
    visitsBetween: (fromUs, toUs) => {
      const own = visitsBetween.all(fromUs - REACH_US, toUs, fromUs);
      return isAlone() ? own : oldestFirst(own, remote().visitsBetween(fromUs, toUs));
    },
    visitsOf: (documentIds, beforeUs, limit) => {
      const [only] = documentIds;
      if (only === undefined) return [];
      const own =
        documentIds.length === 1
          ? visitsOfOne.all(only, beforeUs, limit)
          : visitsOf.all(JSON.stringify(documentIds), beforeUs, limit);
      if (isAlone()) return own;
      return oldestFirst(own, remote().visitsOf(documentIds, beforeUs, limit))
        .reverse()
        .slice(0, limit);
    },
    absencesBetween: (fromUs, toUs) =>
      absences
        .all(fromUs - 4 * REACH_US, toUs, fromUs)
        .flatMap(({ code, facts, startUs, endUs }) => {
          const kind = ABSENCE_KINDS[code];
          // Away from the keyboard while a film plays is not an absence.
          if (kind === undefined || (kind === "idle" && facts?.includes("passive") === true))
            return [];
          return [{ kind, startUs, endUs }];
        }),
    eventIds: (documentId, fromUs, toUs) => {
      const own = eventIds.all(fromUs, toUs, documentId).map(({ id }) => id);
      if (isAlone()) return own;
      const ids = new Set([...own, ...remote().eventIds(documentId, fromUs, toUs)]);
      return [...ids].sort((a, b) => a - b);
    },
  };

  /** Nearly always, and then nothing below costs more than this look. */
  function isAlone(): boolean {
    return anyRemote.get() === undefined;
  }
}

/** The same reads of what other devices recorded. */
function createRemoteHistory(
  database: StoreDatabase,
): Pick<ActivityHistory, "firstUs" | "visitsFrom" | "visitsBetween" | "visitsOf" | "eventIds"> {
  const first = database.prepare<{ start_us: number }>(
    "SELECT start_us FROM remote_visit ORDER BY start_us LIMIT 1",
  );
  const visitsFrom = database.prepare<Visit>(
    `SELECT ${REMOTE_VISIT} FROM remote_visit WHERE start_us >= ? AND start_us < ?
      ORDER BY start_us LIMIT ?`,
  );
  const visitsBetween = database.prepare<Visit>(
    `SELECT ${REMOTE_VISIT} FROM remote_visit
      WHERE start_us >= ? AND start_us < ? AND start_us + span_us > ? ORDER BY start_us`,
  );
  const visitsOf = database.prepare<Visit>(
    `SELECT ${REMOTE_VISIT} FROM remote_visit
      WHERE document_id IN (SELECT value FROM json_each(?)) AND start_us < ?
      ORDER BY start_us DESC LIMIT ?`,
  );
  const eventIds = database.prepare<{ id: number }>(
    `SELECT start_us AS id FROM remote_event
      WHERE start_us >= ? AND start_us < ? AND label_id IN (SELECT id FROM label WHERE document_id = ?)`,
  );
  return {
    firstUs: () => first.get()?.start_us ?? null,
    visitsFrom: (fromUs, toUs, limit) => visitsFrom.all(fromUs, toUs, limit),
    visitsBetween: (fromUs, toUs) => visitsBetween.all(fromUs - REACH_US, toUs, fromUs),
    visitsOf: (documentIds, beforeUs, limit) =>
      visitsOf.all(JSON.stringify(documentIds), beforeUs, limit),
    eventIds: (documentId, fromUs, toUs) =>
      eventIds.all(fromUs, toUs, documentId).map(({ id }) => id),
  };
}

function oldestFirst(own: readonly Visit[], others: readonly Visit[]): Visit[] {
  return [...own, ...others].sort((a, b) => a.startUs - b.startUs);
}

function lazily<T>(make: () => T): () => T {
  let made: T | null = null;
  return () => (made ??= make());
}

const VISIT =
  "document_id AS documentId, start_us AS startUs, start_us + span_us AS endUs, active_us AS activeUs, 0 AS deviceKey";
const REMOTE_VISIT =
  "document_id AS documentId, start_us AS startUs, start_us + span_us AS endUs, active_us AS activeUs, device_key AS deviceKey";

/** By the number of the kind in the low bits of a label's id. */
const ABSENCE_KINDS: Readonly<Record<number, Absence["kind"]>> = {
  1: "idle",
  2: "lock",
  3: "sleep",
  7: "gap",
};
