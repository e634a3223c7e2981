/**
 * What must be known of a damaged database before it is recovered. It promises to tell no less than the recovery will find.
 */
import { listBackups } from "../backups.ts";
import { isEncrypted } from "../cipher.ts";
import { openDatabase } from "../database.ts";
import { readMeta } from "../meta.ts";
import { readRawRecords } from "./page-reader.ts";

/** What stands in `meta` of a damaged database under names that begin with `prefix`, and in backups where that cannot be read. */
export function peekMeta(
  directory: string,
  path: string,
  prefix: string,
): readonly (readonly [name: string, value: string])[] {
  const there = ask(path, prefix);
  if (there !== null) return there;
  const found = new Map(newestBackup(directory, prefix));
  if (isEncrypted(path)) return [...found];
  // Names stand at the beginning of their records, which lies in the page itself.
  for (const { rowid, values } of readRawRecords(path, prefix)) {
    const [name, value] = values;
    if (rowid !== null || values.length !== 2) continue;
    if (typeof name === "string" && name.startsWith(prefix) && typeof value === "string")
      found.set(name, value);
  }
  return [...found];
}

function newestBackup(directory: string, prefix: string): ReturnType<typeof peekMeta> {
  for (const { path } of listBackups(directory)) {
    const there = ask(path, prefix);
    if (there !== null) return there;
  }
  return [];
}

function ask(path: string, prefix: string): ReturnType<typeof peekMeta> | null {
  try {
    const database = openDatabase({ path, role: "reader" });
    try {
      return readMeta(database, prefix);
    } finally {
      database.close();
    }
  } catch {
    // Damaged just there, or not to be had at all.
    return null;
  }
}
