/**
 * What becomes of a damaged database. It promises that the damaged files are set aside as they are and
 * never overwritten, that every row which can still be read is carried over, that what a backup has
 * besides is merged in, and that the start goes on with a sound database whatever was left.
 */
import { renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Log } from "../log.ts";
import { listBackups, removeDatabase } from "./backups.ts";
import { openDatabase, type StoreDatabase } from "./database.ts";
import type { SqlValue } from "./sqlite.ts";
import { findDamage, refuseNewerSchema } from "./sqlite.ts";
import { createDocuments } from "./documents.ts";
import { readAllEvents } from "./event-reader.ts";
import { createEventWriter } from "./event-writer.ts";
import { createRemoteEvents } from "./devices/remote.ts";
import { readAllRemote } from "./devices/remote-reader.ts";
import { ActivityError } from "../errors.ts";
import { readMeta, REFUSED_CLIENT } from "./meta.ts";
import { putInPlace, setAside } from "./put-in-place.ts";
import { addUp, salvage } from "./recovery/salvage.ts";
import { RECOVERING } from "./recovery/under-way.ts";
import { createVisits } from "./visits.ts";

export interface RecoveryReport {
  readonly atUs: number;
  /** What SQLite said of the damaged file. */
  readonly damage: string;
  /** Where the damaged file lies now; null when nothing of it was left. */
  readonly setAsidePath: string | null;
  /** Events read from the damaged file. */
  readonly salvaged: number;
  /** Events that only a backup still had. */
  readonly fromBackup: number;
  /** Events whose time was readable but not what they were about, so that they are not carried over. */
  readonly unreadable: number;
}

/** What a recovery made, as it travels between threads. */
export interface RecoveredCounts extends Pick<
  RecoveryReport,
  "salvaged" | "fromBackup" | "unreadable"
> {
  /** Why what only the backup had is not there: the code of an error, or null. */
  readonly backupFailure: string | null;
}

/** Where a damaged database lies, and when that was found. */
export interface Place {
  /** The data folder. */
  readonly directory: string;
  readonly path: string;
  readonly nowUs: number;
}

export interface RecoveryOptions extends Place {
  readonly log: Log;
}

/**
 * What is wrong with a database that is about to be opened, or null. A small file is always looked through; a large one
 * only when the last process did not close it, since that reads all of it: `check.ts` does so later.
 */
export function damageAtStart({ path, directory }: Place): string | null {
  const size = fileSize(path);
  if (size === null) return null;
  // The file of a first start that was cut short, unless there is a past to lose.
  if (size === 0) return listBackups(directory).length === 0 ? null : "the file is empty";
  refuseIfNewer(path);
  return isCheckedLater(path) ? null : findDamage(path);
}

/** Whether a database is so large that nobody should wait while it is looked through, and was closed well. */
export function isCheckedLater(path: string): boolean {
  const wasClosed = (fileSize(`${path}-wal`) ?? 0) === 0;
  return wasClosed && (fileSize(path) ?? 0) > ALWAYS_CHECKED_BYTES;
}

/** Null when there is no file, or nothing that can be one. */
function fileSize(path: string): number | null {
  try {
    return statSync(path).size;
  } catch {
    // Absent, or in a folder that is none: opening it will say why.
    return null;
  }
}

/** A newer program's database is none of ours to recover. A header too damaged to read is not newer. */
function refuseIfNewer(path: string): void {
  try {
    refuseNewerSchema(path);
  } catch (error) {
    if (error instanceof ActivityError) throw error;
  }
}

/** To look this much through takes some 50 ms. */
const ALWAYS_CHECKED_BYTES = 16 * 1024 * 1024;

/** Recovers a database whatever its state, such as for `doctor --repair`. No one may have it open. */
export function recover(options: RecoveryOptions, damage: string): RecoveryReport {
  return takeRecovered(options, damage, readRemains(options));
}

/**
 * Makes a sound database of what is left, beside the damaged one, which stays as it is. All that takes long, for whatever
 * thread has the time: what is made counts for nothing before `takeRecovered`.
 */
export function readRemains({ directory, path, nowUs }: Place): RecoveredCounts {
  const freshPath = path + RECOVERING;
  removeDatabase(freshPath);
  try {
    const fresh = openDatabase({ path: freshPath });
    try {
      const salvaged = salvage(path, fresh, nowUs);
      const merged = mergeBackup(fresh, directory);
      addUp(fresh);
      fresh.checkpoint("truncate");
      return { ...salvaged, ...merged };
    } finally {
      fresh.close();
    }
  } catch (thrown) {
    // A part of it is worth nothing, and takes the room that is wanted elsewhere.
    removeDatabase(freshPath);
    throw thrown;
  }
}

