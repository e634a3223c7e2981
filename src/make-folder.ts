/** Makes folders. It promises one answer, or one error of the system's own, wherever the folder is to lie. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes the folder `path`, with all above it that is not there yet, for this user alone. One that is there is left as it
 * is. Node's own `recursive` tries for ever where what is above is there and takes no folders, as in `/proc`.
 *
 * @throws what the system says of the folder that cannot be made
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (thrown) {
    if (isFolder(path)) return;
    const above = dirname(path);
    const isAboveMissing = thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
    if (!isAboveMissing || isFolder(above)) throw thrown;
    makeFolder(above);
    makeFolder(path);
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Nothing is there, or nothing that this user may look at.
    return false;
  }
}
