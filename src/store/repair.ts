/**
 * Looking a data folder through and putting it right by hand, while no daemon runs. It promises that a file
 * which is replaced is set aside and never overwritten.
 */
import { copyFileSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../log.ts";
import { assertRestorable, listBackups, type Backup } from "./backups.ts";
import { findDamage } from "./sqlite.ts";
import { DATABASE_FILE } from "./events.ts";
import { recover, setAside, type RecoveryReport } from "./recovery.ts";

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
 * Puts a backup in the place of the database. Returns where the database that was there lies now, or null
 * when there was none. No one may have it open.
 *
 * @throws ActivityError `not_found`, `database_damaged`, `database_newer`
 */
export function restoreBackup(directory: string, backupPath: string, nowUs: number): string | null {
  assertRestorable(backupPath);
  const path = join(directory, DATABASE_FILE);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const fresh = `${path}.restoring`;
  copyFileSync(backupPath, fresh);
  const replaced = setAside(directory, path, nowUs, "replaced");
  renameSync(fresh, path);
  // What it says of open events belongs to the database that was replaced.
  rmSync(join(directory, "pulse"), { force: true });
  return replaced;
}
