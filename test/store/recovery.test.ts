import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ActivityEvent, EventFacts } from "../../src/capture/events.ts";
import { silentLog } from "../../src/log.ts";
import { createBackup, isBackupDue, listBackups } from "../../src/store/backups.ts";
import { checkLater } from "../../src/store/recovery/check.ts";
import { openDatabase } from "../../src/store/database.ts";
import { findDamage } from "../../src/store/sqlite.ts";
import { readAllEvents } from "../../src/store/event-reader.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const S = 1_000_000;
const DAY = 86_400 * S;
const NOW = Date.parse("2026-11-27T12:00:00Z") * 1000;

describe("a large database that was closed well", () => {
  it("is opened without being looked through, and recovered when it is found damaged later", async () => {
    const { home, path, events } = closedLarge();
    const sound = openStore(home);
    expect(sound.isUnchecked).toBe(true);
    await checkLater(sound, silentLog, 0).ended;
    expect(sound.recovery()).toBeNull();
    sound.close();

    overwrite(path, pageOf(path, "ledger"));
    const damaged = openStore(home);
    expect(damaged.recovery()).toBeNull();
    await checkLater(damaged, silentLog, 0).ended;
    expect(damaged.recovery()?.setAsidePath).toMatch(/damaged/);
    const id = damaged.begin(window(1000), span((events.at(-1)?.startUs ?? 0) + S));
    expect(damaged.latest("window", 1)).toMatchObject([{ id }]);
  });

  it("is recovered by a read that meets the damage, and the read is answered", () => {
    const { home, path, events } = closedLarge();
    overwrite(path, pageOf(path, "day"));
    const store = openStore(home);
    const [last] = store.latest("window", 1);
    expect(store.activeOn("2026-11-27")?.activeUs).toBeGreaterThan(0);
    expect(store.recovery()).toMatchObject({ salvaged: events.length });
    expect(store.latest("window", 1)).toEqual([last]);
  });

  it.each([
    ["header", 0, 100],
    ["first page", 0, 4096],
    ["schema", 100, 3996],
  ])("with its %s overwritten opens all the same", (_name, at, length) => {
    const { home, path } = closedLarge();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x5a, at, at + length));
    expect(openStore(home).recovery()).toMatchObject({ salvaged: 200 });
  });
});