/** Puts what `readRemains` made in the place of the damaged database, which is set aside. No one may have it open. */
export function takeRecovered(
  { directory, path, nowUs, log }: RecoveryOptions,
  damage: string,
  { backupFailure, ...counts }: RecoveredCounts,
): RecoveryReport {
  if (backupFailure !== null) log.warn("cannot merge the backup", { code: backupFailure });
  const setAsidePath = putInPlace(path + RECOVERING, { directory, path, nowUs }, "damaged");
  const report = { atUs: nowUs, damage, setAsidePath, ...counts };
  log.warn("recovered the database", {
    salvaged: report.salvaged,
    fromBackup: report.fromBackup,
    unreadable: report.unreadable,
    setAside: setAsidePath,
  });
  return report;
}

/**
 * Takes up a file that somebody put in the place of the database while it was open, and of which `copy` holds what was
 * committed. What is no record, or none that this program can use, is set aside, and the copy comes back in its place.
 */
export function takeUp({ directory, path, nowUs, log }: RecoveryOptions, copy: string): void {
  if (isRecord(path)) return;
  log.error("what was put in the place of the database is no record: set it aside");
  setAside(directory, path, nowUs, "replaced");
  renameSync(copy, path);
  rmSync(dirname(copy), { recursive: true, force: true });
}

function isRecord(path: string): boolean {
  try {
    if ((fileSize(path) ?? 0) === 0 || findDamage(path) !== null) return false;
    openDatabase({ path }).close();
    return true;
  } catch {
    // Of a newer program, or of another key.
    return false;
  }
}

/** Puts in what the newest sound backup has and the rest lacks. */
function mergeBackup(
  fresh: StoreDatabase,
  directory: string,
): Pick<RecoveredCounts, "fromBackup" | "backupFailure"> {
  const backup = listBackups(directory).find(({ path }) => findDamage(path) === null);
  if (backup === undefined) return { fromBackup: 0, backupFailure: null };
  const writer = createEventWriter(fresh, createDocuments(fresh), createVisits(fresh));
  let added = 0;
  try {
    const source = openDatabase({ path: backup.path, role: "reader" });
    try {
      for (const events of readAllEvents(source)) {
        fresh.transaction(() => {
          for (const event of events) {
            if (writer.put(event, event) === "added") added += 1;
          }
        });
      }
      mergeOthers(source, fresh);
      copyMissingRows(source, fresh);
      copyRefusals(source, fresh);
    } finally {
      source.close();
    }
  } catch (error) {
    // A backup that cannot be read costs what only it had; the rest is recovered all the same.
    const backupFailure = error instanceof ActivityError ? error.code : "internal";
    return { fromBackup: added, backupFailure };
  }
  return { fromBackup: added, backupFailure: null };
}

/**
 * What other devices recorded: a hub keeps it for some weeks only. What was erased of it comes last, since all that the
 * backup has was there after it.
 */
function mergeOthers(source: StoreDatabase, fresh: StoreDatabase): void {
  copyRows(source, fresh, "device");
  const remote = createRemoteEvents(fresh, createDocuments(fresh));
  for (const events of readAllRemote(source)) {
    fresh.transaction(() => {
      for (const { deviceKey, event } of events)
        remote.put(deviceKey, 0, [{ ...event, facts: event, isOpen: false }]);
    });
  }
  copyRows(source, fresh, "remote_erased");
}

/** What else there is besides events: rows that the fresh database has not, by their keys. */
function copyMissingRows(source: StoreDatabase, fresh: StoreDatabase): void {
  for (const table of ["ledger", "bucket", "bucket_event", "bucket_setting"])
    copyRows(source, fresh, table);
}

/** Whom the owner refuses, where the page that says so is gone: rather once too often than not any more. */
function copyRefusals(source: StoreDatabase, fresh: StoreDatabase): void {
  if (fresh.prepare("SELECT 1 FROM meta LIMIT 1").get() !== undefined) return;
  const put = fresh.prepare("INSERT OR IGNORE INTO meta(name, value) VALUES(?, ?)");
  for (const [name, value] of readMeta(source, REFUSED_CLIENT)) put.run(name, value);
}

function copyRows(source: StoreDatabase, fresh: StoreDatabase, table: string): void {
  fresh.transaction(() => {
    for (const row of source
      .prepare<Record<string, SqlValue>>(`SELECT * FROM ${table}`)
      .iterate()) {
      // By their names: a backup of an older program has fewer columns.
      const names = Object.keys(row).join(", ");
      const values = Object.values(row);
      const places = values.map(() => "?").join(", ");
      fresh.prepare(`INSERT OR IGNORE INTO ${table}(${names}) VALUES(${places})`).run(...values);
    }
  });
}
