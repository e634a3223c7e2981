/**
 * A database for the rest of the store: statements, transactions, housekeeping. It promises one writer,
 * statements that outlive a change of the connection beneath them, and failures that say what they mean.
 */
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ActivityError } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import { isEncrypted, readKeyPlace, writeKeyPlace } from "./cipher.ts";
import {
  CHANGE_PATIENCE_MS,
  toConnection,
  waitFor,
  wrapStatement,
  type Connection,
  type SqlStatement,
} from "./connection.ts";
import { isBusy, isDamaged, isUnwritable, translate, translating } from "./failures.ts";
import { readFileMarks, readLook, removeLeftLog, removeLog } from "./file-marks.ts";
import { scrubStep } from "./scrub.ts";
import {
  connectNothing,
  connectReader,
  connectStandIn,
  connectWriter,
  createPrivateFile,
  PATIENCE_MS,
  type Sqlite,
} from "./sqlite.ts";

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
  /** Pages of the write-ahead log that are not in the database file yet. Costs about a microsecond. */
  readonly logPages: () => number;
  /** Calls `committed` after every transaction that was committed; at most one listens. */
  readonly onCommit: (committed: () => void) => void;
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
   * Looks whether the files are those that were opened, and sees to it that what is committed stands in the file at
   * the path. Where another file was put there and has come to rest, `takeUp` is told where a copy of all that was
   * committed here lies now, and the work goes on with what is at the path after it.
   */
  readonly rescue: (copyTo: () => string, takeUp: (copy: string) => void) => Rescue;
  /** Lets go of the file, such as for another to be put in its place: until `comeBack`, all that needs it throws `why`. */
  readonly leave: (why: () => ActivityError) => void;
  /** Goes on with what is at the path. */
  readonly comeBack: () => void;
  /** Before `close`: where another file was put in the place of the open one, leaves it alone, and a copy at `copyTo`. */
  readonly giveWay: (copyTo: () => string) => void;
  readonly close: () => void;
}

/**
 * What was needed: nothing; the file was gone and was `written` anew; its log was gone and was `folded` into the
 * file; another file was `taken` up.
 */
export type Rescue = "none" | "written" | "folded" | "taken";

export interface OpenDatabaseOptions {
  readonly path: string;
  /** `reader`: never writes, creates or migrates; sees every commit made before each of its statements. */
  readonly role?: "writer" | "reader";
  /**
   * A writer that cannot write opens all the same: it reads what can be read, every transaction first tries
   * again to open the file, and throws `database_unwritable` when that fails.
   */
  readonly tolerant?: boolean;
  /** Opens as a database that was left, see `leave`: the file is not touched before `comeBack`. */
  readonly leftFor?: () => ActivityError;
  /**
   * Told when a read outside of a transaction meets damage. True: the database was mended, and the read is done
   * once more.
   */
  readonly onDamage?: (damage: string) => boolean;
}
/**
 * Opens a database file, making and migrating it when need be.
 *
 * @throws ActivityError `database_newer`, `database_damaged`, `database_unwritable`, `database_busy`
 */
export function openDatabase(options: OpenDatabaseOptions): StoreDatabase {
  const { path, role = "writer", tolerant = false } = options;
  const { onDamage = () => false, leftFor = null } = options;
  const connect = (): Sqlite =>
    translating(path, () => (role === "reader" ? connectReader(path) : connectWriter(path)));
  const open = (): Connection => {
    try {
      return toConnection(path, connect(), false);
    } catch (error) {
      if (!tolerant || !isUnwritable(error)) throw error;
      return toConnection(path, connectStandIn(path), true);
    }
  };
  return wrap(path, connect, open, leftFor, onDamage);
}

