/** Three devices whose owner does what owners do, in any order: they come to one record, and what was forgotten is gone. */
import { cpSync, rmSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventFacts, RawFacts } from "../../src/capture/events.ts";
import { createExchangeImporter, exportLines } from "../../src/store/exchange.ts";
import { carryOut } from "../../src/store/forget.ts";
import { planRules } from "../../src/store/forget/plan.ts";
import {
  createHubRig,
  forgetOn,
  knownOf,
  ownOf,
  S,
  T0,
  type HubRig,
  type RigDevice,
} from "../helpers/hub-rig.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const WHAT = [
  "begin",
  "begin",
  "begin",
  "begin",
  "end",
  "erase",
  "wishText",
  "wishText",
  "wishSpan",
  "wishBoth",
  "expire",
  "rules",
  "import",
  "importOwn",
  "tick",
  "tick",
  "backup",
  "restore",
  "joinAnew",
  "revoke",
  "rotate",
  "hubLost",
  "clock",
  "away",
  "back",
  "loseAck",
  "restart",
  "repeat",
  "tick",
  "tick",
  "settle",
] as const;

const deed = fc.record({
  who: fc.integer({ min: 0, max: 2 }),
  what: fc.constantFrom(...WHAT),
  slot: fc.integer({ min: 0, max: 9 }),
  length: fc.integer({ min: 0, max: 300 }),
});
type Deed = typeof deed extends fc.Arbitrary<infer Value> ? Value : never;

/** What the owner did, as far as it says what is to be where. */
interface Deeds {
  readonly rig: HubRig;
  readonly devices: readonly RigDevice[];
  readonly leadsUs: number[];
  readonly backups: (string | null)[];
  /** Of each device: what ended before is let go of there. */
  readonly expiredUs: number[];
  readonly restored: Set<RigDevice>;
  /** Starts that two devices may have of their own. */
  readonly imported: Set<number>;
  /** Starts of what stood somewhere when it was wished away. */
  readonly wished: Set<number>;
  instants: number;
}

describe("three devices of one owner", () => {
  it(
    "come to one record, each event once, and nothing is left of what was forgotten",
    { timeout: 300_000 },
    async () => {
      const law = fc.asyncProperty(
        fc.array(deed, { minLength: 3, maxLength: 30 }),
        async (deeds) => {
          const rig = createHubRig(createTempHome());
          try {
            await check(rig, deeds);
          } finally {
            await rig.close();
          }
        },
      );
      await expect(fc.assert(law, { numRuns: propertyRuns(4, 60) })).resolves.toBeUndefined();
    },
  );
});

async function check(rig: HubRig, deeds: readonly Deed[]): Promise<void> {
  const leadsUs = [0, 0, 0];
  const devices = ["ada", "bob", "eve"].map((name, index) =>
    rig.add(name, {
      clock: { ...rig.clock, nowUs: () => rig.clock.nowUs() + (leadsUs[index] ?? 0) },
    }),
  );
  const done: Deeds = {
    rig,
    devices,
    leadsUs,
    backups: [null, null, null],
    expiredUs: [0, 0, 0],
    restored: new Set(),
    imported: new Set(),
    wished: new Set(),
    instants: 0,
  };
  await rig.settle();
  for (const each of deeds) await doDeed(done, each);
  for (const device of devices) device.driver.setAway(false);
  await minutesPass(rig);
  for (const [index, reader] of devices.entries()) {
    const { problems, waiting } = await reader.hub.request(null);
    const clocks = problems.filter(({ reason }) => reason.startsWith("The clock of"));
    expect([problems.filter((each) => !clocks.includes(each)), waiting]).toEqual([[], 0]);
    const view = [...ownRows(reader), ...remoteRows(reader)];
    const twice = view.filter((row, at) => view.findIndex((each) => isSame(each, row)) !== at);
    expect(twice.map(({ line }) => line)).toEqual([]);
    expect(view.filter(({ startUs }) => done.wished.has(startUs))).toEqual([]);
    expect(titlesIn(reader)).toEqual([...new Set(view.map(({ title }) => title))].sort());
    for (const writer of devices.filter((each) => each !== reader)) {
      const own = ownRows(writer).filter(
        ({ startUs, endUs, title }) =>
          !done.imported.has(startUs) &&
          !reader.withheld.has(title) &&
          endUs >= (done.expiredUs[index] ?? 0),
      );
      const lines = new Set(view.map(({ line }) => line));
      expect(own.map(({ line }) => line).filter((line) => !lines.has(line))).toEqual([]);
      if (done.restored.has(writer)) continue;
      const told = ownOf(writer);
      expect(
        knownOf(reader, writer).filter((line) => !told.includes(line) && !isImported(done, line)),
      ).toEqual([]);
    }
  }
}

