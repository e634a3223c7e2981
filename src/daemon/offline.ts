/**
 * Work on the store while no daemon runs. It promises that there is one writer: while a daemon holds the data
 * folder, nothing here begins.
 */
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { readDatabase, usualPlaces } from "../activitywatch/databases.ts";
import { readExport, type History } from "../activitywatch/history.ts";
import { importHistory, type ImportSummary } from "../activitywatch/import.ts";
import type { Blindness } from "../capture/sources/source.ts";
import { createPrivacyGate } from "../capture/privacy.ts";
import { admitFacts } from "../capture/privacy/facts.ts";
import { systemClock } from "../clock.ts";
import { readConfig } from "../config.ts";
import { silentLog } from "../log.ts";
import { leftUnheard } from "../hub/hub-report.ts";
import { readIdentity, writeIdentity } from "../hub/identity.ts";
import { createDevices, takesPart } from "../store/devices.ts";
import { leaveRecords } from "../store/devices/leave.ts";
import { createOutbox } from "../store/devices/outbox.ts";
import { makeFolder } from "../make-folder.ts";
import type { Paths } from "../paths.ts";
import { isPlainText, readKeyPlace } from "../store/cipher.ts";
import { encryptStore, type EncryptReport } from "../store/encrypt.ts";
import { createBucketStore } from "../store/buckets.ts";
import { DATABASE_FILE, openEventStore, type EventStore } from "../store/events.ts";
import { createExchangeImporter, isExportHeader, type ExchangeSummary } from "../store/exchange.ts";
import { openForeignDatabase } from "../store/foreign.ts";
import { HELD_FILE } from "../store/held-events.ts";
import { acquireInstanceLock } from "../store/lock.ts";
import type { RecoveryReport } from "../store/recovery.ts";
import { clearRemains } from "../store/recovery/remains.ts";
import { repairStore, restoreBackup } from "../store/recovery/repair.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** An ActivityWatch history that is open for reading. */
export interface OpenHistory {
  readonly eventCount: number;
  /** Takes it into the store, through the owner's privacy rules. `onEvent` is told the number of events so far. */
  readonly importAll: (onEvent: (count: number) => void) => Promise<ImportSummary>;
  readonly close: () => void;
}

/** The databases of ActivityWatch's servers that are in their usual places, and those places. */
export function findHistories(env: Environment): {
  readonly found: readonly string[];
  readonly looked: readonly string[];
} {
  const looked = usualPlaces(env, homedir());
  return { found: looked.filter((path) => existsSync(path)), looked };
}

/**
 * Whether a file is a database and no export. A folder or a pipe is none: what comes through a pipe could not be read a
 * second time.
 */
export function isDatabase(file: string): boolean {
  try {
    return file !== "-" && statSync(file).isFile() && isPlainText(file);
  } catch {
    // Told with more sense where it is read.
    return false;
  }
}

/**
 * Opens the database of one of ActivityWatch's servers. Throws `bad_request` for what is none, `socket_in_use` while a
 * daemon runs: nobody waits for the copy of a large one to be told.
 */
export function openHistoryDatabase(
  paths: Paths,
  env: Environment,
  path: string,
  timeZone?: string,
): OpenHistory {
  const release = lock(paths);
  try {
    const database = openForeignDatabase(path, paths.dataDirectory);
    const close = (): void => {
      database.close();
      release();
    };
    try {
      const opened = openHistory(paths, env, readDatabase(database, path), timeZone);
      return { ...opened, close };
    } catch (thrown) {
      database.close();
      throw thrown;
    }
  } catch (thrown) {
    release();
    throw thrown;
  }
}

/** Opens the parsed JSON of an ActivityWatch export. Throws `bad_request` for what is none. */
export function openHistoryExport(
  paths: Paths,
  env: Environment,
  source: unknown,
  timeZone?: string,
): OpenHistory {
  const history = readExport(source);
  const release = lock(paths);
  return { ...openHistory(paths, env, history, timeZone), close: release };
}

