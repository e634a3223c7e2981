/**
 * Replacing the file of the database with another. It promises that the one that was there is set aside and never
 * overwritten, and that whoever is cut off in between leaves a whole database behind.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { makeFolder } from "../make-folder.ts";

interface Place {
  /** The data folder. */
  readonly directory: string;
  readonly path: string;
  readonly nowUs: number;
}

/**
 * Puts a database that is whole and closed in the place of another, which is set aside; returns where that lies then, or
 * null when there was none. Whoever is cut off between the two has it done by `endPutInPlace`.
 */
export function putInPlace(
  fresh: string,
  { directory, path, nowUs }: Place,
  folder: "damaged" | "replaced",
): string | null {
  renameSync(fresh, path + READY);
  const aside = setAside(directory, path, nowUs, folder);
  renameSync(path + READY, path);
  return aside;
}

/** Ends what somebody who put a database in place was cut off from. */
export function endPutInPlace(place: Place): void {
  const ready = place.path + READY;
  if (existsSync(ready)) putInPlace(ready, place, "replaced");
}

/** Of a file that is whole and about to be put in place. */
const READY = ".ready";

/**
 * Moves a database and its log, unchanged, into a folder of its own; returns where the file lies then, or
 * null when there is none.
 */
export function setAside(
  directory: string,
  path: string,
  nowUs: number,
  folder: "damaged" | "replaced",
): string | null {
  if (!existsSync(path)) return null;
  const target = asideFolder(directory, nowUs, folder);
  makeFolder(target);
  // The log first: a database without its log may be taken for a whole one.
  for (const suffix of ["-wal", ""]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, join(target, basename(path) + suffix));
  }
  rmSync(`${path}-shm`, { force: true });
  return join(target, basename(path));
}

/** A folder that is not there yet, for a database that is set aside. */
export function asideFolder(
  directory: string,
  nowUs: number,
  folder: "damaged" | "replaced",
): string {
  const stamp = new Date(nowUs / 1000).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  let target = join(directory, folder, stamp);
  for (let n = 2; existsSync(target); n += 1) target = join(directory, folder, `${stamp}-${n}`);
  return target;
}
