/** What a cleaner, a hand or a backup tool does to the files of a database that is open. */
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "../../src/log.ts";
import { DATABASE_FILE, openEventStore, type EventStore } from "../../src/store/events.ts";
import { openDatabase } from "../../src/store/database.ts";
import { findDamage } from "../../src/store/sqlite.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z") * 1000;
const MINUTE = 60_000_000;
/** Longer than the store goes without looking for its files. */
const LOOK = 11_000_000;

describe("the log of an open database", () => {
  it("that was removed loses nothing, also when the process is killed later", () => {
    const { home, store, path } = openRecord(20);
    rmSync(`${path}-wal`);
    store.pulse(NOW + LOOK, []);
    add(store, 20);
    expect(countElsewhere(home)).toBe(21);
  });

  it("that was removed with its index loses nothing either", () => {
    const { home, store, path } = openRecord(20);
    rmSync(`${path}-wal`);
    rmSync(`${path}-shm`);
    store.pulse(NOW + LOOK, []);
    add(store, 20);
    expect(countElsewhere(home)).toBe(21);
  });

  it("whose index was removed goes on with one that others share", () => {
    const { home, store, path } = openRecord(20);
    rmSync(`${path}-shm`);
    expect(countElsewhere(home)).toBe(20);
    store.pulse(NOW + LOOK, []);
    add(store, 20);
    expect(countElsewhere(home)).toBe(21);
    expect(findDamage(path)).toBeNull();
  });
});

describe("the file of an open database", () => {
  it("that was removed alone is written anew, and what its log held spoils nothing", () => {
    const { home, store, path } = openRecord(2_000);
    store.database.checkpoint("truncate");
    // A log that begins anew holds the pages that changed since, and no others.
    add(store, 2_000);
    rmSync(path);
    store.pulse(NOW + LOOK, []);
    add(store, 2_001);
    expect(countElsewhere(home)).toBe(2_002);
    expect(findDamage(path)).toBeNull();
  });

  it("in whose place an older one was put goes on with that, and what it had is set aside", () => {
    const { home, store, path } = openRecord(100);
    store.database.checkpoint("truncate");
    copyFileSync(path, join(home, "older.db"));
    fill(store, 100, 3_000);
    store.database.checkpoint("truncate");
    add(store, 3_000);
    renameSync(join(home, "older.db"), path);
    // It may be on its way still: what stays as it is for a while is there.
    store.pulse(NOW + LOOK, []);
    store.pulse(NOW + 2 * LOOK, []);
    expect(store.summary().eventCount).toBe(100);
    add(store, 3_001);
    expect(countElsewhere(home)).toBe(101);
    expect(findDamage(path)).toBeNull();
    const [stamp = ""] = readdirSync(join(home, "replaced"));
    expect(count(join(home, "replaced", stamp, DATABASE_FILE))).toBe(3_001);
  });

  it("in whose place an older one was put before the process ended leaves that alone", () => {
    const { home, store, path } = openRecord(100);
    store.database.checkpoint("truncate");
    copyFileSync(path, join(home, "older.db"));
    fill(store, 100, 3_000);
    store.database.checkpoint("truncate");
    add(store, 3_000);
    renameSync(join(home, "older.db"), path);
    store.close();
    expect(countElsewhere(home)).toBe(100);
    expect(findDamage(path)).toBeNull();
    const [stamp = ""] = readdirSync(join(home, "replaced"));
    expect(count(join(home, "replaced", stamp, DATABASE_FILE))).toBe(3_001);
  });

  it("in whose place something was put that is none of ours stays the record, and that is set aside", () => {
    const { home, store, path } = openRecord(100);
    writeFileSync(join(home, "notes"), "these are notes\n".repeat(4_000));
    renameSync(join(home, "notes"), path);
    store.pulse(NOW + LOOK, []);
    store.pulse(NOW + 2 * LOOK, []);
    add(store, 100);
    expect(store.summary().eventCount).toBe(101);
    expect(countElsewhere(home)).toBe(101);
  });
});

describe("the sign of life", () => {
  it("that was removed is written anew with the next", () => {
    const { home, store } = openRecord(1);
    store.pulse(NOW, []);
    rmSync(join(home, "pulse"));
    store.pulse(NOW + 5_000_000, []);
    expect(existsSync(join(home, "pulse"))).toBe(true);
  });
});

function openRecord(events: number): {
  readonly home: string;
  readonly store: EventStore;
  readonly path: string;
} {
  const home = createTempHome();
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const store = openEventStore({ directory: home, clock, log: silentLog });
  onTestFinished(() => store.close());
  store.pulse(NOW, []);
  fill(store, 0, events);
  return { home, store, path: join(home, DATABASE_FILE) };
}

function fill(store: EventStore, from: number, to: number): void {
  store.database.transaction(() => {
    for (let n = from; n < to; n += 1) add(store, n);
  });
}

function add(store: EventStore, n: number): void {
  const startUs = NOW - (10_000 - n) * MINUTE;
  const title = storable(`document ${n} ${"x".repeat(60)}`);
  store.begin(
    { kind: "window", app: storable("App"), title, place: null },
    { startUs, endUs: startUs + MINUTE / 2, utcOffsetMinutes: 0, timeZone: "UTC" },
  );
}

/** As a process sees it that opens the record now, such as the next after this one was killed. */
function countElsewhere(home: string): number {
  return count(join(home, DATABASE_FILE));
}

function count(path: string): number {
  const database = openDatabase({ path, role: "reader" });
  try {
    return Number(database.prepare<{ n: number }>("SELECT count(*) AS n FROM event").get()?.n);
  } finally {
    database.close();
  }
}
