/**
 * How log lines are written: one JSON object a line, to stderr or to files that rotate. It promises owner-only files of
 * a bounded size in all, and that a disk which is full ends nothing.
 */
import { pino, type DestinationStream } from "pino";
import { createStream } from "rotating-file-stream";
import type { Log, LogFields } from "../log.ts";

const FILE_SIZE = "1M";
const FILE_COUNT = 5;

export interface LogLine {
  readonly level: keyof Log;
  /** When it was said, milliseconds since 1970 UTC. */
  readonly atMs: number;
  readonly message: string;
  readonly fields: LogFields;
}

export interface LogWriter {
  readonly write: (line: LogLine) => void;
  /** Resolves when all lines are where they belong. */
  readonly close: () => Promise<void>;
}

/** Writes to stderr. */
export function createStderrWriter(): LogWriter {
  return createWriter(pino.destination({ fd: 2, sync: true }), async () => {});
}

/** Writes to `directory/activityd.log`, at most five files of 1 MB beside it. */
export function openFileWriter(directory: string): LogWriter {
  const stream = createStream("activityd.log", {
    path: directory,
    size: FILE_SIZE,
    maxFiles: FILE_COUNT,
    mode: 0o600,
  });
  // A full disk must not end the daemon: the line is lost, the state it spoke of is still in `status`.
  stream.on("error", () => {});
  return createWriter(stream, () => new Promise((resolve) => stream.end(resolve)));
}

function createWriter(destination: DestinationStream, close: LogWriter["close"]): LogWriter {
  let atMs = 0;
  // The time of the line, which may have waited for its writer.
  const timestamp = (): string => `,"time":"${new Date(atMs).toISOString()}"`;
  const logger = pino({ base: null, timestamp }, destination);
  return {
    write: (line) => {
      atMs = line.atMs;
      logger[line.level](line.fields, line.message);
    },
    close,
  };
}
