/**
 * The record of what happened: events are begun, their ends move, and ranges of them are read back. It
 * promises that what it acknowledges is committed, that ids are unique, and that a killed process loses no
 * more than the time since its last pulse.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { ActivityEvent, EventFacts, EventKind, EventSpan } from "../capture/events.ts";
import type { Clock } from "../clock.ts";
import { ActivityError } from "../errors.ts";
import type { Log } from "../log.ts";
import { openDatabase, type StoreDatabase } from "./database.ts";
import { createDocuments, KIND_CODES } from "./documents.ts";
import { createEraser, type Eraser } from "./erase.ts";
import { createEventReader, type EventRange } from "./event-reader.ts";
import { openPulseFile, readPulse } from "./pulse.ts";
import { createVisits } from "./visits.ts";

export interface EventStore {
  /**
   * Commits a new event and returns its id: the start in microseconds, moved on by one for each start that
   * is already taken.
   */
  readonly begin: (facts: EventFacts, span: EventSpan) => number;
  /** Moves the end of an event, forward, or back when the owner turned out to be away. Commits. */
  readonly setEnd: (id: number, endUs: number) => void;
  /**
   * Says that the events of these ids go on. Costs one small write and never throws; after a crash, opening
   * the store extends them to `nowUs`, unless their ends were set since.
   */
  readonly pulse: (nowUs: number, openIds: readonly number[]) => void;
  /** Events that meet `[fromUs, toUs)`, oldest first and unclipped; the newest win when there are more than `limit`. */
  readonly between: (
    fromUs: number,
    toUs: number,
    options?: { readonly kinds?: readonly EventKind[]; readonly limit?: number },
  ) => EventRange;
  /** The last events of a kind that start before `beforeUs`, newest first. */
  readonly latest: (kind: EventKind, limit: number, beforeUs?: number) => readonly ActivityEvent[];
  /** Active window time of a local day ("2026-11-27") and when it began; null when none. */
  readonly activeOn: (
    localDay: string,
  ) => { readonly activeUs: number; readonly firstUs: number } | null;
  readonly summary: () => StoreSummary;
  /** Takes events out again. */
  readonly eraser: Eraser;
  /** The database itself, for the readers and the housekeeping of this folder. */
  readonly database: StoreDatabase;
  readonly close: () => void;
}

export interface StoreSummary {
  readonly path: string;
  /** The database and its write-ahead log. */
  readonly sizeBytes: number;
  readonly eventCount: number;
  /** Wall time of the last commit, or the end of the newest event when there was none yet; null when empty. */
  readonly lastCommittedUs: number | null;
}

