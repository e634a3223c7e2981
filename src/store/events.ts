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
import { createCheckpoints, type Checkpoints } from "./checkpoints.ts";
import { openDatabase, type StoreDatabase } from "./database.ts";
import { createDocuments, type Documents } from "./documents.ts";
import { createEraser, type Eraser } from "./erase.ts";
import { createEventReader, type EventRange, type EventReader } from "./event-reader.ts";
import {
  createEventWriter,
  type EventWriter,
  type Placed,
  type PutResult,
} from "./event-writer.ts";
import { isDamaged, isUnwritable } from "./failures.ts";
import { createOpenEvents } from "./open-events.ts";
import type { PulseEntry } from "./pulse.ts";
import {
  isCheckedLater,
  recover,
  recoverIfDamaged,
  takeUp,
  type RecoveryReport,
} from "./recovery.ts";
import { asideFolder } from "./put-in-place.ts";
import { createRemoteEvents, type RemoteEvents } from "./devices/remote.ts";
import { createVisits, type Visits } from "./visits.ts";

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
  /**
   * Moves the newest stretch of the record back by `byUs`, as when the clock turns out to have been ahead: all
   * since the last hole among the windows that is long enough. Nothing reaches beyond `nowUs` afterwards, the
   * present by the clock that was put right. Returns the new ids by the old ones.
   */
  readonly redate: (byUs: number, nowUs: number) => ReadonlyMap<number, number>;
  /** Puts in a whole event, such as from an export; the same facts at the same start are one event. */
  readonly put: (facts: EventFacts, span: EventSpan) => PutResult;
  /**
   * Brings visits and totals up to all events. Done about once a minute anyway: a reader of theirs asks for it
   * before it looks at the present.
   */
  readonly settle: () => void;
  /** Takes events out again. */
  readonly eraser: Eraser;
  /** The events of other devices. Made when it is first asked for. */
  readonly remote: () => RemoteEvents;
  /** Says which events go on, as soon as one more does or one no more. */
  readonly setOpen: (ids: readonly number[]) => void;
  /** The events that go on. */
  readonly openIds: () => ReadonlySet<number>;
  /** What was done about a damaged database, at the start or since; null when it was always sound. */
  readonly recovery: () => RecoveryReport | null;
  /** Whether the database was too large to be looked through before this opened it. */
  readonly isUnchecked: boolean;
  /** Recovers the database under the running process, for what was found wrong with it. */
  readonly mend: (damage: string) => void;
  readonly checkpoints: Pick<Checkpoints, "settled" | "shareWith">;
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
 * Opens the store of a data folder, bringing to their last pulse the events that a crash left open. A
 * damaged database is set aside untouched and recovered; one that cannot be written opens all the same,
 * and each change throws until it can.
 *
 * @throws ActivityError `database_newer`, `database_busy`
 */
