/**
 * Turning a plain data folder into an encrypted one. It promises that at every moment, whenever it is cut
 * off, either the plain or the encrypted database is whole and in its place, and that running it again ends it.
 */
import {
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  closeSync,
  renameSync,
  rmSync,
} from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { removeCopies } from "./backups.ts";
import {
  keyFor,
  layKey,
  readKeyPlace,
  requirePackage,
  writeKeyPlace,
  type KeyPlace,
} from "./cipher.ts";
import { openDatabase } from "./database.ts";
import { countRows, encryptFile } from "./sqlite.ts";
import { DATABASE_FILE } from "./events.ts";
import { ActivityError } from "../errors.ts";

export interface EncryptReport {
  readonly place: KeyPlace;
  /** False when the folder was encrypted already. */
  readonly changed: boolean;
  /** Copies in plain text that were removed: backups, and databases that were set aside. */
  readonly removedCopies: number;
}

/**
 * Encrypts the database of a folder with a new key. No one may have it open. `keyFile` is where the key lies
 * when it is not to lie in the keychain.
 *
 * @throws ActivityError `platform_unsupported`, `database_key`, `database_unwritable`
 */
export function encryptStore(directory: string, keyFile: string | null): EncryptReport {
  const path = join(directory, DATABASE_FILE);
  const known = readKeyPlace(directory);
  if (known !== null && (!existsSync(path) || !isPlainText(path))) {
    return { place: known, changed: false, removedCopies: 0 };
  }
  requirePackage("better-sqlite3-multiple-ciphers");
  const place: KeyPlace =
    known ??
    (keyFile === null
      ? { keyIn: "keychain", account: randomUUID() }
      : { keyIn: "file", path: keyFile });
  layKey(place);
  const fresh = `${path}.encrypting`;
  // With the marker in its place the plain file can no longer be opened as ours; it is only read from here.
  if (known === null) foldLog(path);
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(fresh + suffix, { force: true });
  copyFileSync(path, fresh);
  writeKeyPlace(directory, place);
  const key = keyFor(path);
  if (key === null)
    throw new ActivityError("internal", "A folder lost its mark as it was encrypted.");
  encryptFile(fresh, key);
  if (countRows(path, null) !== countRows(fresh, key)) {
    throw new ActivityError(
      "internal",
      "The encrypted database does not hold what the plain one does.",
    );
  }
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  renameSync(fresh, path);
  return { place, changed: true, removedCopies: removeCopies(directory) };
}

/** Whether a file is a database that needs no key. */
function isPlainText(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(16);
    return (
      readSync(file, header, 0, 16, 0) === 16 && header.toString("latin1") === "SQLite format 3\0"
    );
  } finally {
    closeSync(file);
  }
}

/** Brings everything into the database file itself. */
function foldLog(path: string): void {
  const database = openDatabase({ path });
  database.checkpoint("truncate");
  database.close();
}
