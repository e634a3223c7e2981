/**
 * Reads of what was recorded, for the answers that look back: documents, visits, absences, totals. It
 * promises prepared statements that touch an index only, answers that do not depend on the present, and times of
 * other devices that are by this one's clock as far as it can be known.
 */
import type { StoreDatabase } from "./database.ts";
import { clockLeadUs, createDeviceReader, type DeviceKind } from "./devices.ts";
import { VISIT_REACH_US } from "./event-rows.ts";
import { IS_WINDOW, isIndexedLike, KIND_CODES, KIND_OF_ROW } from "./stored-facts.ts";

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

/** Another device of the owner, which has a part in the record. */
export interface HistoryDevice {
  /** 1 or more. */
  readonly key: number;
  /** As it calls itself. */
  readonly name: string;
  readonly kind: DeviceKind | null;
}

/** A stretch in which a window had the focus. */
export interface Focus {
  readonly documentId: number;
  readonly startUs: number;
  readonly endUs: number;
}

/** The owner was not at the machine, or nothing could be seen. */
export interface Absence {
  readonly kind: AbsenceKind;
  readonly startUs: number;
  readonly endUs: number;
}

export type AbsenceKind = "idle" | "lock" | "sleep" | "gap";

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
  /** Window events that meet `[fromUs, toUs)`, of all devices, unclipped and in no particular order. */
  readonly focusBetween: (fromUs: number, toUs: number) => readonly Focus[];
  /** The other devices; empty where there are none. */
  readonly devices: () => readonly HistoryDevice[];
  /** The same of some devices alone; 0 stands for this one. Documents are those of all. */
  readonly only: (deviceKeys: ReadonlySet<number>) => ActivityHistory;
}

/** No absence is believed to reach further back than this before a range. */
const ABSENCE_REACH_US = 4 * VISIT_REACH_US;

/** Reads over an open database; the statements are prepared once and live as long as it does. */
export function createHistory(database: StoreDatabase): ActivityHistory {
  const own = createOwnHistory(database);
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
  const anyRemote = database.prepare("SELECT 1 FROM remote_event LIMIT 1");
  const remote = lazily(() => createRemoteHistory(database));

  return historyOf(null);

  /** @param deviceKeys The devices that are meant; null: all. */
  function historyOf(deviceKeys: ReadonlySet<number> | null): ActivityHistory {
    const hasOwn = deviceKeys === null || deviceKeys.has(0);
    /** Nearly always nothing, and then this costs no more than a look. */
    const others = (): readonly RemoteReads[] =>
      anyRemote.get() === undefined ? [] : remote().of(deviceKeys);

    return {
      firstUs: () => {
        const firsts = [hasOwn ? own.firstUs() : null, ...others().map((each) => each.firstUs())];
        const known = firsts.filter((us) => us !== null);
        return known.length === 0 ? null : Math.min(...known);
      },
      lastDocumentId: () => lastDocument.get()?.id ?? 0,
      documentCount: () => countDocuments.get()?.documents ?? 0,
      documentsAfter: (id, limit) => documentsAfter.all(id, limit),
      documents: (ids) => (ids.length === 0 ? [] : documents.all(JSON.stringify(ids))),
      visitsFrom: (fromUs, toUs, limit) =>
        oldestFirst(
          hasOwn ? own.visitsFrom(fromUs, toUs, limit) : [],
          others().map((each) => each.visitsFrom(fromUs, toUs, limit)),
        ).slice(0, limit),
      visitsBetween: (fromUs, toUs) =>
        oldestFirst(
          hasOwn ? own.visitsBetween(fromUs, toUs) : [],
          others().map((each) => each.visitsBetween(fromUs, toUs)),
        ),
      visitsOf: (documentIds, beforeUs, limit) => {
        if (documentIds.length === 0) return [];
        const mine = hasOwn ? own.visitsOf(documentIds, beforeUs, limit) : [];
        const theirs = others().map((each) => each.visitsOf(documentIds, beforeUs, limit));
        if (theirs.length === 0) return mine;
        return [...mine, ...theirs.flat()].sort((a, b) => b.startUs - a.startUs).slice(0, limit);
      },
      absencesBetween: (fromUs, toUs) => {
        // Whoever left this device is not seen here, whatever another says; of others alone theirs count.
        if (hasOwn) return own.absencesBetween(fromUs, toUs);
        return others()
          .flatMap((each) => each.absencesBetween(fromUs, toUs))
          .sort((a, b) => a.startUs - b.startUs);
      },
      eventIds: (documentId, fromUs, toUs) => {
        const mine = hasOwn ? own.eventIds(documentId, fromUs, toUs) : [];
        const theirs = others().flatMap((each) => each.eventIds(documentId, fromUs, toUs));
        if (theirs.length === 0) return mine;
        return [...new Set([...mine, ...theirs])].sort((a, b) => a - b);
      },
      focusBetween: (fromUs, toUs) => [
        ...(hasOwn ? own.focusBetween(fromUs, toUs) : []),
        ...others().flatMap((each) => each.focusBetween(fromUs, toUs)),
      ],
      devices: () => (anyRemote.get() === undefined ? [] : remote().devices()),
      only: historyOf,
    };
  }
}

