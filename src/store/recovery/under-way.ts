/**
 * Whether a record is being recovered, by the file that this writes. It promises to load nothing else: commands ask it that
 * stand in front of every turn.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the name of the file ends with that a recovery writes into. */
export const RECOVERING = ".recovering";
/** A recovery writes all the time. One that was killed leaves its file, and does not. */
export const WRITES_WITHIN_MS = 60_000;

/** Whether a recovery goes on in a data folder, in this process or another. That of a large record takes minutes. */
export function isRecovering(directory: string, nowMs: number): boolean {
  return filesOf(directory).some((name) => {
    const writtenMs = statSync(join(directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return nowMs - writtenMs < WRITES_WITHIN_MS;
  });
}

/** The file of a recovery and its log; none where there is no folder. */
function filesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => /\.recovering(?:-wal)?$/.test(name));
  } catch {
    // Whoever needs the folder says why it cannot be read.
    return [];
  }
}
