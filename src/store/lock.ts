/**
 * One daemon per data folder. It promises that the lock is the operating system's own: whatever way the
 * holder dies, the next one gets it at once, and no stale file can keep it out.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ActivityError } from "../errors.ts";
import { holdExclusiveLock, isExclusivelyLocked } from "./sqlite.ts";

const LOCK_FILE = "daemon.lock";
const PID_FILE = "daemon.pid";

/**
 * Takes the lock of a data folder and returns what releases it.
 *
 * @throws ActivityError `socket_in_use` when another process holds it, naming its pid
 */
export function acquireInstanceLock(directory: string, pid: number): () => void {
  return holdInstanceLock(directory, pid).release;
}

/** The lock of a data folder, for a process that holds it for long. */
export interface InstanceLock {
  /**
   * Takes the lock anew where its file is not the one that is held, such as after the folder was removed: it keeps
   * nobody out then. Says whether that was needed.
   *
   * @throws ActivityError `socket_in_use` when another process was faster
   */
  readonly keep: () => boolean;
  readonly release: () => void;
}

/** Takes the lock of a data folder. @throws ActivityError as `acquireInstanceLock` does */
export function holdInstanceLock(directory: string, pid: number): InstanceLock {
  const pidPath = join(directory, PID_FILE);
  let held = take(directory, pid);
  return {
    keep: () => {
      if (markOf(directory) === held.mark) {
        if (readPid(pidPath) !== pid) writePid(pidPath, pid);
        return false;
      }
      held.release();
      held = take(directory, pid);
      return true;
    },
    release: () => {
      rmSync(pidPath, { force: true });
      held.release();
    },
  };
}

function take(
  directory: string,
  pid: number,
): { readonly mark: string | null; readonly release: () => void } {
  const release = holdLock(join(directory, LOCK_FILE));
  const pidPath = join(directory, PID_FILE);
  if (release === null) {
    const holder = readPid(pidPath);
    throw new ActivityError(
      "socket_in_use",
      `Another activityd${holder === null ? "" : ` (pid ${holder})`} is using ${directory}. Nothing was changed.`,
      "Stop it with: activityd stop",
    );
  }
  writePid(pidPath, pid);
  return { mark: markOf(directory), release };
}

/** The lock's file as the system numbers it; null when it is gone. */
function markOf(directory: string): string | null {
  const stat = statSync(join(directory, LOCK_FILE), { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

/** Who holds the lock of a data folder. What it has not written yet is null. */
export interface InstanceHolder {
  readonly pid: number | null;
  /** Since when, in milliseconds since 1970. */
  readonly sinceMs: number | null;
}

/** Who holds the lock of a data folder; null when nobody does. Takes nothing. */
export function findInstanceHolder(directory: string): InstanceHolder | null {
  if (!isLocked(join(directory, LOCK_FILE))) return null;
  const path = join(directory, PID_FILE);
  const stat = statSync(path, { throwIfNoEntry: false });
  return { pid: readPid(path), sinceMs: stat === undefined ? null : stat.mtimeMs };
}

/** The file of the lock holds nothing: one that a failing disk spoilt, which nobody can hold, is made anew. */
function holdLock(path: string): (() => void) | null {
  try {
    return holdExclusiveLock(path);
  } catch (thrown) {
    if (!isDamaged(thrown)) throw thrown;
    for (const suffix of ["", "-journal"]) rmSync(path + suffix, { force: true });
    return holdExclusiveLock(path);
  }
}

function isLocked(path: string): boolean {
  try {
    return isExclusivelyLocked(path);
  } catch (thrown) {
    if (!isDamaged(thrown)) throw thrown;
    return false;
  }
}

function isDamaged(thrown: unknown): boolean {
  return thrown instanceof ActivityError && thrown.code === "database_damaged";
}

function writePid(path: string, pid: number): void {
  try {
    writeFileSync(path, `${pid}\n`, { mode: 0o600 });
  } catch {
    // A full disk keeps nobody from starting: the next look tries again.
  }
}

/** The pid is for people: the lock alone decides. Null when the holder has not written it yet. */
function readPid(path: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(path, "utf8"), 10);
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch {
    // Absent for the instant between taking the lock and writing it.
    return null;
  }
}
