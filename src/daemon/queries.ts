/**
 * Queries in a thread of their own: users write their patterns, and a pattern can run for ever. It promises that
 * a query ends within its time and never delays anything else.
 */
import { Worker } from "node:worker_threads";
import { existsSync } from "node:fs";
import { WireError } from "../activitywatch/wire.ts";
import { programReplaced, VERSION } from "../version.ts";
import type { QueryAnswer, QueryMessage } from "./query-worker.ts";

const ANSWER_WITHIN_MS = 20_000;
const IDLE_MS = 60_000;

export interface Queries {
  /** Answers the body of a query request in JSON. Throws `WireError` for what is wrong with it, or for taking too long. */
  readonly run: (body: unknown) => Promise<Uint8Array>;
  readonly close: () => void;
}

interface Waiting {
  readonly resolve: (json: Uint8Array) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Runs queries on the database at `path`. The thread starts with the first and ends when none came for a minute. */
export function openQueries(path: string): Queries {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | null = null;
  let lastId = 0;

  const end = (reason: string): void => {
    void worker?.terminate();
    worker = null;
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer);
      reject(new WireError(reason));
    }
    waiting.clear();
  };
  const take = (answer: QueryAnswer): void => {
    const { id } = answer;
    const asked = waiting.get(id);
    if (asked === undefined) return;
    waiting.delete(id);
    clearTimeout(asked.timer);
    if ("json" in answer) asked.resolve(answer.json);
    else asked.reject(new WireError(answer.failure));
    if (waiting.size > 0) return;
    worker?.unref();
    idle = setTimeout(() => end("The query was stopped."), IDLE_MS);
    idle.unref();
  };
  const start = (): Worker => {
    const program = new URL("query-worker.js", import.meta.url);
    const started = new Worker(program, { workerData: { path, version: VERSION } });
    started.on("message", take);
    started.on("error", (error) =>
      end(`The query failed: ${existsSync(program) ? error.message : programReplaced().message}`),
    );
    return started;
  };

  return {
    run: (body) =>
      new Promise((resolve, reject) => {
        if (idle !== null) clearTimeout(idle);
        worker ??= start();
        worker.ref();
        lastId += 1;
        const timer = setTimeout(
          () =>
            end(
              `The query did not end within ${ANSWER_WITHIN_MS / 1000} s: ask for a shorter period, or for simpler patterns.`,
            ),
          ANSWER_WITHIN_MS,
        );
        waiting.set(lastId, { resolve, reject, timer });
        const message: QueryMessage = { id: lastId, body };
        worker.postMessage(message);
      }),
    close: () => {
      if (idle !== null) clearTimeout(idle);
      end("The query was stopped.");
    },
  };
}
