/**
 * When the store looks after itself: each hour of the wall clock. It hides the library that counts the hours, and promises
 * that an hour which was slept through is made up for, and that a clock which leaps, by however much, neither keeps the
 * chores from being done nor the daemon from answering.
 */
import type { ScheduledTask } from "node-cron";

/** In UTC, which skips and repeats no hour, and not when everybody's hour begins. */
const EACH_HOUR = "7 * * * *";
const HOUR_US = 3_600_000_000;

export interface Chores {
  /** Begins to count. The library is loaded when clients are answered already. */
  readonly begin: () => Promise<void>;
  /** The clock leapt, or the machine slept: the hours are counted anew. */
  readonly leapt: () => void;
  readonly close: () => Promise<void>;
}

/** `work` never throws, does what is due by then, and does it once where it is called several times at a time. */
export function createChores(options: {
  readonly work: () => Promise<void>;
  readonly nowUs: () => number;
}): Chores {
  const { nowUs } = options;
  let make: (() => ScheduledTask) | null = null;
  let task: ScheduledTask | null = null;
  let lastUs = nowUs();
  let isClosed = false;

  const work = async (): Promise<void> => {
    lastUs = nowUs();
    await options.work();
  };

  return {
    begin: async () => {
      const { schedule } = await import("node-cron");
      // Closed before it was here: nothing may be begun then.
      if (isClosed) return;
      make = () => {
        const made = schedule(EACH_HOUR, work, {
          name: "housekeeping",
          timezone: "Etc/UTC",
          noOverlap: true,
          // Where nobody listens, each hour that was slept through is a line on the console.
          suppressMissedWarning: true,
        });
        // It does not do what it came too late for: the next hour may be slept through as well.
        made.on("execution:missed", work);
        return made;
      };
      task = make();
    },
    leapt: () => {
      if (task === null || make === null) return;
      // The library goes through every hour of a leap in one go, and waits for the hour that it had in mind before one back.
      void task.destroy();
      task = make();
      const sinceUs = nowUs() - lastUs;
      if (sinceUs < 0 || sinceUs >= HOUR_US) void work();
    },
    close: async () => {
      isClosed = true;
      await task?.destroy();
      task = null;
    },
  };
}
