/**
 * One daemon per data folder. It promises that the lock is the operating system's own: whatever way the
 * holder dies, the next one gets it at once, and no stale file can keep it out.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ActivityError } from "../errors.ts";
import { holdExclusiveLock, isExclusivelyLocked } from "./sqlite.ts";

/**
 * Takes the lock of a data folder and returns what releases it.
 *
 * @throws ActivityError `socket_in_use` when another process holds it, naming its pid
 */
export function acquireInstanceLock(directory: string, pid: number): () => void {
  const release = holdLock(join(directory, "daemon.lock"));
  const pidPath = join(directory, "daemon.pid");
  if (release === null) {
    const holder = readPid(pidPath);
    throw new ActivityError(
      "socket_in_use",
      `Cannot start: another activityd${holder === null ? "" : ` (pid ${holder})`} is using ${directory}.`,
      "Stop it with: activityd stop",
    );
  }
  writeFileSync(pidPath, `${pid}\n`, { mode: 0o600 });
  return () => {
    rmSync(pidPath, { force: true });
    release();
  };
}

/** Who holds the lock of a data folder. What it has not written yet is null. */
export interface InstanceHolder {
  readonly pid: number | null;
  /** Since when, in milliseconds since 1970. */
  readonly sinceMs: number | null;
}

/** Who holds the lock of a data folder; null when nobody does. Takes nothing. */
export function findInstanceHolder(directory: string): InstanceHolder | null {
  if (!isLocked(join(directory, "daemon.lock"))) return null;
  const path = join(directory, "daemon.pid");
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
