/** Searches and lists over several devices. */
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/log.ts";
import { readAllDevices } from "../../../src/store/devices/all-devices.ts";
import { openEventStore } from "../../../src/store/events.ts";
import { searchDocuments } from "../../../src/store/readings/search-query.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { createOtherDevice } from "../../helpers/other-device.ts";
import { storable } from "../../helpers/storable.ts";
import { createTempHome } from "../../helpers/temp-home.ts";

const MINUTE = 60_000_000;
const T0 = Date.parse("2026-11-27T09:00:00Z") * 1000;

/** A budget here from 9:00, on a laptop from 9:20, and on one whose clock is an hour ahead from 9:10. */
function openRecord() {
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  const span = { utcOffsetMinutes: 0, timeZone: "UTC" };
  const facts = { kind: "window", app: storable("Calc"), title: storable("budget") } as const;
  store.put({ ...facts, place: null }, { ...span, startUs: T0, endUs: T0 + 5 * MINUTE });
  store.settle();
  const see = (name: string, minute: number, offsetUs: number) => {
    const startUs = T0 + minute * MINUTE + offsetUs;
    const device = createOtherDevice(store, name, { offsetUs });
    const window = { app: "Calc", title: "budget", startUs, endUs: startUs + 5 * MINUTE };
    device.tell([window], startUs);
    device.tellFacts(
      { kind: "notification", app: storable("Mail"), summary: storable("bill") },
      startUs + 1,
      startUs + 1,
    );
    return device;
  };
  return { store, laptop: see("laptop", 20, 0), attic: see("attic", 10, 60 * MINUTE) };
}

describe("what is found over several devices", () => {
  it("is added up, and names the device where it was last seen when that is another one", () => {
    const { store, laptop } = openRecord();
    const [hit] = searchDocuments(store.database, { q: "budget" }).hits;
    expect(hit).toMatchObject({ device: "laptop", visits: 3, activeUs: 15 * MINUTE });
    expect(hit?.lastUs).toBe(T0 + 25 * MINUTE);
    expect(searchDocuments(store.database, { q: "bill" }).hits[0]).toMatchObject({
      device: "laptop",
      kind: "notification",
    });
    store.remote().forget([{ deviceKey: laptop.key, startUs: T0 + 20 * MINUTE }]);
    const [left] = searchDocuments(store.database, { q: "budget" }).hits;
    // By our clock, whatever that of the attic says.
    expect(left).toMatchObject({ device: "attic", lastUs: T0 + 15 * MINUTE, visits: 2 });
    const early = searchDocuments(store.database, { q: "budget", toUs: T0 + 9 * MINUTE });
    expect(early.hits).toMatchObject([{ visits: 1 }]);
    expect(early.hits[0]).not.toHaveProperty("device");
  });

  it("is listed in the order of this device's clock, the newest when there is too much", () => {
    const { store } = openRecord();
    const list = (limit: number) => {
      const found = readAllDevices(store, T0, T0 + 60 * MINUTE, { kinds: ["window"], limit });
      const { events, truncated } = found;
      return [
        ...events.map(({ device, startUs }) => [device, (startUs - T0) / MINUTE]),
        ...(truncated ? ["more"] : []),
      ];
    };
    expect(list(3)).toEqual([
      [undefined, 0],
      ["attic", 10],
      ["laptop", 20],
    ]);
    expect(list(2)).toEqual([["attic", 10], ["laptop", 20], "more"]);
  });
});
