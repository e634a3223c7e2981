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
import type { StoreDatabase } from "./database.ts";
import { createEraser, type Eraser } from "./erase.ts";
import type { EventRange } from "./event-reader.ts";
import type { Placed, PutResult } from "./event-writer.ts";
import { isDamaged, isUnwritable, recoveringError } from "./failures.ts";
import { createOpenEvents } from "./open-events.ts";
import type { PulseEntry } from "./pulse.ts";
import { createHeldEvents } from "./held-events.ts";
import { damageAtStart, isCheckedLater, type RecoveryReport } from "./recovery.ts";
import { asideFolder } from "./put-in-place.ts";
import { recoverHere, type Recoverer } from "./recovery/aside.ts";
import { createMending, type Mending, type Recovering } from "./recovery/mending.ts";
import { createRemoteEvents, type RemoteEvents } from "./devices/remote.ts";
import { openStoreParts, type StoreParts } from "./store-parts.ts";
import { createUpkeep } from "./upkeep.ts";

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
  /** Not null while a damaged database is being recovered aside: all that needs the record throws `database_recovering` then. */
  readonly recovering: () => Recovering | null;
  /** @throws ActivityError `database_recovering` while it is: for whoever would ask the file itself. */
  readonly requireRecord: () => void;
  /**
   * What `read` gives, for who can do without the record: null while it is being recovered, also where this very reading
   * met the damage.
   */
  readonly readIfThere: <T>(read: () => T) => T | null;
  /** See `Mending.onChange`. */
  readonly onRecovering: Mending["onChange"];
  /**
   * What waits for the database, in memory: while it is being recovered, that is kept in a file as well, over the end of the
   * process. Said once more when nothing waits any longer. Never throws.
   */
  readonly hold: (events: readonly ActivityEvent[]) => void;
  /** Whether the database was too large to be looked through before this opened it. */
  readonly isUnchecked: boolean;
  /**
   * Recovers the database under the running process, for what was found wrong with it. Once: a disk that spoils what was just
   * written anew is beyond help.
   */
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
  /** Null while the database is being recovered: nobody knows then. */
  readonly eventCount: number | null;
  /** Wall time of the last commit, or the end of the newest event when there was none yet; null when empty. */
  readonly lastCommittedUs: number | null;
}

export interface OpenEventStoreOptions {
  /** The data folder; made when absent. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Who recovers a damaged database; whoever opens it waits for it unless given. */
  readonly recoverer?: Recoverer;
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
export function openEventStore(options: OpenEventStoreOptions): EventStore {
  const { directory, clock, log, recoverer = recoverHere } = options;
  const path = join(directory, DATABASE_FILE);
  let damage = damageAtStart({ directory, path, nowUs: clock.nowUs() });
  const isUnchecked = damage === null && isCheckedLater(path);
  /** Mends what a read meets, once there is something to mend. */
  let onDamage = (_damage: string): boolean => false;
  const openParts = (): StoreParts => {
    try {
      return openStoreParts(path, damage !== null, (met) => onDamage(met));
    } catch (error) {
      if (!isDamaged(error)) throw error;
      damage = error.message;
      return openStoreParts(path, true, (met) => onDamage(met));
    }
  };
  const { database, documents, visits, writer, reader } = openParts();
  const mending = createMending({ directory, database, recoverer, clock, log });
  const held = createHeldEvents({ directory, nowUs: clock.nowUs, log });
  const checkpoints = createCheckpoints(database);
  const openEvents = createOpenEvents(join(directory, "pulse"), log);
  let remote: RemoteEvents | null = null;
  let lastCommittedUs: number | null = null;
  let eventCount: number | null = null;

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

  const requireRecord = (): void => {
    if (mending.state() !== null) throw recoveringError();
  };

  const readIfThere = <T>(read: () => T): T | null => {
    try {
      return mending.state() === null ? read() : null;
    } catch (error) {
      if (mending.state() === null) throw error;
      return null;
    }
  };

  let isMended = false;

  /** Recovers the database under the running process; false where that was done before, see `mend`. */
  const mend = (met: string): boolean => {
    if (isMended) return false;
    isMended = true;
    mending.begin(met);
    return true;
  };
  onDamage = mend;

  /** What is remembered of the database is no longer so. */
  const noteReplaced = (): void => {
    eventCount = null;
    reader.noteReplaced();
  };

  const upkeep = createUpkeep({
    directory,
    database,
    settle: writer.settlement.settle,
    checkpoints,
    copyPath,
    onReplaced: () => {
      openEvents.release();
      noteReplaced();
    },
    log,
  });

  const putAll = (events: readonly (EventFacts & EventSpan)[]): void => {
    database.transaction(() => {
      for (const event of events) writer.put(event, event);
    });
    noteReplaced();
  };

  /** Makes a change, after what the last process left to do; a database that turns out damaged is recovered first. */
  const changing = <T>(change: () => T): T => {
    requireRecord();
    try {
      openEvents.takeUp(extend);
      held.takeUp(putAll);
      return change();
    } catch (error) {
      if (!isDamaged(error) || !mend(error.message)) throw error;
      return change();
    }
  };

  mending.onChange((isBegun) => {
    noteReplaced();
    // At once: what is forgotten from now on must not come back from there.
    if (!isBegun) takeUpHeld();
  });
  try {
    if (damage !== null) mending.begin(damage);
    if (mending.state() === null) changing(() => {});
  } catch (error) {
    // Unwritable: the first change that succeeds does it.
    if (!isUnwritable(error) || mending.state() !== null) {
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
      if (openEvents.pulse(nowUs, ids) && mending.state() === null) upkeep.keep(nowUs);
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
      upkeep.noteSettled();
    },
    summary: () => {
      const sizeBytes = fileSize(path) + fileSize(`${path}-wal`);
      const known = readIfThere(() => ({
        eventCount: (eventCount ??= reader.count()),
        lastCommittedUs: lastCommittedUs ?? reader.newestEndUs(),
      }));
      return { path, sizeBytes, ...(known ?? { eventCount: null, lastCommittedUs }) };
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
    recovery: mending.report,
    recovering: mending.state,
    readIfThere,
    requireRecord,
    onRecovering: mending.onChange,
    hold: (events) => {
      if (mending.state() !== null) return held.hold(events);
      if (events.length > 0) return;
      held.wrote();
      takeUpHeld();
    },
    isUnchecked,
    mend: (met) => void mend(met),
    checkpoints,
    database,
    close: () => {
      mending.close();
      held.close();
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

  /** Puts in what was held, where that can be done; else the next change does it. */
  function takeUpHeld(): void {
    try {
      changing(() => {});
    } catch (error) {
      const code = error instanceof ActivityError ? error.code : "internal";
      log.warn("what was held cannot be put in yet", { code });
    }
  }

  /** Where a copy of what was open lies when another file was put in its place. */
  function copyPath(): string {
    return join(asideFolder(directory, clock.nowUs(), "replaced"), DATABASE_FILE);
  }
}

function fileSize(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    // Absent, or in a folder that cannot be entered.
    return 0;
  }
}
