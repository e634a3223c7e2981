import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "../../src/log.ts";
import type { EventFacts, EventSpan } from "../../src/capture/events.ts";
import { isIndexedLike, KIND_CODES } from "../../src/store/stored-facts.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const T0 = Date.parse("2026-11-27T09:00:00Z") * 1000;
const S = 1_000_000;

describe("the event store", () => {
  it("gives back exactly the facts of every kind that were put in", () => {
    const store = openStore();
    const facts: EventFacts[] = [
      window("Code", "● retry.ts — payments-api", "host/path"),
      { kind: "window", app: storable("Wallet"), title: null, place: null },
      { kind: "window", app: storable(""), title: storable(""), place: null },
      { kind: "idle", state: "away" },
      { kind: "idle", state: "passive" },
      { kind: "lock" },
      { kind: "sleep" },
      { kind: "gap", reason: "source-lost" },
      {
        kind: "system",
        power: "battery",
        batteryPercent: 82,
        online: null,
        cpuLoad: 0.12,
        memoryUsed: 0.41,
        displayCount: 2,
      },
      {
        kind: "media",
        player: storable("Spotify"),
        title: storable("“…”"),
        artist: null,
        playing: false,
      },
      { kind: "notification", app: storable("Signal"), summary: storable("\u{1F389}\n---") },
      {
        kind: "editor",
        app: storable("Code"),
        file: storable("retry.ts"),
        project: null,
        branch: storable("main"),
        language: storable("ts"),
      },
      {
        kind: "tab",
        app: storable("Firefox"),
        title: storable("(3) Inbox"),
        place: null,
        audible: null,
      },
    ];
    const spans = facts.map((_, index) => span(T0 + index * S, T0 + index * S + 500));
    for (const [index, fact] of facts.entries()) {
      const at = spans[index];
      if (at !== undefined) store.begin(fact, at);
    }
    expect(store.between(T0, T0 + 100 * S).events).toEqual(
      facts.map((fact, index) => ({ id: T0 + index * S, ...spans[index], ...fact })),
    );
  });

  it("moves a start that is taken on by a microsecond", () => {
    const store = openStore();
    const ids = [1, 2, 3].map(() => store.begin(window("A", "one"), span(T0, T0)));
    expect(ids).toEqual([T0, T0 + 1, T0 + 2]);
    expect(store.between(T0, T0 + S).events.map((event) => [event.startUs, event.endUs])).toEqual([
      [T0, T0],
      [T0 + 1, T0 + 1],
      [T0 + 2, T0 + 2],
    ]);
  });

  it("never lets an event end before it starts", () => {
    const store = openStore();
    const id = store.begin(window("A", "one"), span(T0, T0 - S));
    store.setEnd(id, T0 - 5 * S);
    expect(store.latest("window", 1)[0]?.endUs).toBe(T0);
  });

  it("gives the newest when there are more than the limit, and says so", () => {
    const store = openStore();
    for (let n = 0; n < 5; n += 1)
      store.begin(window("A", `t${n}`), span(T0 + n * S, T0 + n * S + S));
    const range = store.between(T0, T0 + 10 * S, { limit: 2 });
    expect(range.truncated).toBe(true);
    expect(range.events.map((event) => event.startUs)).toEqual([T0 + 3 * S, T0 + 4 * S]);
    expect(store.between(T0, T0 + 10 * S, { limit: 5 }).truncated).toBe(false);
  });

  it("finds what reaches into a range from days before it, and nothing that only touches it", () => {
    const store = openStore();
    const day = 86_400 * S;
    store.begin({ kind: "sleep" }, span(T0 - 9 * day, T0 + S));
    store.begin({ kind: "lock" }, span(T0 - 8 * day, T0));
    store.begin(window("A", "long"), span(T0 - 3600 * S, T0 + S));
    store.begin(window("A", "before"), span(T0 - 2 * S, T0));
    store.begin(window("A", "instant"), span(T0, T0));
    store.begin(window("A", "after"), span(T0 + 2 * S, T0 + 3 * S));
    const found = store.between(T0, T0 + 2 * S).events.map((event) => event.startUs);
    expect(found).toEqual([T0 - 9 * day, T0 - 3600 * S, T0]);
    expect(
      store.between(T0, T0 + 2 * S, { kinds: ["sleep", "lock"] }).events.map((e) => e.kind),
    ).toEqual(["sleep"]);
  });

  it("gives the latest of a kind newest first, and before an instant", () => {
    const store = openStore();
    for (let n = 0; n < 4; n += 1) {
      store.begin(window("A", `t${n}`), span(T0 + n * S, T0 + n * S + S));
      store.begin(
        { kind: "idle", state: n % 2 === 0 ? "away" : "passive" },
        span(T0 + n * S, T0 + n * S),
      );
    }
    expect(store.latest("idle", 2).map((event) => event.startUs)).toEqual([
      T0 + 3 * S + 1,
      T0 + 2 * S + 1,
    ]);
    expect(store.latest("window", 2, T0 + 2 * S).map((event) => event.startUs)).toEqual([
      T0 + S,
      T0,
    ]);
    expect(store.latest("lock", 5)).toEqual([]);
  });

  it("keeps one document for a title and its decorations, and the title as it was seen", () => {
    const store = openStore();
    store.begin(window("Firefox", "(1) Inbox"), span(T0, T0));
    store.begin(window("Firefox", "(2) Inbox"), span(T0 + S, T0 + S));
    store.begin(window("Firefox", "Inbox"), span(T0 + 2 * S, T0 + 2 * S));
    store.begin(window("Firefox", "(1) Inbox"), span(T0 + 3 * S, T0 + 3 * S));
    const { database } = store;
    expect(database.prepare("SELECT app, title FROM document").all()).toEqual([
      { app: "Firefox", title: "Inbox" },
    ]);
    expect(database.prepare("SELECT count(*) AS n FROM label").get()).toEqual({ n: 3 });
    expect(store.latest("window", 4).map((event) => "title" in event && event.title)).toEqual([
      "(1) Inbox",
      "Inbox",
      "(2) Inbox",
      "(1) Inbox",
    ]);
    expect(
      database.prepare("SELECT rowid FROM document_fts WHERE document_fts MATCH 'inboxes'").all(),
    ).toHaveLength(1);
  });

  it("counts and dates what it holds", () => {
    const store = openStore();
    expect(store.summary()).toMatchObject({ eventCount: 0, lastCommittedUs: null });
    store.begin(window("A", "one"), span(T0, T0 + S));
    expect(store.summary()).toMatchObject({ eventCount: 1, lastCommittedUs: T0 });
    expect(store.summary().sizeBytes).toBeGreaterThan(4096);
  });

  it("says that an event is not there", () => {
    const store = openStore();
    expect(() => {
      store.setEnd(T0, T0 + S);
    }).toThrow(expect.objectContaining({ code: "not_found" }));
  });
});

