/**
 * Where the daemon's log lines go: stderr when somebody reads it (a terminal, the journal), else files that
 * rotate and never outgrow their bound. It promises owner-only files and no text but the program's own.
 */
import { mkdirSync } from "node:fs";
import { pino, type DestinationStream } from "pino";
import { createStream } from "rotating-file-stream";
import type { Log } from "../log.ts";

const FILE_SIZE = "1M";
const FILE_COUNT = 5;

export interface LogSink {
  readonly log: Log;
  /** Flushes and closes the files. */
  readonly close: () => Promise<void>;
}

/** A log on stderr, one JSON object a line. */
export function openStderrLog(): LogSink {
  return { log: createLog(pino.destination({ fd: 2, sync: true })), close: async () => {} };
}

/** A log in `directory/activityd.log`, at most five files of 1 MB. */
export function openFileLog(directory: string): LogSink {
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
    log: createLog(stream),
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}

function createLog(destination: DestinationStream): Log {
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}
