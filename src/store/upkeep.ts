/**
 * What is done for an open database now and then, while nobody waits: visits and totals follow, its files are looked for,
 * and its log is moved. It promises that what fails is said and tried again.
 */
import { ActivityError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { StoreDatabase } from "./database.ts";
import { takeUp } from "./recovery.ts";

export interface Upkeep {
  /** A pulse falls between samples: here nobody waits for the disk. */
  readonly keep: (nowUs: number) => void;
  /** Says that visits and totals were brought up just now. */
  readonly noteSettled: () => void;
}

export interface UpkeepOptions {
  /** The data folder. */
  readonly directory: string;
  readonly database: Pick<StoreDatabase, "path" | "rescue">;
  readonly settle: () => void;
  readonly checkpoints: Pick<Checkpoints, "whenIdle">;
  /** Where a copy of what was open lies when another file was put in its place. */
  readonly copyPath: () => string;
  /** Called when other files are open than before. */
  readonly onReplaced: () => void;
  readonly log: Log;
}

const SETTLE_EVERY_US = 60_000_000;
/** How long a data folder that vanished may go unnoticed. */
const RESCUE_EVERY_US = 10_000_000;

const RESCUES = {
  written: "the database was gone: wrote it anew",
  folded: "the log of the database was gone: what was committed stands in its file now",
  taken: "another file was put in the place of the database: what was open is set aside",
} as const;

export function createUpkeep(options: UpkeepOptions): Upkeep {
  const { directory, database, settle, checkpoints, copyPath, onReplaced, log } = options;
  /** Wall time of the last settlement by this. */
  let settledUs: number | null = null;
  let rescuedUs: number | null = null;

  const rescue = (nowUs: number): void => {
    const { path } = database;
    const rescued = database.rescue(copyPath, (copy) =>
      takeUp({ directory, path, nowUs, log }, copy),
    );
    if (rescued === "none") return;
    onReplaced();
    log.warn(RESCUES[rescued]);
  };

  return {
    keep: (nowUs) => {
      try {
        settledUs ??= nowUs;
        if (Math.abs(nowUs - settledUs) >= SETTLE_EVERY_US) {
          settledUs = nowUs;
          settle();
        }
        // To look for the file each time would cost as much as the pulse itself.
        if (rescuedUs === null || Math.abs(nowUs - rescuedUs) >= RESCUE_EVERY_US) {
          rescuedUs = nowUs;
          rescue(nowUs);
        }
        checkpoints.whenIdle();
      } catch (error) {
        const code = error instanceof ActivityError ? error.code : "internal";
        log.warn("housekeeping of the database failed", { code });
      }
    },
    noteSettled: () => {
      settledUs = null;
    },
  };
}
