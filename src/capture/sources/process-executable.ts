/** Which program a process runs. It hides /proc and promises null wherever that cannot be known. */
import { readlink } from "node:fs/promises";

/** Path of the executable of a process on this machine; null when it ended or belongs to another user. */
export async function readExecutable(pid: number | null): Promise<string | null> {
  if (pid === null) return null;
  try {
    return (await readlink(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, "");
  } catch {
    // It ended, is another user's, or this is no Linux.
    return null;
  }
}