type OwnReads = Pick<
  ActivityHistory,
  | "firstUs"
  | "visitsFrom"
  | "visitsBetween"
  | "visitsOf"
  | "absencesBetween"
  | "eventIds"
  | "focusBetween"
>;

/** What this device recorded itself. */
function createOwnHistory(database: StoreDatabase): OwnReads {
  const first = database.prepare<{ start_us: number }>(
    "SELECT start_us FROM visit ORDER BY start_us LIMIT 1",
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
  const absences = database.prepare<AbsenceRow>(
    `SELECT ${KIND_OF_ROW} AS code, event.start_us AS startUs,
            event.start_us + event.duration_us AS endUs, label.facts AS facts
       FROM event LEFT JOIN label ON label.id = event.label_id
      WHERE ${isIndexedLike(KIND_CODES.idle)} AND ${IS_ABSENCE}
        AND event.start_us >= ? AND event.start_us < ? AND event.start_us + event.duration_us > ?
      ORDER BY event.start_us`,
  );
  const eventIds = database.prepare<{ id: number }>(
    `SELECT start_us AS id FROM event
      WHERE start_us >= ? AND start_us < ? AND label_id IN (SELECT id FROM label WHERE document_id = ?)
      ORDER BY start_us`,
  );
  const focus = database.prepare<Focus>(
    `SELECT label.document_id AS documentId, start_us AS startUs, start_us + duration_us AS endUs
       FROM event JOIN label ON label.id = label_id
      WHERE start_us >= ? AND start_us < ? AND start_us + duration_us > ? AND ${IS_WINDOW}`,
  );
  return {
    firstUs: () => first.get()?.start_us ?? null,
    visitsFrom: (fromUs, toUs, limit) => visitsFrom.all(fromUs, toUs, limit),
    visitsBetween: (fromUs, toUs) => visitsBetween.all(fromUs - VISIT_REACH_US, toUs, fromUs),
    visitsOf: (documentIds, beforeUs, limit) => {
      const [only] = documentIds;
      return documentIds.length === 1 && only !== undefined
        ? visitsOfOne.all(only, beforeUs, limit)
        : visitsOf.all(JSON.stringify(documentIds), beforeUs, limit);
    },
    absencesBetween: (fromUs, toUs) =>
      absences.all(fromUs - ABSENCE_REACH_US, toUs, fromUs).flatMap(toAbsence),
    eventIds: (documentId, fromUs, toUs) =>
      eventIds.all(fromUs, toUs, documentId).map(({ id }) => id),
    focusBetween: (fromUs, toUs) => focus.all(fromUs - VISIT_REACH_US, toUs, fromUs),
  };
}

/** The reads of one device, by our clock. */
type RemoteReads = OwnReads;

/** The same of what other devices recorded, device by device: each has a clock of its own. */
function createRemoteHistory(database: StoreDatabase): {
  readonly of: (deviceKeys: ReadonlySet<number> | null) => readonly RemoteReads[];
  readonly devices: () => readonly HistoryDevice[];
} {
  const reader = createDeviceReader(database);
  const first = database.prepare<{ us: number | null }>(
    "SELECT min(start_us) AS us FROM remote_visit WHERE device_key = ?",
  );
  const visit = `document_id AS documentId, start_us - ? AS startUs, start_us + span_us - ? AS endUs,
                 active_us AS activeUs, device_key AS deviceKey`;
  const visitsFrom = database.prepare<Visit>(
    `SELECT ${visit} FROM remote_visit WHERE device_key = ? AND start_us >= ? AND start_us < ?
      ORDER BY start_us LIMIT ?`,
  );
  const visitsBetween = database.prepare<Visit>(
    `SELECT ${visit} FROM remote_visit
      WHERE device_key = ? AND start_us >= ? AND start_us < ? AND start_us + span_us > ?
      ORDER BY start_us`,
  );
  const visitsOf = database.prepare<Visit>(
    `SELECT ${visit} FROM remote_visit INDEXED BY remote_visit_document
      WHERE device_key = ? AND document_id IN (SELECT value FROM json_each(?)) AND start_us < ?
      ORDER BY start_us DESC LIMIT ?`,
  );
  const absences = database.prepare<AbsenceRow>(
    `SELECT ${KIND_OF_ROW} AS code, start_us - ? AS startUs, start_us + duration_us - ? AS endUs, facts
       FROM remote_event LEFT JOIN label ON label.id = label_id
      WHERE device_key = ? AND start_us >= ? AND start_us < ? AND start_us + duration_us > ?
        AND ${IS_ABSENCE}`,
  );
  const eventIds = database.prepare<{ id: number }>(
    `SELECT start_us AS id FROM remote_event
      WHERE device_key = ? AND start_us >= ? AND start_us < ?
        AND label_id IN (SELECT id FROM label WHERE document_id = ?)`,
  );
  const focus = database.prepare<Focus>(
    `SELECT document_id AS documentId, start_us - ? AS startUs, start_us + duration_us - ? AS endUs
       FROM remote_event JOIN label ON label.id = label_id
      WHERE device_key = ? AND start_us >= ? AND start_us < ? AND start_us + duration_us > ?
        AND ${IS_WINDOW}`,
  );

  return {
    of: (deviceKeys) =>
      reader
        .all()
        .filter(({ key }) => deviceKeys?.has(key) ?? true)
        .map((device) => readsOf(device.key, clockLeadUs(device) ?? 0)),
    devices: () => reader.all().map(({ key, name, kind }) => ({ key, name, kind })),
  };

  function readsOf(key: number, leadUs: number): RemoteReads {
    /** The values of a statement for what meets a range of ours, and began at most `reachUs` before it. */
    const meeting = (fromUs: number, toUs: number, reachUs: number) =>
      [leadUs, leadUs, key, fromUs - reachUs + leadUs, toUs + leadUs, fromUs + leadUs] as const;
    return {
      firstUs: () => {
        const us = first.get(key)?.us ?? null;
        return us === null ? null : us - leadUs;
      },
      visitsFrom: (fromUs, toUs, limit) =>
        visitsFrom.all(leadUs, leadUs, key, fromUs + leadUs, toUs + leadUs, limit),
      visitsBetween: (fromUs, toUs) => visitsBetween.all(...meeting(fromUs, toUs, VISIT_REACH_US)),
      visitsOf: (documentIds, beforeUs, limit) =>
        visitsOf.all(leadUs, leadUs, key, JSON.stringify(documentIds), beforeUs + leadUs, limit),
      absencesBetween: (fromUs, toUs) =>
        absences.all(...meeting(fromUs, toUs, ABSENCE_REACH_US)).flatMap(toAbsence),
      eventIds: (documentId, fromUs, toUs) =>
        eventIds.all(key, fromUs + leadUs, toUs + leadUs, documentId).map(({ id }) => id),
      focusBetween: (fromUs, toUs) => focus.all(...meeting(fromUs, toUs, VISIT_REACH_US)),
    };
  }
}

interface AbsenceRow {
  readonly code: number;
  readonly startUs: number;
  readonly endUs: number;
  readonly facts: string | null;
}

function toAbsence({ code, facts, startUs, endUs }: AbsenceRow): readonly Absence[] {
  const kind = ABSENCE_KINDS.find((kind) => KIND_CODES[kind] === code);
  // Away from the keyboard while a film plays is not an absence.
  if (kind === undefined || (kind === "idle" && facts?.includes("passive") === true)) return [];
  return [{ kind, startUs, endUs }];
}

function oldestFirst(
  own: readonly Visit[],
  others: readonly (readonly Visit[])[],
): readonly Visit[] {
  if (others.length === 0) return own;
  return [...own, ...others.flat()].sort((a, b) => a.startUs - b.startUs);
}

function lazily<T>(make: () => T): () => T {
  let made: T | null = null;
  return () => (made ??= make());
}

const VISIT =
  "document_id AS documentId, start_us AS startUs, start_us + span_us AS endUs, active_us AS activeUs, 0 AS deviceKey";
/** By the number of the kind in the low bits of a label's id. */
const ABSENCE_KINDS = [
  "idle",
  "lock",
  "sleep",
  "gap",
] as const satisfies readonly Absence["kind"][];

const IS_ABSENCE = `${KIND_OF_ROW} IN (${ABSENCE_KINDS.map((kind) => KIND_CODES[kind]).join(", ")})`;
