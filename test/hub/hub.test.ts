/** One record over several devices, whatever happens on the way. */
import { cpSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ActivityError } from "../../src/errors.ts";
import { toVersion } from "../../src/store/devices/version.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import {
  createHubRig,
  forgetOn,
  knownOf,
  ownOf,
  S,
  T0,
  windowFacts,
  type HubRig,
  type RigDevice,
} from "../helpers/hub-rig.ts";
import { createMemoryHub } from "../helpers/memory-hub.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";

async function withRig(work: (rig: HubRig) => Promise<void>): Promise<void> {
  const rig = createHubRig(createTempHome());
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
}

describe("a hub", () => {
  it("brings what one device records to the other, and what was recorded before it joined", () =>
    withRig(async (rig) => {
      const ada = rig.add("ada");
      ada.begin("before bob", 0);
      await rig.settle();
      const bob = rig.add("bob", {
        before: (store) => {
          if (store.summary().eventCount !== 0) return;
          store.begin(
            { kind: "lock" },
            { startUs: T0, endUs: T0 + S, utcOffsetMinutes: 0, timeZone: "UTC" },
          );
        },
      });
      ada.begin("after bob", 1);
      bob.begin("bob's own", 2);
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(["0–10 before bob", "60–70 after bob"]);
      expect(knownOf(ada, bob)).toEqual(["0–1 lock", "120–130 bob's own"]);
    }));

  it("says that nobody else is in it, for as long as that is so", () =>
    withRig(async (rig) => {
      const ada = rig.add("ada");
      await rig.settle();
      const notes = async () => (await ada.hub.request(null)).notes.map(({ reason }) => reason);
      expect(await notes()).toEqual(["No other device was heard of yet."]);
      rig.add("bob");
      await rig.settle();
      expect(await notes()).toEqual([]);
    }));

  it("leaves out what was recorded before, when the owner says so", () =>
    withRig(async (rig) => {
      const ada = rig.add("ada");
      const bob = rig.add("bob", {
        withHistory: false,
        before: (store) => {
          if (store.summary().eventCount !== 0) return;
          store.begin(
            { kind: "lock" },
            { startUs: T0, endUs: T0 + S, utcOffsetMinutes: 0, timeZone: "UTC" },
          );
        },
      });
      bob.begin("new", 2);
      await rig.settle();
      expect(knownOf(ada, bob)).toEqual(["120–130 new"]);
      rig.hub.records.length = 0;
      for (let minute = 0; minute < 3; minute += 1) {
        rig.clock.advanceMs(61_000);
        await rig.settle();
      }
      await bob.restart();
      await bob.hub.request({ action: "rejoin" });
      await rig.settle();
      expect(knownOf(ada, bob)).toEqual(["120–130 new"]);
    }));

  it("names a window that goes on at once, its growth seldom, and its end", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      await rig.settle();
      const id = ada.begin("going on", 0, 0);
      ada.store.pulse(T0, [id]);
      const quiet = rig.hub.records.length;
      rig.clock.advanceMs(5_000);
      ada.hub.tick();
      await ada.hub.flush();
      await rig.settle();
      const { key } = (await bob.hub.request(null)).devices[1] ?? { key: 0 };
      expect(bob.store.remote().latestWindows(key, 1)[0]).toMatchObject({
        isOpen: true,
        event: { title: "going on" },
      });
      for (let second = 1; second <= 120; second += 1) {
        rig.clock.advanceMs(1_000);
        if (second % 15 === 0) ada.store.setEnd(id, T0 + second * S);
        ada.store.pulse(T0 + second * S, [id]);
        ada.hub.tick();
        await ada.hub.flush();
      }
      // The beginning, and two words about its growth in two minutes.
      expect(rig.hub.records.length - quiet).toBeLessThanOrEqual(4);
      ada.store.setEnd(id, T0 + 130 * S);
      ada.store.pulse(T0 + 130 * S, []);
      await rig.settle();
      expect(bob.store.remote().latestWindows(key, 1)[0]).toMatchObject({
        isOpen: false,
        event: { endUs: T0 + 130 * S },
      });
    }));

  it.each([
    ["ended where it was last told", async (device: RigDevice) => device.store.pulse(T0 + S, [])],
    ["was open when its device was killed", async (device: RigDevice) => device.restart()],
  ])("does not tell a window as one that goes on which %s", (_how, end) =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      await rig.settle();
      const id = ada.begin("over", 0, 1);
      ada.store.pulse(T0 + S, [id]);
      await rig.settle();
      const newest = () => bob.store.remote().latestWindows(1, 1)[0];
      expect(newest()).toMatchObject({ isOpen: true, event: { title: "over" } });
      await end(ada);
      await rig.settle();
      expect(newest()).toMatchObject({ isOpen: false, event: { title: "over" } });
    }),
  );

  it.each([
    ["at most, however much goes on", 1_000],
    ["also where the looks come a moment early, counted from the record before", 998],
    ["also where they come a moment late", 1_003],
  ])("sends one record in five seconds %s", (_how, lookMs) =>
    withRig(async (rig) => {
      const ada = rig.add("ada");
      await rig.settle();
      const before = rig.hub.records.length;
      for (let look = 0; look < 60; look += 1) {
        ada.begin(`window ${look}`, look, 1);
        rig.clock.advanceMs(lookMs);
        ada.hub.tick();
        await ada.hub.flush();
      }
      expect(rig.hub.records.length - before).toBe(12);
      await rig.settle();
    }),
  );

  it("waits for a hub that is away, and tells everything when it is back", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      await rig.settle();
      ada.driver.setAway(true);
      for (let slot = 0; slot < 500; slot += 1) ada.begin(`w${slot}`, slot);
      await rig.settle();
      const status = await ada.hub.request(null);
      expect(status.link?.state).toBe("away");
      expect(status.waiting).toBeGreaterThan(0);
      expect(status.notes.map(({ reason }) => reason).join()).toContain("out of reach");
      await ada.restart();
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(ownOf(ada));
    }));

  it("sends the very same record again when the answer to it was lost", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      await rig.settle();
      ada.begin("once", 0);
      ada.driver.loseNextAck();
      rig.clock.advanceMs(6_000);
      ada.hub.tick();
      await ada.hub.flush();
      ada.begin("twice", 1);
      await ada.restart();
      await rig.settle();
      const places = rig.hub.records
        .filter(({ device }) => device === ada.id)
        .map((record) => toVersion(record));
      expect(new Set(places).size).toBe(places.length);
      expect(knownOf(bob, ada)).toEqual(["0–10 once", "60–70 twice"]);
    }));

  it("takes deletions and moved ends along, and what was forgotten on one goes from both", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      const gone = ada.begin("gone", 0);
      ada.begin("stays", 1);
      bob.begin("gone too", 2);
      bob.begin("bob stays", 3);
      await rig.settle();
      await ada.store.eraser.events([gone], "forget");
      const wish = { fromUs: null, toUs: null, app: null, match: "gone", atUs: rig.clock.nowUs() };
      ada.hub.forgotten(wish, []);
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(["60–70 stays"]);
      expect(ownOf(bob)).toEqual(["180–190 bob stays"]);
      expect(knownOf(ada, bob)).toEqual(["180–190 bob stays"]);
      for (const { store } of [ada, bob]) {
        const texts = store.database
          .prepare("SELECT 1 FROM document WHERE title LIKE 'gone%'")
          .all();
        expect(texts).toEqual([]);
      }
    }));

  it("takes words away everywhere that a privacy rule withholds afterwards", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      const id = ada.begin("a secret title", 0);
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(["0–10 a secret title"]);
      await ada.store.eraser.rewrite([{ id, facts: windowFacts("withheld") }]);
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(["0–10 withheld"]);
      const titles = bob.store.database.prepare<{ title: string }>("SELECT title FROM document");
      expect(titles.all()).toEqual([{ title: "withheld" }]);
    }));

  it("passes over a wish that means nothing here, and goes on with what follows", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob", { forget: meansNothing })];
      ada.hub.forgotten(
        { fromUs: null, toUs: null, app: null, match: "x", atUs: rig.clock.nowUs() },
        [],
      );
      ada.begin("what follows", 0);
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(["0–10 what follows"]);
    }));

  it("says what others' records wait for, and no more once they are taken", () =>
    withRig(async (rig) => {
      let isFull = true;
      const ada = rig.add("ada");
      const bob = rig.add("bob", {
        forget: async () => {
          if (isFull) throw new ActivityError("database_unwritable", "The disk is full.", "Room!");
        },
      });
      const wish = { fromUs: null, toUs: null, app: null, match: "x", atUs: rig.clock.nowUs() };
      ada.hub.forgotten(wish, []);
      rig.clock.advanceMs(6_000);
      ada.hub.tick();
      await ada.hub.flush();
      await until("bob tells", async () => (await bob.hub.request(null)).problems.length > 0);
      expect((await bob.hub.request(null)).problems).toEqual([
        { reason: "What other devices say cannot be taken: The disk is full.", remedy: "Room!" },
      ]);
      isFull = false;
      await rig.settle();
      expect((await bob.hub.request(null)).problems).toEqual([]);
    }));

  it("tries again what cannot be forgotten right now", () =>
    withRig(async (rig) => {
      let refusals = 2;
      const ada = rig.add("ada");
      const bob = rig.add("bob", {
        forget: async () => {
          if (refusals-- > 0) throw new ActivityError("database_busy", "Not now.");
        },
      });
      const wish = { fromUs: null, toUs: null, app: null, match: "x", atUs: rig.clock.nowUs() };
      ada.hub.forgotten(wish, []);
      ada.begin("what follows", 0);
      for (let attempt = 0; attempt < 4; attempt += 1) {
        await rig.settle();
        rig.hub.wake();
      }
      await rig.settle();
      expect([knownOf(bob, ada), refusals]).toEqual([["0–10 what follows"], -1]);
    }));

  it("forgets for good what a third device learns of only later", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      bob.begin("secret", 0);
      await rig.settle();
      const [row] = ada.store.remote().between(0, Number.MAX_SAFE_INTEGER).events;
      await bob.stop();
      const wish = {
        fromUs: T0,
        toUs: T0 + 30 * S,
        app: null,
        match: null,
        atUs: rig.clock.nowUs(),
      };
      ada.hub.forgotten(wish, row === undefined ? [] : [{ deviceKey: row.deviceKey, startUs: T0 }]);
      ada.store.remote().forget([{ deviceKey: row?.deviceKey ?? 0, startUs: T0 }]);
      await rig.settle();
      const carol = rig.add("carol");
      await rig.settle();
      expect([knownOf(ada, bob), knownOf(carol, bob)]).toEqual([[], []]);
      bob.start();
      await rig.settle();
      expect(ownOf(bob)).toEqual([]);
    }));

  it(
    "comes to one record after any deeds, losses, repetitions and crashes",
    { timeout: 120_000 },
    async () => {
      const deed = fc.record({
        who: fc.integer({ min: 0, max: 1 }),
        what: fc.constantFrom(
          "begin",
          "begin",
          "begin",
          "end",
          "erase",
          "wish",
          "away",
          "back",
          "loseAck",
          "restart",
          "tick",
          "repeat",
        ),
        slot: fc.integer({ min: 0, max: 9 }),
        length: fc.integer({ min: 0, max: 300 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(deed, { maxLength: 24 }), async (deeds) => {
          await withRig(async (rig) => {
            const devices = [rig.add("ada"), rig.add("bob")] as const;
            for (const { who, what, slot, length } of deeds) {
              const device = devices[who] ?? devices[0];
              await doDeed(rig, device, what, slot, length);
            }
            for (const device of devices) device.driver.setAway(false);
            await rig.settle();
            const [ada, bob] = devices;
            expect(knownOf(bob, ada)).toEqual(ownOf(ada));
            expect(knownOf(ada, bob)).toEqual(ownOf(bob));
            for (const device of devices) {
              const { problems, waiting } = await device.hub.request(null);
              expect([problems, waiting]).toEqual([[], 0]);
            }
          });
        }),
        { numRuns: propertyRuns(12, 150) },
      );
    },
  );

  it(
    "tells a device that comes later the same in whatever order, and however often, the carrier gives it",
    {
      timeout: 120_000,
    },
    async () => {
      const change = fc.record({
        who: fc.integer({ min: 0, max: 1 }),
        what: fc.constantFrom("begin", "begin", "end", "erase", "wish", "tick", "tick"),
        slot: fc.integer({ min: 0, max: 9 }),
        length: fc.integer({ min: 0, max: 300 }),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { minLength: 4, maxLength: 16 }),
          fc.array(fc.nat(), { maxLength: 30 }),
          async (changes, order) => {
            await withRig(async (rig) => {
              const [ada, bob] = [rig.add("ada"), rig.add("bob")];
              for (const { who, what, slot, length } of changes)
                await doDeed(rig, who === 0 ? ada : bob, what, slot, length);
              await rig.settle();
              const { records } = rig.hub;
              const shuffled = createMemoryHub(rig.clock);
              const picked = order.flatMap((at) => records[at % records.length] ?? []);
              for (const record of [...picked, ...records]) shuffled.repeat(record);
              const late = rig.add("late", { hub: shuffled });
              await rig.settle();
              expect(knownOf(late, ada)).toEqual(ownOf(ada));
              expect(knownOf(late, bob)).toEqual(ownOf(bob));
              expect((await late.hub.request(null)).problems).toEqual([]);
            });
          },
        ),
        { numRuns: propertyRuns(8, 150), endOnFailure: true },
      );
    },
  );

  it("tells what one wish cut on two devices of both, though it begins at once and looks the same", () =>
    withRig(async (rig) => {
      const [ada, bob, eve] = [rig.add("ada"), rig.add("bob"), rig.add("eve")];
      ada.begin("mail", 0, 300);
      bob.begin("mail", 0.1, 200);
      await rig.settle();
      const [fromUs, toUs] = [T0 - S, T0 + 100 * S];
      await forgetOn(ada, { fromUs, toUs, app: null, match: null, atUs: rig.clock.nowUs() });
      await rig.settle();
      expect([knownOf(eve, ada), knownOf(eve, bob)]).toEqual([ownOf(ada), ownOf(bob)]);
      expect(knownOf(ada, bob)).toEqual(ownOf(bob));
      expect(knownOf(bob, ada)).toEqual(ownOf(ada));
    }));

  it("tells what two wishes cut on two devices of both, though it begins and ends at once and looks the same", () =>
    withRig(async (rig) => {
      const [ada, bob, eve] = [rig.add("ada"), rig.add("bob"), rig.add("eve")];
      ada.begin("mail", 0, 300);
      bob.begin("mail", 0.1, 290);
      await rig.settle();
      const wish = { app: null, match: null, atUs: rig.clock.nowUs() };
      await forgetOn(ada, { ...wish, fromUs: T0 - S, toUs: T0 + 100 * S });
      await forgetOn(ada, { ...wish, fromUs: T0 + 200 * S, toUs: T0 + 400 * S });
      await rig.settle();
      const parts = [ada, bob].map((device) => device.store.between(0, T0 + 400 * S).events);
      for (const part of parts) {
        expect(part).toHaveLength(1);
        expect(Math.floor(((part[0]?.startUs ?? 0) - T0) / 1000)).toBe(100_000);
        expect(part[0]?.endUs).toBe(T0 + 200 * S);
      }
      expect([knownOf(eve, ada), knownOf(eve, bob)]).toEqual([ownOf(ada), ownOf(bob)]);
      expect(knownOf(ada, bob)).toEqual(ownOf(bob));
      expect(knownOf(bob, ada)).toEqual(ownOf(ada));
    }));

  it("refuses a device that was restored from an older backup, and takes it again when its owner says so", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      ada.begin("kept", 0);
      await rig.settle();
      await ada.stop();
      const backup = `${ada.directory}-backup`;
      cpSync(ada.directory, backup, { recursive: true });
      ada.start();
      ada.begin("lost with the disk", 1);
      await rig.settle();
      await ada.stop();
      cpSync(backup, ada.directory, { recursive: true, force: true });
      ada.start();
      ada.begin("after the restore", 2);
      await rig.settle();
      const { problems } = await ada.hub.request(null);
      expect(problems).toHaveLength(1);
      expect(problems[0]?.reason).toContain("restored from an older backup");
      expect(problems[0]?.remedy).toContain("activityd hub rejoin");
      expect(knownOf(bob, ada)).toEqual(["0–10 kept", "60–70 lost with the disk"]);
      await ada.hub.request({ action: "rejoin" });
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual([
        "0–10 kept",
        "60–70 lost with the disk",
        "120–130 after the restore",
      ]);
      expect((await ada.hub.request(null)).problems).toEqual([]);
      expect((await bob.hub.request(null)).problems).toEqual([]);
    }));

  it("notices that two devices think they are the same", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      ada.begin("before the copy", 0);
      await rig.settle();
      await ada.stop();
      cpSync(ada.directory, `${ada.directory}-copy`, { recursive: true });
      ada.start();
      const before = rig.hub.records.length;
      ada.begin("on the first", 1);
      await rig.settle();
      expect(rig.hub.records.length).toBeGreaterThan(before);
      await ada.stop();
      cpSync(`${ada.directory}-copy`, ada.directory, { recursive: true, force: true });
      ada.start();
      ada.begin("on the second", 2);
      await rig.settle();
      const { problems } = await ada.hub.request(null);
      expect(problems[0]?.reason).toContain("copied to another device");
      expect(knownOf(bob, ada)).toEqual(["0–10 before the copy", "60–70 on the first"]);
    }));

  it("says that a clock is an hour ahead until it is put right, and keeps the order of what it says", () =>
    withRig(async (rig) => {
      const ada = rig.add("ada");
      const ahead = createFakeClock("2026-05-04T13:00:00Z");
      const bob = rig.add("bob", { clock: ahead });
      const id = bob.begin("first", 0);
      ahead.advanceMs(6_000);
      await rig.settle();
      const { problems, devices } = await ada.hub.request(null);
      expect(problems.map(({ reason }) => reason).join()).toMatch(
        /clock of bob is (59|60) minutes/,
      );
      expect(devices[1]?.clockOffsetUs).toBeGreaterThan(3_500 * S);
      bob.store.setEnd(id, T0 + 50 * S);
      // Its clock is put right: what comes later counts all the same, and the clock is not told as wrong any more.
      ahead.jumpWallMs(-3_600_000);
      ahead.advanceMs(6_000);
      await rig.settle();
      expect(knownOf(ada, bob)).toEqual(["0–50 first"]);
      const after = await ada.hub.request(null);
      expect(after.problems).toEqual([]);
      expect(Math.abs(after.devices[1]?.clockOffsetUs ?? 0)).toBeLessThan(120 * S);
    }));

  it("says nothing more of the clock of a device that is not heard of for days", () =>
    withRig(async (rig) => {
      const ada = rig.add("ada");
      const bob = rig.add("bob", { clock: createFakeClock("2026-05-04T13:00:00Z") });
      bob.begin("first", 0);
      await rig.settle();
      const clocks = async (): Promise<number> => (await ada.hub.request(null)).problems.length;
      expect(await clocks()).toBe(1);
      await bob.stop();
      rig.clock.advanceMs(2 * 86_400_000);
      expect(await clocks()).toBe(0);
    }));

  it("says of itself that its clock is ahead of the hub's, and dates nothing of others by it", () =>
    withRig(async (rig) => {
      let leadUs = 3_600 * S;
      const ahead = { ...rig.clock, nowUs: () => rig.clock.nowUs() + leadUs };
      const [ada, bob] = [rig.add("ada"), rig.add("bob", { clock: ahead })];
      const work = async (slot: number): Promise<void> => {
        for (const device of [ada, bob]) device.begin(`${device.name} ${slot}`, slot);
        rig.clock.advanceMs(61_000);
        await rig.settle();
      };
      for (let slot = 0; slot < 3; slot += 1) await work(slot);
      const there = await bob.hub.request(null);
      expect(there.problems.map(({ reason }) => reason)).toEqual([
        expect.stringMatching(/^The clock of this device is (59|60) minutes ahead of the hub's\.$/),
      ]);
      // It cannot be taken for right: ada's windows are an hour old by it.
      expect(there.devices[1]?.clockOffsetUs).toBeLessThan(-3_400 * S);
      leadUs = 0;
      for (let slot = 3; slot < 6; slot += 1) await work(slot);
      const after = await bob.hub.request(null);
      expect(after.problems).toEqual([]);
      expect(Math.abs(after.devices[1]?.clockOffsetUs ?? 0)).toBeLessThan(120 * S);
    }));

  it("blames no device for a clock of the hub that is wrong", () =>
    withRig(async (rig) => {
      const behind = { ...rig.clock, nowUs: () => rig.clock.nowUs() - 3_600 * S };
      const hub = createMemoryHub(behind);
      const [ada, bob] = [rig.add("ada", { hub }), rig.add("bob", { hub })];
      for (let slot = 0; slot < 3; slot += 1) {
        for (const device of [ada, bob]) device.begin(`${device.name} ${slot}`, slot);
        rig.clock.advanceMs(61_000);
        await rig.settle();
      }
      const { problems, devices } = await ada.hub.request(null);
      expect(problems.map(({ reason }) => reason)).toEqual([
        "The clock of this device is 60 minutes ahead of the hub's.",
      ]);
      expect(Math.abs(devices[1]?.clockOffsetUs ?? 0)).toBeLessThan(120 * S);
    }));

  it("sends everything anew when the hub has lost it", () =>
    withRig(async (rig) => {
      const ada = rig.add("ada");
      ada.begin("one", 0);
      await rig.settle();
      rig.hub.records.length = 0;
      for (let minute = 0; minute < 3; minute += 1) {
        rig.clock.advanceMs(61_000);
        await rig.settle();
      }
      const bob = rig.add("bob");
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(["0–10 one"]);
      expect((await bob.hub.request(null)).problems).toEqual([]);
    }));

  it("sends everything anew when the hub has lost it and more was recorded since", () =>
    withRig(async (rig) => {
      const ada = rig.add("ada");
      ada.begin("one", 0);
      await rig.settle();
      rig.hub.records.length = 0;
      ada.begin("two", 1);
      for (let minute = 0; minute < 3; minute += 1) {
        rig.clock.advanceMs(61_000);
        await rig.settle();
      }
      const bob = rig.add("bob");
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(["0–10 one", "60–70 two"]);
      expect((await ada.hub.request(null)).problems).toEqual([]);
    }));

  it("forgets everywhere what was forgotten while the hub lost everything", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      ada.begin("secret", 0);
      bob.begin("bob's secret", 1);
      ada.begin("plain", 2);
      await rig.settle();
      ada.driver.setAway(true);
      await forgetOn(ada, {
        fromUs: null,
        toUs: null,
        app: null,
        match: "secret",
        atUs: T0 + 600 * S,
      });
      await rig.settle();
      rig.hub.records.length = 0;
      ada.driver.setAway(false);
      for (let minute = 0; minute < 3; minute += 1) {
        rig.clock.advanceMs(61_000);
        await rig.settle();
      }
      expect(knownOf(bob, ada)).toEqual(["120–130 plain"]);
      expect(ownOf(bob)).toEqual([]);
    }));

  it("sends nothing anew to a hub that only lags", () =>
    withRig(async (rig) => {
      const ada = rig.add("ada");
      ada.begin("one", 0);
      await rig.settle();
      ada.begin("two", 1);
      rig.clock.advanceMs(61_000);
      await rig.settle();
      const newest = rig.hub.records.splice(1);
      expect(newest.length).toBeGreaterThan(0);
      // Its end is asked for once a minute; the rig goes on for 18 s then.
      rig.clock.advanceMs(61_000);
      await rig.settle();
      rig.hub.records.push(...newest);
      for (let minute = 0; minute < 3; minute += 1) {
        rig.clock.advanceMs(61_000);
        await rig.settle();
      }
      expect(new Set(rig.hub.records.map(({ epoch }) => epoch))).toEqual(new Set([1]));
      expect((await ada.hub.request(null)).problems).toEqual([]);
    }));

  it("takes everything of others along when a device leaves", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      ada.begin("ada's", 0);
      bob.begin("bob's", 1);
      await rig.settle();
      const left = await bob.hub.request({ action: "leave" });
      expect(left.devices.map(({ name }) => name)).toEqual(["bob"]);
      expect(bob.store.remote().count()).toBe(0);
      expect(ownOf(bob)).toEqual(["60–70 bob's"]);
      await rig.settle();
      const { devices } = await ada.hub.request(null);
      expect(devices[1]).toMatchObject({ name: "bob", state: "left" });
      expect(knownOf(ada, bob)).toEqual(["60–70 bob's"]);
    }));

  it("tells nothing twice of a device that left and came back", () =>
    withRig(async (rig) => {
      const [ada, bob, eve] = [rig.add("ada"), rig.add("bob"), rig.add("eve")];
      bob.begin("before", 0);
      await rig.settle();
      const former = { ...bob };
      await bob.joinAnew(ada.code());
      bob.begin("after", 1);
      await rig.settle();
      for (const other of [ada, eve]) {
        expect(knownOf(other, former)).toEqual([]);
        expect(knownOf(other, bob)).toEqual(["0–10 before", "60–70 after"]);
      }
      // Its own log from before is in the hub as well.
      expect(bob.store.remote().count()).toBe(0);
      expect(ownOf(bob)).toEqual(["0–10 before", "60–70 after"]);
      // Whom the others know it from now on, takes it away again.
      await forgetOn(bob, {
        fromUs: null,
        toUs: null,
        app: null,
        match: "before",
        atUs: T0 + 60 * S,
      });
      await rig.settle();
      expect(ada.store.remote().count()).toBe(1);
    }));

  it("takes nothing back from the log that it left, whatever it forgot before it read that", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      const forgetText = (match: string): Promise<void> =>
        forgetOn(bob, { fromUs: null, toUs: null, app: null, match, atUs: rig.clock.nowUs() });
      bob.begin("forgotten while it was in none", 0);
      bob.begin("forgotten as soon as it was back", 1);
      bob.begin("kept", 2);
      await rig.settle();
      await bob.hub.request({ action: "leave" });
      await bob.forget({
        fromUs: null,
        toUs: null,
        app: null,
        match: "forgotten while",
        atUs: rig.clock.nowUs(),
      });
      await bob.joinAnew(ada.code());
      await forgetText("forgotten as soon");
      await rig.settle();
      expect(bob.store.remote().count()).toBe(0);
      expect(ownOf(bob)).toEqual(["120–130 kept"]);
    }));

  it("tells nothing twice of a copy that became a device of its own", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      ada.begin("before the copy", 0);
      await rig.settle();
      const twin = rig.add("twin", {
        before: (store) => {
          if (store.summary().eventCount !== 0) return;
          store.begin(windowFacts("before the copy"), {
            startUs: T0,
            endUs: T0 + 10 * S,
            utcOffsetMinutes: 0,
            timeZone: "UTC",
          });
        },
      });
      twin.begin("on the copy", 1);
      ada.begin("on the first", 2);
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(["0–10 before the copy", "120–130 on the first"]);
      expect(knownOf(bob, twin)).toEqual(["60–70 on the copy"]);
      expect(knownOf(ada, twin)).toEqual(["60–70 on the copy"]);
      expect(knownOf(twin, ada)).toEqual(["120–130 on the first"]);
    }));

  it("takes nothing back that was forgotten while its device was not in the hub", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      bob.begin("secret", 0);
      await rig.settle();
      await bob.hub.request({ action: "leave" });
      await rig.settle();
      await forgetOn(ada, {
        fromUs: null,
        toUs: null,
        app: null,
        match: "secret",
        atUs: T0 + 60 * S,
      });
      await rig.settle();
      // Long after: the wish is not in the hub any more.
      rig.hub.records.length = 0;
      await bob.joinAnew(ada.code());
      await rig.settle();
      expect(ada.store.remote().count()).toBe(0);
    }));
});

