/** What a hub takes from whom: keys that change, devices that are taken out, and records of strangers. */
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NO_RECORD, sealRecord } from "../../src/hub/envelope.ts";
import {
  createHubKey,
  createIdentity,
  currentKey,
  readIdentity,
  readJoinCode,
  writeIdentity,
} from "../../src/hub/identity.ts";
import { takeRing } from "../../src/hub/keys.ts";
import { NO_NOTICES, writePayload } from "../../src/hub/payload.ts";
import {
  createHubRig,
  knownOf,
  ownOf,
  S,
  T0,
  windowFacts,
  type HubRig,
} from "../helpers/hub-rig.ts";
import { createTempHome } from "../helpers/temp-home.ts";

async function withRig(work: (rig: HubRig) => Promise<void>): Promise<void> {
  const rig = createHubRig(createTempHome());
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
}

function saying(title: string): Uint8Array {
  const event = {
    facts: windowFacts(title),
    startUs: T0,
    endUs: T0 + S,
    utcOffsetMinutes: 0,
    timeZone: "UTC",
    isOpen: false,
  };
  return writePayload({ ...NO_NOTICES, sentUs: T0, events: [event], erased: [] });
}

describe("a hub whose key changes", () => {
  it("goes on for all, with nothing lost that was said before, meanwhile or since", () =>
    withRig(async (rig) => {
      const [ada, bob, carol] = [rig.add("ada"), rig.add("bob"), rig.add("carol")];
      await rig.settle();
      await carol.stop();
      bob.driver.setAway(true);
      bob.begin("under the old key", 0);
      await rig.settle();
      await ada.hub.request({ action: "rotate" });
      ada.begin("under the new key", 1);
      await rig.settle();
      bob.driver.setAway(false);
      await rig.settle();
      bob.begin("bob has it too", 2);
      await rig.settle();
      carol.start();
      await rig.settle();
      for (const [reader, writer] of [
        [ada, bob],
        [bob, ada],
        [carol, ada],
        [carol, bob],
      ] as const)
        expect(knownOf(reader, writer)).toEqual(ownOf(writer));
      expect(rig.add("dan")).toBeDefined();
      await rig.settle();
      const { problems } = await carol.hub.request(null);
      expect(problems).toEqual([]);
    }));

  it.each([
    ["was told", false],
    ["waits to be told", true],
  ])("goes on for all when the hub loses everything while the change %s", (_, isUntold) =>
    withRig(async (rig) => {
      const [ada, bob, eve] = [rig.add("ada"), rig.add("bob"), rig.add("eve")];
      await rig.settle();
      for (const device of isUntold ? [ada] : [bob, eve]) device.driver.setAway(true);
      await ada.hub.request({ action: "rotate" });
      await ada.hub.request({ action: "rotate" });
      await rig.settle();
      rig.hub.records.length = 0;
      for (const device of [ada, bob, eve]) {
        device.driver.setAway(false);
        device.begin(`on ${device.name}`, 0);
      }
      for (let minute = 0; minute < 3; minute += 1) {
        rig.clock.advanceMs(61_000);
        await rig.settle();
      }
      for (const [reader, writer] of [
        [bob, ada],
        [eve, ada],
        [eve, bob],
        [ada, eve],
      ] as const)
        expect(knownOf(reader, writer)).toEqual(ownOf(writer));
      for (const { hub } of [ada, bob, eve]) expect((await hub.request(null)).problems).toEqual([]);
    }),
  );

  it("gives the key to a device once more that could not write it down the first time", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      await rig.settle();
      // A file cannot be written where a folder stands, as little as on a disk that is full.
      const inTheWay = join(bob.directory, "hub.json.new");
      mkdirSync(inTheWay);
      await ada.hub.request({ action: "rotate" });
      await rig.settle();
      rmdirSync(inTheWay);
      await bob.restart();
      await rig.settle();
      ada.begin("under the new key", 0);
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(ownOf(ada));
      expect((await bob.hub.request(null)).problems).toEqual([]);
    }));

  it("keeps what a newer code brought while the daemon ran", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      await rig.settle();
      const before = readIdentity(bob.directory);
      if (before === null) throw new Error("no identity");
      const brought = { ...createHubKey(1, null), isHanded: true };
      writeIdentity(bob.directory, { ...takeRing(before, [brought]), name: "robert" });
      await ada.hub.request({ action: "rotate" });
      await rig.settle();
      const after = readIdentity(bob.directory);
      expect(after?.name).toBe("robert");
      expect(after?.ring.map(({ id }) => id)).toEqual([
        before.ring[0]?.id,
        readIdentity(ada.directory)?.ring[1]?.id,
        brought.id,
      ]);
    }));

  it("lets a device that was taken out read nothing new, and takes nothing new from it", () =>
    withRig(async (rig) => {
      const [ada, bob, lost] = [rig.add("ada"), rig.add("bob"), rig.add("lost")];
      lost.begin("before it was lost", 0);
      await rig.settle();
      lost.driver.setAway(true);
      await ada.hub.request({ action: "revoke", device: "lost" });
      ada.begin("new secret", 1);
      await rig.settle();
      lost.begin("by the thief", 2);
      lost.driver.setAway(false);
      await rig.settle();
      expect(knownOf(lost, ada)).toEqual([]);
      for (const reader of [ada, bob])
        expect(knownOf(reader, lost)).toEqual(["0–10 before it was lost"]);
      expect(knownOf(bob, ada)).toEqual(["60–70 new secret"]);
      const seen = await lost.hub.request(null);
      expect(seen.problems[0]?.reason).toContain("taken out of the hub");
      await lost.restart();
      await rig.settle();
      const again = await lost.hub.request(null);
      expect(again.problems[0]?.reason).toContain("taken out of the hub");
      const { devices } = await bob.hub.request(null);
      expect(devices.find(({ name }) => name === "lost")?.state).toBe("revoked");
    }));

  it("keeps out whoever joins with a code from before, and says so to it", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      const oldCode = ada.code();
      await rig.settle();
      await ada.hub.request({ action: "rotate" });
      await rig.settle();
      const late = rig.add("late", { code: oldCode });
      late.begin("from an old code", 0);
      ada.begin("after the change", 1);
      await rig.settle();
      expect([knownOf(ada, late), knownOf(bob, late), knownOf(late, ada)]).toEqual([[], [], []]);
      const { problems } = await late.hub.request(null);
      expect(problems[0]?.remedy).toContain("activityd hub invite");
    }));

  it("names the devices there are when one is to be taken out that is not", () =>
    withRig(async (rig) => {
      const [ada] = [rig.add("ada"), rig.add("bob")];
      await rig.settle();
      await expect(ada.hub.request({ action: "revoke", device: "boob" })).rejects.toMatchObject({
        code: "not_found",
        hint: expect.stringContaining("bob ("),
      });
    }));

  it("takes a device back that was found again, with nothing twice, and out again by its name", () =>
    withRig(async (rig) => {
      const [ada, lost] = [rig.add("ada"), rig.add("lost")];
      lost.begin("before it was lost", 0);
      await rig.settle();
      const { id } = lost;
      await ada.hub.request({ action: "revoke", device: "lost" });
      await rig.settle();
      await lost.joinAnew(ada.code());
      await rig.settle();
      expect(knownOf(ada, lost)).toEqual(["0–10 before it was lost"]);
      expect(ada.store.remote().count()).toBe(1);
      await ada.hub.request({ action: "revoke", device: "lost" });
      const { devices } = await ada.hub.request(null);
      expect(devices.slice(1).map((device) => [device.id === id, device.state])).toEqual([
        [true, "revoked"],
        [false, "revoked"],
      ]);
    }));

  it("settles on one key when two devices take out another each at the same time", () =>
    withRig(async (rig) => {
      const [ada, bob, eve, mallory] = [
        rig.add("ada"),
        rig.add("bob"),
        rig.add("eve"),
        rig.add("mallory"),
      ];
      await rig.settle();
      for (const device of [ada, bob]) device.driver.setAway(true);
      await ada.hub.request({ action: "revoke", device: "eve" });
      await bob.hub.request({ action: "revoke", device: "mallory" });
      for (const device of [ada, bob]) device.driver.setAway(false);
      await rig.settle();
      ada.begin("of ada", 0);
      bob.begin("of bob", 1);
      await rig.settle();
      expect([knownOf(ada, bob), knownOf(bob, ada)]).toEqual([["60–70 of bob"], ["0–10 of ada"]]);
      for (const lost of [eve, mallory])
        expect([knownOf(lost, ada), knownOf(lost, bob)]).toEqual([[], []]);
    }));
});

