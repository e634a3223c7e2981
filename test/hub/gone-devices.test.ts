/** What stays of a device that left the hub or was taken out, and that its owner forgets of it everywhere. */
import { describe, expect, it } from "vitest";
import { createDevices } from "../../src/store/devices.ts";
import {
  createHubRig,
  forgetOn,
  knownOf,
  ownOf,
  T0,
  S,
  windowFacts,
  type HubRig,
  type RigDevice,
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

async function forgetSecrets(rig: HubRig, device: RigDevice): Promise<void> {
  const words = { fromUs: null, toUs: null, app: null, match: "secret" };
  await forgetOn(device, { ...words, atUs: rig.clock.nowUs() });
  await rig.settle();
}

function titlesIn({ store }: RigDevice): readonly string[] {
  return store.database
    .prepare<{ title: string }>("SELECT title FROM document WHERE title IS NOT NULL ORDER BY id")
    .all()
    .map(({ title }) => title);
}

describe("a device that is in the hub no more", () => {
  it.each([
    ["left", async (_: RigDevice, bob: RigDevice) => bob.hub.request({ action: "leave" })],
    [
      "was taken out",
      async (ada: RigDevice) => ada.hub.request({ action: "revoke", device: "bob" }),
    ],
  ])("and %s: what is forgotten on one that never knew of it goes from those that do", (_, part) =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      bob.begin("a secret", 0);
      bob.begin("nothing to hide", 1);
      await rig.settle();
      await part(ada, bob);
      await rig.settle();
      // Long after: the hub keeps its records no more.
      rig.hub.records.length = 0;
      const eve = rig.add("eve");
      await rig.settle();
      expect([knownOf(eve, bob), knownOf(ada, bob)]).toEqual([
        [],
        ["0–10 a secret", "60–70 nothing to hide"],
      ]);
      await forgetSecrets(rig, eve);
      expect(knownOf(ada, bob)).toEqual(["60–70 nothing to hide"]);
      expect(titlesIn(ada)).toEqual(["nothing to hide"]);
      // For good, also when it takes part again and hears nothing of the wish any more.
      rig.hub.records.length = 0;
      await bob.joinAnew(ada.code());
      await rig.settle();
      expect(knownOf(ada, bob)).toEqual(["60–70 nothing to hide"]);
    }),
  );

  it("or never was, as one whose record came with an import, is forgotten everywhere as well", () =>
    withRig(async (rig) => {
      const [ada, eve] = [rig.add("ada"), rig.add("eve")];
      await rig.settle();
      const { key } = createDevices(ada.store.database).ensure("f".repeat(32), "the old one");
      const span = { startUs: T0, endUs: T0 + S, utcOffsetMinutes: 0, timeZone: "UTC" };
      const facts = windowFacts("a secret");
      ada.store.remote().put(key, 0, [{ ...span, facts, isOpen: false }]);
      await forgetSecrets(rig, eve);
      expect(titlesIn(ada)).toEqual([]);
    }));

  it("is not the only one whose record goes with a wish: what an import brought of one before that told it goes too", () =>
    withRig(async (rig) => {
      const [ada, bob, eve] = [rig.add("ada"), rig.add("bob"), rig.add("eve")];
      await rig.settle();
      bob.begin("a secret", 0);
      const { key } = createDevices(eve.store.database).ensure(bob.id, "bob");
      const span = { startUs: T0, endUs: T0 + 10 * S, utcOffsetMinutes: 0, timeZone: "UTC" };
      eve.store.remote().put(key, 0, [{ ...span, facts: windowFacts("a secret"), isOpen: false }]);
      await forgetSecrets(rig, ada);
      expect([ownOf(bob), titlesIn(eve), titlesIn(ada)]).toEqual([[], [], []]);
    }));

  it("is told as one that the others have to take out, where it could not say goodbye", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      bob.begin("a secret", 0);
      await rig.settle();
      const former = bob.id;
      bob.driver.setAway(true);
      const { notes } = await bob.hub.request({ action: "leave" });
      expect(notes.map(({ remedy }) => remedy)).toEqual([
        `Tell them on one of them: activityd hub revoke ${former.slice(0, 8)}`,
      ]);
      await bob.joinAnew(ada.code());
      await rig.settle();
      await ada.hub.request({ action: "revoke", device: former.slice(0, 8) });
      await rig.settle();
      await forgetSecrets(rig, bob);
      expect([ownOf(bob), titlesIn(ada)]).toEqual([[], []]);
    }));

  it("says goodbye without a word about it where nobody else is in it, or was heard", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      await rig.settle();
      expect((await bob.hub.request({ action: "leave" })).notes).toEqual([]);
      await rig.settle();
      ada.driver.setAway(true);
      expect((await ada.hub.request({ action: "leave" })).notes).toEqual([]);
    }));

  it("is no other one to itself, though what it told went on since", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      const [goesOn, isCut] = [bob.begin("went on", 0), bob.begin("was cut", 1, 30)];
      await rig.settle();
      await bob.hub.request({ action: "leave" });
      bob.store.setEnd(goesOn, T0 + 40 * S);
      bob.store.setEnd(isCut, T0 + 65 * S);
      await bob.joinAnew(ada.code());
      await rig.settle();
      expect(bob.store.remote().count()).toBe(0);
      expect(knownOf(ada, bob)).toEqual(["0–40 went on", "60–65 was cut"]);
      expect(ada.store.remote().count()).toBe(2);
    }));

  it("has what it wrote let go of by those that stay, day by day", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      await rig.settle();
      await bob.hub.request({ action: "leave" });
      await rig.settle();
      expect(rig.hub.letGo).toEqual([]);
      for (let day = 0; day < 2; day += 1) {
        rig.clock.advanceMs(86_400_000);
        for (let look = 0; look < 2; look += 1) ada.hub.tick();
      }
      expect(rig.hub.letGo).toEqual([[bob.id], [bob.id]]);
    }));

  it("told everything before it said goodbye", () =>
    withRig(async (rig) => {
      const [ada, bob] = [rig.add("ada"), rig.add("bob")];
      const id = bob.begin("a secret", 0);
      await rig.settle();
      await bob.store.eraser.events([id], "forget");
      bob.begin("the last", 1);
      await bob.hub.request({ action: "leave" });
      await rig.settle();
      expect(knownOf(ada, bob)).toEqual(["60–70 the last"]);
    }));
});