async function minutesPass(rig: HubRig): Promise<void> {
  for (let minute = 0; minute < 3; minute += 1) {
    rig.clock.advanceMs(61_000);
    await rig.settle();
  }
}

function isImported({ imported }: Deeds, line: string): boolean {
  return imported.has(Math.round(Number(line.split("–")[0]) * S) + T0);
}

interface Row {
  readonly startUs: number;
  readonly endUs: number;
  readonly title: string;
  readonly line: string;
}

function isSame(a: Row, b: Row): boolean {
  return a.startUs === b.startUs && a.title === b.title;
}

function toRow(event: { readonly startUs: number; readonly endUs: number } & EventFacts): Row {
  const { startUs, endUs } = event;
  const title = event.kind === "window" ? (event.title ?? "") : event.kind;
  return { startUs, endUs, title, line: `${(startUs - T0) / S}–${(endUs - T0) / S} ${title}` };
}

function ownRows({ store }: RigDevice): readonly Row[] {
  return store.between(0, Number.MAX_SAFE_INTEGER, { limit: 10_000 }).events.map(toRow);
}

function remoteRows({ store }: RigDevice): readonly Row[] {
  return [...store.remote().all()].flat().map(({ event }) => toRow(event));
}

/** Under which key a device stands in another's record. */
function keyOf({ store }: RigDevice, other: RigDevice): number | undefined {
  return store.database
    .prepare<{ key: number }>("SELECT key FROM device WHERE id = ?")
    .get(other.id)?.key;
}

function titlesIn({ store }: RigDevice): readonly string[] {
  return store.database
    .prepare<{ title: string }>("SELECT title FROM document WHERE title IS NOT NULL ORDER BY title")
    .all()
    .map(({ title }) => title);
}

async function doDeed(done: Deeds, { who, what, slot, length }: Deed): Promise<void> {
  const { rig, devices } = done;
  const device = devices[who];
  if (device === undefined) return;
  const rows = ownRows(device);
  const chosen = rows[slot % Math.max(rows.length, 1)];
  const title = `title ${length % 5}`;
  const [fromUs, toUs] = [T0 + slot * 60 * S, T0 + slot * 60 * S + length * S + 1];
  switch (what) {
    case "begin":
      if (!device.withheld.has(title))
        device.begin(title, slot + (done.instants += 1) / (60 * S), length);
      return;
    case "end":
      if (chosen !== undefined && !done.imported.has(chosen.startUs))
        device.store.setEnd(chosen.startUs, chosen.startUs + length * S);
      return;
    case "erase":
      done.backups[who] = null;
      if (chosen !== undefined) await device.store.eraser.events([chosen.startUs], "forget");
      return;
    case "wishText":
      return wish(done, who, { fromUs: null, toUs: null, match: title });
    case "wishSpan":
      return wish(done, who, { fromUs, toUs, match: null });
    case "wishBoth":
      return wish(done, who, { fromUs, toUs, match: title });
    case "expire": {
      done.backups[who] = null;
      done.expiredUs[who] = Math.max(done.expiredUs[who] ?? 0, fromUs);
      const { store } = device;
      const old = rows.filter(({ endUs }) => endUs < fromUs).map(({ startUs }) => startUs);
      await store.eraser.events(old, "expire");
      await store.eraser.sweep(store.remote().drop(store.remote().endedBefore(fromUs, 1000)));
      return;
    }
    case "rules": {
      done.backups[who] = null;
      device.withheld.add(title);
      const judge = (facts: EventFacts): EventFacts | null =>
        facts.kind === "window" && device.withheld.has(facts.title ?? "") ? null : facts;
      await carryOut(device.store, await planRules(device.store, judge, false), false);
      return;
    }
    case "import":
    case "importOwn":
      return importFrom(done, device, devices[(who + 1 + (slot % 2)) % 3], what === "importOwn");
    case "backup":
      await device.stop();
      done.backups[who] = `${device.directory}-backup`;
      rmSync(`${device.directory}-backup`, { recursive: true, force: true });
      cpSync(device.directory, `${device.directory}-backup`, { recursive: true });
      device.start();
      return;
    case "restore": {
      const backup = done.backups[who] ?? null;
      if (backup === null) return;
      await device.stop();
      rmSync(device.directory, { recursive: true });
      cpSync(backup, device.directory, { recursive: true });
      device.start();
      done.restored.add(device);
      await device.hub.request({ action: "rejoin" });
      return;
    }
    case "joinAnew":
      await backForNow(done);
      done.backups[who] = null;
      await leaveAndJoin(done, who);
      return;
    case "revoke":
      await backForNow(done);
      done.backups.fill(null);
      await nextOf(done, who).hub.request({ action: "revoke", device: device.id });
      await rig.settle();
      await leaveAndJoin(done, who);
      return;
    case "rotate":
      await backForNow(done);
      await device.hub.request({ action: "rotate" });
      return;
    case "hubLost":
      await backForNow(done);
      // Who goes back behind what the hub has lost misses what was wished, as who was away for longer than it keeps.
      done.backups.fill(null);
      rig.hub.records.length = 0;
      return minutesPass(rig);
    case "clock":
      done.leadsUs[who] = (length - 150) * 60 * S;
      return;
    case "away":
    case "back":
      device.driver.setAway(what === "away");
      return;
    case "loseAck":
      device.driver.loseNextAck();
      return;
    case "restart":
      return device.restart();
    case "repeat": {
      const again = rig.hub.records[slot % Math.max(rig.hub.records.length, 1)];
      if (again !== undefined) rig.hub.repeat(again);
      return;
    }
    case "settle":
      return rig.settle();
    case "tick":
      rig.clock.advanceMs(length * 100);
      device.hub.tick();
      await device.hub.flush();
  }
}

