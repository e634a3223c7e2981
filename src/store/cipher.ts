/**
 * Encryption at rest: whether a data folder is encrypted, where its key lies, and the build of SQLite that can
 * use it. It promises that a folder marked as encrypted is never opened as plain text, and that a key which
 * cannot be had is told apart from a damaged database.
 */
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ActivityError } from "../errors.ts";
import { writeWhole } from "../whole-file.ts";

/** Where the key of a data folder lies. */
export type KeyPlace =
  | { readonly keyIn: "file"; readonly path: string }
  | { readonly keyIn: "keychain"; readonly account: string };

/** The packages are the owner's to install: they compile for minutes, and most folders are not encrypted. */
export const CIPHER_PACKAGES = "better-sqlite3-multiple-ciphers@12.11.1 @napi-rs/keyring@2.1.2";

/** Marks a data folder as encrypted, for the files in it and in the folders below it. */
export const KEY_PLACE_FILE = "encryption.json";

/** The key that a database file is to be opened with, as 64 hex digits; null in a folder that is not encrypted. */
export function keyFor(databasePath: string): string | null {
  const place = keyPlaceFor(databasePath);
  return place === null ? null : readKey(place);
}

/** Whether a database file lies in an encrypted folder. */
export function isEncrypted(databasePath: string): boolean {
  return keyPlaceFor(databasePath) !== null;
}

/** Where the key of a data folder lies; null when it is not encrypted. */
export function readKeyPlace(directory: string): KeyPlace | null {
  return readMarker(join(directory, KEY_PLACE_FILE));
}

/** Marks a data folder as encrypted. */
export function writeKeyPlace(directory: string, place: KeyPlace): void {
  const path = join(directory, KEY_PLACE_FILE);
  writeWhole(path, `${JSON.stringify(place)}\n`);
}

/**
 * Makes a key and lays it into the keychain of the desktop, or into a file for its owner alone. A key that is
 * there already is kept: it may be that of a conversion which was interrupted.
 *
 * @throws ActivityError `database_key` when the keychain does not take it, or the file is there and holds something else
 */
export function layKey(place: KeyPlace): void {
  const key = randomBytes(32).toString("hex");
  if (place.keyIn === "file") {
    layKeyFile(place.path, key);
    return;
  }
  const entry = keychainEntry(place.account);
  if (entry.getPassword() === null) entry.setPassword(key);
}

/** Whether a file is a database that needs no key: every one begins with these bytes (sqlite.org/fileformat2.html). */
export function isPlainText(path: string): boolean {
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

/** What to say to a database that its key does not open. */
export function wrongKey(databasePath: string, cause: unknown): ActivityError {
  return new ActivityError(
    "database_key",
    `The key does not open ${databasePath}: it is another key's, or damaged.`,
    "Bring back the key, or a backup with: activityd restore",
    { cause },
  );
}

/** Whole and on the disk, or not at all: whoever has half a key has lost the record. */
function layKeyFile(path: string, key: string): void {
  // What cannot be read may be a key.
  const there = existsSync(path) ? (readKeyFile(path) ?? "unreadable") : "";
  if (isKey(there)) return;
  if (there !== "") {
    throw new ActivityError(
      "database_key",
      `${path} is there and holds no key.`,
      "Name a file that is not there yet: activityd encrypt --key-file FILE",
    );
  }
  const folder = dirname(path);
  writeWhole(path, `${key}\n`, { flush: true });
  syncFolder(folder);
}

/** A file that was renamed is under its new name after a power cut too. Not everywhere can a folder be opened. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Windows: there the rename itself is durable enough.
  }
}

function isKey(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function keyPlaceFor(databasePath: string): KeyPlace | null {
  // Backups lie one folder below the database, what was set aside two.
  let folder = dirname(databasePath);
  for (let up = 0; up < 3; up += 1) {
    const place = readKeyPlace(folder);
    if (place !== null) return place;
    folder = dirname(folder);
  }
  return null;
}

function readMarker(path: string): KeyPlace | null {
  if (!existsSync(path)) return null;
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    value = null;
  }
  const place = parsePlace(value);
  if (place !== null) return place;
  throw new ActivityError(
    "database_key",
    `Cannot read ${path}, which says where the key of the database lies.`,
    'It should hold {"keyIn":"file","path":"…"} or {"keyIn":"keychain","account":"…"}.',
  );
}

/** By hand: every thread that reads the record loads this file, and a library for two fields would weigh 3 MB in each. */
function parsePlace(value: unknown): KeyPlace | null {
  if (typeof value !== "object" || value === null) return null;
  const { keyIn, path, account }: Readonly<Record<string, unknown>> = { ...value };
  if (keyIn === "file" && typeof path === "string" && path !== "") return { keyIn, path };
  if (keyIn === "keychain" && typeof account === "string" && account !== "")
    return { keyIn, account };
  return null;
}

/** The key that lies at a place, as 64 hex digits. Throws `database_key` when there is none. */
export function readKey(place: KeyPlace): string {
  const key =
    place.keyIn === "file" ? readKeyFile(place.path) : keychainEntry(place.account).getPassword();
  if (key !== null && isKey(key)) return key;
  const where =
    place.keyIn === "file" ? place.path : `the keychain under activityd, ${place.account}`;
  throw new ActivityError(
    "database_key",
    `The database is encrypted, and its key is not in ${where}.`,
    "Bring the key back there: without it nobody can read the record. To begin a new one, move the data folder away.",
  );
}

function readKeyFile(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Absent or not ours to read: either way there is no key.
    return null;
  }
}

interface KeychainEntry {
  readonly getPassword: () => string | null;
  readonly setPassword: (password: string) => void;
}

function keychainEntry(account: string): KeychainEntry {
  // The package's own types are not there where it is not installed.
  const keyring = requirePackage("@napi-rs/keyring") as {
    readonly Entry: new (service: string, account: string, options?: object) => KeychainEntry;
  };
  // Without it the package falls back to the kernel's own keys, which are gone after a restart, and with them
  // the record.
  const lasting = process.platform === "linux" ? { linux: { store: "secret-service" } } : {};
  const guarded = <T>(work: (entry: KeychainEntry) => T): T => {
    try {
      return work(new keyring.Entry("activityd", account, lasting));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new ActivityError(
        "database_key",
        `The keychain of this desktop does not answer: ${reason}.`,
        "Unlock it, or keep the key in a file with: activityd encrypt --key-file FILE",
        { cause },
      );
    }
  };
  return {
    getPassword: () => guarded((entry) => entry.getPassword()),
    setPassword: (password) => {
      guarded((entry) => {
        entry.setPassword(password);
      });
    },
  };
}

/** A package that is the owner's to install. Throws `platform_unsupported` when it is not there. */
export function requirePackage(name: string): unknown {
  try {
    return createRequire(import.meta.url)(name);
  } catch (cause) {
    throw new ActivityError(
      "platform_unsupported",
      `An encrypted database needs the package ${name}, which is not installed.`,
      `Install it beside activityd: npm install -g --allow-scripts=better-sqlite3-multiple-ciphers ${CIPHER_PACKAGES}; in a checkout, there: npm install ${CIPHER_PACKAGES}`,
      { cause },
    );
  }
}
