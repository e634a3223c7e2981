/**
 * Long readings of the record, such as searches and timelines, from the daemon's thread: hands each question to a worker
 * that is started at the first and ended when nobody asks. It promises an answer or an error within
 * `ANSWER_WITHIN_MS`, whatever the worker does.
 */
import { Worker } from "node:worker_threads";
import { ActivityError, fromErrorEnvelope, type ErrorEnvelope } from "../errors.ts";
import { openDatabase } from "./database.ts";
import { readDays, type DaysAnswer, type DaysRequest } from "./days-query.ts";
import type { ReadingMessage } from "./readings-worker.ts";
import { searchDocuments, type SearchAnswer, type SearchRequest } from "./search-query.ts";
import {
  readTimeline,
  type Running,
  type TimelineAnswer,
  type TimelineRequest,
} from "./timeline-query.ts";
import { readTotals, type TotalsAnswer, type TotalsRequest } from "./totals-query.ts";

/** Every method throws ActivityError `bad_request`, `timed_out`, and what the database throws. */
export interface Readings {
  readonly search: (request: SearchRequest) => Promise<SearchAnswer>;
  readonly timeline: (request: TimelineRequest, running: Running) => Promise<TimelineAnswer>;
  /** Whole days are those of the zone. */
  readonly totals: (request: TotalsRequest, timeZone: string) => Promise<TotalsAnswer>;
  readonly days: (request: DaysRequest, timeZone: string) => Promise<DaysAnswer>;
  readonly close: () => void;
}

/** A question as it travels to the worker. */
export type Question =
  | { readonly name: "search"; readonly request: SearchRequest }
  | { readonly name: "timeline"; readonly request: TimelineRequest; readonly running: Running }
  | { readonly name: "totals"; readonly request: TotalsRequest; readonly timeZone: string }
  | { readonly name: "days"; readonly request: DaysRequest; readonly timeZone: string };

interface Answers {
  readonly search: SearchAnswer;
  readonly timeline: TimelineAnswer;
  readonly totals: TotalsAnswer;
  readonly days: DaysAnswer;
}

type WorkerAnswer =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: ErrorEnvelope };

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const ANSWER_WITHIN_MS = 5000;
/** A thread costs some 10 MB; a second question usually follows the first soon. */
const IDLE_MS = 60_000;

/** Reads the database at `path`. */
export function openReadings(path: string): Readings {
  // Compiled files alone can be loaded by a thread; sources run under a test's loader, which threads lack.
  const asker = import.meta.url.endsWith(".ts") ? createAskerHere(path) : createAsker(path);
  const ask = async <Name extends keyof Answers>(
    question: Question & { readonly name: Name },
  ): Promise<Answers[Name]> => trusted(question.name, await asker.ask(question));
  return {
    search: (request) => ask({ name: "search", request }),
    timeline: (request, running) => ask({ name: "timeline", request, running }),
    totals: (request, timeZone) => ask({ name: "totals", request, timeZone }),
    days: (request, timeZone) => ask({ name: "days", request, timeZone }),
    close: asker.close,
  };
}

/** Answers in this thread. */
export function readHere(path: string, question: Question): Answers[keyof Answers] {
  const database = openDatabase({ path, role: "reader" });
  try {
    switch (question.name) {
      case "search":
        return searchDocuments(database, question.request);
      case "timeline":
        return readTimeline(database, question.request, question.running);
      case "totals":
        return readTotals(database, question.request, question.timeZone);
      case "days":
        return readDays(database, question.request, question.timeZone);
    }
  } finally {
    database.close();
  }
}

/** What comes back from `readHere` in the thread: the one place where its answers get their types again. */
function trusted<Name extends keyof Answers>(_name: Name, answer: unknown): Answers[Name] {
  return answer as Answers[Name];
}

interface Asker {
  readonly ask: (question: Question) => Promise<unknown>;
  readonly close: () => void;
}

function createAskerHere(path: string): Asker {
  return { ask: async (question) => readHere(path, question), close: () => {} };
}

function createAsker(path: string): Asker {
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
    const started = new Worker(new URL("readings-worker.js", import.meta.url));
    started.on("message", take);
    started.on("error", end);
    return started;
  };

  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        if (idle !== null) clearTimeout(idle);
        worker ??= start();
        worker.ref();
        lastId += 1;
        const timer = setTimeout(() => end(tooLate()), ANSWER_WITHIN_MS);
        waiting.set(lastId, { resolve, reject, timer });
        const message: ReadingMessage = { id: lastId, path, question };
        worker.postMessage(message);
      }),
    close: () => {
      if (idle !== null) clearTimeout(idle);
      end(stopped());
    },
  };
}

function tooLate(): ActivityError {
  return new ActivityError(
    "timed_out",
    `The answer took longer than ${ANSWER_WITHIN_MS / 1000} s.`,
    "Ask for a shorter range, or for rarer words.",
  );
}

function stopped(): ActivityError {
  return new ActivityError("internal", "The reading was stopped.", "Try again.");
}