describe("a damaged database", () => {
  it("is set aside as it is, and what is left of it opens with the facts and spans it had", () => {
    const original = createTempHome();
    const events = fill(openStore(original), 200);
    const bytes = readFileSync(join(original, "activity.db"));
    const pages = bytes.length / 4096;
    const known = new Map(events.map((event) => [event.id, event]));
    const work = createTempHome();
    let round = 0;
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            page: fc.nat({ max: pages - 1 }),
            at: fc.oneof(fc.constant(0), fc.nat({ max: 4000 })),
            junk: fc.uint8Array({ minLength: 96, maxLength: 96 }),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        (wounds) => {
          round += 1;
          const home = join(work, String(round));
          mkdirSync(home);
          const damaged = Buffer.from(bytes);
          for (const { page, at, junk } of wounds) damaged.set(junk, page * 4096 + at);
          writeFileSync(join(home, "activity.db"), damaged);
          const store = openEventStore({ directory: home, clock: clock(), log: silentLog });
          try {
            const left = [...readAllEvents(store.database)].flat();
            const recovery = store.recovery() ?? {
              setAsidePath: join(home, "activity.db"),
              salvaged: 200,
            };
            const untouched = readFileSync(recovery.setAsidePath ?? "").equals(damaged);
            expect({ untouched, salvaged: recovery.salvaged }).toEqual({
              untouched: true,
              salvaged: left.length,
            });
            // SQLite keeps no checksums: a wound may cut through a row at each of its ends and leave
            // numbers there that nobody can tell from right ones.
            const changed = left.filter((event) => !isAsKnown(event, known.get(event.id)));
            expect(changed.length).toBeLessThanOrEqual(2 * wounds.length);
            expect(findDamage(join(home, "activity.db"))).toBeNull();
            store.begin(window(1), span(NOW));
            expect(store.latest("window", 1)[0]?.id).toBe(NOW);
          } finally {
            store.close();
          }
        },
      ),
      { numRuns: propertyRuns(6, 100) },
    );
  }, 600_000);

  it("loses only what stood on the damaged pages", () => {
    const home = createTempHome();
    const store = openStore(home);
    fill(store, 1000);
    const page = store.database
      .prepare<{ pageno: number }>(
        "SELECT pageno FROM dbstat WHERE name = 'event' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 2",
      )
      .get();
    store.close();
    overwrite(join(home, "activity.db"), page?.pageno ?? 0);
    const recovered = openStore(home);
    expect(recovered.recovery()).toMatchObject({ fromBackup: 0, unreadable: 0 });
    expect(recovered.summary().eventCount).toBeGreaterThan(750);
    expect(recovered.summary().eventCount).toBeLessThan(1000);
  });

  it("gets back from the newest backup what its own pages have lost", async () => {
    const home = createTempHome();
    const store = openStore(home);
    const old = fill(store, 300);
    await createBackup(store.database, home, NOW);
    store.begin(window(7), span(NOW));
    store.close();
    const path = join(home, "activity.db");
    writeFileSync(path, Buffer.alloc(readFileSync(path).length, 0xa5));
    const recovered = openStore(home);
    expect(recovered.recovery()).toMatchObject({ salvaged: 0, fromBackup: 300 });
    expect([...readAllEvents(recovered.database)].flat()).toEqual(old);
  });

  it("is recovered with the commits that only its write-ahead log holds", () => {
    const home = createTempHome();
    const store = openStore(home);
    fill(store, 200);
    store.database.checkpoint("truncate");
    store.begin(window(1000), span(NOW));
    const copy = createTempHome();
    for (const name of ["activity.db", "activity.db-wal"])
      cpSync(join(home, name), join(copy, name));
    overwrite(join(copy, "activity.db"), 3);
    const recovered = openStore(copy);
    expect(recovered.recovery()).not.toBeNull();
    expect(recovered.latest("window", 1)).toMatchObject([{ id: NOW, title: "document 1000" }]);
  });

  it("that lost the end of its log opens with what was committed before", () => {
    const home = createTempHome();
    const store = openStore(home);
    fill(store, 50);
    const copy = createTempHome();
    for (const name of ["activity.db", "activity.db-wal"])
      cpSync(join(home, name), join(copy, name));
    const log = join(copy, "activity.db-wal");
    truncateSync(log, readFileSync(log).length - 10_000);
    const opened = openStore(copy);
    expect(opened.recovery()).toBeNull();
    expect(opened.summary().eventCount).toBeGreaterThan(30);
  });

  it("of no length at all is a first start, or else comes from the backup", async () => {
    const home = createTempHome();
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "activity.db"), "");
    const store = openStore(home);
    expect(store.recovery()).toBeNull();
    fill(store, 20);
    await createBackup(store.database, home, NOW);
    store.close();
    truncateSync(join(home, "activity.db"), 0);
    expect(openStore(home).recovery()).toMatchObject({ fromBackup: 20 });
  });

  it("is recovered under the running process too, which goes on with the change it was about to make", () => {
    const home = createTempHome();
    const store = openStore(home);
    const events = fill(store, 300);
    const page = store.database
      .prepare<{ pageno: number }>("SELECT pageno FROM dbstat WHERE name = 'label_hash' LIMIT 1")
      .get();
    store.database.execute("PRAGMA shrink_memory");
    overwrite(join(home, "activity.db"), page?.pageno ?? 0);
    expect(store.recovery()).toBeNull();
    store.begin(window(4000), span(NOW));
    expect(store.recovery()).toMatchObject({ salvaged: 300, unreadable: 0 });
    expect(store.between(0, NOW, { limit: 1000 }).events).toEqual(events);
    expect(store.latest("window", 1)).toMatchObject([{ id: NOW, title: "document 4000" }]);
    expect(store.summary().eventCount).toBe(301);
  });

  it("brings over what other recorders sent and what clients were given", async () => {
    const home = createTempHome();
    const store = openStore(home);
    fill(store, 20);
    store.database.execute(`
      INSERT INTO bucket VALUES(7, 'aw-watcher-web', 'web.tab.current', 'aw', 'host', 0, '{}', 5);
      INSERT INTO bucket_event(bucket_key, start_us, duration_us, data) VALUES(7, ${NOW}, 5, '{"title":"x"}');
      INSERT INTO bucket_setting VALUES('startOfDay', '"04:00"');
      INSERT INTO ledger(first_us, last_us, times, client, session, form, intent, source, text, tokens, event_ids, reasons)
        VALUES(1, 2, 3, 'cli', NULL, 'exact', 'now', 'rules', 'the block', 9, '[1]', '["why"]');
      INSERT INTO ledger VALUES(9, 4, 5, 1, 'cli', 's', 'auto', 'now', 'rules', 'a block', 9, '[1]', '["why"]', '[3,8]', 'what now?');
      INSERT INTO meta VALUES('client_revoked:cli', '77')`);
    const rows = (from: EventStore): unknown =>
      ["bucket", "bucket_event", "bucket_setting", "ledger"].map((table) =>
        from.database.prepare(`SELECT * FROM ${table}`).all(),
      );
    const revoked = (from: EventStore): unknown =>
      from.database.prepare("SELECT value FROM meta WHERE name = 'client_revoked:cli'").get();
    const before = rows(store);
    store.close();
    const path = join(home, "activity.db");
    const bytes = readFileSync(path);
    bytes.fill(0, 0, 90);
    writeFileSync(path, bytes);
    const salvaged = openStore(home);
    expect(salvaged.recovery()).not.toBeNull();
    expect(rows(salvaged)).toEqual(before);
    expect(revoked(salvaged)).toEqual({ value: "77" });
    await createBackup(salvaged.database, home, NOW);
    salvaged.close();
    writeFileSync(path, Buffer.alloc(bytes.length, 0xa5));
    expect(rows(openStore(home))).toEqual(before);
  });

  it("keeps the totals of days whose events have expired", async () => {
    const home = createTempHome();
    const store = openStore(home);
    fill(store, 300);
    const before = store.activeOn("2026-11-25");
    await store.eraser.events(
      [...readAllEvents(store.database)].flat().map((event) => event.id),
      "expire",
    );
    store.begin(window(1), span(NOW));
    store.close();
    const path = join(home, "activity.db");
    // A header that no longer says what the file is: everything else is intact.
    const bytes = readFileSync(path);
    bytes.fill(0, 0, 90);
    writeFileSync(path, bytes);
    const recovered = openStore(home);
    expect(recovered.recovery()).not.toBeNull();
    expect(recovered.activeOn("2026-11-25")).toEqual(before);
  });
});

