/**
 * The only file that knows better-sqlite3: opening, pragmas, migrations, transactions and the translation
 * of SQLite's failures. It promises one writer with write-ahead logging, a schema no older than this
 * program, and that a database written by a newer program is refused without a byte of it changed.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { ActivityError, type ErrorCode } from "../errors.ts";
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
  /** Copies the database as it is at one moment into a new file, in steps that let other work through. */
  readonly backup: (destination: string) => Promise<void>;
  readonly close: () => void;
}

export interface OpenDatabaseOptions {
  readonly path: string;
  /** A reader never writes, creates or migrates; it sees every commit made before each of its statements. */
  readonly readonly?: boolean;
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
  const { path, readonly = false, busyTimeoutMs = 5000 } = options;
  return translating(path, () => {
    if (!readonly) {
      createPrivateFile(path);
      // Only before the first connection of this process: see `rawFile` on what closing a descriptor does.
      refuseNewerSchema(path);
    }
    const sqlite = new Database(path, { readonly, timeout: busyTimeoutMs, fileMustExist: true });
    try {
      assertSqliteVersion(sqlite);
      configure(sqlite, readonly);
      if (!readonly) migrate(sqlite);
      return wrap(path, sqlite);
    } catch (error) {
      sqlite.close();
      throw error;
    }
  });
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
      if (sqliteCode(error)?.startsWith("SQLITE_BUSY") === true) return null;
      throw error;
    }
    return () => {
      sqlite.close();
    };
  });
}

/** Creates the file and its directory for their owner alone; SQLite gives its log the mode of the file. */
function createPrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
}

/**
 * Looks before touching: a writer's first pragma would already change the file, and closing it would fold
 * its log in.
 */
function refuseNewerSchema(path: string): void {
  const version = schemaVersion(path);
  if (version <= MIGRATIONS.length) return;
  throw new ActivityError(
    "database_newer",
    `Cannot open ${path}: a newer activityd wrote it (schema ${version}, this one knows ${MIGRATIONS.length}).`,
    "Update activityd, or point it at another data folder. The file was not touched.",
  );
}

/** `user_version` stands at byte 60 of the header, big-endian (sqlite.org/fileformat2.html, section 1.3). */
function schemaVersion(path: string): number {
  if (statSync(path).size < 100) return 0;
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    const header = Buffer.alloc(100);
    const descriptor = openSync(path, "r");
    try {
      readSync(descriptor, header, 0, 100, 0);
    } finally {
      closeSync(descriptor);
    }
    return header.readUInt32BE(60);
  }
  // The log may hold a newer header; SQLite alone knows which of its frames count.
  const sqlite = new Database(path, { readonly: true });
  try {
    return Number(sqlite.pragma("user_version", { simple: true }));
  } finally {
    sqlite.close();
  }
}

function assertSqliteVersion(sqlite: Database.Database): void {
  const version = String(sqlite.prepare("SELECT sqlite_version()").pluck().get());
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const [oldMajor = 0, oldMinor = 0, oldPatch = 0] = OLDEST_SQLITE.split(".").map(Number);
  const isOld = major * 1e6 + minor * 1e3 + patch < oldMajor * 1e6 + oldMinor * 1e3 + oldPatch;
  if (!isOld) return;
  throw new ActivityError(
    "platform_unsupported",
    `SQLite ${version} is too old: before ${OLDEST_SQLITE} a reset of the write-ahead log could lose commits.`,
    "Reinstall the dependencies with: npm ci",
  );
}