let instants = 0;

async function meansNothing(): Promise<never> {
  throw new ActivityError("bad_request", "The text to match is too short.");
}

async function doDeed(
  rig: HubRig,
  device: RigDevice,
  what: string,
  slot: number,
  length: number,
): Promise<void> {
  const { events } = device.store.between(0, Number.MAX_SAFE_INTEGER);
  const chosen = events[slot % Math.max(events.length, 1)];
  switch (what) {
    case "begin":
      // No instant comes twice: what was forgotten at one stays away for good.
      device.begin(`title ${length % 5}`, slot + (instants += 1) / (60 * S), length);
      break;
    case "end":
      if (chosen !== undefined) device.store.setEnd(chosen.id, chosen.startUs + length * S);
      break;
    case "erase":
      if (chosen !== undefined) await device.store.eraser.events([chosen.id], "forget");
      break;
    case "wish": {
      const fromUs = T0 + slot * 60 * S;
      const toUs = fromUs + length * S + 1;
      await forgetOn(device, { fromUs, toUs, app: null, match: null, atUs: rig.clock.nowUs() });
      break;
    }
    case "away":
    case "back":
      device.driver.setAway(what === "away");
      break;
    case "loseAck":
      device.driver.loseNextAck();
      break;
    case "restart":
      await device.restart();
      break;
    case "repeat": {
      // A carrier that gives a record twice: the reader of the other device sees it again.
      const again = rig.hub.records[slot % Math.max(rig.hub.records.length, 1)];
      if (again !== undefined) rig.hub.repeat(again);
      break;
    }
    default:
      rig.clock.advanceMs(length * 100);
      device.hub.tick();
      await device.hub.flush();
  }
}
