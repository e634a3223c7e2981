/**
 * Searching from the daemon's thread: hands each question to a worker that is started at the first and ended
 * when nobody asks. It promises an answer or an error within `ANSWER_WITHIN_MS`, whatever the worker does.
 */
import { Worker } from "node:worker_threads";
import { ActivityError, fromErrorEnvelope, type ErrorEnvelope } from "../errors.ts";
import { openDatabase } from "./database.ts";
import { searchDocuments, type SearchAnswer, type SearchRequest } from "./search-query.ts";
import type { SearchMessage } from "./search-worker.ts";

export interface Search {
  /** @throws ActivityError `bad_request`, `timed_out`, and what the database throws */
  readonly search: (request: SearchRequest) => Promise<SearchAnswer>;
  readonly close: () => void;
}

type WorkerAnswer =
  | { readonly id: number; readonly answer: SearchAnswer }
  | { readonly id: number; readonly failure: ErrorEnvelope };

interface Waiting {
  readonly resolve: (answer: SearchAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const ANSWER_WITHIN_MS = 5000;
/** A thread costs some 10 MB; a second search usually follows the first soon. */
const IDLE_MS = 60_000;

/** Searches the database at `path`. */
export function openSearch(path: string): Search {
  // Compiled files alone can be loaded by a thread; sources run under a test's loader, which threads lack.
  if (import.meta.url.endsWith(".ts"))
    return { search: async (request) => searchHere(path, request), close: () => {} };
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | null = null;
  let lastId = 0;

  const end = (error: Error): void => {
    void worker?.terminate();
    worker = null;
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    waiting.clear();
  };

  const take = (message: WorkerAnswer): void => {
    const asked = waiting.get(message.id);
    if (asked === undefined) return;
    waiting.delete(message.id);
    clearTimeout(asked.timer);
    if ("answer" in message) asked.resolve(message.answer);
    else asked.reject(fromErrorEnvelope(message.failure) ?? stopped());
    if (waiting.size > 0) return;
    worker?.unref();
    idle = setTimeout(() => end(stopped()), IDLE_MS);
    idle.unref();
  };

  const start = (): Worker => {
    const started = new Worker(new URL("search-worker.js", import.meta.url));
    started.on("message", take);
    started.on("error", end);
    return started;
  };

  return {
    search: (request) =>
      new Promise((resolve, reject) => {
        if (idle !== null) clearTimeout(idle);
        worker ??= start();
        worker.ref();
        lastId += 1;
        const timer = setTimeout(() => end(tooLate()), ANSWER_WITHIN_MS);
        waiting.set(lastId, { resolve, reject, timer });
        const message: SearchMessage = { id: lastId, path, request };
        worker.postMessage(message);
      }),
    close: () => {
      if (idle !== null) clearTimeout(idle);
      end(stopped());
    },
  };
}

function searchHere(path: string, request: SearchRequest): SearchAnswer {
  const database = openDatabase({ path, role: "reader" });
  try {
    return searchDocuments(database, request);
  } finally {
    database.close();
  }
}

function tooLate(): ActivityError {
  return new ActivityError(
    "timed_out",
    `The search did not end within ${ANSWER_WITHIN_MS / 1000} s.`,
    "Ask for a shorter range, or for rarer words.",
  );
}

function stopped(): ActivityError {
  return new ActivityError("internal", "The search was stopped.", "Try again.");
}
