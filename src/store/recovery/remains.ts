/** What processes of ours that were killed left in a data folder: ended where it was all but done, removed where not. */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { removeDatabase } from "../backups.ts";
import { DATABASE_FILE } from "../events.ts";
import { failureCode } from "../failures.ts";
import { SCRATCH_PREFIX } from "../foreign.ts";
import { endPutInPlace } from "../put-in-place.ts";
import { RECOVERING, WRITES_WITHIN_MS } from "./under-way.ts";

/** Of files that are being made, and are worth nothing before they are whole. */
const UNFINISHED = [RECOVERING, `.held${RECOVERING}`, ".restoring", ".encrypting", ".rescued"];

/**
 * Ends or takes away what a process of ours left in a data folder when it was killed. For who holds its lock; backups are
 * made without it, and count as left when nobody wrote them for minutes.
 */
export function clearRemains(directory: string, nowMs: number): void {
  try {
    clear(directory, nowMs);
  } catch (thrown) {
    // On a disk that cannot be written they stay until the next start: a daemon starts there too.
    if (failureCode(thrown) === null) throw thrown;
  }
}

function clear(directory: string, nowMs: number): void {
  const path = join(directory, DATABASE_FILE);
  endPutInPlace({ directory, path, nowUs: nowMs * 1000 });
  for (const suffix of UNFINISHED) removeDatabase(path + suffix);
  // A copy of another program's history, as it was before any rule saw it.
  for (const name of namesIn(directory))
    if (name.startsWith(SCRATCH_PREFIX)) rmSync(join(directory, name), { recursive: true });
  const backups = join(directory, "backups");
  for (const name of namesIn(backups)) {
    const partial = join(backups, name);
    const writtenMs = statSync(partial, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
    if (name.includes(".db.partial") && nowMs - writtenMs > WRITES_WITHIN_MS)
      rmSync(partial, { force: true });
  }
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
