import { describe, expect, it, onTestFinished } from "vitest";
import { readExport } from "../../src/activitywatch/history.ts";
import { importHistory, type ImportSummary } from "../../src/activitywatch/import.ts";
import { createPrivacyGate } from "../../src/capture/privacy.ts";
import { DEFAULT_PRIVACY } from "../../src/capture/privacy/rules.ts";
import { silentLog } from "../../src/log.ts";
import { createBucketStore } from "../../src/store/buckets.ts";
import { type EventStore, openEventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const T0 = Date.parse("2026-11-23T08:00:00Z") * 1000;
const DAY_US = 86_400 * 1e6;
const S = 1_000_000;
const WINDOWS = "aw-watcher-window_box";

function createStore(): EventStore {
  const clock = createFakeClock("2026-11-23T12:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  onTestFinished(store.close);
  return store;
}

function imports(store: EventStore, source: unknown): ImportSummary {
  return importHistory(readExport(source), {
    store,
    rows: createBucketStore(store.database),
    gate: createPrivacyGate(DEFAULT_PRIVACY),
    timeZone: "Europe/Berlin",
    nowUs: T0 + DAY_US,
  });
}

function at(seconds: number, duration: number, data: object): object {
  return { timestamp: new Date((T0 + seconds * S) / 1000).toISOString(), duration, data };
}

function exported(windows: readonly object[], afk: readonly object[] = []): object {
  return {
    buckets: {
      "aw-watcher-window_box": {
        id: "aw-watcher-window_box",
        type: "currentwindow",
        events: windows,
      },
      "aw-watcher-afk_box": { id: "aw-watcher-afk_box", type: "afkstatus", events: afk },
    },
  };
}

function windowsOf(store: EventStore): readonly string[] {
  return store.between(0, T0 * 2, { kinds: ["window"], limit: 100 }).events.map((event) => {
    if (event.kind !== "window") return "";
    const [from, to] = [(event.startUs - T0) / S, (event.endUs - T0) / S];
    return `${from}–${to} ${event.app}: ${event.title} ${event.place}`;
  });
}

describe("importing an ActivityWatch export", () => {
  it("takes windows, newest first as servers write them, and absences", () => {
    const store = createStore();
    const summary = imports(
      store,
      exported(
        [
          at(60, 30.5, { app: "Code", title: "cart.ts — shop" }),
          at(0, 60, { app: "gedit", title: "notes", url: "https://example.org/a?token=1#x" }),
        ],
        [at(100, 500, { status: "afk" }), at(0, 100, { status: "not-afk" })],
      ),
    );
    expect(summary).toEqual({
      kind: "an export",
      buckets: 2,
      added: 4,
      repeated: 0,
      withheld: 0,
      unreadable: {},
      recorded: { window: 2, idle: 1, tab: 0, editor: 0, media: 0 },
      misdated: 0,
      otherTypes: {},
    });
    expect(windowsOf(store)).toEqual([
      "0–60 gedit: notes example.org/a",
      "60–90.5 Code: cart.ts — shop null",
    ]);
    const [idle] = store.between(0, T0 * 2, { kinds: ["idle"] }).events;
    expect(idle).toMatchObject({
      state: "away",
      startUs: T0 + 100 * S,
      utcOffsetMinutes: 60,
      timeZone: "Europe/Berlin",
    });
  });

  it("adds nothing when it runs again, also where two windows began in the same instant", () => {
    const store = createStore();
    const source = exported(
      [
        at(0, 60, { app: "gedit", title: "a" }),
        at(60, 40, { app: "gedit", title: "b" }),
        at(200, 40, { app: "gedit", title: "c" }),
      ],
      [at(200, 10, { status: "afk" }), at(400, 10, { status: "afk" })],
    );
    const first = imports(store, source);
    const before = windowsOf(store);
    const again = imports(store, source);
    expect(again).toEqual({
      ...first,
      added: 0,
      repeated: first.added,
      recorded: { window: 0, idle: 0, tab: 0, editor: 0, media: 0 },
    });
    expect(windowsOf(store)).toEqual(before);
  });

  it("takes time away off the windows it lies in", () => {
    const store = createStore();
    imports(
      store,
      exported(
        [at(0, 1000, { app: "gedit", title: "a" }), at(1000, 100, { app: "gedit", title: "b" })],
        [
          at(300, 100, { status: "afk" }),
          at(350, 100, { status: "afk" }),
          at(990, 500, { status: "afk" }),
        ],
      ),
    );
    expect(windowsOf(store)).toEqual(["0–300 gedit: a null", "450–990 gedit: a null"]);
  });

  it("asks the privacy gate before anything is kept", () => {
    const store = createStore();
    const summary = imports(
      store,
      exported([
        at(0, 60, { app: "firefox", title: "Secret plan — Mozilla Firefox", incognito: true }),
        at(60, 60, { app: "KeePassXC", title: "Passwords.kdbx" }),
      ]),
    );
    expect(summary).toMatchObject({ added: 0, withheld: 2, recorded: { window: 0 } });
    expect(windowsOf(store)).toEqual([]);
    expect(JSON.stringify([...createBucketStore(store.database).iterate(WINDOWS)])).toBe("[]");
  });

  it("passes over events it cannot read and buckets it does not know, and says so", () => {
    const store = createStore();
    const source = {
      buckets: [
        { type: "os.hid.input", events: [at(0, 5, { presses: 3 }), at(5, 5, { presses: 4 })] },
        {
          type: "currentwindow",
          events: [
            at(0, 0, { app: "a", title: "no length" }),
            at(0, 5, { title: "no app" }),
            { timestamp: "yesterday", duration: 5, data: { app: "a" } },
            null,
            {
              timestamp: "2026-11-23 08:00:00.123456789+0000",
              duration: 1,
              data: { app: "a", title: "t" },
            },
          ],
        },
      ],
    };
    expect(imports(store, source)).toMatchObject({
      added: 5,
      unreadable: {
        "An event needs a timestamp in ISO 8601.": 1,
        "An event must be a JSON object.": 1,
      },
      recorded: { window: 1 },
      otherTypes: { "os.hid.input": 2 },
    });
    expect(store.between(0, T0 * 2).events[0]?.startUs).toBe(T0 + 123_456);
  });

  it("records nothing that lies ahead of the clock or before 1970, where time would go on from there", () => {
    const store = createStore();
    const dated = (timestamp: string) => ({ timestamp, duration: 5, data: { app: "a" } });
    const windows = [
      dated("1969-12-31T23:00:00Z"),
      dated("1970-01-01T00:00:00Z"),
      dated("2100-01-01T00:00:00Z"),
      { ...dated("2026-11-24T07:59:57Z") },
    ];
    expect(imports(store, exported(windows))).toMatchObject({
      added: 4,
      misdated: 3,
      recorded: { window: 1 },
    });
    expect(store.between(-T0, T0 * 2).events.map(({ startUs }) => startUs)).toEqual([0]);
  });

  it("refuses what is no export", () => {
    const store = createStore();
    for (const source of [null, [], "{}", { events: [] }]) {
      expect(() => imports(store, source)).toThrow(
        expect.objectContaining({ code: "bad_request" }),
      );
    }
  });

  it("lays tabs over the windows they are in: one document, and private ones hide theirs", () => {
    const store = createStore();
    const tab = (title: string, url: string, incognito = false): object => ({
      title,
      url,
      incognito,
    });
    const tabs = [
      at(0, 50, tab("Rye bread", "https://bread.example/rye?token=1")),
      at(50, 5, tab("Another", "https://other.example/")),
      at(100, 10, tab("Wish list", "https://shop.example/", true)),
      at(300, 10, tab("Rye bread", "https://bread.example/rye")),
    ];
    const source = {
      buckets: {
        "aw-watcher-window_box": {
          type: "currentwindow",
          hostname: "box",
          events: [
            at(0, 60, { app: "firefox", title: "Rye bread — Mozilla Firefox" }),
            at(60, 30, { app: "gedit", title: "Rye bread" }),
            at(95, 20, { app: "firefox", title: "Wish list — Mozilla Firefox" }),
            at(120, 20, { app: "firefox", title: "Wish list — Mozilla Firefox" }),
            at(305, 20, { app: "firefox", title: "(2) Rye bread — Mozilla Firefox" }),
          ],
        },
        "aw-watcher-web-firefox": { type: "web.tab.current", events: tabs },
      },
    };
    expect(imports(store, source)).toMatchObject({ withheld: 3, recorded: { window: 3, tab: 0 } });
    const rows = createBucketStore(store.database);
    const kept = rows.list().flatMap(({ id }) => [...rows.iterate(id)]);
    expect(JSON.stringify(kept)).not.toContain("Wish list");
    expect(windowsOf(store)).toEqual([
      "0–60 firefox: Rye bread — Mozilla Firefox bread.example/rye",
      "60–90 gedit: Rye bread null",
      "305–325 firefox: (2) Rye bread — Mozilla Firefox bread.example/rye",
    ]);
  });

  it("takes tabs for themselves where no windows are, and what editors and players say", () => {
    const store = createStore();
    const source = {
      buckets: {
        "aw-watcher-web-chrome": {
          type: "web.tab.current",
          events: [at(0, 9, { title: "A", url: "https://a.example/x", audible: true })],
        },
        "aw-watcher-vscode_box": {
          type: "app.editor.activity",
          events: [
            at(0, 9, { file: "/src/shop/cart.ts", project: "/src/shop", branch: "unknown" }),
            at(20, 9, { file: "unknown" }),
          ],
        },
        "aw-watcher-media-player_box": {
          type: "currently-playing",
          events: [at(0, 9, { player: "mpv", title: "Song", artist: "Band" })],
        },
      },
    };
    expect(imports(store, source)).toMatchObject({
      added: 4,
      recorded: { tab: 1, editor: 1, media: 1 },
    });
    const { events } = store.between(0, T0 * 2, { kinds: ["tab", "editor", "media"] });
    expect(events).toHaveLength(3);
    expect(events).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          kind: "tab",
          app: "chrome",
          place: "a.example/x",
          audible: true,
        }),
        expect.objectContaining({ file: "cart.ts", project: "shop", branch: null }),
        expect.objectContaining({ player: "mpv", title: "Song", artist: "Band", playing: true }),
      ]),
    );
  });

  it("keeps absences of one machine from another's windows", () => {
    const store = createStore();
    const source = {
      buckets: {
        a: {
          type: "currentwindow",
          hostname: "desk",
          events: [at(0, 100, { app: "x", title: "t" })],
        },
        b: {
          type: "currentwindow",
          hostname: "lap",
          events: [at(10, 80, { app: "y", title: "t" })],
        },
        c: { type: "afkstatus", hostname: "lap", events: [at(40, 50, { status: "afk" })] },
      },
    };
    imports(store, source);
    expect(windowsOf(store)).toEqual(["0–100 x: t null", "10–40 y: t null"]);
  });
});
