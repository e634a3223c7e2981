/** The folder driver, and what carriers do to its files. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CarriedRecord, HubDriver, SealedRecord } from "../../src/hub/driver.ts";
import { openFolderDriver } from "../../src/hub/folder.ts";
import { readMarks } from "../../src/hub/read-marks.ts";
import { scanFrames, writeFrame } from "../../src/hub/segments.ts";
import { systemClock } from "../../src/clock.ts";
import { silentLog } from "../../src/log.ts";
import { describeHubDriver } from "../contract/hub-driver.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";

const HUB = "cc".repeat(16);
const ADA = "a0".repeat(16);
const BOB = "b0".repeat(16);
const TIMEOUT_MS = 10_000;

function openAt(folder: string, device: string): Promise<HubDriver> {
  return openFolderDriver({
    hub: HUB,
    device,
    settings: {
      driver: "folder",
      folder,
      servers: [],
      credentials_file: "",
      ca_file: "",
      keep_days: 30,
    },
    clock: systemClock,
    log: silentLog,
  });
}

describeHubDriver("folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "activityd-test-"));
  const opened: HubDriver[] = [];
  return {
    open: async (device) => {
      const driver = await openAt(folder, device);
      opened.push(driver);
      return driver;
    },
    close: async () => {
      for (const driver of opened) await driver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});

function makeLog(length: number, size = 300): SealedRecord[] {
  return Array.from({ length }, (_, index) => ({
    device: ADA,
    epoch: 1,
    seq: index + 1,
    bytes: randomBytes(size),
  }));
}

async function readAll(folder: string, count: number): Promise<number[]> {
  const bob = await openAt(folder, BOB);
  const records: CarriedRecord[] = [];
  const subscription = bob.subscribe({
    cursor: null,
    deliver: async (given) => {
      records.push(...given);
    },
  });
  await until("the records come", () => records.length >= count);
  await subscription.close();
  await bob.close();
  return records.map(({ seq }) => seq);
}

async function writtenBy(folder: string, log: readonly SealedRecord[]): Promise<string[]> {
  const ada = await openAt(folder, ADA);
  for (let from = 0; from < log.length; from += 64)
    await ada.append(log.slice(from, from + 64), TIMEOUT_MS);
  await ada.close();
  const place = join(folder, `activityd-${HUB}`, ADA);
  return readdirSync(place)
    .sort()
    .map((name) => join(place, name));
}

describe("a folder that a carrier syncs", () => {
  it("keeps a log in files of moderate size, named so that they stand in order", async () => {
    const folder = createTempHome();
    const files = await writtenBy(folder, makeLog(40, 10_000));
    expect(files.length).toBeGreaterThan(2);
    expect(await readAll(folder, 40)).toEqual(makeLog(40).map(({ seq }) => seq));
  });

  it("gives every whole record of a file that was cut, and the rest when it comes", async () => {
    const folder = createTempHome();
    const [file = ""] = await writtenBy(folder, makeLog(5));
    const whole = readFileSync(file);
    truncateSync(file, whole.length - 10);
    const bob = await openAt(folder, BOB);
    const seqs: number[] = [];
    const subscription = bob.subscribe({
      cursor: null,
      deliver: async (given) => {
        seqs.push(...given.map(({ seq }) => seq));
      },
    });
    await until("the first four come", () => seqs.length === 4);
    writeFileSync(file, whole);
    await until("the fifth comes", () => seqs.length === 5);
    expect(seqs).toEqual([1, 2, 3, 4, 5]);
    await subscription.close();
    await bob.close();
  });

  it("gives what lies behind a part that is spoilt", async () => {
    const folder = createTempHome();
    const [file = ""] = await writtenBy(folder, makeLog(5));
    const bytes = readFileSync(file);
    bytes.fill(0, 700, 720);
    writeFileSync(file, bytes);
    expect(await readAll(folder, 4)).toEqual([1, 2, 4, 5]);
  });

  it("reads copies that a carrier made of two versions, and gives no record twice", async () => {
    const folder = createTempHome();
    const [file = ""] = await writtenBy(folder, makeLog(5));
    copyFileSync(file, file.replace(".log", ".sync-conflict-20260504-090000-ABCDEFG.log"));
    copyFileSync(file, file.replace(".log", " (Ada's conflicted copy).log"));
    writeFileSync(join(folder, `activityd-${HUB}`, ADA, ".syncthing.tmp"), "half");
    expect(await readAll(folder, 5)).toEqual([1, 2, 3, 4, 5]);
  });

  it("reads on past what cannot be read, and says what that is until it can", async () => {
    const folder = createTempHome();
    const [file = ""] = await writtenBy(folder, makeLog(3));
    // As unreadable as a file of another user, for whoever runs the tests.
    const odd = join(folder, `activityd-${HUB}`, "01".repeat(16), "000001-000000000001.log");
    mkdirSync(odd, { recursive: true });
    const late = file.replace("000001.log", "000009.log");
    mkdirSync(late);
    const bob = await openAt(folder, BOB);
    const seqs: number[] = [];
    bob.subscribe({
      cursor: null,
      deliver: async (given) => void seqs.push(...given.map(({ seq }) => seq)),
    });
    await until("it is told", () => bob.notes().length > 0);
    expect(seqs).toEqual([1, 2, 3]);
    expect(bob.notes()[0]?.reason).toMatch(/ cannot be read \(EISDIR\), nor 1 more: /);
    rmSync(odd, { recursive: true });
    rmSync(late, { recursive: true });
    await until("all is read", () => bob.notes().length === 0);
    await bob.close();
  });

  it("keeps nobody waiting where a file of it does not answer, not even at the end", async () => {
    const folder = createTempHome();
    const place = join(folder, `activityd-${HUB}`, ADA);
    mkdirSync(place, { recursive: true });
    // A read of it waits for a writer, as one of a server that is gone waits for the server.
    const hanging = join(place, "000001-000000000001.log");
    execFileSync("mkfifo", [hanging]);
    const bob = await openAt(folder, BOB);
    bob.subscribe({ cursor: null, deliver: async () => {} });
    await setTimeout(200);
    const own = makeLog(1).map((record) => ({ ...record, device: BOB }));
    expect(await bob.append(own, TIMEOUT_MS)).toEqual({ epoch: 1, seq: 1 });
    await bob.close();
    closeSync(openSync(hanging, "r+"));
  });

  it("reads who wrote last after the others: a goodbye before what is told again under a new name", async () => {
    const folder = createTempHome();
    const [file = ""] = await writtenBy(folder, makeLog(1));
    const EVE = "00".repeat(16);
    const eve = await openAt(folder, EVE);
    await eve.append([{ ...makeLog(1)[0], device: EVE } as SealedRecord], TIMEOUT_MS);
    await eve.close();
    const before = new Date(Date.now() - 60_000);
    utimesSync(file, before, before);
    const bob = await openAt(folder, BOB);
    const order: string[] = [];
    bob.subscribe({
      cursor: null,
      deliver: async (given) => void order.push(...given.map(({ device }) => device)),
    });
    await until("both are read", () => order.length === 2);
    expect(order).toEqual([ADA, EVE]);
    await bob.close();
  });

  it("takes files in whatever order they come", async () => {
    const folder = createTempHome();
    const files = await writtenBy(folder, makeLog(40, 10_000));
    const [first = ""] = files;
    renameSync(first, `${first}.hidden`);
    const bob = await openAt(folder, BOB);
    const seqs: number[] = [];
    let cursor: string | null = null;
    const subscription = bob.subscribe({
      cursor: null,
      deliver: async (given, next) => {
        seqs.push(...given.map(({ seq }) => seq));
        cursor = next;
      },
    });
    await until("the later files come", () => seqs.includes(40));
    expect(seqs).not.toContain(1);
    await subscription.close();
    await bob.close();
    renameSync(`${first}.hidden`, first);
    const again = await openAt(folder, BOB);
    const late = again.subscribe({
      cursor,
      deliver: async (given) => {
        seqs.push(...given.map(({ seq }) => seq));
      },
    });
    await until("the first file comes", () => seqs.length >= 40);
    expect([...seqs].sort((a, b) => a - b)).toEqual(makeLog(40).map(({ seq }) => seq));
    await late.close();
    await again.close();
  });

  it("mends its own file that a crash left torn, and goes on behind the last whole record", async () => {
    const folder = createTempHome();
    const log = makeLog(6);
    const [file = ""] = await writtenBy(folder, log.slice(0, 3));
    appendFileSync(file, writeFrame({ epoch: 1, seq: 4, bytes: randomBytes(100) }).subarray(0, 60));
    const ada = await openAt(folder, ADA);
    expect(await ada.tail(TIMEOUT_MS)).toMatchObject({ seq: 3 });
    await ada.append(log.slice(3), TIMEOUT_MS);
    await ada.close();
    expect(await readAll(folder, 6)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("refuses to go on when a copy of its own log says something else", async () => {
    const folder = createTempHome();
    const log = makeLog(4);
    const [file = ""] = await writtenBy(folder, log.slice(0, 3));
    const twin = [...log.slice(0, 2), { ...makeLog(3)[2], device: ADA } as SealedRecord];
    const copy = file.replace(".log", ".sync-conflict-20260504-090000-ABCDEFG.log");
    writeFileSync(copy, Buffer.concat(twin.map((record) => writeFrame(record))));
    const ada = await openAt(folder, ADA);
    await expect(ada.append(log.slice(3), TIMEOUT_MS)).rejects.toMatchObject({
      code: "hub_conflict",
    });
    await expect(ada.tail(TIMEOUT_MS)).rejects.toMatchObject({ code: "hub_conflict" });
    await ada.close();
  });

  it("says that the folder is gone, and goes on when it is back", async () => {
    const home = createTempHome();
    const folder = join(home, "sync");
    const ada = await openAt(folder, ADA);
    await expect(ada.append(makeLog(1), TIMEOUT_MS)).rejects.toMatchObject({ code: "hub_refused" });
    expect(ada.state()).toMatchObject({
      state: "refused",
      reason: `the folder ${folder} is not there`,
    });
    mkdirSync(folder);
    await ada.append(makeLog(1), TIMEOUT_MS);
    expect(ada.state().state).toBe("connected");
    await ada.close();
  });

  it("lets go of what is old of devices that are gone, with their folders, and of nobody else's", async () => {
    const folder = createTempHome();
    const files = await writtenBy(folder, makeLog(40, 10_000));
    const longAgo = new Date(Date.now() - 31 * 86_400_000);
    for (const file of files) utimesSync(file, longAgo, longAgo);
    const [newest = ""] = files.slice(-1);
    utimesSync(newest, new Date(), new Date());
    const bob = await openAt(folder, BOB);
    await bob.letGo(["d0".repeat(16)]);
    expect(files.filter((file) => existsSync(file))).toEqual(files);
    await bob.letGo([ADA]);
    expect(files.filter((file) => existsSync(file))).toEqual([newest]);
    utimesSync(newest, longAgo, longAgo);
    await bob.letGo([ADA]);
    expect(existsSync(dirname(newest))).toBe(false);
    // Nothing is there any more: no failure.
    await bob.letGo([ADA]);
    expect(bob.state().state).toBe("connected");
    await bob.close();
  });

  it("lets go of what is older than it is to be kept, and never of its newest file", async () => {
    const folder = createTempHome();
    const log = makeLog(40, 10_000);
    const files = await writtenBy(folder, log);
    const longAgo = new Date(Date.now() - 31 * 86_400_000);
    for (const file of files) utimesSync(file, longAgo, longAgo);
    const ada = await openAt(folder, ADA);
    // Looked for with every append, once a day; what was there already is no news.
    await ada.append(log.slice(-1), TIMEOUT_MS);
    const left = readdirSync(join(folder, `activityd-${HUB}`, ADA));
    expect(left).toEqual([files.at(-1)?.split("/").at(-1)]);
    expect(await ada.tail(TIMEOUT_MS)).toMatchObject({ seq: 40 });
    await ada.close();
  });
});

describe("frames", () => {
  it("are found whole in whatever is left of a file, and nothing else is", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 6 }),
        fc.nat(),
        fc.nat(),
        (payloads, cutAt, spoilAt) => {
          const frames = payloads.map((bytes, index) =>
            Buffer.from(writeFrame({ epoch: 1, seq: index + 1, bytes })),
          );
          const file = Buffer.concat(frames);
          const cut = Buffer.from(file.subarray(0, cutAt % (file.length + 1)));
          let end = 0;
          const whole = frames.filter((frame) => (end += frame.length) <= cut.length);
          const found = scanFrames(cut).frames;
          expect(found.map(({ seq }) => seq)).toEqual(whole.map((_, index) => index + 1));
          const spoilt = Buffer.from(file);
          const at = spoilAt % spoilt.length;
          spoilt.writeUInt8(spoilt.readUInt8(at) ^ 0xff, at);
          for (const frame of scanFrames(spoilt).frames)
            expect(Buffer.from(frame.bytes)).toEqual(Buffer.from(payloads[frame.seq - 1] ?? []));
          expect(scanFrames(spoilt).frames.length).toBe(frames.length - 1);
        },
      ),
      { numRuns: propertyRuns(200, 5_000) },
    );
  });
});

describe("read marks", () => {
  it("hold exactly what was added, in any order, also after they were written and read", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.constantFrom(ADA, BOB),
            fc.integer({ min: 1, max: 2 }),
            fc.integer({ min: 1, max: 30 }),
          ),
        ),
        (added) => {
          const marks = readMarks(null);
          for (const [device, epoch, seq] of added) marks.add(device, { epoch, seq });
          const read = readMarks(marks.write());
          for (const device of [ADA, BOB])
            for (const epoch of [1, 2])
              for (let seq = 1; seq <= 30; seq += 1) {
                const isAdded = added.some(([d, e, s]) => d === device && e === epoch && s === seq);
                expect(read.has(device, { epoch, seq })).toBe(isAdded);
              }
        },
      ),
      { numRuns: propertyRuns(100, 3_000) },
    );
    expect(readMarks("no marks").has(ADA, { epoch: 1, seq: 1 })).toBe(false);
  });
});
