/**
 * Looking a large database through when the daemon answers already: to read all of it before would keep the first
 * answer waiting for seconds. It promises that damage is dealt with as at the start.
 */
import { Worker } from "node:worker_threads";
import type { Log } from "../../log.ts";
import type { EventStore } from "../events.ts";
import type { CheckAnswer } from "./check-worker.ts";
import { findDamage } from "../sqlite.ts";

export interface DatabaseCheck {
  /** Ends with the check, or with `close`. Never rejects. */
  readonly ended: Promise<void>;
  readonly close: () => void;
}

/** What comes first is answering whoever waited for the daemon. */
const AFTER_MS = 3000;

/** Checks what was not looked through when the store was opened, and recovers it when it is damaged. */
export function checkLater(store: EventStore, log: Log, afterMs = AFTER_MS): DatabaseCheck {
  if (!store.isUnchecked) return { ended: Promise.resolve(), close: () => {} };
  let end = (): void => {};
  let close = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const take = (damage: string | null): void => {
    try {
      if (damage !== null) store.mend(damage);
    } catch (error) {
      log.error("the database is damaged and could not be recovered", {
        reason: error instanceof Error ? error.name : "unknown",
      });
    }
    end();
  };
  const timer = setTimeout(() => {
    close = findInThread(store.database.path, take);
  }, afterMs);
  timer.unref();
  return {
    ended,
    close: () => {
      clearTimeout(timer);
      close();
      end();
    },
  };
}

/** Tells what is wrong with a database, or null; not at all when the thread could not run. Returns how to stop it. */
function findInThread(path: string, take: (damage: string | null) => void): () => void {
  // Compiled files alone can be loaded by a thread; sources run under a test's loader, which threads lack.
  if (import.meta.url.endsWith(".ts")) {
    take(findDamage(path));
    return () => {};
  }
  const worker = new Worker(new URL("check-worker.js", import.meta.url), { workerData: { path } });
  worker.unref();
  worker.once("message", ({ damage }: CheckAnswer) => take(damage));
  // A file that cannot be read says nothing about itself.
  worker.once("error", () => take(null));
  return () => void worker.terminate();
}
