/**
 * The only file that knows better-sqlite3: opening files, pragmas, migrations, keys, locks. It promises
 * write-ahead logging, a schema no older than this program, and that a database written by a newer program
 * is refused without a byte of it changed.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { ActivityError } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import { isEncrypted, keyFor, requirePackage, wrongKey } from "./cipher.ts";
import { failureCode, translate, translating } from "./failures.ts";
import { APPLICATION_ID, MIGRATIONS } from "./migrations.ts";
import { readPageLayout } from "./scrub.ts";

/** An open connection. Named here, so that no other file names the package. */
export type Sqlite = Database.Database;

export type SqliteStatement<Row> = Database.Statement<SqlValue[], Row>;

/** What can be bound to a `?`. 64-bit hashes travel as bigint, everything else fits a double. */
export type SqlValue = string | number | bigint | Uint8Array | null;
/** SQLite below this version could lose a commit when a write-ahead log was reset under readers. */
export const OLDEST_SQLITE = "3.51.3";
/**
 * Whether SQLite finds the file sound. Reads all of it, and leaves the file and its log as they are.
 * `thorough` also compares every index with its table. Null, or what is wrong with it.
 */
export function findDamage(path: string, how: "quick" | "thorough" = "quick"): string | null {
  if (!existsSync(path)) return null;
  let sqlite: Sqlite | null = null;
  try {
    // A reader's close does not fold the log into the file.
    sqlite = openSqlite(path, { readonly: true });
    const { version, applicationId } = pragmaVersions(sqlite);
    if (version > 0 && applicationId !== APPLICATION_ID) return "the header is not one of ours";
    const check = how === "quick" ? "quick_check(1)" : "integrity_check(1)";
    const answer = String(sqlite.pragma(check, { simple: true }));
    return answer === "ok" ? null : answer;
  } catch (error) {
    const translated = translate(path, error);
    // Without its key nothing can be said of a file at all.
    if (translated instanceof ActivityError && translated.code === "database_key") throw translated;
    // A file that cannot be read or locked at present says nothing about itself.
    const isElsewhere =
      translated instanceof ActivityError && translated.code !== "database_damaged";
    return isElsewhere || !(error instanceof Error) ? null : error.message;
  } finally {
    sqlite?.close();
  }
}

/**
 * Of two who ask in the same moment each may see the other on the way to the lock: one has it a moment later. And one
 * that was killed holds it until the system has put it away.
 */
const LOCK_PATIENCE_MS = 500;

/**
 * Holds an exclusive lock of the operating system on `path` until the returned function is called or the
 * process dies, in whatever way. Null when another process holds it.
 */
export function holdExclusiveLock(path: string): (() => void) | null {
  return translating(path, () => {
    createPrivateFile(path);
    const sqlite = new Database(path, { timeout: LOCK_PATIENCE_MS });
    try {
      // A rollback journal: its exclusive lock keeps out readers too. In memory: nothing is ever written here, and a full
      // disk has no room for a journal that says so.
      sqlite.pragma("journal_mode = MEMORY");
      sqlite.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      sqlite.close();
      if (failureCode(error)?.startsWith("SQLITE_BUSY") === true) return null;
      throw error;
    }
    return () => {
      sqlite.close();
    };
  });
}

/** Whether a process holds the lock that `holdExclusiveLock` takes. Takes nothing and makes no file. */
export function isExclusivelyLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  return translating(path, () => {
    const sqlite = new Database(path, { readonly: true, timeout: 0 });
    try {
      sqlite.prepare("SELECT count(*) FROM sqlite_schema").get();
      return false;
    } catch (error) {
      if (failureCode(error)?.startsWith("SQLITE_BUSY") === true) return true;
      throw error;
    } finally {
      sqlite.close();
    }
  });
}

/** The version of the SQLite that is compiled in. */
export function readSqliteVersion(): string {
  const sqlite = new Database(":memory:");
  try {
    return versionOf(sqlite);
  } finally {
    sqlite.close();
  }
}

/** Whether a version of SQLite is at least `OLDEST_SQLITE`. */
export function isSupportedSqlite(version: string): boolean {
  return versionNumber(version) >= versionNumber(OLDEST_SQLITE);
}

