/** Histories in the files of ActivityWatch's own servers, made here by their schemas. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { readDatabase, usualPlaces } from "../../src/activitywatch/databases.ts";
import { importHistory, type ImportSummary } from "../../src/activitywatch/import.ts";
import { createPrivacyGate } from "../../src/capture/privacy.ts";
import { DEFAULT_PRIVACY } from "../../src/capture/privacy/rules.ts";
import { silentLog } from "../../src/log.ts";
import { createBucketStore } from "../../src/store/buckets.ts";
import { type EventStore, openEventStore } from "../../src/store/events.ts";
import { openForeignDatabase } from "../../src/store/foreign.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const T0 = Date.parse("2026-11-23T08:00:00Z") * 1000;
const DAY_US = 86_400 * 1e6;
const WINDOW = JSON.stringify({ app: "gedit", title: "notes" });

/** As aw-server's peewee storage makes it. */
function makePeewee(path: string, bucketData = true): Database.Database {
  mkdirSync(dirname(path), { recursive: true });
  const database = new Database(path);
  database.exec(`
    CREATE TABLE bucketmodel(key INTEGER NOT NULL PRIMARY KEY, id VARCHAR(255) NOT NULL, created DATETIME NOT NULL,
      name VARCHAR(255), type VARCHAR(255) NOT NULL, client VARCHAR(255) NOT NULL,
      hostname VARCHAR(255) NOT NULL${bucketData ? ", datastr VARCHAR(255)" : ""});
    CREATE TABLE eventmodel(id INTEGER NOT NULL PRIMARY KEY, bucket_id INTEGER NOT NULL, timestamp DATETIME NOT NULL,
      duration DECIMAL(10, 5) NOT NULL, datastr VARCHAR(255) NOT NULL);
    INSERT INTO bucketmodel(key, id, created, type, client, hostname) VALUES
      (1, 'aw-watcher-window_box', '2026-11-01T10:00:00.952988', 'currentwindow', 'aw-watcher-window', 'box'),
      (2, 'aw-watcher-afk_box', '2026-11-01 10:00:00+00:00', 'afkstatus', 'aw-watcher-afk', 'box');
  `);
  const insert = database.prepare(
    "INSERT INTO eventmodel(bucket_id, timestamp, duration, datastr) VALUES(?, ?, ?, ?)",
  );
  insert.run(1, "2026-11-23 08:01:00.500000+00:00", 30.25, WINDOW);
  insert.run(1, "2026-11-23 08:00:00+00:00", 60, '{"app":"Code","title":"cart.ts"}');
  insert.run(1, "2026-11-23 08:02:00+00:00", 5, '{"app":"KeePassXC","title":"Passwords"}');
  insert.run(1, "2026-11-23 08:03:00+00:00", 5, "{broken");
  insert.run(1, "yesterday", 5, WINDOW);
  insert.run(2, "2026-11-23 08:10:00+00:00", 600, '{"status":"afk"}');
  return database;
}

/** As aw-server-rust makes it at schema 5. */
function makeRust(path: string, version = 5): Database.Database {
  mkdirSync(dirname(path), { recursive: true });
  const database = new Database(path);
  database.exec(`
    CREATE TABLE buckets(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL, type TEXT NOT NULL,
      client TEXT NOT NULL, hostname TEXT NOT NULL, created TEXT NOT NULL, data_deprecated TEXT, data TEXT);
    CREATE TABLE events(id INTEGER PRIMARY KEY AUTOINCREMENT, bucketrow INTEGER NOT NULL, starttime INTEGER NOT NULL,
      endtime INTEGER NOT NULL, data TEXT NOT NULL, FOREIGN KEY (bucketrow) REFERENCES buckets(id));
    CREATE TABLE key_value(key TEXT PRIMARY KEY, value TEXT, last_modified NUMBER NOT NULL);
    INSERT INTO buckets(name, type, client, hostname, created, data) VALUES
      ('aw-watcher-window_box', 'currentwindow', 'aw-watcher-window', 'box', '2026-11-01T10:00:00.123456789+00:00', '{"n":1}');
    INSERT INTO key_value VALUES('settings.classes', '[{"name":["Work"]}]', 1), ('other', '1', 1);
    PRAGMA user_version = ${version};
  `);
  const insert = database.prepare(
    "INSERT INTO events(bucketrow, starttime, endtime, data) VALUES(1, ?, ?, ?)",
  );
  insert.run(BigInt(T0) * 1000n + 123_456_789n, BigInt(T0) * 1000n + 61_123_456_789n, WINDOW);
  insert.run(BigInt(T0 + 90_000_000) * 1000n, BigInt(T0 + 120_000_000) * 1000n, WINDOW);
  return database;
}