export function openEventStore({ directory, clock, log }: OpenEventStoreOptions): EventStore {
  const path = join(directory, DATABASE_FILE);
  let recovery = recoverIfDamaged({ directory, path, nowUs: clock.nowUs(), log });
  const isUnchecked = isCheckedLater(path);
  /** Mends what a read meets, once there is something to mend. */
  let onDamage = (_damage: string): boolean => false;
  const openParts = (): StoreParts => {
    const open = (): StoreParts => openStoreParts(path, (damage) => onDamage(damage));
    try {
      return open();
    } catch (error) {
      if (!isDamaged(error)) throw error;
      log.error("the database is damaged: recovering it");
      recovery = recover({ directory, path, nowUs: clock.nowUs(), log }, error.message);
      return open();
    }
  };
  const { database, documents, visits, writer, reader } = openParts();
  const checkpoints = createCheckpoints(database);
  const openEvents = createOpenEvents(join(directory, "pulse"), log);
  let remote: RemoteEvents | null = null;
  let lastCommittedUs: number | null = null;
  let eventCount: number | null = null;
  /** Wall time of the last settlement by the pulse. */
  let settledUs: number | null = null;
  let rescuedUs: number | null = null;

  const committed = ({ id, endUs }: Placed): number => {
    openEvents.noteEnd(id, endUs);
    reader.noteDuration(endUs - id);
    lastCommittedUs = clock.nowUs();
    return id;
  };

  const countMore = (events: number): void => {
    if (eventCount !== null) eventCount += events;
  };

  /** Brings an event that went on when the process before was killed to that one's last pulse. */
  const extend = ({ id, committedEndUs }: PulseEntry, pulseUs: number): void => {
    const event = writer.find(id);
    // An end that was set after the pulse is the truth, even when it lies before it.
    if (event === null || event.endUs !== committedEndUs || pulseUs <= event.endUs) return;
    const nextUs = reader.firstAfter(event.kindCode, id) ?? pulseUs;
    committed(writer.setEnd(id, Math.max(event.endUs, Math.min(pulseUs, nextUs))));
  };

  let isMended = false;

  /** Recovers the database under the running process. */
  const mend = (damage: string): void => {
    log.error("the database was damaged while it was open: recovering it");
    isMended = true;
    database.mend(() => {
      recovery = recover({ directory, path, nowUs: clock.nowUs(), log }, damage);
    });
    eventCount = null;
  };

  onDamage = (damage) => {
    // Once: a disk that spoils what was just written anew is beyond help.
    if (isMended) return false;
    mend(damage);
    return true;
  };

  /** Makes a change, after what the last process left to do; a database that turns out damaged is recovered first. */
  const changing = <T>(change: () => T): T => {
    try {
      openEvents.takeUp(extend);
      return change();
    } catch (error) {
      // Once: a disk that spoils what was just written anew is beyond help.
      if (!isDamaged(error) || isMended) throw error;
      mend(error.message);
      return change();
    }
  };

  try {
    changing(() => {});
  } catch (error) {
    // Unwritable: the first change that succeeds does it.
    if (!isUnwritable(error)) {
      database.close();
      throw error;
    }
    log.warn("the database cannot be written yet", { code: "database_unwritable" });
  }

  return {
    begin: (facts, span) =>
      changing(() => {
        const id = committed(writer.begin(facts, span));
        countMore(1);
        return id;
      }),
    setEnd: (id, endUs) => {
      changing(() => committed(writer.setEnd(id, endUs)));
    },
    setOpen: openEvents.set,
    pulse: (nowUs, ids) => {
      if (openEvents.pulse(nowUs, ids)) keepHouse(nowUs);
    },
    between: reader.between,
    latest: reader.latest,
    activeOn: (localDay) => {
      const settled = reader.activeOn(localDay);
      const pending = writer.settlement.pendingOn(localDay);
      const firsts = [settled?.firstUs, pending.firstUs].filter(
        (us) => us !== undefined && us !== null,
      );
      const activeUs = (settled?.activeUs ?? 0) + pending.activeUs;
      return activeUs > 0 ? { activeUs, firstUs: Math.min(...firsts) } : null;
    },
    settle: () => {
      changing(writer.settlement.settle);
      settledUs = null;
    },
    summary: () => {
      eventCount ??= reader.count();
      return {
        path,
        sizeBytes: fileSize(path) + fileSize(`${path}-wal`),
        eventCount,
        lastCommittedUs: lastCommittedUs ?? reader.newestEndUs(),
      };
    },
    redate: (byUs, nowUs) =>
      changing(() => {
        const moved = writer.redate(Math.round(byUs), Math.round(nowUs));
        openEvents.noteMoved(moved);
        return moved;
      }),
    put: (facts, span) =>
      changing(() => {
        const result = writer.put(facts, span);
        if (result === "added") countMore(1);
        reader.noteDuration(span.endUs - span.startUs);
        return result;
      }),
    eraser: createEraser({
      database,
      documents,
      visits,
      settlement: writer.settlement,
      onErased: (events) => countMore(-events),
    }),
    remote: () => (remote ??= createRemoteEvents(database, documents)),
    openIds: openEvents.ids,
    recovery: () => recovery,
    isUnchecked,
    mend,
    checkpoints,
    database,
    close: () => {
      checkpoints.close();
      try {
        writer.settlement.settle();
        database.giveWay(copyPath);
      } catch {
        // Unwritable: the next process settles, as after a crash.
      }
      openEvents.release();
      database.close();
    },
  };

  /** Where a copy of what was open lies when another file was put in its place. */
  function copyPath(): string {
    return join(asideFolder(directory, clock.nowUs(), "replaced"), DATABASE_FILE);
  }

  /** A pulse falls between samples: here nobody waits for the disk. */
  function keepHouse(nowUs: number): void {
    try {
      settledUs ??= nowUs;
      if (Math.abs(nowUs - settledUs) >= SETTLE_EVERY_US) {
        settledUs = nowUs;
        writer.settlement.settle();
      }
      // To look for the file each time would cost as much as the pulse itself.
      if (rescuedUs === null || Math.abs(nowUs - rescuedUs) >= RESCUE_EVERY_US) {
        rescuedUs = nowUs;
        const rescued = database.rescue(copyPath, (copy) =>
          takeUp({ directory, path, nowUs, log }, copy),
        );
        if (rescued === "none") return checkpoints.whenIdle();
        openEvents.release();
        eventCount = null;
        log.warn(RESCUES[rescued]);
      }
      checkpoints.whenIdle();
    } catch (error) {
      const code = error instanceof ActivityError ? error.code : "internal";
      log.warn("housekeeping of the database failed", { code });
    }
  }
}

const RESCUES = {
  written: "the database was gone: wrote it anew",
  folded: "the log of the database was gone: what was committed stands in its file now",
  taken: "another file was put in the place of the database: what was open is set aside",
} as const;

interface StoreParts {
  readonly database: StoreDatabase;
  readonly documents: Documents;
  readonly visits: Visits;
  readonly writer: EventWriter;
  readonly reader: EventReader;
}

function openStoreParts(path: string, onDamage: (damage: string) => boolean): StoreParts {
  const database = openDatabase({ path, tolerant: true, onDamage });
  try {
    const documents = createDocuments(database);
    const visits = createVisits(database);
    const writer = createEventWriter(database, documents, visits);
    return { database, documents, visits, writer, reader: createEventReader(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

const SETTLE_EVERY_US = 60_000_000;
/** How long a data folder that vanished may go unnoticed. */
const RESCUE_EVERY_US = 10_000_000;

function fileSize(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    // Absent, or in a folder that cannot be entered.
    return 0;
  }
}
