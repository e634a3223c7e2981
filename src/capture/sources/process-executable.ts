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

/**
 * The same for the window in focus, which is asked for at each change of its title: a window that stays is
 * looked up once.
 */
export function createExecutableReader(): (
  pid: number | null,
  window: number,
) => Promise<string | null> {
  let last: { readonly pid: number; readonly window: number; readonly path: string | null } | null =
    null;
  return async (pid, window) => {
    if (pid === null) return null;
    if (last?.pid !== pid || last.window !== window) {
      last = { pid, window, path: await readExecutable(pid) };
    }
    return last.path;
  };
}
