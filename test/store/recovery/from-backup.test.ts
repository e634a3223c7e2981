/** What a recovery takes from the newest backup besides events: nothing twice, and nobody in who was refused. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { EventFacts } from "../../../src/capture/events.ts";
import { silentLog } from "../../../src/log.ts";
import { createBackup } from "../../../src/store/backups.ts";
import { readAllEvents } from "../../../src/store/event-reader.ts";
import { openEventStore, type EventStore } from "../../../src/store/events.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { storable } from "../../helpers/storable.ts";
import { createTempHome } from "../../helpers/temp-home.ts";

const S = 1_000_000;
const NOW = Date.parse("2026-11-27T12:00:00Z") * 1000;

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

function openStore(directory: string): EventStore {
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const store = openEventStore({ directory, clock, log: silentLog });
  onTestFinished(() => store.close());
  return store;
}

function fill(store: EventStore, count: number): void {
  store.database.transaction(() => {
    for (let n = count; n > 0; n -= 1) store.begin(window(n), span(NOW - n * 60 * S));
  });
  store.settle();
  expect([...readAllEvents(store.database)].flat()).toHaveLength(count);
}

function window(n: number): EventFacts {
  return { kind: "window", app: storable("App"), title: storable(`document ${n}`), place: null };
}

function span(startUs: number) {
  return { startUs, endUs: startUs + 50 * S, utcOffsetMinutes: 0, timeZone: "UTC" };
}

function overwrite(path: string, page: number): void {
  const bytes = readFileSync(path);
  bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
  writeFileSync(path, bytes);
}