function nextOf({ devices }: Deeds, who: number): RigDevice {
  const next = devices[(who + 1) % 3];
  if (next === undefined) throw new Error("no such device");
  return next;
}

/** As its owner does it who reads what is said. */
async function leaveAndJoin(done: Deeds, who: number): Promise<void> {
  const device = done.devices[who];
  const next = nextOf(done, who);
  if (device === undefined) return;
  const { notes } = await device.hub.request({ action: "leave" });
  if (notes.length > 0) {
    // Who goes back behind a key that it made itself is told to join anew.
    done.backups.fill(null);
    await next.hub.request({ action: "revoke", device: device.id });
  }
  await device.joinAnew(next.code());
}

/** What needs the others is done where all are there. */
async function backForNow({ rig, devices }: Deeds): Promise<void> {
  for (const device of devices) device.driver.setAway(false);
  await rig.settle();
}

async function wish(
  done: Deeds,
  who: number,
  words: { fromUs: number | null; toUs: number | null; match: string | null },
): Promise<void> {
  const device = done.devices[who];
  if (device === undefined) return;
  done.backups[who] = null;
  const { fromUs } = words;
  const toUs = words.toUs ?? Number.MAX_SAFE_INTEGER;
  const isMeant = ({ startUs, endUs, title }: Row): boolean =>
    (words.match === null || title === words.match) &&
    (fromUs === null || (startUs >= fromUs && startUs < toUs && endUs <= toUs));
  const all = done.devices.flatMap((each) => [...ownRows(each), ...remoteRows(each)]);
  // What one that is away has not told yet is no less meant.
  for (const row of all) if (isMeant(row)) done.wished.add(row.startUs);
  const atUs = done.rig.clock.nowUs() + (done.leadsUs[who] ?? 0);
  await forgetOn(device, { app: null, ...words, atUs });
}

async function importFrom(
  done: Deeds,
  device: RigDevice,
  from: RigDevice | undefined,
  saysNotWhose: boolean,
): Promise<void> {
  if (from === undefined) return;
  const [header = "", ...lines] = [...exportLines(from.store.database)]
    .map(({ text }) => text)
    .join("")
    .trimEnd()
    .split("\n");
  for (const line of lines) {
    const { startUs }: { startUs: number } = JSON.parse(line);
    done.imported.add(startUs);
  }
  const given = saysNotWhose ? header.replace(/,"device":"[0-9a-f]+"/, "") : header;
  const admit = (facts: RawFacts): EventFacts | null =>
    facts.kind === "window" && device.withheld.has(facts.title ?? "")
      ? null
      : (facts as EventFacts);
  const importer = createExchangeImporter(given, device.store, admit, Number.MAX_SAFE_INTEGER);
  for (const line of lines) importer.take(line);
  importer.finish();
  // Who takes in what was wished away has it again: what the other recorded, and what it knows of this one.
  const ofThisOne = [...from.store.remote().all()]
    .flat()
    .filter(({ deviceKey }) => deviceKey === keyOf(from, device))
    .map(({ event }) => event);
  for (const row of [...ownRows(from), ...ofThisOne]) done.wished.delete(row.startUs);
}