function wrap(
  path: string,
  connect: () => Sqlite,
  open: () => Connection,
  leftFor: (() => ActivityError) | null,
  onDamage: (damage: string) => boolean,
): StoreDatabase {
  /** Why the file was left; null: it is here. */
  let left = leftFor;
  let connection = left === null ? open() : nowhere(path);
  // POSIX drops all locks of a process on a file when it closes any descriptor of it: this one stays open
  // as long as the connection does.
  let rawFile: number | null = null;

  /** The connection whose last change found the file held by another process. */
  let heldUp: Sqlite | null = null;
  /** How a file looked lately that somebody put at the path. */
  let newcomer: string | null = null;
  const keyPlace = readKeyPlace(dirname(path));
  let committed = (): void => {};

  const here = (): Connection => {
    if (left !== null) throw left();
    return connection;
  };
  const current = { get: here, isLeft: () => left !== null };

  const replace = (sqlite: Sqlite): void => {
    connection.sqlite.close();
    closeRawFile();
    connection = toConnection(path, sqlite, false);
  };

  const closeRawFile = (): void => {
    if (rawFile !== null) closeSync(rawFile);
    rawFile = null;
  };

  /**
   * A program that holds the file for minutes, such as a browser of databases in which something is being edited, is waited
   * for once: with every change anew, the daemon would do nothing else.
   */
  const beginChange = (): void => {
    const { sqlite, begin } = connection;
    try {
      begin.run();
    } catch (error) {
      if (heldUp !== sqlite && isBusy(translate(path, error))) {
        heldUp = sqlite;
        waitFor(sqlite, 0);
      }
      throw error;
    }
    if (heldUp === sqlite) waitFor(sqlite, CHANGE_PATIENCE_MS);
    heldUp = null;
  };

  const transaction = <T>(work: () => T): T => {
    if (here().sqlite.inTransaction) return work();
    if (connection.isStandIn) replace(connect());
    const { sqlite, commit } = connection;
    return translating(path, () => {
      beginChange();
      try {
        const result = work();
        commit.run();
        committed();
        return result;
      } catch (error) {
        // A full disk may have rolled back already.
        if (sqlite.inTransaction) sqlite.exec("ROLLBACK");
        throw error;
      }
    });
  };

  const checkpoint = (mode: "idle" | "truncate"): boolean => {
    const { sqlite } = here();
    const move = (pragma: string): boolean =>
      translating(path, () => Number(sqlite.pragma(pragma, { simple: true })) === 0);
    if (mode === "idle") return move("wal_checkpoint(PASSIVE)");
    waitFor(sqlite, PATIENCE_MS);
    try {
      return move("wal_checkpoint(TRUNCATE)");
    } finally {
      waitFor(sqlite, heldUp === sqlite ? 0 : CHANGE_PATIENCE_MS);
    }
  };

  /** Does a read, and does it again when damage that it met was mended. */
  const reading = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      const translated = translate(path, error);
      const isMended =
        isDamaged(translated) && !connection.sqlite.inTransaction && onDamage(translated.message);
      if (!isMended) throw translated;
      return translating(path, read);
    }
  };

  /** The connection still has files without a name, with every commit in them. */
  const copyInto = (copy: string): void => {
    makeFolder(dirname(copy));
    rmSync(copy, { force: true });
    connection.sqlite.prepare("VACUUM INTO ?").run(copy);
  };

  /** What is written anew is encrypted as before: without the mark beside it, it would be taken for noise. */
  const markAgain = (): void => {
    if (keyPlace === null || readKeyPlace(dirname(path)) !== null) return;
    makeFolder(dirname(path));
    writeKeyPlace(dirname(path), keyPlace);
  };

  const rescue = (copyTo: () => string, takeUp: (copy: string) => void): Rescue => {
    const { files } = connection;
    const there = readFileMarks(path);
    if (there.database !== files.database) markAgain();
    if (there.database === null) {
      const fresh = `${path}.rescued`;
      copyInto(fresh);
      removeLeftLog(path, files);
      renameSync(fresh, path);
      replace(connect());
      return "written";
    }
    if (there.database !== files.database) {
      const look = readLook(path);
      const isAtRest = look === newcomer;
      newcomer = look;
      if (!isAtRest) return "none";
      const copy = copyTo();
      copyInto(copy);
      connection.sqlite.close();
      closeRawFile();
      removeLeftLog(path, files);
      try {
        takeUp(copy);
      } finally {
        connection = toConnection(path, connect(), false);
      }
      return "taken";
    }
    if (there.log === files.log && there.index === files.index) return "none";
    // A reader that holds it up is gone at the next look.
    if (!checkpoint("truncate")) return "none";
    connection.sqlite.close();
    closeRawFile();
    removeLog(path);
    connection = toConnection(path, connect(), false);
    return "folded";
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
      await nextTurn();
    }
    return true;
  };

  return {
    path,
    prepare: <Row>(sql: string) => wrapStatement<Row>(path, sql, current, reading),
    execute: (sql) => {
      translating(path, () => here().sqlite.exec(sql));
    },
    transaction,
    checkpoint,
    logPages: () => {
      const row = translating(path, () => connection.logState.get());
      return row === undefined ? 0 : Math.max(0, row.log - row.checkpointed);
    },
    onCommit: (listener) => {
      committed = listener;
    },
    // Twice: a page that was changed during the first pass may have come from before it.
    scrub: async () => (await scrubOnce()) && (await scrubOnce()),
    readRaw: (into, fromByte) =>
      translating(path, () => {
        here();
        return readSync(openRaw(), into, 0, into.length, fromByte);
      }),
    backup: async (destination) => {
      here();
      try {
        createPrivateFile(destination);
        if (isEncrypted(path)) {
          // The backup interface copies pages as they are, which two keyed connections refuse.
          rmSync(destination);
          connection.sqlite.prepare("VACUUM INTO ?").run(destination);
          return;
        }
        await connection.sqlite.backup(destination, { progress: () => BACKUP_PAGES_PER_STEP });
      } catch (error) {
        throw translate(destination, error);
      }
    },
    rescue: (copyTo, takeUp) => {
      if (connection.isStandIn || connection.sqlite.inTransaction) return "none";
      return translating(path, () => rescue(copyTo, takeUp));
    },
    leave: (why) => {
      connection.sqlite.close();
      closeRawFile();
      left = why;
      connection = nowhere(path);
    },
    comeBack: () => {
      const found = open();
      connection.sqlite.close();
      connection = found;
      left = null;
    },
    giveWay: (copyTo) => {
      const { files, isStandIn, sqlite } = connection;
      const there = readFileMarks(path).database;
      if (isStandIn || !sqlite.open || there === null || there === files.database) return;
      translating(path, () => {
        copyInto(copyTo());
        removeLeftLog(path, files);
      });
    },
    close: () => {
      connection.sqlite.close();
      closeRawFile();
    },
  };
}

function nowhere(path: string): Connection {
  return toConnection(path, connectNothing(), true);
}

/** 1.6 MB: a few milliseconds. */
const BACKUP_PAGES_PER_STEP = 400;
