/**
 * What a store does for itself from time to time: expire what is too old or too much, and keep backups. It
 * promises to make up for runs that were slept through, never to run twice at once, and that what expired
 * does not live on in a copy.
 */
import { rmSync, statSync } from "node:fs";
import { ActivityError } from "../errors.ts";
import type { Log } from "../log.ts";
import { createBackup, isBackupDue, listBackups, listSetAside } from "./backups.ts";
import type { EventStore } from "./events.ts";
import { createRetention, type RetentionLimits } from "./retention.ts";

export interface Housekeeping {
  /** Does what is due as of `nowUs`. Never throws: what fails is logged and due again at the next call. */
  readonly run: (nowUs: number) => Promise<void>;
  /** Resolves when no run is going on; none begins any more. */
  readonly close: () => Promise<void>;
}

export interface HousekeepingOptions {
  readonly store: EventStore;
  /** The data folder. */
  readonly directory: string;
  readonly limits: RetentionLimits;
  /** Called when events expired, with the start of the oldest that is left: what tells of older ones elsewhere goes. */
  readonly onExpired: (sinceUs: number) => void;
  readonly log: Log;
}

export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { store, directory, limits, onExpired, log } = options;
  const retention = createRetention(store, limits, log);
  const hasLimits = limits.maxAgeDays !== null || limits.maxBytes !== null;
  let running: Promise<void> | null = null;
  let isClosed = false;

  const expire = async (nowUs: number): Promise<void> => {
    if (!hasLimits || !retention.isDue(nowUs, DAY_MS)) return;
    const stale = listBackups(directory).map(({ path }) => path);
    const report = await retention.run(nowUs);
    if (report === null || report.events === 0) return;
    onExpired(report.sinceUs);
    // A fresh copy first, so that there is never none.
    await createBackup(store.database, directory, nowUs);
    const kept = SET_ASIDE_DAYS * DAY_MS;
    const old = listSetAside(directory).filter((path) => {
      const setAsideMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      return setAsideMs !== undefined && nowUs / 1000 - setAsideMs > kept;
    });
    for (const path of [...stale, ...old]) rmSync(path, { recursive: true, force: true });
  };

  const backUp = async (nowUs: number): Promise<void> => {
    const { sizeBytes, eventCount } = store.summary();
    if (eventCount !== null && eventCount > 0 && isBackupDue(directory, sizeBytes, nowUs)) {
      await createBackup(store.database, directory, nowUs);
    }
  };

  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const code = error instanceof ActivityError ? error.code : "internal";
      log.warn("housekeeping failed", { what, code });
    }
  };

  const runOnce = async (nowUs: number): Promise<void> => {
    await attempt("retention", () => expire(nowUs));
    if (!isClosed) await attempt("backup", () => backUp(nowUs));
    running = null;
  };

  return {
    run: async (nowUs) => {
      if (isClosed || store.recovering() !== null) return;
      running ??= runOnce(nowUs);
      await running;
    },
    close: async () => {
      isClosed = true;
      await running;
    },
  };
}

const DAY_MS = 86_400_000;
/** Time for a person to look at a damaged file that was set aside, where events expire at all. */
const SET_ASIDE_DAYS = 7;
