/**
 * Copies of the database in the data folder's `backups`. It promises that a backup appears only when it is
 * whole and sound, that the oldest make room, and that all copies of what was recorded can be found and
 * removed.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { ActivityError } from "../errors.ts";
import { isPlainText, KEY_PLACE_FILE, readKey, readKeyPlace } from "./cipher.ts";
import { openDatabase, type StoreDatabase } from "./database.ts";
import { failureCode } from "./failures.ts";
import { APPLICATION_ID } from "./migrations.ts";
import { encryptFile, findDamage } from "./sqlite.ts";

export interface Backup {
  readonly path: string;
  /** When it was made, microseconds since 1970 UTC. */
  readonly atUs: number;
  readonly sizeBytes: number;
}

/** How many backups are kept. */
const KEPT_BACKUPS = 3;

/** The backups of a data folder, newest first. */
export function listBackups(directory: string): readonly Backup[] {
  return entriesOf(join(directory, "backups"))
    .flatMap((path) => {
      const match = /^activity-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(?:\.(\d{3}))?Z\.db$/.exec(
        basename(path),
      );
      if (match === null) return [];
      const [, year, month, day, hour, minute, second, milli = "000"] = match;
      const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${milli}Z`;
      // A daemon that makes one takes the oldest away, while a command lists them.
      const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size;
      return sizeBytes === undefined ? [] : [{ path, atUs: Date.parse(iso) * 1000, sizeBytes }];
    })
    .sort((a, b) => b.atUs - a.atUs);
}

/**
 * Copies the database into the backups and removes the oldest beyond `KEPT_BACKUPS`.
 *
 * @throws ActivityError `database_unwritable` when the disk does not take it, `database_damaged` when the
 *   copy is not sound, which means that the database is not either
 */
export async function createBackup(
  database: StoreDatabase,
  directory: string,
  nowUs: number,
): Promise<Backup> {
  const stamp = new Date(nowUs / 1000).toISOString().replaceAll(/[-:]/g, "");
  const path = join(directory, "backups", `activity-${stamp}.db`);
  const partial = `${path}.partial`;
  try {
    await database.backup(partial);
    const damage = findDamage(partial);
    if (damage !== null) {
      throw new ActivityError(
        "database_damaged",
        `The backup of ${database.path} is not sound: ${damage}.`,
        "Recover what can be read with: activityd doctor --repair",
      );
    }
    renameSync(partial, path);
  } finally {
    removeDatabase(partial);
  }
  const all = listBackups(directory);
  // One that lies ahead was made under a clock that was ahead: it is older than it says, and goes first.
  const kept = [
    ...all.filter(({ atUs }) => atUs <= nowUs),
    ...all.filter(({ atUs }) => atUs > nowUs),
  ];
  for (const { path: oldest } of kept.slice(KEPT_BACKUPS)) removeCopy(oldest);
  return { path, atUs: nowUs, sizeBytes: statSync(path).size };
}

/**
 * Whether it is time for a backup: daily while the database is small, more rarely as it grows, so that
 * copies write about 20 MB a day, but at least every other week.
 */
export function isBackupDue(directory: string, databaseBytes: number, nowUs: number): boolean {
  // Those that lie ahead were made under a clock that was ahead, and say nothing of when.
  const last = listBackups(directory).find(({ atUs }) => atUs <= nowUs);
  if (last === undefined) return true;
  const days = Math.min(Math.max(databaseBytes / BYTES_PER_DAY, 1), 14);
  return nowUs - last.atUs >= days * DAY_US;
}

const BYTES_PER_DAY = 20 * 1024 * 1024;
const DAY_US = 86_400_000_000;

/**
 * Makes a copy of a backup, at `path` in the data folder, what can take the place of the database: sound, ours, of this
 * schema, and with the key of the folder where it has one.
 *
 * @throws ActivityError `database_damaged`, `database_newer`, `database_key`, `bad_request`
 */
export function makeRestorable(path: string): void {
  const place = readKeyPlace(dirname(path));
  if (isPlainText(path)) {
    if (place !== null) encryptFile(path, readKey(place));
  } else if (place === null) {
    throw new ActivityError(
      "database_damaged",
      `The backup ${path} is not sound: it is encrypted, or no database.`,
      `If it is encrypted, first put the ${KEY_PLACE_FILE} of its data folder into ${dirname(path)}, and its key to where that says.`,
    );
  }
  const damage = findDamage(path);
  if (damage !== null) {
    throw new ActivityError(
      "database_damaged",
      `The backup ${path} is not sound: ${damage}.`,
      "List the backups with: activityd backup --list",
    );
  }
  // Opening as a writer would make any database ours, that of another program too.
  if (!isOurs(path)) {
    throw new ActivityError(
      "bad_request",
      `${path} is a database of another program. Nothing was changed.`,
      "List the backups with: activityd backup --list",
    );
  }
  // It refuses what a newer program wrote.
  openDatabase({ path }).close();
}

/** Copies a database that nobody has open, with what its log holds, for its owner alone. */
export function copyDatabase(from: string, to: string): void {
  removeDatabase(to);
  for (const suffix of ["", "-wal"]) {
    if (!existsSync(from + suffix)) continue;
    copyFileSync(from + suffix, to + suffix);
    // A copy takes the mode of the original, which may be a medium that cannot be written.
    chmodSync(to + suffix, 0o600);
  }
}

/** Removes a database with the files beside it. */
export function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}

function isOurs(path: string): boolean {
  const database = openDatabase({ path, role: "reader" });
  try {
    const row = database
      .prepare<{ id: number }>("SELECT application_id AS id FROM pragma_application_id")
      .get();
    return row?.id === APPLICATION_ID;
  } finally {
    database.close();
  }
}

/** Databases that were set aside because they were damaged or replaced, each a folder. */
export function listSetAside(directory: string): readonly string[] {
  return ["damaged", "replaced"].flatMap((folder) => entriesOf(join(directory, folder)));
}

/** Everything in a data folder that is a copy of what was recorded: backups and what was set aside. */
export function listCopies(directory: string): readonly string[] {
  return [...entriesOf(join(directory, "backups")), ...listSetAside(directory)];
}

/** None where there is no such folder; one that cannot be looked at is not empty, and throws what the system says. */
function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch (thrown) {
    if (failureCode(thrown) === "ENOENT") return [];
    throw thrown;
  }
}

/**
 * Removes every copy, such as after something was to be forgotten, or those alone that need no key. Returns how many
 * there were.
 */
export function removeCopies(directory: string, which: "all" | "plain" = "all"): number {
  const copies = listCopies(directory).filter((path) => which === "all" || holdsPlainText(path));
  for (const copy of copies) removeCopy(copy);
  return copies.length;
}

function holdsPlainText(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true)
    return readdirSync(path).some((name) => holdsPlainText(join(path, name)));
  return stat?.isFile() === true && isPlainText(path);
}

function removeCopy(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
