/**
 * Where the daemon's log lines go: stderr when somebody reads it (a terminal, the journal), else files that
 * rotate and never outgrow their bound. It promises owner-only files, no text but the program's own, and that
 * whatever fails in a loop fills neither a disk nor a journal.
 */
import { systemClock, type Clock } from "../clock.ts";
import type { Log, LogFields } from "../log.ts";
import { makeFolder } from "../make-folder.ts";
import type { LogLine, LogWriter } from "./log-writer.ts";

const MINUTE_US = 60_000_000;
/** The same sentence so many times a minute: whoever reads it has understood. */
const SAME_PER_MINUTE = 5;
/** All sentences together: at 200 bytes a line, some 17 MB a day at the very worst. */
const LINES_PER_MINUTE = 60;
/** Reasons of the system are short; nothing that is longer was written for a log. */
const MAX_TEXT_CHARS = 500;

export interface LogSink {
  readonly log: Log;
  /** Resolves when all lines are where they belong. */
  readonly close: () => Promise<void>;
}

/** A log on stderr, one JSON object a line. */
export function openStderrLog(clock: Clock = systemClock): LogSink {
  return openLog(async () => (await import("./log-writer.ts")).createStderrWriter(), clock);
}

/** A log in `directory/activityd.log`, at most five older files of 1 MB beside it. */
export function openFileLog(directory: string, clock: Clock = systemClock): LogSink {
  try {
    makeFolder(directory);
  } catch {
    // As with a full disk: the daemon goes on without, and `doctor` says so.
  }
  return openLog(async () => (await import("./log-writer.ts")).openFileWriter(directory), clock);
}

/** The libraries that write are a tenth of a start, which mostly has nothing to say until it is over. */
function openLog(open: () => Promise<LogWriter>, clock: Clock): LogSink {
  let writer: LogWriter | null = null;
  let opening: Promise<void> | null = null;
  const waiting: LogLine[] = [];
  const openWriter = async (): Promise<void> => {
    // Without it the daemon goes on: what a line spoke of is still in `status`.
    writer = await open().catch(() => SILENT);
    for (const line of waiting.splice(0)) writer.write(line);
  };
  const write = (level: keyof Log, message: string, fields: LogFields = {}): void => {
    const cut = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" ? value.slice(0, MAX_TEXT_CHARS) : value,
    ]);
    const line = {
      level,
      atMs: clock.nowUs() / 1000,
      message: message.slice(0, MAX_TEXT_CHARS),
      fields: Object.fromEntries(cut),
    };
    if (writer !== null) return writer.write(line);
    waiting.push(line);
    opening ??= openWriter();
  };
  return {
    log: boundLog(write, clock),
    close: async () => {
      await opening;
    },
  };
}

const SILENT: LogWriter = { write: () => {} };

/** Lets a minute's worth of lines through and tells how many were left out when the minute is over. */
function boundLog(
  write: (level: keyof Log, message: string, fields?: LogFields) => void,
  clock: Clock,
): Log {
  let minuteFromUs = clock.monotonicUs();
  let written = 0;
  let leftOut = 0;
  const times = new Map<string, number>();

  const admit = (level: keyof Log, message: string, fields?: LogFields): void => {
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
