/**
 * Tells whether the files of an open database are still those that were opened. A connection goes on with files that
 * have no name any more, and nobody would ever see again what it writes there.
 */
import { rmSync, statSync, type BigIntStats } from "node:fs";

/** The files of a database, each as the system numbers it; null where there is none. */
export interface FileMarks {
  readonly database: string | null;
  /** The write-ahead log, which holds what was committed lately. */
  readonly log: string | null;
  /** The index of the log, by which all processes find its pages and each other's locks. */
  readonly index: string | null;
}

/** The files that are at a path now. */
export function readFileMarks(path: string): FileMarks {
  return { database: markOf(path), log: markOf(`${path}-wal`), index: markOf(`${path}-shm`) };
}

/** How a file looks that may be on its way still: another size or time is another look. Null where there is none. */
export function readLook(path: string): string | null {
  const stat = statOf(path);
  return stat === undefined ? null : `${stat.dev}:${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

/**
 * Removes a log and its index that belong to a file which is not at `path` any more: SQLite would read them into
 * the one that comes there (sqlite.org/howtocorrupt.html, section 1.4). What somebody else put there stays.
 */
export function removeLeftLog(path: string, opened: FileMarks): void {
  const there = readFileMarks(path);
  if (there.log === opened.log) rmSync(`${path}-wal`, { force: true });
  if (there.log === opened.log || there.index === opened.index)
    rmSync(`${path}-shm`, { force: true });
}

/** Removes a log, all of which stands in the file, and its index. Nobody in this process may have the database open. */
export function removeLog(path: string): void {
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

function markOf(path: string): string | null {
  const stat = statOf(path);
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // In a folder that is none, or cannot be entered.
    return undefined;
  }
}
