/** Other devices, and which of their records are known. */
import { describe, expect, it } from "vitest";
import { silentLog } from "../../src/log.ts";
import { createDevices } from "../../src/store/devices.ts";
import { openEventStore } from "../../src/store/events.ts";
import { toVersion } from "../../src/store/devices/version.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createTempHome } from "../helpers/temp-home.ts";

function open() {
  const clock = createFakeClock("2026-05-04T09:30:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  return { store, devices: createDevices(store.database) };
}

const HASH = Buffer.alloc(16, 1);

describe("the devices of a hub", () => {
  it("are kept by id, with keys from 1 on, and changed field by field", () => {
    const { store, devices } = open();
    const laptop = devices.ensure("aa", "laptop");
    expect(devices.ensure("aa", "another name")).toEqual(laptop);
    expect(laptop).toMatchObject({ key: 1, name: "laptop", state: "member", version: 0 });
    devices.update(laptop.key, { state: "revoked", sealingKey: Buffer.from([1, 2]) });
    expect(devices.find("aa")).toMatchObject({ name: "laptop", state: "revoked" });
    expect(devices.all()).toHaveLength(1);
    expect(devices.find("bb")).toBeNull();
    store.close();
  });

  it("know a record again, and how many are missing between those that came", () => {
    const { store, devices } = open();
    const { key } = devices.ensure("aa", "laptop");
    const version = (seq: number) => toVersion({ epoch: 2, seq });
    for (const seq of [3, 4, 7]) {
      devices.addRecord(key, version(seq), { hash: HASH, previous: HASH });
      devices.update(key, { version: version(seq) });
    }
    expect(devices.record(key, version(4))).toEqual({ hash: HASH, previous: HASH });
    expect(devices.record(key, version(5))).toBeNull();
    expect(devices.missing(key)).toBe(2);
    store.close();
  });

  it("hold a record once until it is released", () => {
    const { store, devices } = open();
    const record = { device: "aa", epoch: 1, seq: 1, bytes: HASH, carriedUs: null };
    expect([devices.hold(record), devices.hold(record)]).toEqual([true, true]);
    expect(devices.heldCount()).toBe(1);
    const [held] = devices.held(10, 0);
    expect(held).toMatchObject(record);
    devices.release(held?.id ?? 0);
    expect(devices.heldCount()).toBe(0);
    store.close();
  });
});
