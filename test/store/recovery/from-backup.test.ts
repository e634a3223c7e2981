/** What a recovery takes from the newest backup besides events: nothing twice, and nobody in who was refused. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { createBackup } from "../../../src/store/backups.ts";
import type { EventStore } from "../../../src/store/events.ts";
import { createTempHome } from "../../helpers/temp-home.ts";
import { fill, NOW, openStore, overwrite } from "./damaged-store.ts";

it("time that both the damaged file and its backup tell of is counted once", async () => {
  const home = createTempHome();
  const store = openStore(home);
  fill(store, 600);
  await createBackup(store.database, home, NOW);
  const before = totalsOf(store);
  const page = store.database
    .prepare<{ pageno: number }>(
      "SELECT pageno FROM dbstat WHERE name = 'event' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1",
    )
    .get();
  store.close();
  overwrite(join(home, "activity.db"), page?.pageno ?? 0);
  const recovered = openStore(home);
  expect(recovered.recovery()?.fromBackup).toBeGreaterThan(0);
  expect(totalsOf(recovered)).toEqual(before);
});

it("who is refused is so still when the page that says it is gone, from the backup", async () => {
  const home = createTempHome();
  const store = openStore(home);
  fill(store, 20);
  store.database.execute("INSERT INTO meta VALUES('client_revoked:tool', '77')");
  await createBackup(store.database, home, NOW);
  const page = store.database
    .prepare<{ pageno: number }>("SELECT pageno FROM dbstat WHERE name = 'meta'")
    .get();
  store.close();
  overwrite(join(home, "activity.db"), page?.pageno ?? 0);
  const recovered = openStore(home);
  expect(recovered.recovery()).not.toBeNull();
  expect(
    recovered.database.prepare("SELECT value FROM meta WHERE name = 'client_revoked:tool'").get(),
  ).toEqual({ value: "77" });
});

function totalsOf(store: EventStore): unknown {
  store.settle();
  return ["day", "day_total", "hour_total", "visit"].map((table) =>
    store.database.prepare(`SELECT sum(active_us) AS active FROM ${table}`).get(),
  );
}
