/**
 * When committed pages move from the write-ahead log into the database file. It hides who moves them, and promises that
 * nobody waits for a long log: in quiet times it is short and moved in an idle moment; while much is written, another
 * process moves it.
 */
import type { StoreDatabase } from "./database.ts";

export interface Checkpoints {
  /** To be called now and then, when nobody waits. Throws what the database throws. */
  readonly whenIdle: () => void;
  /** From now on `moveElsewhere` moves a long log, in another process, and resolves when it has. */
  readonly shareWith: (moveElsewhere: () => Promise<void>) => void;
  /** Resolves when no log is being moved: who writes much at a time waits for it, so that the log can begin anew. */
  readonly settled: () => Promise<void>;
  readonly close: () => void;
}

/** 4 MB: large enough to write each page once for many commits, small enough to take milliseconds. */
const PAGES_WHEN_IDLE = 1_000;
/** So many since the last idle moment, some seconds ago, are no use by a person. */
const COMMITS_WHEN_BUSY = 250;
/** 16 MB, which a hub fills in a tenth of a second and a crowd of watchers in half of one: 20 ms of work and of the disk. */
const PAGES_OF_A_LONG_LOG = 4_000;
/** 64 MB of log before a commit pays for moving it after all. */
const PAGES_AT_MOST = 16_000;
/** What came while a log was moved is moved here when it is so little, else once more elsewhere. */
const PAGES_OF_A_REST = 250;
const PASSES = 4;
/** To ask how long the log is costs a microsecond. */
const COMMITS_PER_LOOK = 16;

export function createCheckpoints(
  database: Pick<StoreDatabase, "checkpoint" | "execute" | "logPages" | "onCommit">,
): Checkpoints {
  let commits = 0;
  let commitsBefore = 0;
  let elsewhere: (() => Promise<void>) | null = null;
  let moving: Promise<void> | null = null;
  let isClosed = false;

  const move = async (moveElsewhere: () => Promise<void>): Promise<void> => {
    try {
      for (let pass = 0; pass < PASSES; pass += 1) {
        await moveElsewhere();
        if (isClosed) return;
        if (database.logPages() <= PAGES_OF_A_REST) break;
      }
      // Only a log that was moved whole begins again at its start.
      if (database.logPages() > 0) database.checkpoint("idle");
    } catch {
      // The process ended, or the disk is full: it is tried again after some more commits, and at last by a commit.
    } finally {
      moving = null;
    }
  };

  database.onCommit(() => {
    commits += 1;
    if (commits % COMMITS_PER_LOOK !== 0 || moving !== null || elsewhere === null) return;
    if (database.logPages() >= PAGES_OF_A_LONG_LOG) moving = move(elsewhere);
  });

  return {
    whenIdle: () => {
      const isBusy = elsewhere !== null && commits - commitsBefore >= COMMITS_WHEN_BUSY;
      commitsBefore = commits;
      // A log that grows fast is long soon: then another process moves it.
      if (isBusy || moving !== null || database.logPages() < PAGES_WHEN_IDLE) return;
      database.checkpoint("idle");
    },
    shareWith: (moveElsewhere) => {
      elsewhere = moveElsewhere;
      database.execute(`PRAGMA wal_autocheckpoint = ${PAGES_AT_MOST}`);
    },
    settled: async () => moving ?? undefined,
    close: () => {
      isClosed = true;
    },
  };
}
