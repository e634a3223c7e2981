/** The record of other devices: one result in whatever order, and however often, its pieces come. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/log.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { createDevices } from "../../../src/store/devices.ts";
import { openEventStore, type EventStore } from "../../../src/store/events.ts";
import { createHistory } from "../../../src/store/history.ts";
import { searchDocuments } from "../../../src/store/readings/search-query.ts";
import type { RemotePut } from "../../../src/store/devices/remote.ts";
import { epochStart, toVersion } from "../../../src/store/devices/version.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { propertyRuns } from "../../helpers/property-runs.ts";
import { storable } from "../../helpers/storable.ts";
import { createTempHome } from "../../helpers/temp-home.ts";

const S = 1_000_000;
const T0 = Date.parse("2026-05-04T09:00:00Z") * 1000;
const BRIDGE_US = 90 * S;

function openStore(): EventStore {
  const clock = createFakeClock("2026-05-04T09:30:00Z");
  return openEventStore({ directory: createTempHome(), clock, log: silentLog });
}

function windowPut(slot: number, title: string, lengthS: number, isOpen = false): RemotePut {
  const startUs = T0 + slot * 60 * S;
  return {
    facts: { kind: "window", app: storable("Code"), title: storable(title), place: null },
    startUs,
    endUs: startUs + lengthS * S,
    utcOffsetMinutes: 120,
    timeZone: "Europe/Berlin",
    isOpen,
  };
}

/** One record of one device's log. */
interface Entry {
  readonly deviceKey: number;
  readonly version: number;
  readonly puts: readonly RemotePut[];
  readonly erased: readonly (readonly [number, number])[];
}

const putArbitrary = fc
  .record({
    slot: fc.integer({ min: 0, max: 7 }),
    title: fc.constantFrom("one", "two", "three"),
    lengthS: fc.integer({ min: 0, max: 200 }),
  })
  .map(({ slot, title, lengthS }) => windowPut(slot, title, lengthS));

const runArbitrary = fc
  .tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 2 }))
  .map(([slot, length]) => [T0 + slot * 60 * S, T0 + (slot + length) * 60 * S] as const);

const logArbitrary = fc.array(
  fc.record({
    deviceKey: fc.constantFrom(1, 2),
    puts: fc.array(putArbitrary, { maxLength: 3 }),
    erased: fc.array(runArbitrary, { maxLength: 1 }),
  }),
  { maxLength: 12 },
);

/** What the logs say when they are read in order, by device and start. */
function expected(
  entries: readonly Entry[],
  forgotten: readonly { readonly deviceKey: number; readonly startUs: number }[],
): string[] {
  const standing = new Map<string, { put: RemotePut; deviceKey: number }>();
  for (const { deviceKey, puts, erased } of entries) {
    for (const [fromUs, toUs] of erased) {
      for (const [key, { put, deviceKey: owner }] of standing) {
        if (owner === deviceKey && put.startUs >= fromUs && put.startUs <= toUs)
          standing.delete(key);
      }
    }
    const told = new Set<number>();
    for (const put of puts) {
      // Of one event a record speaks once.
      if (told.has(put.startUs)) continue;
      told.add(put.startUs);
      standing.set(`${deviceKey} ${put.startUs}`, { put, deviceKey });
    }
  }
  for (const { deviceKey, startUs } of forgotten) standing.delete(`${deviceKey} ${startUs}`);
  return [...standing.values()].map(({ put, deviceKey }) => describePut(deviceKey, put)).sort();
}

function describePut(deviceKey: number, { startUs, endUs, facts }: RemotePut): string {
  return `${deviceKey} ${startUs} ${endUs} ${facts.kind === "window" ? facts.title : ""}`;
}

function standing(store: EventStore): string[] {
  return [...store.remote().all()]
    .flat()
    .map(({ deviceKey, event, isOpen }) => {
      const { id, ...rest } = event;
      expect(id).toBe(event.startUs);
      return describePut(deviceKey, { ...rest, facts: event, isOpen });
    })
    .sort();
}

/** The visits that the events of the store give. */
function visitsOfEvents(store: EventStore): string[] {
  const byDocument = new Map<string, { startUs: number; endUs: number; activeUs: number }[]>();
  const rows = store.database
    .prepare<{ device_key: number; start_us: number; end_us: number; document_id: number }>(
      `SELECT device_key, start_us, start_us + duration_us AS end_us, document_id
         FROM remote_event JOIN label ON label.id = label_id ORDER BY device_key, start_us`,
    )
    .all();
  for (const row of rows) {
    const key = `${row.device_key} ${row.document_id}`;
    const visits = byDocument.get(key) ?? [];
    byDocument.set(key, visits);
    const last = visits.at(-1);
    if (last !== undefined && row.start_us - last.endUs < BRIDGE_US) {
      last.endUs = Math.max(last.endUs, row.end_us);
      last.activeUs += row.end_us - row.start_us;
    } else {
      const activeUs = row.end_us - row.start_us;
      visits.push({ startUs: row.start_us, endUs: row.end_us, activeUs });
    }
  }
  return [...byDocument]
    .flatMap(([key, visits]) =>
      visits.map(({ startUs, endUs, activeUs }) => `${key} ${startUs} ${endUs} ${activeUs}`),
    )
    .sort();
}

