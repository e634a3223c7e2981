/**
 * Work on the store while no daemon runs. It promises that there is one writer: while a daemon holds the data
 * folder, nothing here begins.
 */
import { mkdirSync } from "node:fs";
import { importBuckets, type ImportSummary } from "../activitywatch/import.ts";
import { createPrivacyGate } from "../capture/privacy.ts";
import { systemClock } from "../clock.ts";
import { readConfig } from "../config.ts";
import { silentLog } from "../log.ts";
import type { Paths } from "../paths.ts";
import { openEventStore, type EventStore } from "../store/events.ts";
import { acquireInstanceLock } from "../store/lock.ts";

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
): ImportSummary {
  const gate = createPrivacyGate(readConfig(paths.configFile, env).privacy);
  return withStore(paths, (store) => importBuckets(source, { store, gate, timeZone }));
}

function withStore<T>(paths: Paths, work: (store: EventStore) => T): T {
  process.umask(0o077);
  mkdirSync(paths.dataDirectory, { recursive: true, mode: 0o700 });
  const release = acquireInstanceLock(paths.dataDirectory, process.pid);
  try {
    const store = openEventStore({
      directory: paths.dataDirectory,
      clock: systemClock,
      log: silentLog,
    });
    try {
      return work(store);
    } finally {
      store.close();
    }
  } finally {
    release();
  }
}