function configure(sqlite: Database.Database, readonly: boolean): void {
  // A page read through a memory map turns an I/O error of the disk into a SIGBUS that kills the process.
  sqlite.pragma("mmap_size = 0");
  sqlite.pragma("trusted_schema = OFF");
  if (readonly) {
    sqlite.pragma("query_only = ON");
    return;
  }
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

function wrap(path: string, sqlite: Database.Database): StoreDatabase {
  const inTransaction = sqlite.transaction((work: () => unknown) => work());
  // POSIX drops all locks of a process on a file when it closes any descriptor of it: this one stays open
  // as long as the database does.
  let rawFile: number | null = null;

  const checkpoint = (mode: "idle" | "truncate"): boolean => {
    const pragma = mode === "idle" ? "wal_checkpoint(PASSIVE)" : "wal_checkpoint(TRUNCATE)";
    return translating(path, () => Number(sqlite.pragma(pragma, { simple: true })) === 0);
  };

  const scrubOnce = async (): Promise<boolean> => {
    // Pages in the cache still have the old bytes in them: they must be read anew before they are changed.
    if (!checkpoint("truncate")) return false;
    sqlite.pragma("shrink_memory");
    const file = (rawFile ??= openSync(path, "r+"));
    for (let fromByte = 0; fromByte >= 0;) {
      fromByte = translating(path, () => scrubStep(file, fromByte));
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    fsyncSync(file);
    return true;
  };
  return {
    path,
    prepare: <Row>(sql: string) =>
      wrapStatement<Row>(
        path,
        translating(path, () => sqlite.prepare<SqlValue[], Row>(sql)),
      ),
    execute: (sql) => {
      translating(path, () => sqlite.exec(sql));
    },
    transaction: <T>(work: () => T): T => {
      if (sqlite.inTransaction) return work();
      let result: { readonly value: T } | null = null;
      translating(path, () =>
        inTransaction.immediate(() => {
          result = { value: work() };
        }),
      );
      return settled<T>(result);
    },
    checkpoint,
    // Twice: a page that was changed during the first pass may have come from before it.
    scrub: async () => (await scrubOnce()) && (await scrubOnce()),
    backup: async (destination) => {
      try {
        await sqlite.backup(destination, { progress: () => 400 });
      } catch (error) {
        throw translate(destination, error);
      }
    },
    close: () => {
      sqlite.close();
      if (rawFile !== null) closeSync(rawFile);
      rawFile = null;
    },
  };
}

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

/** The value that a transaction which returned must have left. */
function settled<T>(result: { readonly value: T } | null): T {
  if (result === null)
    throw new ActivityError("internal", "A transaction ended without running its work.");
  return result.value;
}

function wrapStatement<Row>(
  path: string,
  statement: Database.Statement<SqlValue[], Row>,
): SqlStatement<Row> {
  return {
    run: (...values) => {
      try {
        return statement.run(...values).changes;
      } catch (error) {
        throw translate(path, error);
      }
    },
    get: (...values) => {
      try {
        return statement.get(...values);
      } catch (error) {
        throw translate(path, error);
      }
    },
    all: (...values) => {
      try {
        return statement.all(...values);
      } catch (error) {
        throw translate(path, error);
      }
    },
    iterate: function* (...values) {
      try {
        yield* statement.iterate(...values);
      } catch (error) {
        throw translate(path, error);
      }
    },
  };
}

function translating<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translate(path, error);
  }
}

/** What a failure of SQLite or of the file system means to a person. Other errors pass unchanged. */
function translate(path: string, error: unknown): unknown {
  if (error instanceof ActivityError) return error;
  const sqlite = sqliteCode(error);
  const found = FAILURES.find(({ codes }) => codes.test(sqlite ?? systemCode(error) ?? ""));
  if (found === undefined) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ActivityError(found.code, `${found.subject} ${path}: ${reason}.`, found.hint, {
    cause: error,
  });
}

const FAILURES: readonly {
  readonly codes: RegExp;
  readonly code: ErrorCode;
  readonly subject: string;
  readonly hint: string;
}[] = [
  {
    codes: /^SQLITE_(CORRUPT|NOTADB)/,
    code: "database_damaged",
    subject: "Damaged database",
    hint: "Recover what can be read with: activityd doctor --repair",
  },
  {
    codes: /^SQLITE_(BUSY|LOCKED|PROTOCOL)/,
    code: "database_busy",
    subject: "Another program holds the database",
    hint: "Try again; if it persists, close the program that has the file open.",
  },
  {
    codes:
      /^(SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM|AUTH)|E(NOSPC|IO|ROFS|ACCES|PERM|NOENT|DQUOT|MFILE|NOTDIR))/,
    code: "database_unwritable",
    subject: "Cannot write the database",
    hint: "Check free space and permissions of its folder; recording goes on by itself once it can be written.",
  },
];

function sqliteCode(error: unknown): string | null {
  return error instanceof Database.SqliteError ? error.code : null;
}

function systemCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : null;
}