describe("records of strangers", () => {
  it("change nothing: without the key, of another hub, replayed under another number, or noise", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      ada.begin("true", 0);
      await rig.settle();
      const eve = createIdentity({ name: "eve", withHistory: true });
      const blind = { ...eve, hub: readJoinCode(ada.code()).hub };
      const place = { epoch: 1, seq: 1 };
      const own = rig.hub.records.find(({ device }) => device === ada.id);
      if (own === undefined) throw new Error("nothing was sent");
      const forged = [
        {
          ...sealRecord(blind, currentKey(blind.ring), place, NO_RECORD, saying("no key")),
          device: blind.device,
          ...place,
        },
        {
          ...sealRecord(eve, currentKey(eve.ring), place, NO_RECORD, saying("other hub")),
          device: eve.device,
          ...place,
        },
        { device: ada.id, epoch: 1, seq: 99, bytes: own.bytes },
        { device: ada.id, epoch: 9, seq: 1, bytes: own.bytes },
        { device: ada.id, epoch: 1, seq: 98, bytes: Buffer.from("noise") },
      ];
      for (const record of forged) rig.hub.repeat({ ...record, carriedUs: null });
      await rig.settle();
      const before = (await bob.hub.request(null)).notes;
      expect(before.map(({ reason }) => reason).join()).toContain("passed over");
      expect(knownOf(bob, ada)).toEqual(["0–10 true"]);
      expect(bob.store.remote().count()).toBe(1);
    }));

  it("in the name of a device of the hub, with its key, are told as a second log and not taken", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      ada.begin("true", 0);
      await rig.settle();
      const twin = readIdentity(ada.directory);
      if (twin === null) throw new Error("no identity");
      const key = currentKey(twin.ring);
      let previous = NO_RECORD;
      for (const seq of [1, 2, 3, 4, 5]) {
        const place = { epoch: 1, seq };
        const { bytes, hash } = sealRecord(twin, key, place, previous, saying(`twin ${seq}`));
        previous = hash;
        rig.hub.repeat({ device: twin.device, ...place, bytes, carriedUs: null });
      }
      ada.begin("goes on", 1);
      await rig.settle();
      expect(knownOf(bob, ada)).toEqual(["0–10 true", "60–70 goes on"]);
      const { problems } = await bob.hub.request(null);
      expect(problems[0]?.reason).toContain("Two logs go under its name");
    }));
});
