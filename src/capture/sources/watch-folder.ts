/** Notices that a file appears in a folder, for backends that wait for their socket. */
import { watch, type FSWatcher } from "node:fs";
import path from "node:path";

/**
 * Calls `onSeen` when a file that `matches` is created, replaced or removed in `folder`; also when the folder
 * itself comes into being later. Never throws: without a watch the backoff of the keeper still finds it.
 * Returns how to stop.
 */
export function watchFolder(
  folder: string,
  matches: (fileName: string) => boolean,
  onSeen: () => void,
): () => void {
  const inside = watchOnce(folder, matches, onSeen);
  if (inside !== null) return () => inside.close();
  let later: FSWatcher | null = null;
  const parent = watchOnce(
    path.dirname(folder),
    (name) => name === path.basename(folder),
    () => {
      later ??= watchOnce(folder, matches, onSeen);
      onSeen();
    },
  );
  return () => {
    parent?.close();
    later?.close();
  };
}

function watchOnce(
  folder: string,
  matches: (fileName: string) => boolean,
  onSeen: () => void,
): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name !== null && matches(name)) onSeen();
    });
    // The folder was removed: there is nothing left to see.
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    // No such folder, or no more watches to be had.
    return null;
  }
}
