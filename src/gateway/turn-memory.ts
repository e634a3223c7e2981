/**
 * What was put in front of which turn, so that a turn in the history of a later request is sent again byte
 * for byte and the upstream's prompt cache holds, also after a restart. It promises to keep blocks only (never
 * a word of the owner), to stay small, and to forget everything when its file is removed.
 */
import { appendFileSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Log } from "../log.ts";
import { makeFolder } from "../make-folder.ts";

export interface TurnMemory {
  /** What was injected before the turn of this key, and when; null when the turn was never composed. */
  readonly recall: (key: string) => Injection | null;
  readonly keep: (key: string, injected: string, nowUs: number) => void;
}

/** Injected text, possibly empty: that a turn was composed with nothing is worth knowing too. */
export interface Injection {
  readonly injected: string;
  readonly atUs: number;
}

const MAX_TURNS = 4_000;
const MAX_CHARS = 2_000_000;

/**
 * Opens the memory in the file at `path` (mode 0600, one JSON line per turn), which several gateways may share.
 * A file that cannot be read or written costs the cache after a restart and nothing else; it is logged.
 */
export function openTurnMemory(path: string, log: Log): TurnMemory {
  let turns = new Map<string, Row>();
  let chars = 0;
  let linesInFile = 0;
  let charsInFile = 0;
  /** Which file the turns are in; null before there is one. */
  let fileId: string | null = null;

  const remember = (key: string, injection: Injection): void => {
    chars += injection.injected.length - (turns.get(key)?.injection.injected.length ?? 0);
    // Deleted first, so that the order of the map is the order of use.
    turns.delete(key);
    linesInFile += 1;
    charsInFile += injection.injected.length;
    turns.set(key, { injection, line: linesInFile, charsBefore: charsInFile });
    for (const [oldest, row] of turns) {
      if (turns.size <= MAX_TURNS && chars <= MAX_CHARS) break;
      turns.delete(oldest);
      chars -= row.injection.injected.length;
    }
  };

  const readAll = (): void => {
    linesInFile = 0;
    charsInFile = 0;
    for (const { key, injection } of readLines(path, log)) remember(key, injection);
    fileId = idOf(path);
  };

  /** Leaves the newest turns of every gateway in a file without torn or outdated lines. */
  const writeAnew = (): void => {
    makeFolder(dirname(path));
    // What others wrote meanwhile; without a file there is nothing to be read.
    readAll();
    const rows = [...turns];
    const fresh = `${path}.${process.pid}`;
    const lines = rows.map(([key, { injection }]) => toLine(key, injection));
    writeFileSync(fresh, lines.join(""), { mode: 0o600 });
    renameSync(fresh, path);
    linesInFile = 0;
    charsInFile = 0;
    for (const [key, { injection }] of rows) remember(key, injection);
    fileId = idOf(path);
  };

  /** What another gateway wrote anew counts, and a file that is gone means that all is to be forgotten. */
  const followFile = (): void => {
    if (idOf(path) === fileId) return;
    // Before there was a file, memory holds what could not be written: that stays beside what another began.
    if (fileId !== null) {
      turns = new Map();
      chars = 0;
    }
    readAll();
  };

  const keep = (key: string, injection: Injection): void => {
    remember(key, injection);
    try {
      if (fileId === null || linesInFile > 2 * MAX_TURNS || charsInFile > 2 * MAX_CHARS)
        writeAnew();
      else appendFileSync(path, toLine(key, injection), { mode: 0o600 });
    } catch (cause) {
      warn(log, cause);
    }
  };

  readAll();
  return {
    recall: (key) => {
      followFile();
      const row = turns.get(key);
      if (row === undefined) return null;
      // A conversation that goes on for weeks keeps its first turns, also over a restart: what is used is no
      // longer the oldest, in the file neither.
      const isFarBack =
        linesInFile - row.line > MAX_TURNS / 2 || charsInFile - row.charsBefore > MAX_CHARS / 2;
      if (isFarBack) keep(key, row.injection);
      else {
        turns.delete(key);
        turns.set(key, row);
      }
      return row.injection;
    },
    keep: (key, injected, atUs) => {
      followFile();
      keep(key, { injected, atUs });
    },
  };
}

/** A turn, and where it stands in the file: behind how many lines and how much injected text. */
interface Row {
  readonly injection: Injection;
  readonly line: number;
  readonly charsBefore: number;
}

function toLine(key: string, { injected, atUs }: Injection): string {
  return `${JSON.stringify([key, atUs, injected])}\n`;
}

function readLines(path: string, log: Log): readonly { key: string; injection: Injection }[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const absent = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (!absent) warn(log, cause);
    return [];
  }
  return text.split("\n").flatMap((line) => parseLine(line) ?? []);
}

/** A line that was torn by a crash is null. */
function parseLine(line: string): { key: string; injection: Injection } | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!Array.isArray(value)) return null;
  const [key, atUs, injected]: unknown[] = value;
  if (typeof key !== "string" || typeof atUs !== "number" || typeof injected !== "string")
    return null;
  return { key, injection: { injected, atUs } };
}

/** With the time of its birth: the number of a file that was removed is given to the next one at once. */
function idOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`;
}

function warn(log: Log, cause: unknown): void {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
  log.warn(
    "gateway: what was injected cannot be kept on disk; prompt caches will miss after a restart",
    {
      code,
    },
  );
}