function visits(store: EventStore): string[] {
  return store.database
    .prepare<{ d: number; i: number; s: number; e: number; a: number }>(
      `SELECT device_key AS d, document_id AS i, start_us AS s, start_us + span_us AS e, active_us AS a
         FROM remote_visit`,
    )
    .all()
    .map(({ d, i, s, e, a }) => `${d} ${i} ${s} ${e} ${a}`)
    .sort();
}

function clear(store: EventStore): EventStore {
  for (const table of ["remote_event", "remote_visit", "remote_erased"])
    store.database.execute(`DELETE FROM ${table}`);
  return store;
}

function numbered(log: readonly Omit<Entry, "version">[]): Entry[] {
  return log.map((entry, index) => ({
    ...entry,
    puts: entry.puts.filter(
      ({ startUs }, at) => entry.puts.findIndex((put) => put.startUs === startUs) === at,
    ),
    version: toVersion({ epoch: 1, seq: index + 1 }),
  }));
}

describe("the record of other devices", () => {
  it("is the same in whatever order and however often its records come", () => {
    const first = openStore();
    try {
      fc.assert(
        fc.property(
          logArbitrary,
          fc.array(
            fc.record({
              deviceKey: fc.constantFrom(1, 2),
              startUs: fc.integer({ min: 0, max: 7 }).map((slot) => T0 + slot * 60 * S),
            }),
            { maxLength: 2 },
          ),
          fc.array(fc.nat(), { maxLength: 40 }),
          (log, forgotten, order) => {
            const entries = numbered(log);
            type Deed = Entry | { readonly deviceKey: number; readonly startUs: number };
            const deeds: Deed[] = [...entries, ...forgotten];
            // Any order, some of them twice, all of them at least once.
            const shuffled = [
              ...order.flatMap((at) => deeds[at % Math.max(deeds.length, 1)] ?? []),
              ...deeds,
            ];
            clear(first);
            const store = first;
            // What was erased is remembered by the object as well: it must not outlive the tables.
            const remote = store.remote();
            remote.dropDevice(1);
            remote.dropDevice(2);
            for (const deed of shuffled) {
              if ("version" in deed) {
                remote.erase(deed.deviceKey, deed.version, deed.erased);
                remote.put(deed.deviceKey, deed.version, deed.puts);
              } else {
                remote.forget([deed]);
              }
            }
            expect(standing(store)).toEqual(expected(entries, forgotten));
            expect(visits(store)).toEqual(visitsOfEvents(store));
          },
        ),
        { numRuns: propertyRuns(200, 2_000) },
      );
    } finally {
      first.close();
    }
  });

  it("keeps away what a device erased before its log began anew", () => {
    const store = openStore();
    const remote = store.remote();
    const version = (epoch: number, seq: number) => toVersion({ epoch, seq });
    remote.put(1, version(1, 1), [windowPut(0, "old", 30), windowPut(1, "kept", 30)]);
    remote.erase(1, version(1, 2), [[T0, T0]]);
    remote.put(1, version(2, 1), [windowPut(0, "old", 30), windowPut(1, "kept", 40)]);
    expect(standing(store)).toEqual([describePut(1, windowPut(1, "kept", 40))]);
    store.close();
  });

  it("holds what two devices have of their own once, as long as the longer has it, in whatever order they tell it", () => {
    for (const order of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]) {
      const store = openStore();
      const devices = createDevices(store.database);
      const [ada, bob, eve] = ["a", "b", "c"].map(
        (digit) => devices.ensure(digit.repeat(32), "device").key,
      );
      const told = [
        { key: ada ?? 0, lengthS: 60 },
        { key: bob ?? 0, lengthS: 121 },
        { key: eve ?? 0, lengthS: 30 },
      ];
      const version = toVersion({ epoch: 1, seq: 1 });
      for (const at of order) {
        const { key, lengthS } = told[at] ?? { key: 0, lengthS: 0 };
        store.remote().put(key, version, [windowPut(0, "taken in there as well", lengthS)]);
      }
      expect(standing(store)).toEqual([
        describePut(bob ?? 0, windowPut(0, "taken in there as well", 121)),
      ]);
      expect(visits(store)).toEqual(visitsOfEvents(store));
      store.close();
    }
  });

  it("tells the newest window of a device and whether it goes on", () => {
    const store = openStore();
    const remote = store.remote();
    expect(remote.latestWindows(1, 1)).toEqual([]);
    remote.put(1, toVersion({ epoch: 1, seq: 1 }), [
      windowPut(0, "first", 30),
      windowPut(1, "second", 5, true),
    ]);
    expect(remote.latestWindows(1, 1)[0]).toMatchObject({
      deviceKey: 1,
      isOpen: true,
      event: { title: "second" },
    });
    store.close();
  });

  it("finds what meets a range, and says when there is more", () => {
    const store = openStore();
    const remote = store.remote();
    remote.put(
      2,
      toVersion({ epoch: 1, seq: 1 }),
      [0, 1, 2, 3].map((slot) => windowPut(slot, `w${slot}`, 30)),
    );
    const found = remote.between(T0 + 60 * S, T0 + 180 * S);
    expect(found.events.map(({ event }) => event.startUs - T0)).toEqual([60 * S, 120 * S]);
    expect(remote.between(T0, T0 + 240 * S, { limit: 2 })).toMatchObject({ truncated: true });
    expect(remote.count()).toBe(4);
    store.close();
  });

  it("leaves no text of an event that is gone, and keeps what this device saw as well", async () => {
    const store = openStore();
    const remote = store.remote();
    const shared = windowPut(0, "seen on both", 30);
    store.put(shared.facts, { ...shared, startUs: T0 - S, endUs: T0 });
    remote.put(1, toVersion({ epoch: 1, seq: 1 }), [shared, windowPut(1, "seen there", 30)]);
    const labels = remote.forget(
      [shared.startUs, windowPut(1, "", 0).startUs].map((startUs) => ({ deviceKey: 1, startUs })),
    );
    await store.eraser.sweep(labels);
    const titles = store.database.prepare<{ title: string }>("SELECT title FROM document").all();
    expect(titles).toEqual([{ title: "seen on both" }]);
    store.close();
  });

  it("keeps the text of another device's event when this one's goes", async () => {
    const store = openStore();
    const shared = windowPut(0, "seen on both", 30);
    store.put(shared.facts, { ...shared, startUs: T0 - S, endUs: T0 });
    store.remote().put(1, toVersion({ epoch: 1, seq: 1 }), [shared]);
    await store.eraser.events([T0 - S], "forget");
    expect(standing(store)).toEqual([describePut(1, shared)]);
    store.close();
  });

  it("stands in the history and is found by a search, together with what this device saw", () => {
    const store = openStore();
    const own = windowPut(0, "budget here", 30);
    const both = windowPut(3, "budget on both", 30);
    store.put(own.facts, own);
    store.put(both.facts, both);
    store.settle();
    const history = createHistory(store.database);
    expect(history.visitsBetween(T0, T0 + 600 * S)).toHaveLength(2);
    for (const name of ["a", "b", "c", "d"]) createDevices(store.database).ensure(name, name);
    store
      .remote()
      .put(4, toVersion({ epoch: 1, seq: 1 }), [
        { ...both, startUs: both.startUs + S },
        windowPut(1, "budget there", 30),
        windowPut(-9, "budget before", 30),
      ]);
    const visits = history.visitsBetween(T0, T0 + 600 * S);
    expect(visits.map(({ deviceKey, startUs }) => [deviceKey, (startUs - T0) / S])).toEqual([
      [0, 0],
      [4, 60],
      [0, 180],
      [4, 181],
    ]);
    expect(history.firstUs()).toBe(T0 - 540 * S);
    expect(history.visitsFrom(T0, T0 + 600 * S, 2)).toEqual(visits.slice(0, 2));
    const ids = [...new Set(visits.map(({ documentId }) => documentId))];
    expect(history.visitsOf(ids, T0 + 600 * S, 3)).toEqual([...visits].reverse().slice(0, 3));
    const shared = visits.at(-1)?.documentId ?? 0;
    expect(history.eventIds(shared, T0, T0 + 600 * S)).toEqual([T0 + 180 * S, T0 + 181 * S]);
    const reader = openDatabase({ path: store.database.path, role: "reader" });
    const { hits } = searchDocuments(reader, { q: "budget" });
    expect(hits.map(({ title, visits: times }) => [title, times])).toEqual([
      ["budget on both", 2],
      ["budget there", 1],
      ["budget here", 1],
      ["budget before", 1],
    ]);
    reader.close();
    store.close();
  });

  it("numbers positions so that a later epoch is later", () => {
    expect(epochStart(toVersion({ epoch: 3, seq: 12_345_678 }))).toBe(
      toVersion({ epoch: 3, seq: 0 }),
    );
    expect(toVersion({ epoch: 2, seq: 1 })).toBeGreaterThan(toVersion({ epoch: 1, seq: 2 ** 39 }));
  });
});
