/** The database for commands that only read: they may run beside a daemon, or without one. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ActivityError } from "../errors.ts";
import type { Paths } from "../paths.ts";
import type { StoreDatabase } from "../store/database.ts";

/** Opens the database for reading. Throws `not_found` when nothing was ever recorded. */
export async function openForReading({ dataDirectory }: Paths): Promise<StoreDatabase> {
  const [{ openDatabase }, { DATABASE_FILE }] = await Promise.all([
    import("../store/database.ts"),
    import("../store/events.ts"),
  ]);
  const path = join(dataDirectory, DATABASE_FILE);
  if (!existsSync(path)) {
    const hint = "Start recording with: activityd start";
    throw new ActivityError("not_found", `Nothing is recorded in ${dataDirectory} yet.`, hint);
  }
  return openDatabase({ path, role: "reader" });
}
