/**
 * Who does the long part of a recovery. In a thread of its own it takes minutes for a record of years, in which the
 * daemon answers; whoever needs the record and nothing else waits for it here.
 */
import { Worker } from "node:worker_threads";
import { fromErrorEnvelope } from "../../errors.ts";
import { readRemains, type Place, type RecoveredCounts } from "../recovery.ts";
import type { RecoveryAnswer } from "./recover-worker.ts";

/** Reads what is left, and tells what it made or why it could not; not at all after `close`. */
export type Recoverer = (
  place: Place,
  done: (outcome: RecoveredCounts | Error) => void,
) => { readonly close: () => void };

/** Tells before it returns, and throws what keeps it. */
export const recoverHere: Recoverer = (place, done) => {
  done(readRemains(place));
  return { close: () => {} };
};

export const recoverInThread: Recoverer = (place, done) => {
  // Compiled files alone can be loaded by a thread; sources run under a test's loader, which threads lack.
  if (import.meta.url.endsWith(".ts")) return recoverHere(place, done);
  let isOver = false;
  const tell = (outcome: RecoveredCounts | Error): void => {
    if (!isOver) done(outcome);
    isOver = true;
  };
  const worker = new Worker(new URL("recover-worker.js", import.meta.url), { workerData: place });
  worker.unref();
  worker.once("message", (answer: RecoveryAnswer) => {
    tell("counts" in answer ? answer.counts : (fromErrorEnvelope(answer) ?? ended()));
  });
  worker.once("error", tell);
  worker.once("exit", () => tell(ended()));
  return {
    close: () => {
      isOver = true;
      void worker.terminate();
    },
  };
};

function ended(): Error {
  return new Error("The thread that recovers ended.");
}
