/**
 * Work on the store while no daemon runs. It promises that there is one writer: while a daemon holds the data
 * folder, nothing here begins.
 */
import { mkdirSync } from "node:fs";
import { importBuckets, type ImportSummary } from "../activitywatch/import.ts";
import type { EventFacts } from "../capture/events.ts";
import { createPrivacyGate, type GateResult, type PrivacyGate } from "../capture/privacy.ts";
import { systemClock } from "../clock.ts";
import { readConfig } from "../config.ts";
import { silentLog } from "../log.ts";
import type { Paths } from "../paths.ts";
import { encryptStore, type EncryptReport } from "../store/encrypt.ts";
import { openEventStore, type EventStore } from "../store/events.ts";
import {
  createExchangeImporter,
  isExportHeader,
  type ExchangeSummary,
  type RawFacts,
} from "../store/exchange.ts";
import { acquireInstanceLock } from "../store/lock.ts";
import type { RecoveryReport } from "../store/recovery.ts";
import { repairStore, restoreBackup } from "../store/repair.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Takes an ActivityWatch export into the store, through the owner's privacy rules. `timeZone` is where it
 * happened; the machine's unless given. Throws `socket_in_use` while a daemon runs.
 */
export function importExport(
  paths: Paths,
  env: Environment,
  source: unknown,
  timeZone: string = systemClock.timeZone(),
): Promise<ImportSummary> {
  const gate = createPrivacyGate(readConfig(paths.configFile, env).privacy);
  return withStore(paths, async (store) => importBuckets(source, { store, gate, timeZone }));
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
    const importer = createExchangeImporter(header, store, (facts, atUs) =>
      admit(gate, facts, atUs),
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
  return whileLocked(paths, () => encryptStore(paths.dataDirectory, keyFile));
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
    const directory = paths.dataDirectory;
    const store = openEventStore({ directory, clock: systemClock, log: silentLog });
    try {
      return await work(store);
    } finally {
      store.close();
    }
  } finally {
    release();
  }
}

function lock(paths: Paths): () => void {
  process.umask(0o077);
  mkdirSync(paths.dataDirectory, { recursive: true, mode: 0o700 });
  return acquireInstanceLock(paths.dataDirectory, process.pid);
}

/** What the gate lets by of facts that come from a file, as if they were seen here and now. */
function admit(gate: PrivacyGate, facts: RawFacts, atUs: number): EventFacts | null {
  switch (facts.kind) {
    case "window": {
      const { app, title, place } = facts;
      const unknown = { pid: null, executable: null, private: null };
      return kept(gate.window({ app, title, url: place, ...unknown }, atUs));
    }
    case "tab": {
      const { app, title, place, audible } = facts;
      return kept(gate.tab({ app, title, url: place, audible, private: null }, atUs));
    }
    case "editor":
      return kept(gate.editor(facts, atUs));
    case "media":
      return kept(gate.media(facts, atUs));
    case "notification":
      return kept(gate.notification(facts, atUs));
    default:
      return facts;
  }
}

function kept(result: GateResult<EventFacts>): EventFacts | null {
  return result.verdict === "store" ? result.facts : null;
}
