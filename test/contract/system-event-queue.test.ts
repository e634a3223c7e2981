import { join } from "node:path";
import { createMemoryEventRows } from "../../src/auto-reply/reply/system-events-memory.ts";
import { openDatabase } from "../../src/store/database.ts";
import { createSessionEventTable } from "../../src/store/session-events.ts";
import { onTestFinished } from "vitest";
import { createTempHome } from "../helpers/temp-home.ts";
import { describeSystemEventQueue } from "./system-event-queue.ts";

describeSystemEventQueue("in memory", createMemoryEventRows);

describeSystemEventQueue("in SQLite", () => {
  const database = openDatabase({ path: join(createTempHome(), "activity.db") });
  onTestFinished(() => database.close());
  return createSessionEventTable(database);
});
