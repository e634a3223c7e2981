import { describe, expect, it, onTestFinished } from "vitest";
import type { EventFacts } from "../../src/capture/events.ts";
import { silentLog } from "../../src/log.ts";
import { createBucketStore } from "../../src/store/buckets.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { createRetention } from "../../src/store/retention.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { filesWith } from "../helpers/files-below.ts";
import { createOtherDevice } from "../helpers/other-device.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const S = 1_000_000;
const DAY = 86_400 * S;
const NOW = Date.parse("2026-11-27T12:00:00Z") * 1000;

describe("retention", () => {
  it("erases what is older than the age, keeps its days' totals by application, and leaves no title in any file", async () => {
    const { store, home } = openStore();
    fill(store, 1000);
    const before = store.activeOn("2026-11-20");
    const report = await createRetention(store, { maxAgeDays: 3, maxBytes: null }, silentLog).run(
      NOW,
    );
    expect(report?.events).toBe(700);
    expect(store.summary().eventCount).toBe(300);
    expect(store.between(0, NOW - 4 * DAY).events).toEqual([]);
    expect(store.activeOn("2026-11-20")).toEqual(before);
    expect(totals(store, 20261120)).toEqual([
      { app: "App0", title: null, active_us: 50 * S },
      { app: "App1", title: null, active_us: 50 * S },
    ]);
    expect(search(store, "secret850")).toBe(1);
    expect(filesWith(home, /secret[0-6]\d\d\b/)).toEqual([]);
    expect(filesWith(home, /secret9\d\d\b/)).not.toEqual([]);
  });

  it("erases nothing because the clock leapt a year ahead, and goes by it once it held for a day", async () => {
    const { store } = openStore();
    fill(store, 1000);
    const year = NOW + 365 * DAY;
    const retention = createRetention(store, { maxAgeDays: 30, maxBytes: null }, silentLog);
    store.begin({ kind: "sleep" }, { ...span(NOW), endUs: year });
    store.begin(window(0), span(year));
    expect(await retention.run(year)).toMatchObject({ events: 0 });
    for (let hour = 1; hour < 26; hour += 1)
      store.begin(window(hour), span(year + hour * 3_600 * S));
    expect(await retention.run(year + 12 * 3_600 * S)).toMatchObject({ events: 0 });
    expect(await retention.run(year + 26 * 3_600 * S)).toMatchObject({ events: 1000 });
  });

  it("counts ages after a holiday from its begin, until a day was recorded since", async () => {
    const { store } = openStore();
    fill(store, 1000);
    const home = NOW + 20 * DAY;
    store.begin(window(1), span(home));
    const retention = createRetention(store, { maxAgeDays: 3, maxBytes: null }, silentLog);
    expect((await retention.run(home))?.events).toBe(699);
    store.begin(window(2), span(home + DAY));
    expect((await retention.run(home + DAY + S))?.events).toBe(301);
  });

  it("leaves exactly the visits and documents of the events that stay", async () => {
    const { store } = openStore();
    fill(store, 200);
    await createRetention(store, { maxAgeDays: 1, maxBytes: null }, silentLog).run(NOW);
    const { database } = store;
    expect(
      database.prepare("SELECT count(*) AS n FROM visit WHERE end_us < ?").get(NOW - DAY),
    ).toEqual({ n: 0 });
    expect(
      database
        .prepare(
          `SELECT count(*) AS n FROM document WHERE title IS NOT NULL
             AND id NOT IN (SELECT document_id FROM label JOIN event ON label_id = label.id)`,
        )
        .get(),
    ).toEqual({ n: 0 });
    expect(
      database
        .prepare("SELECT count(*) AS n FROM event WHERE label_id NOT IN (SELECT id FROM label)")
        .get(),
    ).toEqual({ n: 0 });
  });

  it("erases the oldest until the database is small enough", async () => {
    const { store } = openStore();
    // An empty database is some tables large; the bound leaves room for events beside them.
    const maxBytes = store.summary().sizeBytes + 200_000;
    fill(store, 1500);
    await createRetention(store, { maxAgeDays: null, maxBytes }, silentLog).run(NOW);
    expect(store.summary().sizeBytes).toBeLessThanOrEqual(maxBytes);
    expect(store.summary().eventCount).toBeGreaterThan(300);
    expect(store.latest("window", 1)).toHaveLength(1);
  });

  it("makes room by age, and not at the cost of our own events where other recorders fill the file", async () => {
    const { store } = openStore();
    fill(store, 200);
    const buckets = createBucketStore(store.database);
    const id = "aw-watcher-window_old";
    const told = { type: "currentwindow", client: "c", hostname: "h", createdUs: 0, data: "{}" };
    buckets.create({ ...told, id });
    const rows = Array.from({ length: 4000 }, (_, n) => ({
      startUs: NOW - 300 * DAY + n * 3_600 * S,
      durationUs: 60 * S,
      data: JSON.stringify({ app: "Old", title: `${n}`.padEnd(100, "x") }),
    }));
    buckets.insert(id, rows);
    const maxBytes = store.summary().sizeBytes - 500_000;
    await createRetention(store, { maxAgeDays: null, maxBytes }, silentLog).run(NOW);
    expect(store.summary().sizeBytes).toBeLessThanOrEqual(maxBytes);
    expect(store.summary().eventCount).toBe(200);
    const left = [...buckets.iterate(id)];
    expect(left.length).toBeGreaterThan(200);
    expect(left.at(0)?.startUs).toBe(rows.at(-1)?.startUs);
  });

  it("takes what other devices recorded by the same age, with its text", async () => {
    const { store, home } = openStore();
    const laptop = createOtherDevice(store, "laptop");
    const window = (days: number, title: string) => {
      const startUs = NOW - days * DAY;
      return { title, startUs, endUs: startUs + 60 * S };
    };
    laptop.tell([window(40, "elsewhere-old"), window(2, "elsewhere-new")], NOW);
    await createRetention(store, { maxAgeDays: 30, maxBytes: null }, silentLog).run(NOW);
    const left = [...store.remote().all()].flat();
    expect(left.map(({ event: { startUs } }) => startUs)).toEqual([NOW - 2 * DAY]);
    expect(filesWith(home, /elsewhere-old/)).toEqual([]);
    expect(filesWith(home, /elsewhere-new/)).not.toEqual([]);
  });

  it("is due after a run was missed, and not while one is fresh", async () => {
    const { store } = openStore();
    const retention = createRetention(store, { maxAgeDays: 1, maxBytes: null }, silentLog);
    expect(retention.isDue(NOW, 86_400_000)).toBe(true);
    await retention.run(NOW);
    expect(retention.isDue(NOW + DAY / 2, 86_400_000)).toBe(false);
    expect(retention.isDue(NOW + 2 * DAY, 86_400_000)).toBe(true);
    expect(retention.isDue(NOW - 2 * DAY, 86_400_000)).toBe(true);
  });

  it("never runs twice at once", async () => {
    const { store } = openStore();
    fill(store, 50);
    const retention = createRetention(store, { maxAgeDays: 1, maxBytes: null }, silentLog);
    const [first, second] = await Promise.all([retention.run(NOW), retention.run(NOW)]);
    expect(first).not.toBeNull();
    expect(second).toBeNull();
  });
});