/** For who holds the lock. */
function openHistory(
  paths: Paths,
  env: Environment,
  history: History,
  timeZone: string = systemClock.timeZone(),
): Omit<OpenHistory, "close"> {
  return {
    eventCount: history.buckets.reduce((sum, { eventCount }) => sum + eventCount, 0),
    importAll: (onEvent) =>
      inStore(paths, async (store) => {
        const gate = createPrivacyGate(readConfig(paths.configFile, env).privacy);
        const rows = createBucketStore(store.database);
        const nowUs = systemClock.nowUs();
        return importHistory(history, { store, rows, gate, timeZone, nowUs, onEvent });
      }),
  };
}

/** Whether a first line begins an export of our own. */
export function isOwnExport(line: string): boolean {
  return isExportHeader(line);
}

/**
 * Takes an export of our own into the store, through the owner's privacy rules, line by line. `onLine` is
 * told the number of lines so far. Throws `socket_in_use` while a daemon runs.
 */
export function importLines(
  paths: Paths,
  env: Environment,
  header: string,
  lines: AsyncIterable<string>,
  onLine: (count: number) => void,
): Promise<ExchangeSummary> {
  const gate = createPrivacyGate(readConfig(paths.configFile, env).privacy);
  return withStore(paths, async (store) => {
    const importer = createExchangeImporter(
      header,
      store,
      (facts, atUs) => admitFacts(gate, facts, atUs),
      systemClock.nowUs(),
    );
    let count = 0;
    for await (const line of lines) {
      importer.take(line);
      count += 1;
      onLine(count);
    }
    return importer.finish();
  });
}

/** Recovers a damaged database; null when nothing is wrong. Throws `socket_in_use` while a daemon runs. */
export function repair(paths: Paths): RecoveryReport | null {
  return whileLocked(paths, () => repairStore(paths.dataDirectory, systemClock.nowUs(), silentLog));
}

/** See `restoreBackup`. Throws `socket_in_use` while a daemon runs. */
export function restore(paths: Paths, backupPath: string): string | null {
  return whileLocked(paths, () =>
    restoreBackup(paths.dataDirectory, backupPath, systemClock.nowUs()),
  );
}

/** See `encryptStore`. Throws `socket_in_use` while a daemon runs. */
export function encrypt(paths: Paths, keyFile: string | null): EncryptReport {
  const { dataDirectory: directory } = paths;
  return whileLocked(paths, () => {
    // What was recorded beside a damaged record would stay in plain text: it belongs in there.
    if (readKeyPlace(directory) === null && existsSync(join(directory, HELD_FILE)))
      openEventStore({ directory, clock: systemClock, log: silentLog }).close();
    const report = encryptStore(directory, keyFile);
    // The keys of the hub would tell what the database hides: they are sealed from now on.
    const identity = readIdentity(directory);
    if (identity !== null) writeIdentity(directory, identity);
    return report;
  });
}

/**
 * Takes what other devices recorded out of the store, and ends the noting of changes for them. Says what is to be known
 * then; null where there is no hub in it.
 */
export async function leaveOffline(paths: Paths): Promise<readonly Blindness[] | null> {
  if (!existsSync(join(paths.dataDirectory, DATABASE_FILE))) return null;
  return withStore(paths, async (store) => {
    const device = createOutbox(store.database).readLog()?.device;
    const isHeard = device === undefined || !createDevices(store.database).all().some(takesPart);
    if (!(await leaveRecords(store))) return null;
    return isHeard ? [] : [leftUnheard(device)];
  });
}

function whileLocked<T>(paths: Paths, work: () => T): T {
  const release = lock(paths);
  try {
    return work();
  } finally {
    release();
  }
}

async function withStore<T>(paths: Paths, work: (store: EventStore) => Promise<T>): Promise<T> {
  const release = lock(paths);
  try {
    return await inStore(paths, work);
  } finally {
    release();
  }
}

/** For who holds the lock. */
async function inStore<T>(
  { dataDirectory: directory }: Paths,
  work: (store: EventStore) => Promise<T>,
): Promise<T> {
  const store = openEventStore({ directory, clock: systemClock, log: silentLog });
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

function lock({ dataDirectory }: Paths): () => void {
  process.umask(0o077);
  makeFolder(dataDirectory);
  const release = acquireInstanceLock(dataDirectory, process.pid);
  clearRemains(dataDirectory, systemClock.nowUs() / 1000);
  return release;
}
