import { describe, expect, it, onTestFinished } from "vitest";
import { importBuckets, type ImportSummary } from "../../src/activitywatch/import.ts";
import { createPrivacyGate } from "../../src/capture/privacy.ts";
import { DEFAULT_PRIVACY } from "../../src/capture/privacy-rules.ts";
import { silentLog } from "../../src/log.ts";
import { type EventStore, openEventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const T0 = Date.parse("2026-11-23T08:00:00Z") * 1000;
const S = 1_000_000;

function createStore(): EventStore {
  const clock = createFakeClock("2026-11-23T12:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  onTestFinished(store.close);
  return store;
}

function imports(store: EventStore, source: unknown): ImportSummary {
  return importBuckets(source, {
    store,
    gate: createPrivacyGate(DEFAULT_PRIVACY),
    timeZone: "Europe/Berlin",
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
      windows: 2,
      absences: 1,
      repeated: 0,
      withheld: 0,
      skipped: 0,
      otherBuckets: [],
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
    expect(again).toMatchObject({
      windows: 0,
      absences: 0,
      repeated: first.windows + first.absences,
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
    expect(summary).toMatchObject({ windows: 0, withheld: 2 });
    expect(windowsOf(store)).toEqual([]);
  });

  it("passes over events it cannot read and buckets it does not know, and says so", () => {
    const store = createStore();
    const source = {
      buckets: [
        { type: "web.tab.current", events: [at(0, 5, { url: "https://example.org" })] },
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
      windows: 1,
      skipped: 4,
      otherBuckets: ["web.tab.current"],
    });
    expect(store.between(0, T0 * 2).events[0]?.startUs).toBe(T0 + 123_456);
  });

  it("refuses what is no export", () => {
    const store = createStore();
    for (const source of [null, [], "{}", { events: [] }]) {
      expect(() => imports(store, source)).toThrow(
        expect.objectContaining({ code: "bad_request" }),
      );
    }
  });
});
