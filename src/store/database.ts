/**
 * The only file that knows better-sqlite3: opening, pragmas, migrations, transactions. It promises one
 * writer with write-ahead logging, a schema no older than this program, that a database written by a newer
 * program is refused without a byte of it changed, and statements that outlive a change of the connection.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { ActivityError } from "../errors.ts";
import { failureCode, isUnwritable, translate, translating } from "./failures.ts";
import { APPLICATION_ID, MIGRATIONS } from "./migrations.ts";
import { readPageLayout, zeroUnallocated } from "./scrub.ts";

/** What can be bound to a `?`. 64-bit hashes travel as bigint, everything else fits a double. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A prepared statement whose rows have the shape `Row`; the caller vouches for the shape of its own SQL. */
export interface SqlStatement<Row> {
  /** Runs a statement that gives no rows and returns how many rows it changed. */
  readonly run: (...values: readonly SqlValue[]) => number;
  readonly get: (...values: readonly SqlValue[]) => Row | undefined;
  readonly all: (...values: readonly SqlValue[]) => Row[];
  /** Rows one by one, so that memory stays flat. No other statement that writes may run meanwhile. */
  readonly iterate: (...values: readonly SqlValue[]) => IterableIterator<Row>;
}

/** An open database. Every method throws `ActivityError` where SQLite fails. */
export interface StoreDatabase {
  readonly path: string;
  readonly prepare: <Row = Record<string, unknown>>(sql: string) => SqlStatement<Row>;
  /** Runs SQL without parameters, several statements if need be. */
  readonly execute: (sql: string) => void;
  /** Commits when `work` returns and undoes everything when it throws. Nested calls join the outer one. */
  readonly transaction: <T>(work: () => T) => T;
  /**
   * Moves committed pages from the write-ahead log into the database file: `idle` does what can be done
   * without waiting for readers; `truncate` waits for them as long as for a lock, and leaves an empty log.
   * False when a reader held it up.
   */
  readonly checkpoint: (mode: "idle" | "truncate") => boolean;
  /**
   * Empties the write-ahead log and zeroes what deleted text left in the file, in steps that let other work
   * through. False when a reader held it up.
   */
  readonly scrub: () => Promise<boolean>;
  /**
   * Reads bytes of the database file as they lie on the disk and returns how many. Nobody else in this process
   * may open the file: closing it would drop the locks of this connection.
   */
  readonly readRaw: (into: Buffer, fromByte: number) => number;
  /** Copies the database as it is at one moment into a new file, in steps that let other work through. */
  readonly backup: (destination: string) => Promise<void>;
  /**
   * Writes the database anew to its path when its file is no longer there, such as after the folder was
   * removed, and goes on with the new file. Says whether that was needed.
   */
  readonly rescue: () => boolean;
  /** Lets go of the file while `work` replaces it, and goes on with what is there then. */
  readonly mend: (work: () => void) => void;
  readonly close: () => void;
}

export interface OpenDatabaseOptions {
  readonly path: string;
  /** `reader`: never writes, creates or migrates; sees every commit made before each of its statements. */
  readonly role?: "writer" | "reader";
  /**
   * A writer that cannot write opens all the same: it reads what can be read, every transaction first tries
   * again to open the file, and throws `database_unwritable` when that fails.
   */
  readonly tolerant?: boolean;
  /** How long a statement waits for another process's lock. */
  readonly busyTimeoutMs?: number;
}

/** SQLite below this version could lose a commit when a write-ahead log was reset under readers. */
export const OLDEST_SQLITE = "3.51.3";

/**
 * Opens a database file, making and migrating it when need be.
 *
 * @throws ActivityError `database_newer`, `database_damaged`, `database_unwritable`, `database_busy`
 */
export function openDatabase(options: OpenDatabaseOptions): StoreDatabase {
  const { path, role = "writer", tolerant = false, busyTimeoutMs = 5000 } = options;
  const connect = (): Database.Database =>
    translating(path, () =>
      role === "reader" ? connectReader(path, busyTimeoutMs) : connectWriter(path, busyTimeoutMs),
    );
  try {
    return wrap(path, connect, toConnection(connect(), false));
  } catch (error) {
    if (!tolerant || !isUnwritable(error)) throw error;
    return wrap(path, connect, toConnection(connectStandIn(path, busyTimeoutMs), true));
  }
}

/**
 * Whether SQLite finds the file sound. Reads all of it, and leaves the file and its log as they are.
 * `thorough` also compares every index with its table. Null, or what is wrong with it.
 */