describe("the pulse", () => {
  it("extends the events that were open when the process died", () => {
    const home = createTempHome();
    const first = openStore(home);
    const id = first.begin(window("A", "one"), span(T0, T0));
    first.begin({ kind: "lock" }, span(T0 + S, T0 + 2 * S));
    first.pulse(T0 + 7 * S, [id]);
    first.close();
    const second = openStore(home);
    expect(second.latest("window", 1)[0]?.endUs).toBe(T0 + 7 * S);
    expect(second.latest("lock", 1)[0]?.endUs).toBe(T0 + 2 * S);
    expect(second.activeOn("2026-11-27")).toEqual({ activeUs: 7 * S, firstUs: T0 });
  });

  it("yields to an end that was set after it, even an earlier one", () => {
    const home = createTempHome();
    const first = openStore(home);
    const id = first.begin(window("A", "one"), span(T0, T0 + 8 * S));
    first.pulse(T0 + 9 * S, [id]);
    first.setEnd(id, T0 + 3 * S);
    first.close();
    expect(openStore(home).latest("window", 1)[0]?.endUs).toBe(T0 + 3 * S);
  });

  it("never extends an event into the next one of its kind", () => {
    const home = createTempHome();
    const first = openStore(home);
    const id = first.begin(window("A", "one"), span(T0, T0));
    first.begin(window("A", "two"), span(T0 + 5 * S, T0 + 6 * S));
    first.pulse(T0 + 9 * S, [id]);
    first.close();
    expect(
      openStore(home)
        .latest("window", 2)
        .map((event) => event.endUs),
    ).toEqual([T0 + 6 * S, T0 + 5 * S]);
  });

  it("is ignored when it was torn", () => {
    const home = createTempHome();
    const first = openStore(home);
    const id = first.begin(window("A", "one"), span(T0, T0));
    first.pulse(T0 + 9 * S, [id]);
    first.close();
    const bytes = readFileSync(join(home, "pulse"));
    bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20);
    writeFileSync(join(home, "pulse"), bytes);
    expect(openStore(home).latest("window", 1)[0]?.endUs).toBe(T0);
  });
});

