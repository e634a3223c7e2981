/**
 * Long readings of the record, such as searches and timelines, and long moves of its log: hands each to a process of its
 * own that is started at the first and ended when nobody asks. It promises an answer or an error within `ANSWER_WITHIN_MS`, whatever
 * that process does.
 *
 * A thread would answer the first question a moment sooner. It would take 20 MB of the daemon's memory, of which half
 * stays when it ends, since what it freed lies between what the daemon holds.
 */
import { fork, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { ActivityError, fromErrorEnvelope, type ErrorEnvelope } from "../errors.ts";
import { programReplaced, VERSION } from "../version.ts";
import { openDatabase, type StoreDatabase } from "./database.ts";
import { isDamaged } from "./failures.ts";
import { readDays, type DaysAnswer, type DaysRequest } from "./readings/days-query.ts";
import type { ReadingMessage } from "./readings/process.ts";
import { moveLog } from "./sqlite.ts";
import { searchDocuments, type SearchAnswer, type SearchRequest } from "./readings/search-query.ts";
import {
  readTimeline,
  type TimelineAnswer,
  type TimelineRequest,
} from "./readings/timeline-query.ts";
import type { Running } from "./readings/timeline-rows.ts";
import { readTotals, type TotalsAnswer, type TotalsRequest } from "./readings/totals-query.ts";

/** Every method throws ActivityError `bad_request`, `timed_out`, `program_replaced`, and what the database throws. */
export interface Readings {
  readonly search: (request: SearchRequest) => Promise<SearchAnswer>;
  /** The answer to a question as JSON in UTF-8, as it was made where it was read. */
  readonly prepare: (question: Question, encoding?: "identity" | "gzip") => Promise<Uint8Array>;
  /** Moves the write-ahead log into the database file, in that process: see `moveLog` of `sqlite.ts`. */
  readonly moveLog: () => Promise<void>;
  readonly close: () => void;
}

/** A question as it travels. Whole days are those of its zone. */
export type Question =
  | { readonly name: "search"; readonly request: SearchRequest }
  | { readonly name: "timeline"; readonly request: TimelineRequest; readonly running: Running }
  | { readonly name: "totals"; readonly request: TotalsRequest; readonly timeZone: string }
  | { readonly name: "days"; readonly request: DaysRequest; readonly timeZone: string };

/** What may be asked of the process. */
export type Errand = Question | { readonly name: "move-log" };

type Answer = SearchAnswer | TimelineAnswer | TotalsAnswer | DaysAnswer;

type ReaderAnswer =
  | { readonly id: number; readonly answer: Uint8Array }
  | { readonly id: number; readonly failure: ErrorEnvelope };

interface Waiting {
  readonly resolve: (answer: Uint8Array) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** A year takes a fraction of a second; a machine that compiles on all processors makes it ten of them. */
const ANSWER_WITHIN_MS = 20_000;
/** What is read is dropped again at once: a larger young generation would be filled before it is emptied. */
const READER_FLAGS = ["--max-semi-space-size=1", "--max-old-space-size=128", "--optimize-for-size"];
/** A second question usually follows the first soon. */
const IDLE_MS = 60_000;

const UNGUARDED: ReadingGuard = { requireRecord: () => {}, mend: () => {} };

/** What a reading goes by besides the file. */
export interface ReadingGuard {
  /** Throws while nobody may open the file. */
  readonly requireRecord: () => void;
  /** Told what a reading found wrong with it. */
  readonly mend: (damage: string) => void;
}

/** Reads the database at `path`. */
export function openReadings(path: string, guard: ReadingGuard = UNGUARDED): Readings {
  // Compiled files alone can be run by Node; sources run under a test's loader.
  const asker = import.meta.url.endsWith(".ts") ? createAskerHere(path) : createAsker(path);
  const { close } = asker;
  const ask: Asker["ask"] = async (errand, encoding) => {
    guard.requireRecord();
    try {
      return await asker.ask(errand, encoding);
    } catch (thrown) {
      // What went wrong under its hands went wrong for a reason.
      guard.requireRecord();
      if (!isDamaged(thrown)) throw thrown;
      guard.mend(thrown.message);
      guard.requireRecord();
      throw thrown;
    }
  };
  return {
    search: async (request) => trustedSearch(await ask({ name: "search", request })),
    prepare: ask,
    moveLog: async () => {
      await ask({ name: "move-log" });
    },
    close,
  };
}

/** Does an errand in this process. Moving the log has an empty answer. */
export function runHere(
  path: string,
  errand: Errand,
  encoding: "identity" | "gzip" = "identity",
): Uint8Array {
  if (errand.name !== "move-log") return readHere(path, errand, encoding);
  moveLog(path);
  return new Uint8Array();
}

function readHere(path: string, question: Question, encoding: "identity" | "gzip"): Uint8Array {
  const database = openDatabase({ path, role: "reader" });
  try {
    const bytes = new TextEncoder().encode(JSON.stringify(answerOf(database, question)));
    return encoding === "gzip" ? gzipSync(bytes, { level: GZIP_LEVEL }) : bytes;
  } finally {
    database.close();
  }
}

function answerOf(database: StoreDatabase, question: Question): Answer {
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
}

/** What `readHere` made: the one place where it gets its type again. */
function trustedSearch(bytes: Uint8Array): SearchAnswer {
  return JSON.parse(new TextDecoder().decode(bytes)) as SearchAnswer;
}

/** A tenth of the size already, for a few milliseconds. */
const GZIP_LEVEL = 3;

interface Asker {
  readonly ask: (errand: Errand, encoding?: "identity" | "gzip") => Promise<Uint8Array>;
  readonly close: () => void;
}

function createAskerHere(path: string): Asker {
  return {
    ask: async (errand, encoding) => runHere(path, errand, encoding),
    close: () => {},
  };
}

function createAsker(path: string): Asker {
  const program = fileURLToPath(new URL("readings/process.js", import.meta.url));
  const waiting = new Map<number, Waiting>();
  let reader: ChildProcess | null = null;
  let idle: NodeJS.Timeout | null = null;
  let lastId = 0;

  const end = (error: Error): void => {
    reader?.kill("SIGKILL");
    reader = null;
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    waiting.clear();
  };

  const take = (message: ReaderAnswer): void => {
    const asked = waiting.get(message.id);
    if (asked === undefined) return;
    waiting.delete(message.id);
    clearTimeout(asked.timer);
    if ("answer" in message) asked.resolve(message.answer);
    else asked.reject(fromErrorEnvelope(message.failure) ?? stopped());
    if (waiting.size > 0) return;
    // An idle reader keeps no process alive.
    reader?.unref();
    reader?.channel?.unref();
    idle = setTimeout(() => end(stopped()), IDLE_MS);
    idle.unref();
  };

  const start = (): ChildProcess => {
    const started = fork(program, [VERSION], {
      execArgv: READER_FLAGS,
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    started.on("message", (message) => take(trustedAnswer(message)));
    const fail = (): void => {
      if (reader === started) end(existsSync(program) ? stopped() : programReplaced());
    };
    // Also what is sent to one that is gone comes back as an error, as often as it is sent.
    started.on("error", fail);
    started.once("exit", fail);
    return started;
  };

  return {
    ask: (errand, encoding = "identity") =>
      new Promise((resolve, reject) => {
        if (idle !== null) clearTimeout(idle);
        reader ??= start();
        reader.ref();
        reader.channel?.ref();
        lastId += 1;
        const timer = setTimeout(() => end(tooLate()), ANSWER_WITHIN_MS);
        waiting.set(lastId, { resolve, reject, timer });
        const message: ReadingMessage = { id: lastId, path, errand, encoding };
        reader.send(message);
      }),
    close: () => {
      if (idle !== null) clearTimeout(idle);
      end(stopped());
    },
  };
}

/** The one place where a message of the reader gets its type: it is this package at the other end. */
function trustedAnswer(message: unknown): ReaderAnswer {
  return message as ReaderAnswer;
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
