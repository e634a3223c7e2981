/** How a hub's key changes hands, and what a lost device learns of it. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createIdentity,
  currentKey,
  IDENTITY_FILE,
  readIdentity,
  readJoinCode,
  removeIdentity,
  writeIdentity,
  writeJoinCode,
  type HubIdentity,
} from "../../src/hub/identity.ts";
import {
  finishHandout,
  isKeySpoiled,
  makeHandout,
  takeHandout,
  takeRing,
  unfinishedHandouts,
} from "../../src/hub/keys.ts";
import { openBox, sealFor } from "../../src/hub/sealed-box.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const HINTS = { driver: "nats", servers: ["tls://hub.example:4222"] } as const;

function createHub(...names: readonly string[]): HubIdentity[] {
  const [first = "first", ...others] = names;
  const maker = createIdentity({ name: first, withHistory: true });
  const code = readJoinCode(writeJoinCode(maker, HINTS));
  return [maker, ...others.map((name) => createIdentity({ name, withHistory: true, code }))];
}

function recipientsOf(...identities: readonly (HubIdentity | undefined)[]) {
  return identities.flatMap((identity) =>
    identity === undefined ? [] : [{ id: identity.device, sealingPublic: identity.sealingPublic }],
  );
}

describe("a code of a hub", () => {
  it("carries what another device needs to take part", () => {
    const [ada] = createHub("ada");
    if (ada === undefined) throw new Error("no identity");
    const code = writeJoinCode(ada, HINTS);
    expect(readJoinCode(` ${code.slice(0, 40)}\n${code.slice(40)} `)).toMatchObject({
      hub: ada.hub,
      driver: "nats",
      servers: ["tls://hub.example:4222"],
    });
    const bob = createIdentity({ name: "bob", withHistory: true, code: readJoinCode(code) });
    expect(bob.hub).toBe(ada.hub);
    expect(Buffer.from(currentKey(bob.ring).secret)).toEqual(
      Buffer.from(currentKey(ada.ring).secret),
    );
    expect(bob.device).not.toBe(ada.device);
  });

  it.each([
    ["in the quotes of a sentence", (code: string) => `“${code}”.`],
    ["quoted in a mail", (code: string) => `> ${code.slice(0, 72)}\r\n> ${code.slice(72)}\r\n`],
    [
      "with what a web page breaks words at",
      (code: string) => code.replaceAll(/.{30}/g, "$&\u200b"),
    ],
  ])("is read %s", (_what, wrap) => {
    const [ada] = createHub("ada");
    if (ada === undefined) throw new Error("no identity");
    expect(readJoinCode(wrap(writeJoinCode(ada, HINTS))).hub).toBe(ada.hub);
  });

  it.each([
    [
      "a letter is wrong",
      (code: string) => code.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
    ],
    ["a letter is missing", (code: string) => code.slice(0, -2)],
    ["it is something else", () => "activityd-hub-2.AAAA"],
    ["there is nothing", () => ""],
  ])("is refused when %s", (_what, spoil) => {
    const [ada] = createHub("ada");
    if (ada === undefined) throw new Error("no identity");
    expect(() => readJoinCode(spoil(writeJoinCode(ada, HINTS)))).toThrow(/no whole code/);
  });
});

describe("the identity of a device", () => {
  it("is read back as it was written, by its owner alone", () => {
    const home = createTempHome();
    expect(readIdentity(home)).toBeNull();
    const [ada] = createHub("ada");
    if (ada === undefined) throw new Error("no identity");
    writeIdentity(home, ada);
    expect(statSync(join(home, IDENTITY_FILE)).mode & 0o777).toBe(0o600);
    expect(readIdentity(home)).toMatchObject({ device: ada.device, hub: ada.hub, name: "ada" });
    removeIdentity(home);
    expect(readIdentity(home)).toBeNull();
  });
});

describe("the identity beside an encrypted database", () => {
  it("is sealed with its key, and unreadable without", () => {
    const home = createTempHome();
    const [ada] = createHub("ada");
    if (ada === undefined) throw new Error("no identity");
    writeIdentity(home, ada);
    const keyFile = join(home, "key");
    writeFileSync(keyFile, `${"ab".repeat(32)}\n`);
    writeFileSync(join(home, "encryption.json"), JSON.stringify({ keyIn: "file", path: keyFile }));
    // What was written before is read until it is written anew.
    expect(readIdentity(home)?.device).toBe(ada.device);
    writeIdentity(home, ada);
    const written = readFileSync(join(home, IDENTITY_FILE), "utf8");
    expect(written).toMatch(/^\{"sealed":"[\w-]+"\}\n$/);
    expect(readIdentity(home)).toMatchObject({ device: ada.device, name: "ada" });
    writeFileSync(keyFile, `${"cd".repeat(32)}\n`);
    expect(() => readIdentity(home)).toThrow(/who this device is/);
  });
});

describe("a new key", () => {
  it("is in use only when all are sure to be told, and told again after a crash", () => {
    const [ada, bob] = createHub("ada", "bob");
    if (ada === undefined || bob === undefined) throw new Error("no identity");
    const { identity, handout } = makeHandout(ada, recipientsOf(bob), {});
    expect(currentKey(identity.ring).id).toBe(currentKey(ada.ring).id);
    const [again] = unfinishedHandouts(identity, recipientsOf(bob));
    expect(again?.id).toBe(handout.id);
    const finished = finishHandout(identity, handout.id);
    expect(currentKey(finished.ring).id).toBe(handout.id);
    expect(unfinishedHandouts(finished, recipientsOf(bob))).toEqual([]);
    if (again === undefined) throw new Error("no handout");
    const taken = takeHandout(bob, again, ada.device);
    expect(taken.outcome).toBe("taken");
    expect(Buffer.from(currentKey(taken.identity.ring).secret)).toEqual(
      Buffer.from(currentKey(finished.ring).secret),
    );
    expect(takeHandout(taken.identity, handout, ada.device).outcome).toBe("known");
  });

  it("does not reach a device that was taken out, whatever it tries", () => {
    const [ada, bob, eve] = createHub("ada", "bob", "eve");
    if (ada === undefined || bob === undefined || eve === undefined) throw new Error("none");
    const { handout } = makeHandout(ada, recipientsOf(bob, eve), { [eve.device]: 5 });
    expect(Object.keys(handout.boxes)).toEqual([bob.device]);
    expect(takeHandout(eve, handout, ada.device).outcome).toBe("revoked");
    // Not even with the box of another.
    const box = handout.boxes[bob.device] ?? new Uint8Array();
    const stolen = { ...handout, revoked: {}, boxes: { [eve.device]: box } };
    expect(takeHandout(eve, stolen, ada.device).outcome).toBe("excluded");
  });

  it("is of no use to a device that joins by an older code, and is by a newer one", () => {
    const [ada, bob] = createHub("ada", "bob");
    if (ada === undefined || bob === undefined) throw new Error("none");
    const old = readJoinCode(writeJoinCode(ada, HINTS));
    const { identity, handout } = makeHandout(ada, recipientsOf(bob), {});
    const late = createIdentity({ name: "late", withHistory: true, code: old });
    expect(takeHandout(late, handout, ada.device).outcome).toBe("excluded");
    const fresh = readJoinCode(writeJoinCode(finishHandout(identity, handout.id), HINTS));
    const joined = takeRing(late, fresh.ring);
    expect(currentKey(joined.ring).id).toBe(handout.id);
    expect(joined.device).toBe(late.device);
  });

  it("is due when two devices took out another each at the same time", () => {
    const [ada, bob, eve, mallory] = createHub("ada", "bob", "eve", "mallory");
    if (ada === undefined || bob === undefined || eve === undefined || mallory === undefined)
      throw new Error("none");
    const all = recipientsOf(ada, bob, eve, mallory);
    const byAda = makeHandout(ada, all, { [eve.device]: 1 });
    const byBob = makeHandout(bob, all, { [mallory.device]: 2 });
    const merged = takeHandout(
      finishHandout(byAda.identity, byAda.handout.id),
      byBob.handout,
      bob.device,
    ).identity;
    // Whichever of the two keys it is: one of those who are out has it.
    expect(isKeySpoiled(merged)).toBe(true);
    const healed = makeHandout(merged, all, {});
    expect(Object.keys(healed.handout.boxes)).toEqual([bob.device]);
    expect(isKeySpoiled(finishHandout(healed.identity, healed.handout.id))).toBe(false);
  });
});

describe("a sealed box", () => {
  it("opens for the one it was made for, for the purpose it was made for", () => {
    const [ada, bob] = createHub("ada", "bob");
    if (ada === undefined || bob === undefined) throw new Error("none");
    const box = sealFor(bob.sealingPublic, Buffer.from("secret"), "a key");
    const open = (purpose: string, who = bob) =>
      openBox(who.sealingKey, who.sealingPublic, box, purpose);
    expect(Buffer.from(open("a key") ?? []).toString()).toBe("secret");
    expect(open("another key")).toBeNull();
    expect(open("a key", ada)).toBeNull();
    expect(openBox(bob.sealingKey, bob.sealingPublic, box.subarray(0, 40), "a key")).toBeNull();
  });
});
