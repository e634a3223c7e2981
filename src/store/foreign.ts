/**
 * Reads a database of another program. It promises that nothing of it changes, not even a file beside it, also
 * while its program writes, and that what it wrote last is seen.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ActivityError } from "../errors.ts";
import { translating } from "./failures.ts";
import { connectForeign, type Sqlite } from "./sqlite.ts";

/** How the folders of copies begin that are being read. */
export const SCRATCH_PREFIX = "import-";

export interface ForeignDatabase {
  /** `PRAGMA user_version`. */
  readonly version: number;
  /** Names of the columns of a table; none when there is no such table. */
  readonly columns: (table: string) => readonly string[];
  /** Rows one by one, read as they are wanted and no longer than until `close`. What is in them was written by others. */
  readonly rows: (sql: string, ...values: readonly (string | number)[]) => Rows;
  readonly close: () => void;
}

type Rows = IterableIterator<Readonly<Record<string, unknown>>>;

/**
 * Opens a copy in `scratchDirectory`, with the log beside the file, which holds what is not in it yet: to open
 * the file itself would write beside it, and a log left by a crash can only be read by whoever may write.
 *
 * @throws ActivityError `bad_request` for what is no readable SQLite database
 */
export function openForeignDatabase(path: string, scratchDirectory: string): ForeignDatabase {
  const folder = mkdtempSync(join(scratchDirectory, SCRATCH_PREFIX));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  let sqlite: Sqlite | null = null;
  try {
    const copy = join(folder, "copy.db");
    copyAtRest(path, copy);
    sqlite = connectForeign(copy);
    const opened = sqlite;
    const version = Number(opened.pragma("user_version", { simple: true }));
    // Whoever needs no more of them just stops, and SQLite does not close while a row is still to come.
    const begun = new Set<Rows>();
    return {
      version,
      columns: (table) =>
        opened
          .prepare<string[], { name: string }>("SELECT name FROM pragma_table_info(?)")
          .all(table)
          .map(({ name }) => name),
      rows: (sql, ...values) => {
        const rows = opened
          .prepare<(string | number)[], Readonly<Record<string, unknown>>>(sql)
          .iterate(...values);
        begun.add(rows);
        return rows;
      },
      close: () => {
        for (const rows of begun) rows.return?.();
        opened.close();
        remove();
      },
    };
  } catch (cause) {
    sqlite?.close();
    remove();
    if (cause instanceof ActivityError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ActivityError(
      "bad_request",
      `Cannot read ${path} as a SQLite database: ${reason}.`,
      "An encrypted or damaged one cannot be read: export to JSON where it came from.",
      { cause },
    );
  }
}

const COPY_TRIES = 5;

/** A copy in whose making nothing was written: a file and a log that do not belong together tell lies. */
function copyAtRest(path: string, copy: string): void {
  for (let tries = 0; tries < COPY_TRIES; tries += 1) {
    const before = describe(path);
    for (const suffix of SUFFIXES) {
      rmSync(copy + suffix, { force: true });
      // What fails here is the disk that the copy goes to: what is copied was just read.
      if (existsSync(path + suffix))
        translating(copy, () => copyFileSync(path + suffix, copy + suffix));
    }
    if (describe(path) === before) return;
  }
  throw new ActivityError(
    "bad_request",
    `${path} is being written all the time and cannot be copied.`,
    "Stop the program that writes it, such as aw-server, and try again.",
  );
}

const SUFFIXES = ["", "-wal", "-journal"] as const;

function describe(path: string): string {
  return SUFFIXES.map((suffix) => {
    const stat = statSync(path + suffix, { throwIfNoEntry: false, bigint: true });
    return stat === undefined ? "none" : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
  }).join(" ");
}
