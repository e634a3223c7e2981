/**
 * How log lines are written: one JSON object a line, to stderr or to files that rotate. It promises owner-only files of
 * a bounded size in all, and that a disk which is full or a folder which is gone ends nothing, and is no trouble any
 * more once it is mended.
 */
import { appendFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { pino, type DestinationStream } from "pino";
import type { Log, LogFields } from "../log.ts";
import { makeFolder } from "../make-folder.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const OLDER_FILES = 5;
/** What waits at most for a stderr that takes nothing; a line more is lost. */
const MAX_WAITING_BYTES = 64 * 1024;

export interface LogLine {
  readonly level: keyof Log;
  /** When it was said, milliseconds since 1970 UTC. */
  readonly atMs: number;
  readonly message: string;
  readonly fields: LogFields;
}

export interface LogWriter {
  readonly write: (line: LogLine) => void;
}

/** Writes to stderr. */
export function createStderrWriter(): LogWriter {
  const stderr = pino.destination({ fd: 2, sync: true, maxLength: MAX_WAITING_BYTES });
  // Such as a file on a disk that is full: what a line spoke of is still in `status`.
  stderr.on("error", () => {});
  return createWriter(stderr);
}

/**
 * Writes to `directory/activityd.log`, at most five older files of 1 MB beside it, the newest activityd.1.log. The file
 * is opened for each line, of which there are few: whoever moves or deletes it, or its folder, is not in the way.
 */
export function openFileWriter(directory: string): LogWriter {
  const current = join(directory, "activityd.log");
  const older = (age: number): string => join(directory, `activityd.${age}.log`);
  /** Whether the last line was written in part. */
  let isTorn = false;

  return createWriter({
    write: (text) => {
      try {
        if (sizeOf(current) + text.length > MAX_FILE_BYTES) rotate();
        makeFolder(directory);
        appendFileSync(current, isTorn ? `\n${text}` : text, { mode: 0o600 });
        isTorn = false;
      } catch {
        // A full disk must not end the daemon: the line is lost, the state it spoke of is still in `status`.
        isTorn = true;
      }
    },
  });

  function rotate(): void {
    for (let age = OLDER_FILES - 1; age >= 1; age -= 1) moveIfThere(older(age), older(age + 1));
    moveIfThere(current, older(1));
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function moveIfThere(from: string, to: string): void {
  if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, to);
}

function createWriter(destination: DestinationStream): LogWriter {
  let atMs = 0;
  // The time of the line, which may have waited for its writer.
  const timestamp = (): string => `,"time":"${new Date(atMs).toISOString()}"`;
  const logger = pino({ base: null, timestamp }, destination);
  return {
    write: (line) => {
      atMs = line.atMs;
      logger[line.level](line.fields, line.message);
    },
  };
}
