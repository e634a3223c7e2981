/**
 * A store whose database is damaged: whether it is being recovered, and what came of it. It promises that the database is
 * left alone until what was recovered stands in its place, that a recovery which fails is tried again, and that whoever
 * waits for the record hears when it is there.
 */
import type { Clock } from "../../clock.ts";
import { reasonForLog, type Log } from "../../log.ts";
import type { StoreDatabase } from "../database.ts";
import { isDamaged, recoveringError } from "../failures.ts";
import { takeRecovered, type RecoveredCounts, type RecoveryReport } from "../recovery.ts";
import type { Recoverer } from "./aside.ts";

/** A recovery that goes on. */
export interface Recovering {
  readonly sinceUs: number;
  /** Why it could not be done the last time; null: that was not tried yet. */
  readonly failure: string | null;
}

export interface Mending {
  readonly state: () => Recovering | null;
  /** What was done last; null when nothing had to be. */
  readonly report: () => RecoveryReport | null;
  /** Leaves the database, and comes back to it when it is recovered. */
  readonly begin: (damage: string) => void;
  /** Calls `listener` whenever a recovery begins, with true, and when the record is there again, with false. */
  readonly onChange: (listener: (isRecovering: boolean) => void) => void;
  readonly close: () => void;
}

export interface MendingOptions {
  readonly directory: string;
  readonly database: Pick<StoreDatabase, "path" | "leave" | "comeBack">;
  readonly recoverer: Recoverer;
  readonly clock: Clock;
  readonly log: Log;
}

export function createMending(options: MendingOptions): Mending {
  const { directory, database, recoverer, clock, log } = options;
  let state: Recovering | null = null;
  let report: RecoveryReport | null = null;
  let running: { readonly close: () => void } | null = null;
  let again: NodeJS.Timeout | null = null;
  /** Whether what was made stands in its place: then there is nothing to be made once more. */
  let isTaken = false;
  const listeners: ((isRecovering: boolean) => void)[] = [];

  /** One that fails keeps the others from nothing, and the record from nobody. */
  const tell = (isRecovering: boolean): void => {
    for (const listener of listeners) {
      try {
        listener(isRecovering);
      } catch (thrown) {
        log.warn("a part of the daemon could not follow the recovery", {
          reason: reasonForLog(thrown),
        });
      }
    }
  };

  const comeBack = (): void => {
    database.comeBack();
    state = null;
    tell(false);
  };

  /** A full disk has room again some day; a damaged file does not go away. */
  const fail = (sinceUs: number, damage: string, failure: unknown): void => {
    log.error("the database could not be recovered: it is tried again", {
      reason: reasonForLog(failure),
    });
    // What was put in place was spoiled at once: it is recovered in its turn.
    if (isDamaged(failure)) isTaken = false;
    state = { sinceUs, failure: failure instanceof Error ? failure.message : String(failure) };
    again = setTimeout(() => run(sinceUs, damage), AGAIN_MS);
    again.unref();
  };

  const run = (sinceUs: number, damage: string): void => {
    const place = { directory, path: database.path, nowUs: clock.nowUs() };
    const take = (counts: RecoveredCounts): void => {
      report = takeRecovered({ ...place, log }, damage, counts);
      isTaken = true;
      comeBack();
    };
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (thrown) {
        fail(sinceUs, damage, thrown);
      }
    };
    if (isTaken) return attempt(comeBack);
    running = recoverer(place, (outcome) => {
      if (outcome instanceof Error) fail(sinceUs, damage, outcome);
      else attempt(() => take(outcome));
    });
  };

  return {
    state: () => state,
    report: () => report,
    begin: (damage) => {
      if (state !== null) return;
      log.error("the database is damaged: recovering it", { damage: damage.split("\n")[0] ?? "" });
      const sinceUs = clock.nowUs();
      isTaken = false;
      state = { sinceUs, failure: null };
      database.leave(recoveringError);
      tell(true);
      run(sinceUs, damage);
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
    close: () => {
      if (again !== null) clearTimeout(again);
      running?.close();
    },
  };
}

const AGAIN_MS = 30_000;
