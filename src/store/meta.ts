/** What the store keeps under names: single facts about the record, and the owner's few standing wishes. */
import type { StoreDatabase } from "./database.ts";

/** Under names that begin so stands since when a client is refused. */
export const REFUSED_CLIENT = "client_revoked:";

/** What stands under names that begin with `prefix`. Throws what the database throws. */
export function readMeta(
  database: StoreDatabase,
  prefix: string,
): readonly (readonly [name: string, value: string])[] {
  return database
    .prepare<{ name: string; value: string }>(
      "SELECT name, value FROM meta WHERE substr(name, 1, length(?)) = ? ORDER BY name",
    )
    .all(prefix, prefix)
    .map(({ name, value }) => [name, value]);
}