describe("forgetting", () => {
  it("takes the totals along, as if it had never been", async () => {
    const { store, home } = openStore();
    fill(store, 100);
    const ids = store.between(0, NOW, { limit: 100 }).events.map((event) => event.id);
    const erased = await store.eraser.events(ids.slice(0, 60), "forget");
    expect(erased).toEqual({ events: 60, labels: 60, documents: 60 });
    await store.eraser.events(ids.slice(60), "forget");
    expect(await store.eraser.shred()).toBe(true);
    expect(filesWith(home, /secret\d+/)).toEqual([]);
    expect(store.database.prepare("PRAGMA integrity_check").get()).toEqual({
      integrity_check: "ok",
    });
    for (const table of ["event", "label", "document", "visit", "day_total", "day", "hour_total"]) {
      expect(store.database.prepare(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 });
    }
  });

  it("keeps a label that is seen again while its last event goes", async () => {
    const { store } = openStore();
    const id = store.begin(window(1), span(NOW));
    const erasing = store.eraser.events([id], "forget");
    store.begin(window(1), span(NOW - DAY));
    await erasing;
    expect(store.latest("window", 1)).toMatchObject([{ title: "secret001 of document 1" }]);
  });
});

function openStore(): { store: EventStore; home: string } {
  const home = createTempHome();
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const store = openEventStore({ directory: home, clock, log: silentLog });
  onTestFinished(() => {
    store.close();
  });
  return { store, home };
}

/** `count` windows of one second, the last a moment before now, a hundred a day. */
function fill(store: EventStore, count: number): void {
  store.database.transaction(() => {
    for (let n = 0; n < count; n += 1) {
      store.begin(window(n), span(NOW - (count - n) * (DAY / 100)));
    }
  });
}

function window(n: number): EventFacts {
  const title = storable(`secret${String(n).padStart(3, "0")} of document ${n}`);
  return { kind: "window", app: storable(`App${n % 2}`), title, place: null };
}

function span(startUs: number): {
  startUs: number;
  endUs: number;
  utcOffsetMinutes: number;
  timeZone: string;
} {
  return { startUs, endUs: startUs + S, utcOffsetMinutes: 0, timeZone: "UTC" };
}

function totals(store: EventStore, localDay: number): unknown {
  return store.database
    .prepare(
      `SELECT app, title, active_us FROM day_total JOIN document ON document.id = document_id
        WHERE local_day = ? ORDER BY app, title`,
    )
    .all(localDay);
}

function search(store: EventStore, word: string): number {
  return store.database
    .prepare("SELECT rowid FROM document_fts WHERE document_fts MATCH ?")
    .all(word).length;
}