export interface OpenEventStoreOptions {
  /** The data folder; made when absent. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Name of the database in the data folder. */
export const DATABASE_FILE = "activity.db";

/**
 * Opens the store of a data folder, bringing to their last pulse the events that a crash left open.
 *
 * @throws ActivityError `database_newer`, `database_damaged`, `database_unwritable`
 */
export function openEventStore({ directory, clock, log }: OpenEventStoreOptions): EventStore {
  const database = openDatabase({ path: join(directory, DATABASE_FILE) });
  const pulsePath = join(directory, "pulse");
  const lastPulse = readPulse(pulsePath);
  const pulseFile = openPulseFile(pulsePath, log);
  const documents = createDocuments(database);
  const visits = createVisits(database);
  const zoneIds = new Map<string, number>();
  /** Committed ends of the events begun or moved by this process, newest last. */
  const committedEnds = new Map<number, number>();
  let lastCommittedUs: number | null = null;
  let eventCount: number | null = null;
  let commitsSinceCheckpoint = 0;

  const addEvent = database.prepare(
    "INSERT INTO event(start_us, duration_us, label_id, zone_id) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const setDuration = database.prepare("UPDATE event SET duration_us = ? WHERE start_us = ?");
  const findEvent = database.prepare<OpenRow>(
    `SELECT event.start_us + duration_us AS end_us, label_id & 15 AS kind_code, label.document_id AS document_id,
            zone.name AS time_zone
       FROM event JOIN zone ON zone.id = zone_id JOIN label ON label.id = label_id WHERE event.start_us = ?`,
  );
  const addZone = database.prepare(
    `INSERT INTO zone(id, name, utc_offset_minutes)
      VALUES((SELECT coalesce(max(id) + 1, 0) FROM zone), ?, ?) ON CONFLICT DO NOTHING`,
  );
  const findZone = database.prepare<{ id: number }>(
    "SELECT id FROM zone WHERE name = ? AND utc_offset_minutes = ?",
  );
  const reader = createEventReader(database);
  const eraser = createEraser({
    database,
    documents,
    visits,
    onErased: (events) => {
      if (eventCount !== null) eventCount -= events;
    },
  });

  const zoneId = (timeZone: string, utcOffsetMinutes: number): number => {
    addZone.run(timeZone, utcOffsetMinutes);
    const found = findZone.get(timeZone, utcOffsetMinutes);
    if (found === undefined)
      throw new ActivityError("internal", "A zone vanished as it was written.");
    return found.id;
  };

  const committed = (id: number, endUs: number): void => {
    committedEnds.delete(id);
    committedEnds.set(id, endUs);
    for (const oldest of committedEnds.keys()) {
      if (committedEnds.size <= REMEMBERED_ENDS) break;
      committedEnds.delete(oldest);
    }
    lastCommittedUs = clock.nowUs();
    commitsSinceCheckpoint += 1;
  };

  const setEnd = (id: number, endUs: number): void => {
    const newEndUs = Math.max(Math.round(endUs), id);
    database.transaction(() => {
      const row = findEvent.get(id);
      if (row === undefined) {
        throw new ActivityError(
          "not_found",
          `There is no event ${id}.`,
          "It may have been forgotten.",
        );
      }
      if (row.end_us === newEndUs) return;
      setDuration.run(newEndUs - id, id);
      if (row.kind_code === KIND_CODES.window && row.document_id !== null) {
        const stretch = { documentId: row.document_id, startUs: id, timeZone: row.time_zone };
        visits.moveEnd(stretch, row.end_us, newEndUs);
      }
    });
    reader.noteDuration(newEndUs - id);
    committed(id, newEndUs);
  };

  const begin = (facts: EventFacts, span: EventSpan): number => {
    const { utcOffsetMinutes, timeZone } = span;
    const zoneKey = `${utcOffsetMinutes} ${timeZone}`;
    let startUs = Math.round(span.startUs);
    let endUs = startUs;
    let zone = zoneIds.get(zoneKey);
    database.transaction(() => {
      zone ??= zoneId(timeZone, utcOffsetMinutes);
      const label = documents.intern(facts);
      for (;;) {
        endUs = Math.max(Math.round(span.endUs), startUs);
        if (addEvent.run(startUs, endUs - startUs, label.id, zone) === 1) break;
        startUs += 1;
      }
      if (facts.kind === "window" && label.documentId !== null) {
        visits.add({ documentId: label.documentId, startUs, timeZone }, endUs);
      }
    });
    // Only now is the zone's row certain to stay.
    if (zone !== undefined) zoneIds.set(zoneKey, zone);
    if (eventCount !== null) eventCount += 1;
    reader.noteDuration(endUs - startUs);
    committed(startUs, endUs);
    return startUs;
  };

  const recover = (): void => {
    for (const { id, committedEndUs } of lastPulse?.entries ?? []) {
      const row = findEvent.get(id);
      const pulseUs = lastPulse?.nowUs ?? 0;
      // An end that was set after the pulse is the truth, even when it lies before it.
      if (row === undefined || row.end_us !== committedEndUs || pulseUs <= row.end_us) continue;
      const next = reader.firstAfter(row.kind_code, id);
      setEnd(id, next === null ? pulseUs : Math.max(row.end_us, Math.min(pulseUs, next)));
    }
  };

  try {
    recover();
  } catch (error) {
    pulseFile.close();
    database.close();
    throw error;
  }

  return {
    begin,
    setEnd,
    pulse: (nowUs, openIds) => {
      const entries = openIds.flatMap((id) => {
        const committedEndUs = committedEnds.get(id);
        return committedEndUs === undefined ? [] : [{ id, committedEndUs }];
      });
      pulseFile.write({ nowUs: Math.round(nowUs), entries });
      if (commitsSinceCheckpoint < COMMITS_PER_CHECKPOINT) return;
      commitsSinceCheckpoint = 0;
      // A pulse falls between samples: here nobody waits for the disk.
      try {
        database.checkpoint("idle");
      } catch (error) {
        log.warn("checkpoint failed", {
          code: error instanceof ActivityError ? error.code : "internal",
        });
      }
    },
    between: reader.between,
    latest: reader.latest,
    activeOn: reader.activeOn,
    summary: () => {
      eventCount ??= reader.count();
      return {
        path: database.path,
        sizeBytes: fileSize(database.path) + fileSize(`${database.path}-wal`),
        eventCount,
        lastCommittedUs: lastCommittedUs ?? reader.newestEndUs(),
      };
    },
    eraser,
    database,
    close: () => {
      pulseFile.close();
      database.close();
    },
  };
}

/** Idle, lock, sleep, system, a window, a gap, and some media: twice what can be open at once. */
const REMEMBERED_ENDS = 64;
/** About 4 MB of log: large enough to write each page once for many commits, small enough to take milliseconds. */
const COMMITS_PER_CHECKPOINT = 250;

interface OpenRow {
  readonly end_us: number;
  readonly kind_code: number;
  readonly document_id: number | null;
  readonly time_zone: string;
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
