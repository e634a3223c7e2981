/**
 * Turning a plain data folder into an encrypted one. It promises that at every moment, whenever it is cut
 * off, either the plain or the encrypted database is whole and in its place, and that running it again ends it.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { copyDatabase, removeCopies, removeDatabase } from "./backups.ts";
import {
  isPlainText,
  layKey,
  readKey,
  readKeyPlace,
  requirePackage,
  writeKeyPlace,
  type KeyPlace,
} from "./cipher.ts";
import { openDatabase } from "./database.ts";
import { translating } from "./failures.ts";
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
    // One that was cut off may not have come to the copies.
    return { place: known, changed: false, removedCopies: removeCopies(directory, "plain") };
  }
  requirePackage("better-sqlite3-multiple-ciphers");
  const place: KeyPlace =
    known ??
    (keyFile === null
      ? { keyIn: "keychain", account: randomUUID() }
      : { keyIn: "file", path: keyFile });
  layKey(place);
  const key = readKey(place);
  const fresh = `${path}.encrypting`;
  if (known === null) foldLog(path);
  try {
    translating(path, () => copyDatabase(path, fresh));
    encryptFile(fresh, key);
    if (countRows(path, null) !== countRows(fresh, key)) {
      throw new ActivityError(
        "internal",
        "The encrypted database does not hold what the plain one does.",
      );
    }
    // As late as can be: with the mark in its place the plain file can no longer be opened as ours.
    writeKeyPlace(directory, place);
    for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
    renameSync(fresh, path);
  } finally {
    removeDatabase(fresh);
  }
  // In a folder that was encrypted before there may be copies that are encrypted, and the only ones.
  const removedCopies = removeCopies(directory, known === null ? "all" : "plain");
  return { place, changed: true, removedCopies };
}

/** Brings everything into the database file itself. */
function foldLog(path: string): void {
  const database = openDatabase({ path });
  database.checkpoint("truncate");
  database.close();
}