describe("backups", () => {
  it("hold what the database held, and the oldest make room", async () => {
    const home = createTempHome();
    const store = openStore(home);
    const events = fill(store, 30);
    for (let day = 0; day < 5; day += 1) await createBackup(store.database, home, NOW + day * DAY);
    expect(listBackups(home).map(({ atUs }) => atUs)).toEqual(
      [4, 3, 2].map((day) => NOW + day * DAY),
    );
    const copy = createTempHome();
    cpSync(listBackups(home)[0]?.path ?? "", join(copy, "activity.db"));
    expect([...readAllEvents(openStore(copy).database)].flat()).toEqual(events);
  });

  it("that are gone while they are listed are none, such as those that another process removes", async () => {
    const home = createTempHome();
    await createBackup(openStore(home).database, home, NOW);
    // A name whose file is not there.
    symlinkSync(join(home, "gone"), join(home, "backups", "activity-20261126T120000Z.db"));
    expect(listBackups(home).map(({ atUs }) => atUs)).toEqual([NOW]);
    expect(isBackupDue(home, 1000, NOW + DAY)).toBe(true);
  });

  it("are due daily for a small database and more rarely for a large one", async () => {
    const home = createTempHome();
    expect(isBackupDue(home, 1000, NOW)).toBe(true);
    await createBackup(openStore(home).database, home, NOW);
    expect(isBackupDue(home, 1000, NOW + DAY - S)).toBe(false);
    expect(isBackupDue(home, 1000, NOW + DAY)).toBe(true);
    expect(isBackupDue(home, 100e6, NOW + 4 * DAY)).toBe(false);
    expect(isBackupDue(home, 100e9, NOW + 14 * DAY)).toBe(true);
  });
});

