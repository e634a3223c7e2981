import { describe, expect, it, onTestFinished } from "vitest";
import type { EventFacts } from "../../src/capture/events.ts";
import { silentLog } from "../../src/log.ts";
import { createDevices } from "../../src/store/devices.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { createExchangeImporter, exportLines } from "../../src/store/exchange.ts";
import { createOutbox } from "../../src/store/devices/outbox.ts";
import { openReadings } from "../../src/store/readings.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { storable } from "../helpers/storable.ts";
import { createOtherDevice } from "../helpers/other-device.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const HEADER = '{"activityd":"export","format":1}';
const S = 1_000_000;
const NOW_US = Date.parse("2026-12-01T00:00:00Z") * 1000;

describe("an import", () => {
  it("can be searched in while the rest is still coming in", async () => {
    const store = openStore();
    const importer = createExchangeImporter(HEADER, store, admit, NOW_US);
    for (let n = 0; n < 700; n += 1) importer.take(line(n));
    const search = openReadings(store.database.path);
    expect((await search.search({ q: "title 499" })).hits).toHaveLength(1);
    expect((await search.search({ q: "title 650" })).hits).toEqual([]);
    expect(importer.finish()).toMatchObject({ added: 700 });
    expect((await search.search({ q: "title 650" })).hits).toHaveLength(1);
    search.close();
  });

  it("leaves out what ends after now, where time would go on from there", () => {
    const store = openStore();
    const importer = createExchangeImporter(
      HEADER,
      store,
      admit,
      Number(JSON.parse(line(2)).endUs),
    );
    for (const n of [1, 2, 3]) importer.take(line(n));
    expect(importer.finish()).toMatchObject({ added: 2, ahead: 1, unreadable: 0 });
  });

  it("lengthens an event that went on in a later export, and shortens none", () => {
    const store = openStore();
    const take = (lengthS: number): unknown => {
      const importer = createExchangeImporter(HEADER, store, admit, NOW_US);
      importer.take(line(1, lengthS));
      return importer.finish();
    };
    expect(take(5)).toMatchObject({ added: 1 });
    expect(take(9)).toMatchObject({ added: 0, extended: 1 });
    expect(take(3)).toMatchObject({ added: 0, extended: 0, present: 1 });
    const parts = [...exportLines(store.database)].map(({ text }) => text);
    expect(parts.join("")).toBe(`${HEADER}\n${exported(1, 9)}\n`);
  });
});

describe("an export that says not whose it is", () => {
  it("adds nothing that another device tells, and takes over what one told that is gone", () => {
    const store = openStore();
    const [laptop, phone] = [createOtherDevice(store, "laptop"), createOtherDevice(store, "phone")];
    const [first, second] = [line(1), line(2)].map((text) => JSON.parse(text));
    laptop.tellFacts({ ...first, kind: "window" }, first.startUs, first.endUs);
    phone.tellFacts({ ...second, kind: "window" }, second.startUs, second.endUs);
    phone.set({ state: "left" });
    const importer = createExchangeImporter(HEADER, store, admit, NOW_US);
    for (const n of [1, 2, 3]) importer.take(line(n));
    expect(importer.finish()).toMatchObject({ added: 2, present: 1 });
    const known = [...store.remote().all()].flat();
    expect(known.map(({ event }) => event.startUs)).toEqual([first.startUs]);
    expect(store.summary().eventCount).toBe(2);
  });
});

describe("an export of several devices", () => {
  const LAPTOP = "a0".repeat(16);
  const OWN = "b0".repeat(16);

  /** A store whose device is in a hub, with an event of its own and one of a laptop. */
  function openShared(): EventStore {
    const store = openStore();
    createOutbox(store.database).writeLog({
      device: OWN,
      epoch: 1,
      seq: 1,
      hash: Buffer.alloc(32),
      cursor: null,
      toldUs: 0,
    });
    const { key } = createDevices(store.database).ensure(LAPTOP, "laptop");
    store.put(admit({ kind: "window", title: "mine" }), spanAt(1));
    store
      .remote()
      .put(key, 5, [
        { ...spanAt(2), facts: admit({ kind: "window", title: "the laptop's" }), isOpen: false },
      ]);
    return store;
  }

  function exportOf(store: EventStore): string {
    return [...exportLines(store.database)].map(({ text }) => text).join("");
  }

  function take(store: EventStore, text: string): unknown {
    const [header = "", ...lines] = text.split("\n");
    const importer = createExchangeImporter(header, store, admit, NOW_US);
    for (const each of lines) importer.take(each);
    return importer.finish();
  }

  it("names the device of each event, and comes back the same in another store", () => {
    const text = exportOf(openShared());
    expect(text).toContain(`"device":{"id":"${LAPTOP}","name":"laptop"}`);
    expect(text.startsWith(`{"activityd":"export","format":1,"device":"${OWN}"}\n`)).toBe(true);
    const fresh = openStore();
    expect(take(fresh, text)).toMatchObject({ added: 2, unreadable: 0 });
    expect(take(fresh, text)).toMatchObject({ added: 0, present: 2 });
    expect(exportOf(fresh).split("\n").slice(1)).toEqual(text.split("\n").slice(1));
  });

  it("adds nothing to the store it came from, nor doubles a device that is known there", () => {
    const shared = openShared();
    const text = exportOf(shared);
    expect(take(shared, text)).toMatchObject({ added: 0, present: 2 });
    const laptop = openStore();
    createOutbox(laptop.database).writeLog({
      device: LAPTOP,
      epoch: 1,
      seq: 1,
      hash: Buffer.alloc(32),
      cursor: null,
      toldUs: 0,
    });
    laptop.put(admit({ kind: "window", title: "the laptop's" }), spanAt(2));
    const { key } = createDevices(laptop.database).ensure(OWN, "desk");
    laptop
      .remote()
      .put(key, 3, [
        { ...spanAt(1), facts: admit({ kind: "window", title: "mine" }), isOpen: false },
      ]);
    expect(take(laptop, text)).toMatchObject({ added: 0, present: 2 });
  });
});

function spanAt(n: number) {
  const startUs = n * 100 * S;
  return { startUs, endUs: startUs + S, utcOffsetMinutes: 0, timeZone: "UTC" };
}

function openStore(): EventStore {
  const clock = createFakeClock("2026-11-27T09:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  onTestFinished(() => {
    store.close();
  });
  return store;
}

/** A gate that lets everything by: the real one is tested with the command. */
function admit(facts: { readonly kind: string; readonly title?: string | null }): EventFacts {
  return {
    kind: "window",
    app: storable("Code"),
    title: storable(facts.title ?? ""),
    place: null,
  };
}

function line(n: number, lengthS = 5): string {
  const startUs = 1_780_000_000_000_000 + n * 10 * S;
  const span = { startUs, endUs: startUs + lengthS * S, utcOffsetMinutes: 0, timeZone: "UTC" };
  return JSON.stringify({ kind: "window", app: "Code", title: `title ${n}`, place: null, ...span });
}

function exported(n: number, lengthS: number): string {
  const { kind, app, title, place, ...span } = JSON.parse(line(n, lengthS));
  return JSON.stringify({ ...span, kind, app, title, place });
}
