/**
 * Looking into the data folder without asking a daemon: one may run beside it or not. It promises to change
 * nothing that a daemon holds.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { EventFacts } from "../capture/events.ts";
import { judgeAgain } from "../capture/privacy/facts.ts";
import type { PrivacyConfig } from "../capture/privacy/rules.ts";
import { createPrivacyGate } from "../capture/privacy.ts";
import { ActivityError, howToMend, whyRefused } from "../errors.ts";
import type { Paths } from "../paths.ts";
import { createBackup, listBackups, type Backup } from "../store/backups.ts";
import { openDatabase, type StoreDatabase } from "../store/database.ts";
import { refuseNewerSchema } from "../store/sqlite.ts";
import { DATABASE_FILE } from "../store/events.ts";
import { planRules } from "../store/forget/plan.ts";
import { countForExport, exportLines } from "../store/exchange.ts";
import { recoveringError } from "../store/failures.ts";
import { checkStore, type StoreHealth } from "../store/recovery/repair.ts";
import { isRecovering } from "../store/recovery/under-way.ts";
import {
  searchDocuments,
  type SearchAnswer,
  type SearchRequest,
} from "../store/readings/search-query.ts";

/** The record as text, some thousand lines at a time, with how many events there are in all and in each part. */
export function* readExport(
  paths: Paths,
): Generator<{ readonly text: string; readonly events: number; readonly total: number }> {
  const database = openForReading(paths);
  try {
    const total = countForExport(database);
    for (const part of exportLines(database)) yield { ...part, total };
  } finally {
    database.close();
  }
}

/** Searches the database itself. */
export function searchOffline(paths: Paths, request: SearchRequest): SearchAnswer {
  const database = openForReading(paths);
  try {
    return searchDocuments(database, request);
  } finally {
    database.close();
  }
}

/** Copies the database as it is now. */
export async function backUp(paths: Paths): Promise<Backup> {
  process.umask(0o077);
  const database = openForReading(paths);
  try {
    return await createBackup(database, paths.dataDirectory, Date.now() * 1000);
  } finally {
    database.close();
  }
}

/** The backups there are, newest first. */
export function readBackups(paths: Paths): readonly Backup[] {
  return listBackups(paths.dataDirectory);
}

/** How the database is; reads all of it. */
export function examine(paths: Paths): StoreHealth {
  return checkStore(paths.dataDirectory);
}

/** When the newest event began; null when there is none. Throws what keeps the database from being read. */
export function readNewest(paths: Paths): { readonly startUs: number } | null {
  const path = join(paths.dataDirectory, DATABASE_FILE);
  if (!existsSync(path)) return null;
  refuseNewerSchema(path);
  const database = openDatabase({ path, role: "reader" });
  try {
    // Another program's database, or one that was never begun, has no such table.
    const isOurs = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'event'").get();
    if (isOurs === undefined) return null;
    const newest = database
      .prepare<{ startUs: number | null }>("SELECT max(start_us) AS startUs FROM event")
      .get();
    const startUs = newest?.startUs ?? null;
    return startUs === null ? null : { startUs };
  } finally {
    database.close();
  }
}

/** How many stored events privacy rules would not have stored as they are; 0 when nothing was ever recorded. */
export async function countAgainstRules(paths: Paths, config: PrivacyConfig): Promise<number> {
  if (!existsSync(join(paths.dataDirectory, DATABASE_FILE))) return 0;
  const gate = createPrivacyGate(config);
  const isTimed = config.rules.some((rule) => rule.between !== undefined);
  const database = openForReading(paths);
  try {
    const judge = (facts: EventFacts, atUs: number) => judgeAgain(gate, facts, atUs);
    const { whole, rewritten } = await planRules({ database }, judge, isTimed);
    return whole.length + rewritten.length;
  } finally {
    database.close();
  }
}

/**
 * Throws `not_found` when nothing was ever recorded, `internal` when that cannot be told, `database_newer` for what may mean
 * something else by now, and `database_recovering` while a daemon makes another of it: half of it may be readable, and would
 * be taken for the whole.
 */
function openForReading({ dataDirectory }: Paths): StoreDatabase {
  const path = join(dataDirectory, DATABASE_FILE);
  if (isRecovering(dataDirectory, Date.now())) throw recoveringError();
  if (isEmpty(path)) {
    const hint = "Start recording with: activityd start --detach";
    throw new ActivityError("not_found", `Nothing is recorded in ${dataDirectory} yet.`, hint);
  }
  refuseNewerSchema(path);
  return openDatabase({ path, role: "reader" });
}

const NONE = { throwIfNoEntry: false } as const;

/**
 * Whether there is no record: no file, or one of no bytes, which a start on a full disk leaves. What may not be looked at is
 * none of them.
 */
function isEmpty(path: string): boolean {
  try {
    // All of a new one can still be in its log.
    return statSync(path).size + (statSync(`${path}-wal`, NONE)?.size ?? 0) === 0;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return true;
    throw new ActivityError(
      "internal",
      `Cannot read the record ${path}: ${whyRefused(cause)}.`,
      howToMend(cause, "See what is in its way with: activityd doctor"),
      { cause },
    );
  }
}