describe("a backup that was made under a clock that was a year ahead", () => {
  it("makes none due each hour once the clock is put right, and is the first to go", async () => {
    const home = createTempHome();
    const { database } = openStore(home);
    await createBackup(database, home, NOW + 365 * DAY);
    expect(isBackupDue(home, 1000, NOW)).toBe(true);
    await createBackup(database, home, NOW);
    expect(isBackupDue(home, 1000, NOW + 3_600 * S)).toBe(false);
    for (const days of [1, 2]) await createBackup(database, home, NOW + days * DAY);
    expect(listBackups(home).map(({ atUs }) => atUs)).toEqual([NOW + 2 * DAY, NOW + DAY, NOW]);
  });
});

describe("a store that cannot be written", () => {
  it("opens, answers as an empty one, and records as soon as it can", () => {
    const home = createTempHome();
    const blocked = join(home, "data");
    // A file where the folder should be: nobody, not even root, can write there.
    writeFileSync(blocked, "");
    const store = openStore(blocked);
    expect(store.latest("window", 1)).toEqual([]);
    const begin = (): number => store.begin(window(1), span(NOW));
    expect(begin).toThrow(expect.objectContaining({ code: "database_unwritable" }));
    rmSync(blocked);
    expect(begin()).toBe(NOW);
    expect(store.latest("window", 1)).toHaveLength(1);
    expect(existsSync(join(blocked, "activity.db"))).toBe(true);
  });

  it("writes its folder anew when it was removed, with everything in it", () => {
    const home = join(createTempHome(), "data");
    const store = openStore(home);
    const events = fill(store, 20);
    rmSync(home, { recursive: true });
    store.pulse(NOW, []);
    store.begin(window(500), span(NOW));
    store.close();
    const again = openStore(home);
    expect(again.summary().eventCount).toBe(21);
    expect(again.between(0, NOW).events).toEqual(events);
  });
});

/** Where the pages of zones are lost too, local time is told in UTC; instants and facts are as they were. */
function isAsKnown(event: ActivityEvent, known: ActivityEvent | undefined): boolean {
  const utc = { ...known, timeZone: "UTC", utcOffsetMinutes: 0 };
  return isDeepStrictEqual(event, known) || isDeepStrictEqual(event, utc);
}

function clock(): ReturnType<typeof createFakeClock> {
  return createFakeClock("2026-11-27T12:00:00Z");
}

function openStore(home: string): EventStore {
  const store = openEventStore({ directory: home, clock: clock(), log: silentLog });
  onTestFinished(() => {
    store.close();
  });
  return store;
}

/** `count` events, a hundred a day, the last a moment before now. */
function fill(store: EventStore, count: number): readonly ActivityEvent[] {
  store.database.transaction(() => {
    for (let n = 0; n < count; n += 1)
      store.begin(window(n), span(NOW - (count - n) * (DAY / 100)));
  });
  store.database.checkpoint("truncate");
  return [...readAllEvents(store.database)].flat();
}

/** The first page of a table, which is all of a small one. */
function pageOf(path: string, table: string): number {
  const database = openDatabase({ path, role: "reader" });
  const page = database
    .prepare<{ rootpage: number }>("SELECT rootpage FROM sqlite_schema WHERE name = ?")
    .get(table)?.rootpage;
  database.close();
  return page ?? 0;
}

/** A home with 200 events in a database that is too large to be looked through at the start. */
function closedLarge(): { home: string; path: string; events: readonly ActivityEvent[] } {
  const home = createTempHome();
  const store = openStore(home);
  const events = fill(store, 200);
  store.close();
  const path = join(home, "activity.db");
  // Room at the end of a file, which the header does not count.
  truncateSync(path, 17 * 1024 * 1024);
  return { home, path, events };
}

function window(n: number): EventFacts {
  const title = storable(n % 50 === 3 ? `long ${n} ${"x".repeat(9000)}` : `document ${n}`);
  return { kind: "window", app: storable(`App${n % 3}`), title, place: null };
}

function span(startUs: number): {
  startUs: number;
  endUs: number;
  utcOffsetMinutes: number;
  timeZone: string;
} {
  return { startUs, endUs: startUs + S, utcOffsetMinutes: 60, timeZone: "Europe/Berlin" };
}

function overwrite(path: string, page: number): void {
  const bytes = readFileSync(path);
  bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
  writeFileSync(path, bytes);
}