describe("the database file", () => {
  it("is for its owner alone, with its log", () => {
    const home = join(createTempHome(), "data");
    openStore(home).begin(window("A", "one"), span(T0, T0));
    expect(statSync(home).mode & 0o777).toBe(0o700);
    for (const name of ["activity.db", "activity.db-wal"]) {
      expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
    }
  });

  it("finds every kind but windows by an index, also in a record that was begun with another one", () => {
    const home = createTempHome();
    const before = openStore(home);
    const kinds: EventFacts[] = [
      { kind: "idle", state: "away" },
      { kind: "notification", app: storable("Signal"), summary: storable("one") },
      { kind: "gap", reason: "source-lost" },
      { kind: "lock" },
    ];
    for (const [n, facts] of kinds.entries()) before.begin(facts, span(T0 + n * S, T0 + n * S));
    before.database.execute(`
      DROP INDEX event_kind; DROP INDEX event_seen;
      CREATE INDEX event_kind ON event(label_id & 15, start_us, label_id) WHERE label_id & 15 <> 0;
      PRAGMA user_version = 8`);
    before.close();
    const store = openStore(home);
    for (const [n, { kind }] of kinds.entries()) {
      expect(store.latest(kind, 9).map(({ startUs }) => startUs)).toEqual([T0 + n * S]);
      const plan = store.database
        .prepare<{ detail: string }>(
          `EXPLAIN QUERY PLAN SELECT * FROM event WHERE label_id & 15 = ? AND ${isIndexedLike(KIND_CODES[kind])}
              AND start_us < ? ORDER BY start_us DESC`,
        )
        .all(KIND_CODES[kind], T0);
      expect(plan.map(({ detail }) => detail)).toEqual([
        expect.stringMatching(/^SEARCH event USING INDEX event_(?:kind|seen) \(<expr>=\? AND/),
      ]);
    }
  });

  it("is refused with a sentence, and not touched, when a newer program wrote it", () => {
    const home = createTempHome();
    openStore(home).close();
    const path = join(home, "activity.db");
    const newer = new Database(path);
    newer.pragma("user_version = 999");
    newer.close();
    const bytes = readFileSync(path);
    expect(() => openStore(home)).toThrow(expect.objectContaining({ code: "database_newer" }));
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

function openStore(home = createTempHome()): EventStore {
  const clock = createFakeClock("2026-11-27T09:00:00Z");
  const store = openEventStore({ directory: home, clock, log: silentLog });
  onTestFinished(() => {
    store.close();
  });
  return store;
}

function window(app: string, title: string, place: string | null = null): EventFacts {
  return {
    kind: "window",
    app: storable(app),
    title: storable(title),
    place: place === null ? null : storable(place),
  };
}

function span(startUs: number, endUs: number): EventSpan {
  return { startUs, endUs, utcOffsetMinutes: 60, timeZone: "Europe/Berlin" };
}
