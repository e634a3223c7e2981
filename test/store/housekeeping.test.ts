import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EventFacts } from "../../src/capture/events.ts";
import { silentLog } from "../../src/log.ts";
import { listBackups } from "../../src/store/backups.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { createHousekeeping, type Housekeeping } from "../../src/store/housekeeping.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { filesWith } from "../helpers/files-below.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const S = 1_000_000;
const DAY = 86_400 * S;
const NOW = Date.parse("2026-11-27T12:00:00Z") * 1000;

describe("housekeeping", () => {
  it("keeps what expired in no file of the folder: not in backups, the ledger or old damaged files", async () => {
    const { store, home, housekeeping, expired } = open(7);
    see(store, "canary one", NOW - 6.5 * DAY);
    see(store, "kept", NOW - DAY);
    store.database
      .prepare(
        `INSERT INTO ledger(first_us, last_us, times, form, intent, source, text, tokens, event_ids, reasons)
          VALUES(?, ?, 1, 'exact', 'now', 'rules', 'told of canary one', 1, ?, '[]')`,
      )
      .run(NOW - DAY, NOW - DAY, JSON.stringify([NOW - 6.5 * DAY]));
    store.database.execute(
      `INSERT INTO bucket VALUES(1, 'b', 't', 'c', 'h', 0, '{}', 1000000);
       INSERT INTO bucket_event(bucket_key, start_us, duration_us, data)
         VALUES(1, ${NOW - 6.5 * DAY}, ${S}, '{"title":"canary two"}'), (1, ${NOW - DAY}, ${S}, '{"title":"kept"}');
       INSERT INTO session_event(session, at_us, text, dropped) VALUES('s', ${NOW - 6.5 * DAY}, 'canary three', 0)`,
    );
    setAside(home, "old", "canary one");
    await housekeeping.run(NOW);
    expect(filesWith(home, "canary").toSorted()).toEqual([
      "activity.db",
      expect.stringMatching(/^backups\/activity-.*\.db$/),
      "damaged/old/activity.db",
    ]);
    expect(expired).toEqual([]);
    await housekeeping.run(NOW + DAY);
    expect(expired).toEqual([NOW - DAY]);
    expect(filesWith(home, "canary")).toEqual([]);
    expect(filesWith(home, "kept").length).toBeGreaterThanOrEqual(2);
    expect(listBackups(home)).toHaveLength(1);
    expect(store.database.prepare("SELECT count(*) AS n FROM bucket_event").get()).toEqual({
      n: 1,
    });
  });

  it("removes what was set aside long ago although some of it goes while it looks", async () => {
    const { store, home, housekeeping } = open(7);
    see(store, "canary one", NOW - 6.5 * DAY);
    setAside(home, "old", "canary one");
    // A name whose folder is not there.
    symlinkSync(join(home, "gone"), join(home, "damaged", "gone"));
    await housekeeping.run(NOW + DAY);
    expect(filesWith(home, "canary")).toEqual([]);
  });

  it("makes a backup when one is due, and none of an empty store", async () => {
    const { store, home, housekeeping } = open(null);
    await housekeeping.run(NOW);
    expect(listBackups(home)).toEqual([]);
    see(store, "kept", NOW - DAY);
    await housekeeping.run(NOW);
    await housekeeping.run(NOW + DAY / 2);
    expect(listBackups(home).map(({ atUs }) => atUs)).toEqual([NOW]);
    await housekeeping.run(NOW + 3 * DAY);
    expect(listBackups(home)).toHaveLength(2);
  });
});

function open(maxAgeDays: number | null): {
  store: EventStore;
  home: string;
  housekeeping: Housekeeping;
  /** From when on events were left, each time that some expired. */
  expired: readonly number[];
} {
  const home = createTempHome();
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const store = openEventStore({ directory: home, clock, log: silentLog });
  const limits = { maxAgeDays, maxBytes: null };
  const expired: number[] = [];
  const housekeeping = createHousekeeping({
    store,
    directory: home,
    limits,
    onExpired: (sinceUs) => expired.push(sinceUs),
    log: silentLog,
  });
  onTestFinished(async () => {
    await housekeeping.close();
    store.close();
  });
  return { store, home, housekeeping, expired };
}

/** A damaged database that was set aside thirty days ago. */
function setAside(home: string, name: string, text: string): void {
  const folder = join(home, "damaged", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "activity.db"), text);
  utimesSync(folder, NOW / S - 30 * 86_400, NOW / S - 30 * 86_400);
}

function see(store: EventStore, title: string, startUs: number): void {
  const facts: EventFacts = {
    kind: "window",
    app: storable("A"),
    title: storable(title),
    place: null,
  };
  store.begin(facts, { startUs, endUs: startUs + S, utcOffsetMinutes: 0, timeZone: "UTC" });
}