export function connectWriter(path: string): Sqlite {
  createPrivateFile(path);
  refuseNewerSchema(path);
  const sqlite = openSqlite(path, { fileMustExist: true });
  try {
    assertSqliteVersion(sqlite);
    configureWriter(sqlite);
    migrate(sqlite);
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

export function connectReader(path: string): Sqlite {
  const sqlite = openSqlite(path, { readonly: true, fileMustExist: true });
  sqlite.pragma("mmap_size = 0");
  // Readers go through once and are gone: the 16 MB that a connection may keep would be paid for nothing.
  sqlite.pragma("cache_size = -2000");
  sqlite.pragma("trusted_schema = OFF");
  return sqlite;
}

/**
 * Moves what another process committed from the write-ahead log into the database file, as far as that goes without
 * anybody waiting. Makes nothing where the file is absent: its writer saves it then.
 */
export function moveLog(path: string): void {
  translating(path, () => {
    const sqlite = openSqlite(path, { fileMustExist: true });
    try {
      sqlite.pragma("mmap_size = 0");
      sqlite.pragma("synchronous = NORMAL");
      sqlite.pragma("wal_checkpoint(PASSIVE)");
    } finally {
      sqlite.close();
    }
  });
}

/** A database of another program, which is never made when it is absent. Knows nothing of our schema. */
export function connectForeign(path: string): Sqlite {
  const sqlite = new Database(path, { fileMustExist: true });
  sqlite.pragma("trusted_schema = OFF");
  return sqlite;
}

/** What is read while the file cannot be written: the file itself where that works, else nothing at all. */
export function connectStandIn(path: string): Sqlite {
  try {
    const sqlite = connectReader(path);
    if (Number(sqlite.pragma("user_version", { simple: true })) === MIGRATIONS.length)
      return sqlite;
    sqlite.close();
  } catch {
    // Not even readable: then the store answers as an empty one until it can be opened.
  }
  const sqlite = new Database(":memory:");
  migrate(sqlite);
  sqlite.pragma("query_only = ON");
  return sqlite;
}

/** How long a statement waits for another process's lock, unless its connection is told otherwise. */
export const PATIENCE_MS = 5_000;

/** What stands where there is no file to be had: nothing is asked of it. */
export function connectNothing(): Sqlite {
  return new Database(":memory:");
}

/** Opens a file with the key of its folder, where there is one. */
function openSqlite(path: string, how: Omit<Database.Options, "timeout">): Sqlite {
  const options = { ...how, timeout: PATIENCE_MS };
  const key = keyFor(path);
  if (key === null) return new Database(path, options);
  const sqlite = new (loadCipherSqlite())(path, options);
  try {
    // The key is random: nothing is won by deriving another from it, and opening stays fast.
    sqlite.pragma(`key = "raw:${key}"`);
    sqlite.pragma("user_version");
    return sqlite;
  } catch (error) {
    sqlite.close();
    if (failureCode(error) !== "SQLITE_NOTADB") throw error;
    refusePlainText(path);
    // With another key every page is noise: that is not damage, and must not be recovered from.
    throw wrongKey(path, error);
  }
}

/** The build of SQLite that knows ciphers. It has the interface of better-sqlite3, which it is made from. */
function loadCipherSqlite(): typeof Database {
  return requirePackage("better-sqlite3-multiple-ciphers") as typeof Database;
}

/** Encrypts a plain database file in place. Nobody may have it open, and its log must be empty. */
export function encryptFile(path: string, key: string): void {
  translating(path, () => {
    const sqlite = new (loadCipherSqlite())(path);
    try {
      // Pages are rewritten in place, which a write-ahead log does not allow.
      sqlite.pragma("journal_mode = DELETE");
      sqlite.pragma(`rekey = "raw:${key}"`);
    } finally {
      sqlite.close();
    }
  });
}

/** How many events and documents a file holds that is plain (null) or encrypted with a key, as a text. */
export function countRows(path: string, key: string | null): string {
  return translating(path, () => {
    const sqlite = new (key === null ? Database : loadCipherSqlite())(path, { readonly: true });
    try {
      if (key !== null) sqlite.pragma(`key = "raw:${key}"`);
      const count = "SELECT (SELECT count(*) FROM event) || ' ' || (SELECT count(*) FROM document)";
      return String(sqlite.prepare(count).pluck().get());
    } finally {
      sqlite.close();
    }
  });
}

/** A plain file in an encrypted folder is not what its owner believes it to be. */
function refusePlainText(path: string): void {
  if (statSync(path).size === 0 || !isEncrypted(path)) return;
  const header = Buffer.alloc(100);
  const descriptor = openSync(path, "r");
  try {
    readSync(descriptor, header, 0, 100, 0);
  } finally {
    closeSync(descriptor);
  }
  if (readPageLayout(header) === null) return;
  throw new ActivityError(
    "database_key",
    `The database ${path} should be encrypted and is not.`,
    "End an interrupted conversion with: activityd encrypt",
  );
}

/** Creates the file and its directory for their owner alone; SQLite gives its log the mode of the file. */
export function createPrivateFile(path: string): void {
  makeFolder(dirname(path));
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
}

/**
 * Looks before touching: a writer's first pragma would already change the file, and closing it would fold
 * its log in. A number in a header that is not ours is damage, not a newer program.
 */
export function refuseNewerSchema(path: string): void {
  const { version, applicationId } = readVersions(path);
  if (version <= MIGRATIONS.length || applicationId !== APPLICATION_ID) return;
  throw new ActivityError(
    "database_newer",
    `Cannot open ${path}: a newer activityd wrote it (schema ${version}, this one knows ${MIGRATIONS.length}).`,
    "Update activityd, or point it at another data folder. The file was not touched.",
  );
}

interface Versions {
  /** `user_version`: how many migrations were done. */
  readonly version: number;
  readonly applicationId: number;
}

/** Bytes 60 and 68 of the header, big-endian (sqlite.org/fileformat2.html, section 1.3). */
function readVersions(path: string): Versions {
  const none = { version: 0, applicationId: 0 };
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < 100) return none;
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (!hasLog && !isEncrypted(path)) {
    const header = Buffer.alloc(100);
    // Closing a descriptor drops the locks that this process holds on the file: right here it holds none.
    const descriptor = openSync(path, "r");
    try {
      readSync(descriptor, header, 0, 100, 0);
    } finally {
      closeSync(descriptor);
    }
    if (readPageLayout(header) === null) return none;
    return { version: header.readUInt32BE(60), applicationId: header.readUInt32BE(68) };
  }
  // The log may hold a newer header; SQLite alone knows which of its frames count.
  const sqlite = openSqlite(path, { readonly: true });
  try {
    return pragmaVersions(sqlite);
  } finally {
    sqlite.close();
  }
}

function pragmaVersions(sqlite: Sqlite): Versions {
  return {
    version: Number(sqlite.pragma("user_version", { simple: true })),
    applicationId: Number(sqlite.pragma("application_id", { simple: true })),
  };
}

function assertSqliteVersion(sqlite: Sqlite): void {
  const version = versionOf(sqlite);
  if (isSupportedSqlite(version)) return;
  throw new ActivityError(
    "platform_unsupported",
    `SQLite ${version} is too old: before ${OLDEST_SQLITE} a reset of the write-ahead log could lose commits.`,
    "Reinstall the dependencies with: npm ci",
  );
}

function versionOf(sqlite: Sqlite): string {
  return String(sqlite.prepare("SELECT sqlite_version()").pluck().get());
}

function versionNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return major * 1e6 + minor * 1e3 + patch;
}

