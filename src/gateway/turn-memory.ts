/**
 * What was put in front of which turn, so that a turn in the history of a later request is sent again byte
 * for byte and the upstream's prompt cache holds, also after a restart. It promises to keep blocks only (never
 * a word of the owner), to stay small, and to forget everything when its file is removed.
 */
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Log } from "../log.ts";

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
  let turns = new Map<string, Injection>();
  let chars = 0;
  let linesInFile = 0;
  /** Which file the turns are in; null before there is one. */
  let fileId: string | null = null;

  const remember = (key: string, injection: Injection): void => {
    chars += injection.injected.length - (turns.get(key)?.injected.length ?? 0);
    // Deleted first, so that the order of the map is the order of use.
    turns.delete(key);
    turns.set(key, injection);
    for (const [oldest, { injected }] of turns) {
      if (turns.size <= MAX_TURNS && chars <= MAX_CHARS) break;
      turns.delete(oldest);
      chars -= injected.length;
    }
  };

  const readAll = (): void => {
    const lines = readLines(path, log);
    for (const { key, injection } of lines) remember(key, injection);
    linesInFile = lines.length;
    fileId = idOf(path);
  };

  /** Leaves the newest turns of every gateway in a file without torn or outdated lines. */
  const writeAnew = (): void => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // What others wrote meanwhile; without a file there is nothing to be read.
    readAll();
    const lines = [...turns].map(([key, injection]) => toLine(key, injection));
    const fresh = `${path}.${process.pid}`;
    writeFileSync(fresh, lines.join(""), { mode: 0o600 });
    renameSync(fresh, path);
    linesInFile = lines.length;
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

  readAll();
  return {
    recall: (key) => {
      followFile();
      return turns.get(key) ?? null;
    },
    keep: (key, injected, atUs) => {
      followFile();
      const injection = { injected, atUs };
      remember(key, injection);
      try {
        if (fileId === null || linesInFile > 2 * MAX_TURNS) writeAnew();
        else {
          appendFileSync(path, toLine(key, injection), { mode: 0o600 });
          linesInFile += 1;
        }
      } catch (cause) {
        warn(log, cause);
      }
    },
  };
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
