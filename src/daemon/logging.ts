/**
 * Where the daemon's log lines go: stderr when somebody reads it (a terminal, the journal), else files that
 * rotate and never outgrow their bound. It promises owner-only files, no text but the program's own, and that
 * whatever fails in a loop fills neither a disk nor a journal.
 */
import { mkdirSync } from "node:fs";
import { pino, type DestinationStream } from "pino";
import { createStream } from "rotating-file-stream";
import { systemClock, type Clock } from "../clock.ts";
import type { Log, LogFields } from "../log.ts";

const FILE_SIZE = "1M";
const FILE_COUNT = 5;

const MINUTE_US = 60_000_000;
/** The same sentence so many times a minute: whoever reads it has understood. */
const SAME_PER_MINUTE = 5;
/** All sentences together: at 200 bytes a line, some 17 MB a day at the very worst. */
const LINES_PER_MINUTE = 60;
/** Reasons of the system are short; nothing that is longer was written for a log. */
const MAX_TEXT_CHARS = 500;

export interface LogSink {
  readonly log: Log;
  /** Flushes and closes the files. */
  readonly close: () => Promise<void>;
}

/** A log on stderr, one JSON object a line. */
export function openStderrLog(clock: Clock = systemClock): LogSink {
  return { log: createLog(pino.destination({ fd: 2, sync: true }), clock), close: async () => {} };
}

/** A log in `directory/activityd.log`, at most five files of 1 MB beside it. */
export function openFileLog(directory: string, clock: Clock = systemClock): LogSink {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stream = createStream("activityd.log", {
    path: directory,
    size: FILE_SIZE,
    maxFiles: FILE_COUNT,
    mode: 0o600,
  });
  // A full disk must not end the daemon: the line is lost, the state it spoke of is still in `status`.
  stream.on("error", () => {});
  return {
    log: createLog(stream, clock),
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}

type Level = keyof Log;

function createLog(destination: DestinationStream, clock: Clock): Log {
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const write = (level: Level, message: string, fields: LogFields = {}): void => {
    const cut = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" ? value.slice(0, MAX_TEXT_CHARS) : value,
    ]);
    logger[level](Object.fromEntries(cut), message.slice(0, MAX_TEXT_CHARS));
  };
  return boundLog(write, clock);
}

/** Lets a minute's worth of lines through and tells how many were left out when the minute is over. */
function boundLog(
  write: (level: Level, message: string, fields?: LogFields) => void,
  clock: Clock,
): Log {
  let minuteFromUs = clock.monotonicUs();
  let written = 0;
  let leftOut = 0;
  const times = new Map<string, number>();

  const admit = (level: Level, message: string, fields?: LogFields): void => {
    const nowUs = clock.monotonicUs();
    if (nowUs - minuteFromUs >= MINUTE_US) {
      if (leftOut > 0) write("warn", "log lines were left out: too many in a minute", { leftOut });
      minuteFromUs = nowUs;
      written = 0;
      leftOut = 0;
      times.clear();
    }
    const same = times.get(message) ?? 0;
    if (same >= SAME_PER_MINUTE || written >= LINES_PER_MINUTE) {
      leftOut += 1;
      return;
    }
    times.set(message, same + 1);
    written += 1;
    write(level, message, fields);
  };

  return {
    info: (message, fields) => admit("info", message, fields),
    warn: (message, fields) => admit("warn", message, fields),
    error: (message, fields) => admit("error", message, fields),
  };
}