export function findDamage(path: string, how: "quick" | "thorough" = "quick"): string | null {
  if (!existsSync(path)) return null;
  let sqlite: Database.Database | null = null;
  try {
    // A reader's close does not fold the log into the file.
    sqlite = new Database(path, { readonly: true });
    const { version, applicationId } = pragmaVersions(sqlite);
    if (version > 0 && applicationId !== APPLICATION_ID) return "the header is not one of ours";
    const check = how === "quick" ? "quick_check(1)" : "integrity_check(1)";
    const answer = String(sqlite.pragma(check, { simple: true }));
    return answer === "ok" ? null : answer;
  } catch (error) {
    const translated = translate(path, error);
    // A file that cannot be read or locked at present says nothing about itself.
    const isElsewhere =
      translated instanceof ActivityError && translated.code !== "database_damaged";
    return isElsewhere || !(error instanceof Error) ? null : error.message;
  } finally {
    sqlite?.close();
  }
}

/**
 * Holds an exclusive lock of the operating system on `path` until the returned function is called or the
 * process dies, in whatever way. Null when another process holds it.
 */
export function holdExclusiveLock(path: string): (() => void) | null {
  return translating(path, () => {
    createPrivateFile(path);
    const sqlite = new Database(path, { timeout: 0 });
    try {
      // A rollback journal: its exclusive lock keeps out readers too, and leaves no other files behind.
      sqlite.pragma("journal_mode = DELETE");
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

function connectWriter(path: string, timeout: number): Database.Database {
  createPrivateFile(path);
  refuseNewerSchema(path);
  const sqlite = new Database(path, { timeout, fileMustExist: true });
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

function connectReader(path: string, timeout: number): Database.Database {
  const sqlite = new Database(path, { readonly: true, timeout, fileMustExist: true });
  sqlite.pragma("mmap_size = 0");
  sqlite.pragma("trusted_schema = OFF");
  return sqlite;
}

/** What is read while the file cannot be written: the file itself where that works, else nothing at all. */
function connectStandIn(path: string, timeout: number): Database.Database {
  try {
    const sqlite = connectReader(path, timeout);
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

/** Creates the file and its directory for their owner alone; SQLite gives its log the mode of the file. */
function createPrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) {
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
  const sqlite = new Database(path, { readonly: true });
  try {
    return pragmaVersions(sqlite);
  } finally {
    sqlite.close();
  }
}

function pragmaVersions(sqlite: Database.Database): Versions {
  return {
    version: Number(sqlite.pragma("user_version", { simple: true })),
    applicationId: Number(sqlite.pragma("application_id", { simple: true })),
  };
}

function assertSqliteVersion(sqlite: Database.Database): void {
  const version = versionOf(sqlite);
  if (isSupportedSqlite(version)) return;
  throw new ActivityError(
    "platform_unsupported",
    `SQLite ${version} is too old: before ${OLDEST_SQLITE} a reset of the write-ahead log could lose commits.`,
    "Reinstall the dependencies with: npm ci",
  );
}

function versionOf(sqlite: Database.Database): string {
  return String(sqlite.prepare("SELECT sqlite_version()").pluck().get());
}

function versionNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return major * 1e6 + minor * 1e3 + patch;
}

function configureWriter(sqlite: Database.Database): void {
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
  // 16 MB of log before a commit has to pay for a checkpoint; idle moments do it long before.
  sqlite.pragma("wal_autocheckpoint = 4000");
  sqlite.pragma("journal_size_limit = 16777216");
}

/** Brings the schema up to date: migrations are only ever appended, and `user_version` counts those done. */
function migrate(sqlite: Database.Database): void {
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

interface Connection {
  readonly sqlite: Database.Database;
  /** Whether this only stands in for a file that could not be opened for writing. */
  readonly isStandIn: boolean;
  readonly begin: Database.Statement;
  readonly commit: Database.Statement;
}

function toConnection(sqlite: Database.Database, isStandIn: boolean): Connection {
  const begin = sqlite.prepare("BEGIN IMMEDIATE");
  const commit = sqlite.prepare("COMMIT");
  return { sqlite, isStandIn, begin, commit };
}

function wrap(path: string, connect: () => Database.Database, first: Connection): StoreDatabase {
  let connection = first;
  // POSIX drops all locks of a process on a file when it closes any descriptor of it: this one stays open
  // as long as the connection does.
  let rawFile: number | null = null;

  const replace = (sqlite: Database.Database): void => {
    connection.sqlite.close();
    closeRawFile();
    connection = toConnection(sqlite, false);
  };

  const closeRawFile = (): void => {
    if (rawFile !== null) closeSync(rawFile);
    rawFile = null;
  };

  const transaction = <T>(work: () => T): T => {
    if (connection.sqlite.inTransaction) return work();
    if (connection.isStandIn) replace(connect());
    const { sqlite, begin, commit } = connection;
    return translating(path, () => {
      begin.run();
      try {
        const result = work();
        commit.run();
        return result;
      } catch (error) {
        // A full disk may have rolled back already.
        if (sqlite.inTransaction) sqlite.exec("ROLLBACK");
        throw error;
      }
    });
  };

  const checkpoint = (mode: "idle" | "truncate"): boolean => {
    const pragma = mode === "idle" ? "wal_checkpoint(PASSIVE)" : "wal_checkpoint(TRUNCATE)";
    return translating(
      path,
      () => Number(connection.sqlite.pragma(pragma, { simple: true })) === 0,
    );
  };

  const openRaw = (): number => (rawFile ??= openSync(path, "r+"));

  const scrubOnce = async (): Promise<boolean> => {
    // Pages in the cache still have the old bytes in them: they must be read anew before they are changed.
    if (connection.isStandIn || !checkpoint("truncate")) return false;
    connection.sqlite.pragma("shrink_memory");
    openRaw();
    for (let fromByte = 0; fromByte >= 0;) {
      const file = rawFile;
      // Closed, or moved to another file, while others had their turn.
      if (file === null) return false;
      fromByte = translating(path, () => scrubStep(file, fromByte));
      if (fromByte < 0) fsyncSync(file);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    return true;
  };

  return {
    path,
    prepare: <Row>(sql: string) => wrapStatement<Row>(path, sql, () => connection),
    execute: (sql) => {
      translating(path, () => connection.sqlite.exec(sql));
    },
    transaction,
    checkpoint,
    // Twice: a page that was changed during the first pass may have come from before it.
    scrub: async () => (await scrubOnce()) && (await scrubOnce()),
    readRaw: (into, fromByte) =>
      translating(path, () => readSync(openRaw(), into, 0, into.length, fromByte)),
    backup: async (destination) => {
      try {
        createPrivateFile(destination);
        await connection.sqlite.backup(destination, { progress: () => BACKUP_PAGES_PER_STEP });
      } catch (error) {
        throw translate(destination, error);
      }
    },
    rescue: () => {
      if (connection.isStandIn || connection.sqlite.inTransaction || existsSync(path)) return false;
      translating(path, () => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        // The connection still has the nameless file, with every commit in it.
        const fresh = `${path}.rescued`;
        rmSync(fresh, { force: true });
        connection.sqlite.prepare("VACUUM INTO ?").run(fresh);
        renameSync(fresh, path);
        replace(connect());
      });
      return true;
    },
    mend: (work) => {
      connection.sqlite.close();
      closeRawFile();
      work();
      connection = toConnection(connect(), false);
    },
    close: () => {
      connection.sqlite.close();
      closeRawFile();
    },
  };
}

/** 1.6 MB: a few milliseconds. */
const BACKUP_PAGES_PER_STEP = 400;
const SCRUB_STEP_BYTES = 1 << 20;

/** Scrubs a megabyte of pages from an offset on; returns the next offset, or -1 at the end of the file. */
function scrubStep(file: number, fromByte: number): number {
  const header = Buffer.alloc(100);
  readSync(file, header, 0, 100, 0);
  const layout = readPageLayout(header);
  // An encrypted file has nothing to read in it.
  if (layout === null) return -1;
  const bytes = Buffer.alloc(SCRUB_STEP_BYTES);
  const length = readSync(file, bytes, 0, SCRUB_STEP_BYTES, fromByte);
  for (let at = 0; at + layout.pageSize <= length; at += layout.pageSize) {
    const page = bytes.subarray(at, at + layout.pageSize);
    const pageNumber = (fromByte + at) / layout.pageSize + 1;
    if (zeroUnallocated(page, pageNumber, layout)) {
      writeSync(file, page, 0, layout.pageSize, fromByte + at);
    }
  }
  return length < SCRUB_STEP_BYTES ? -1 : fromByte + length;
}

/** A statement that is prepared anew when the connection behind it was replaced. */
function wrapStatement<Row>(
  path: string,
  sql: string,
  current: () => Connection,
): SqlStatement<Row> {
  const prepareOn = (connection: Connection): Database.Statement<SqlValue[], Row> =>
    translating(path, () => connection.sqlite.prepare<SqlValue[], Row>(sql));
  let preparedOn = current();
  let prepared = prepareOn(preparedOn);

  const statement = (): Database.Statement<SqlValue[], Row> => {
    const connection = current();
    if (connection !== preparedOn) {
      prepared = prepareOn(connection);
      preparedOn = connection;
    }
    return prepared;
  };

  return {
    run: (...values) => {
      try {
        return statement().run(...values).changes;
      } catch (error) {
        throw translate(path, error);
      }
    },
    get: (...values) => {
      try {
        return statement().get(...values);
      } catch (error) {
        throw translate(path, error);
      }
    },
    all: (...values) => {
      try {
        return statement().all(...values);
      } catch (error) {
        throw translate(path, error);
      }
    },
    iterate: function* (...values) {
      try {
        yield* statement().iterate(...values);
      } catch (error) {
        throw translate(path, error);
      }
    },
  };
}
