/** What other devices recorded, where this device's database is damaged. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silentLog } from "../../../src/log.ts";
import { createBackup } from "../../../src/store/backups.ts";
import { createDevices } from "../../../src/store/devices.ts";
import { openEventStore, type EventStore } from "../../../src/store/events.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { createOtherDevice } from "../../helpers/other-device.ts";
import { createTempHome } from "../../helpers/temp-home.ts";

const S = 1_000_000;
const NOW = Date.parse("2026-11-27T12:00:00Z") * 1000;

function open(directory: string): EventStore {
  return openEventStore({
    directory,
    clock: createFakeClock("2026-11-27T12:00:00Z"),
    log: silentLog,
  });
}

it("comes back from the newest backup, with what was forgotten of it", async () => {
  const home = createTempHome();
  const store = open(home);
  const [laptop, phone] = [createOtherDevice(store, "laptop"), createOtherDevice(store, "phone")];
  const at = (second: number, title: string) => ({
    title,
    startUs: NOW + second * S,
    endUs: NOW + second * S + S,
  });
  laptop.tell([at(0, "first"), at(20, "forgotten"), at(40, "erased")], NOW);
  phone.tell([at(10, "on the phone")], NOW);
  phone.set({ state: "left" });
  store.remote().forget([{ deviceKey: laptop.key, startUs: NOW + 20 * S }]);
  laptop.erase(NOW + 30 * S, NOW + 50 * S);
  laptop.tell([at(45, "since")], NOW);
  const before = [...store.remote().all()].flat();
  const devices = createDevices(store.database).all();
  await createBackup(store.database, home, NOW);
  store.close();
  const path = join(home, "activity.db");
  writeFileSync(path, Buffer.alloc(readFileSync(path).length, 0xa5));
  const recovered = open(home);
  expect(recovered.recovery()).not.toBeNull();
  expect([...recovered.remote().all()].flat()).toEqual(before);
  expect(before).toHaveLength(3);
  expect(createDevices(recovered.database).all()).toEqual(devices);
  const span = { startUs: NOW + 20 * S, endUs: NOW + 21 * S, utcOffsetMinutes: 0, timeZone: "UTC" };
  const facts = before[0]?.event;
  if (facts === undefined) throw new Error("nothing is there");
  const again = recovered.remote().put(laptop.key, 9, [{ ...span, facts, isOpen: false }]);
  expect(again.taken).toBe(0);
  const seen = recovered.database.prepare("SELECT start_us FROM remote_visit ORDER BY start_us");
  expect(seen.all()).toEqual([0, 10, 45].map((second) => ({ start_us: NOW + second * S })));
  recovered.close();
});
