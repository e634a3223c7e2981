/** What stands in the files of a folder, also of one in which a daemon is at work: a file may go at any moment. */
import { readdirSync, readFileSync, type Dirent } from "node:fs";
import { join, relative } from "node:path";

export interface FileBelow {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Every file below a folder that was there to the end of the look. */
export function filesBelow(folder: string): readonly FileBelow[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => readEntry(folder, entry));
}

/** Every byte of every file below a folder, as one string. */
export function allBytes(folder: string): string {
  return filesBelow(folder)
    .map(({ bytes }) => bytes.toString("latin1"))
    .join("\n");
}

/** The names, from the folder on, of the files in whose bytes something stands. */
export function filesWith(folder: string, wanted: string | RegExp): readonly string[] {
  const holds = (bytes: Buffer): boolean =>
    typeof wanted === "string" ? bytes.includes(wanted) : wanted.test(bytes.toString("latin1"));
  return filesBelow(folder)
    .filter(({ bytes }) => holds(bytes))
    .map(({ path }) => relative(folder, path));
}

function readEntry(folder: string, entry: Dirent): readonly FileBelow[] {
  const path = join(folder, entry.name);
  if (entry.isDirectory()) return unlessGone(() => filesBelow(path)) ?? [];
  if (!entry.isFile()) return [];
  const bytes = unlessGone(() => readFileSync(path));
  return bytes === null ? [] : [{ path, bytes }];
}

function unlessGone<T>(read: () => T): T | null {
  try {
    return read();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
    return null;
  }
}
