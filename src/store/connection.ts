/**
 * The connection behind an open database, and statements on it. It promises that a statement outlives a change of the
 * connection, and that one which meets another process's lock waits no longer than its kind may.
 */
import { translate, translating } from "./failures.ts";
import { readFileMarks, type FileMarks } from "./file-marks.ts";
import type { Sqlite, SqliteStatement, SqlValue } from "./sqlite.ts";

/** A prepared statement whose rows have the shape `Row`; the caller vouches for the shape of its own SQL. */
export interface SqlStatement<Row> {
  /** Runs a statement that gives no rows and returns how many rows it changed. */
  readonly run: (...values: readonly SqlValue[]) => number;
  readonly get: (...values: readonly SqlValue[]) => Row | undefined;
  readonly all: (...values: readonly SqlValue[]) => Row[];
  /** Rows one by one, so that memory stays flat. No other statement that writes may run meanwhile. */
  readonly iterate: (...values: readonly SqlValue[]) => IterableIterator<Row>;
}

/** How long a change waits: nobody is answered meanwhile, and none of our processes holds the file for long. */
export const CHANGE_PATIENCE_MS = 500;

export interface Connection {
  readonly sqlite: Sqlite;
  /** Whether this only stands in for a file that could not be opened for writing. */
  readonly isStandIn: boolean;
  /** The files that it has open. */
  readonly files: FileMarks;
  readonly begin: SqliteStatement<unknown>;
  readonly commit: SqliteStatement<unknown>;
  /** Counts the frames of the log; -1 where there is none (sqlite.org/pragma.html#pragma_wal_checkpoint). */
  readonly logState: SqliteStatement<{ readonly log: number; readonly checkpointed: number }>;
}

export function toConnection(path: string, sqlite: Sqlite, isStandIn: boolean): Connection {
  if (!isStandIn && !sqlite.readonly) waitFor(sqlite, CHANGE_PATIENCE_MS);
  const begin = sqlite.prepare<SqlValue[]>("BEGIN IMMEDIATE");
  const commit = sqlite.prepare<SqlValue[]>("COMMIT");
  const logState = sqlite.prepare<SqlValue[], { log: number; checkpointed: number }>(
    "PRAGMA wal_checkpoint(NOOP)",
  );
  return { sqlite, isStandIn, files: readFileMarks(path), begin, commit, logState };
}

/** The connection of the moment; throws while the file was left. */
export interface CurrentConnection {
  readonly get: () => Connection;
  readonly isLeft: () => boolean;
}

/** A statement that is prepared anew when the connection behind it was replaced. */
export function wrapStatement<Row>(
  path: string,
  sql: string,
  current: CurrentConnection,
  reading: <T>(read: () => T) => T,
): SqlStatement<Row> {
  const prepareOn = (connection: Connection): SqliteStatement<Row> =>
    translating(path, () => connection.sqlite.prepare<SqlValue[], Row>(sql));
  let preparedOn: Connection | null = null;
  let prepared: SqliteStatement<Row> | null = null;

  const statement = (): SqliteStatement<Row> => {
    const connection = current.get();
    if (prepared === null || connection !== preparedOn) {
      prepared = prepareOn(connection);
      preparedOn = connection;
    }
    return prepared;
  };

  // A schema that is not as it should be is met here, and not in the midst of something.
  if (!current.isLeft()) statement();
  return {
    run: (...values) => {
      try {
        return statement().run(...values).changes;
      } catch (error) {
        throw translate(path, error);
      }
    },
    get: (...values) => reading(() => statement().get(...values)),
    all: (...values) => reading(() => statement().all(...values)),
    iterate: function* (...values) {
      try {
        yield* statement().iterate(...values);
      } catch (error) {
        throw translate(path, error);
      }
    },
  };
}

/** How long a statement of this connection waits from now on for another process's lock. */
export function waitFor(sqlite: Sqlite, ms: number): void {
  sqlite.pragma(`busy_timeout = ${ms}`);
}