function configureWriter(sqlite: Sqlite): void {
  // A page read through a memory map turns an I/O error of the disk into a SIGBUS that kills the process.
  sqlite.pragma("mmap_size = 0");
  sqlite.pragma("trusted_schema = OFF");
  // Must precede the first table: free pages can then be given back a few at a time.
  sqlite.pragma("auto_vacuum = INCREMENTAL");
  sqlite.pragma("journal_mode = WAL");
  // With a write-ahead log NORMAL never corrupts: a killed process loses nothing, and a power cut loses at
  // most what was committed since the last checkpoint. FULL would add an fsync, some tens of
  // milliseconds on a laptop's disk, to every change of focus.
  sqlite.pragma("synchronous = NORMAL");
  // Deleted text is overwritten, not only unlinked: what was forgotten must not be found in the file.
  sqlite.pragma("secure_delete = ON");
  // A block and a digest read some hundred pages, and the system keeps more of the file than this. What is kept here is
  // memory for good: a count of all events fills 16 MB, as is usual, and days of recording fill 4.
  sqlite.pragma("cache_size = -2000");
  // 16 MB of log before a commit has to pay for a checkpoint; idle moments do it long before.
  sqlite.pragma("wal_autocheckpoint = 4000");
  sqlite.pragma("journal_size_limit = 16777216");
}

/** Brings the schema up to date: migrations are only ever appended, and `user_version` counts those done. */
function migrate(sqlite: Sqlite): void {
  const done = Number(sqlite.pragma("user_version", { simple: true }));
  if (done >= MIGRATIONS.length) return;
  const apply = sqlite.transaction(() => {
    // Read again under the lock: another process may have been faster.
    const from = Number(sqlite.pragma("user_version", { simple: true }));
    for (const sql of MIGRATIONS.slice(from)) sqlite.exec(sql);
    sqlite.pragma(`user_version = ${MIGRATIONS.length}`);
    sqlite.pragma(`application_id = ${APPLICATION_ID}`);
  });
  apply.immediate();
}
