/**
 * Puts files in their place. It promises that whoever reads one meanwhile sees it as it was or as it is, that nothing
 * half-written is left, and that what the system refuses names the file.
 */
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "./make-folder.ts";

/**
 * Writes `content` in the place of the file `path`, in a folder that is made where it is missing. `mode` holds whatever the
 * owner's umask takes away. A link in its place is replaced: who wants to keep it follows it first.
 *
 * @throws what the system says, with `path` in it
 */
export function writeWhole(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, flush = false }: { readonly mode?: number; readonly flush?: boolean } = {},
): void {
  makeFolder(dirname(path));
  const fresh = `${path}.new`;
  try {
    writeFileSync(fresh, content, { mode, flush });
    chmodSync(fresh, mode);
    renameSync(fresh, path);
  } catch (thrown) {
    removeQuietly(fresh);
    throw withPath(thrown, path);
  }
}

/** A disk that is full refuses the bytes, and does not say of which file. */
function withPath(thrown: unknown, path: string): unknown {
  return thrown instanceof Error && "syscall" in thrown ? Object.assign(thrown, { path }) : thrown;
}

/** Takes away what could not be written to its end, if that can be done. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What cannot be written can often not be removed; the refusal of the first is told.
  }
}
