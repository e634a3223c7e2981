/**
 * Looking a data folder through and putting it right by hand, while no daemon runs. It promises that a file
 * which is replaced is set aside and never overwritten.
 */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ActivityError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import {
  copyDatabase,
  listBackups,
  makeRestorable,
  removeDatabase,
  type Backup,
} from "../backups.ts";
import { makeFolder } from "../../make-folder.ts";
import { translating } from "../failures.ts";
import { findDamage } from "../sqlite.ts";
import { DATABASE_FILE } from "../events.ts";
import { putInPlace } from "../put-in-place.ts";
import { recover, type RecoveryReport } from "../recovery.ts";

export interface StoreHealth {
  readonly path: string;
  /** What is wrong with the database, or null. */
  readonly damage: string | null;
  readonly backups: readonly Backup[];
}

/** Reads all of the database and says how it is; changes nothing, and may run beside a daemon. */
export function checkStore(directory: string): StoreHealth {
  const path = join(directory, DATABASE_FILE);
  return { path, damage: findDamage(path, "thorough"), backups: listBackups(directory) };
}

/** Recovers the database if anything is wrong with it; null when nothing is. No one may have it open. */
export function repairStore(directory: string, nowUs: number, log: Log): RecoveryReport | null {
  const { path, damage } = checkStore(directory);
  return damage === null ? null : recover({ directory, path, nowUs, log }, damage);
}

/**
 * Puts a backup in the place of the database, encrypted where the folder is. Returns where the database that was there
 * lies now, or null when there was none. No one may have it open. The backup stays as it is.
 *
 * @throws ActivityError `not_found`, `database_damaged`, `database_newer`, `database_key`, `bad_request`
 */
export function restoreBackup(directory: string, backupPath: string, nowUs: number): string | null {
  if (statSync(backupPath, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new ActivityError(
      "not_found",
      `There is no backup ${backupPath}.`,
      "List them with: activityd backup --list",
    );
  }
  const path = join(directory, DATABASE_FILE);
  makeFolder(directory);
  // All is done to a copy: the backup may lie on a medium that cannot be written, and stays as it is.
  const fresh = `${path}.restoring`;
  try {
    translating(path, () => copyDatabase(backupPath, fresh));
    makeRestorable(fresh);
    const replaced = putInPlace(fresh, { directory, path, nowUs }, "replaced");
    // What it says of open events belongs to the database that was replaced.
    rmSync(join(directory, "pulse"), { force: true });
    return replaced;
  } catch (thrown) {
    throw toldOf(thrown, fresh, backupPath);
  } finally {
    removeDatabase(fresh);
  }
}

/** What is wrong with the copy is wrong with the backup. */
function toldOf(thrown: unknown, copy: string, backupPath: string): unknown {
  if (!(thrown instanceof ActivityError) || thrown.code === "database_unwritable") return thrown;
  const { code, message, hint } = thrown;
  return new ActivityError(
    code,
    message.replaceAll(copy, backupPath),
    code === "database_key"
      ? "Bring the key that it was encrypted with to where encryption.json of the data folder says."
      : hint,
    { cause: thrown },
  );
}