function openTarget(): EventStore {
  const clock = createFakeClock("2026-11-23T12:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  onTestFinished(store.close);
  return store;
}

function importFile(path: string, store: EventStore): ImportSummary {
  const database = openForeignDatabase(path, createTempHome());
  try {
    return importHistory(readDatabase(database, path), {
      store,
      rows: createBucketStore(store.database),
      gate: createPrivacyGate(DEFAULT_PRIVACY),
      timeZone: "Europe/Berlin",
      nowUs: T0 + DAY_US,
    });
  } finally {
    database.close();
  }
}

function spansOf(store: EventStore): readonly string[] {
  return store
    .between(0, T0 * 2, { limit: 100 })
    .events.map(
      ({ kind, startUs, endUs }) => `${kind} ${(startUs - T0) / 1e6}–${(endUs - T0) / 1e6}`,
    );
}

describe("the database of aw-server", () => {
  it("is taken over by bucket and into the record, with what was left out and why", () => {
    const path = join(createTempHome(), "peewee-sqlite.v2.db");
    makePeewee(path).close();
    const store = openTarget();
    const summary = importFile(path, store);
    expect(summary).toEqual({
      kind: "aw-server",
      buckets: 2,
      added: 3,
      repeated: 0,
      withheld: 1,
      unreadable: {
        "The data of an event must be a JSON object.": 1,
        "An event needs a timestamp in ISO 8601.": 1,
      },
      recorded: { window: 2, idle: 1, tab: 0, editor: 0, media: 0 },
      misdated: 0,
      otherTypes: {},
    });
    expect(spansOf(store)).toEqual(["window 0–60", "window 60.5–90.75", "idle 600–1200"]);
    const rows = createBucketStore(store.database);
    expect(rows.find("aw-watcher-afk_box")).toMatchObject({
      client: "aw-watcher-afk",
      hostname: "box",
      createdUs: Date.parse("2026-11-01T10:00:00Z") * 1000,
    });
    expect([...rows.iterate("aw-watcher-window_box")]).toMatchObject([
      { startUs: T0 + 60_500_000, durationUs: 30_250_000 },
      { startUs: T0, durationUs: 60_000_000 },
    ]);
  });

  it("is closed and gone also where tabs were reported after the last window", () => {
    const path = join(createTempHome(), "peewee-sqlite.v2.db");
    const server = makePeewee(path);
    server.exec(
      "INSERT INTO bucketmodel(key, id, created, type, client, hostname, datastr) VALUES(7, 'aw-watcher-web-firefox', '2026-11-01T11:00:00', 'web.tab.current', 'c', 'unknown', '{}')",
    );
    const tab = JSON.stringify({ url: "https://notes.example/", title: "notes", incognito: false });
    const add = server.prepare(
      "INSERT INTO eventmodel(bucket_id, timestamp, duration, datastr) VALUES(7, ?, 5, ?)",
    );
    for (const minute of [40, 41, 42]) add.run(`2026-11-23 09:${minute}:00+00:00`, tab);
    server.close();
    const scratch = createTempHome();
    const database = openForeignDatabase(path, scratch);
    const store = openTarget();
    importHistory(readDatabase(database, path), {
      store,
      rows: createBucketStore(store.database),
      gate: createPrivacyGate(DEFAULT_PRIVACY),
      timeZone: "Europe/Berlin",
      nowUs: T0 + DAY_US,
    });
    database.close();
    expect(readdirSync(scratch)).toEqual([]);
  });

  it("may be of before buckets had data, and imported again adds nothing", () => {
    const path = join(createTempHome(), "peewee-sqlite.v2.db");
    makePeewee(path, false).close();
    const store = openTarget();
    const first = importFile(path, store);
    const before = spansOf(store);
    expect(importFile(path, store)).toMatchObject({
      added: 0,
      repeated: first.added,
      recorded: { window: 0, idle: 0 },
    });
    expect(spansOf(store)).toEqual(before);
  });

  it("may be the older file, in microseconds", () => {
    const path = join(createTempHome(), "sqlite.v1.db");
    const database = new Database(path);
    database.exec(`
      CREATE TABLE buckets(rowid INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, name TEXT, type TEXT,
        client TEXT, hostname TEXT, created TEXT, datastr TEXT);
      CREATE TABLE events(id INTEGER PRIMARY KEY AUTOINCREMENT, bucketrow INTEGER, starttime INTEGER, endtime INTEGER,
        datastr TEXT);
      INSERT INTO buckets(id, type, client, hostname, created, datastr)
        VALUES('w', 'currentwindow', 'c', 'box', '2026-11-01T10:00:00+00:00', '{}');
      INSERT INTO events(bucketrow, starttime, endtime, datastr) VALUES(1, ${T0}, ${T0 + 1_500_000}, '${WINDOW}');
    `);
    database.close();
    const store = openTarget();
    expect(importFile(path, store)).toMatchObject({ kind: "aw-server", added: 1 });
    expect(spansOf(store)).toEqual(["window 0–1.5"]);
  });
});

describe("the database of aw-server-rust", () => {
  it("is read to the microsecond, with its settings", () => {
    const path = join(createTempHome(), "sqlite.db");
    makeRust(path).close();
    const store = openTarget();
    expect(importFile(path, store)).toMatchObject({
      kind: "aw-server-rust",
      added: 2,
      recorded: { window: 2 },
    });
    const rows = createBucketStore(store.database);
    expect([...rows.iterate("aw-watcher-window_box")].at(-1)).toMatchObject({
      startUs: T0 + 123_456,
      durationUs: 61_000_000,
    });
    expect(rows.settings()).toEqual({ classes: '[{"name":["Work"]}]' });
    expect(rows.find("aw-watcher-window_box")?.data).toBe('{"n":1}');
  });

  it("is read with what stands in its log alone, while its server runs, and nothing beside it changes", () => {
    const folder = createTempHome();
    const path = join(folder, "sqlite.db");
    const server = makeRust(path);
    onTestFinished(() => void server.close());
    server.pragma("journal_mode = WAL");
    server.pragma("wal_autocheckpoint = 0");
    server
      .prepare("INSERT INTO events(bucketrow, starttime, endtime, data) VALUES(1, ?, ?, ?)")
      .run(BigInt(T0 + 500_000_000) * 1000n, BigInt(T0 + 510_000_000) * 1000n, WINDOW);
    const state = (): unknown =>
      readdirSync(folder).map((name) => [
        name,
        statSync(join(folder, name)).mtimeMs,
        name.endsWith("-shm") ? "" : readFileSync(join(folder, name)).toString("base64"),
      ]);
    const before = state();
    const store = openTarget();
    expect(importFile(path, store)).toMatchObject({ added: 3 });
    expect(state()).toEqual(before);
  });

  it("may be a record of ours, and then the ways to take it over are told", () => {
    const { path } = openTarget().database;
    expect(() => importFile(path, openTarget())).toThrow(
      expect.objectContaining({
        code: "bad_request",
        hint: expect.stringContaining(`restore ${path}`),
      }),
    );
  });

  it("of a schema that is not known is refused, and so is what is no database of theirs", () => {
    const folder = createTempHome();
    const newer = join(folder, "newer.db");
    makeRust(newer, 7).close();
    const other = join(folder, "other.db");
    new Database(other).exec("CREATE TABLE t(a)").close();
    const encrypted = join(folder, "encrypted.db");
    writeFileSync(encrypted, Buffer.alloc(8192, 7));
    for (const path of [newer, other, encrypted]) {
      expect(() => importFile(path, openTarget())).toThrow(
        expect.objectContaining({ code: "bad_request" }),
      );
    }
  });
});

describe("activityd import", () => {
  it("finds both servers' databases in their usual places, and the same history is taken once", async () => {
    const home = createTempHome();
    const share = join(home, "share");
    const env = { XDG_DATA_HOME: share };
    const own = { home: join(home, "own"), env };
    const [rust = "", peewee = ""] = usualPlaces(env, home, "linux");
    makeRust(rust).close();
    makePeewee(peewee).close();
    const first = await runCli(["import"], own);
    expect(first).toMatchObject({ exitCode: 0 });
    expect(first.out).toBe(
      [
        "imported aw-server-rust: 1 bucket, 2 events; 0 were there already, 0 withheld by privacy rules, 0 unreadable",
        "recorded 2 windows, 0 absences, 0 tabs, 0 of editors, 0 of players",
        "imported aw-server: 2 buckets, 3 events; 0 were there already, 1 withheld by privacy rules, 2 unreadable",
        "recorded 2 windows, 1 absence, 0 tabs, 0 of editors, 0 of players",
        "unreadable: 1 × The data of an event must be a JSON object.",
        "unreadable: 1 × An event needs a timestamp in ISO 8601.",
        "",
      ].join("\n"),
    );
    const again = await runCli(["import", peewee], own);
    expect(again.out).toContain("imported aw-server: 2 buckets, 0 events; 3 were there already");
    expect(
      readdirSync(join(home, "own", "data")).filter((name) => name.includes("import")),
    ).toEqual([]);
  });

  it("says where it looked when there is none", async () => {
    const home = createTempHome();
    const env = { XDG_DATA_HOME: join(home, "none") };
    const { exitCode, talk } = await runCli(["import"], { home, env });
    expect(exitCode).toBe(1);
    expect(talk).toContain(join(home, "none", "activitywatch", "aw-server", "peewee-sqlite.v2.db"));
  });

  it.each([
    ["linux", {}, "/home/o/.local/share/activitywatch/aw-server/peewee-sqlite.v2.db"],
    ["linux", { XDG_DATA_HOME: "/d" }, "/d/activitywatch/aw-server-rust/sqlite.db"],
    ["darwin", {}, "/home/o/Library/Application Support/activitywatch/aw-server-rust/sqlite.db"],
    [
      "win32",
      { LOCALAPPDATA: "/L" },
      "/L/activitywatch/activitywatch/aw-server/peewee-sqlite.v2.db",
    ],
  ] as const)("on %s with %j looks at %s", (platform, env, path) => {
    expect(usualPlaces(env, "/home/o", platform)).toContain(path);
  });
});
