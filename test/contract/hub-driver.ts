/** What every driver of a hub promises, as one suite. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  MAX_RECORD_BYTES,
  type CarriedRecord,
  type HubDriver,
  type SealedRecord,
} from "../../src/hub/driver.ts";
import { until } from "../helpers/until.ts";

/** A hub for one test, and as many drivers to it as the test opens. */
export interface DriverRig {
  readonly open: (device: string) => Promise<HubDriver>;
  readonly close: () => Promise<void>;
}

const TIMEOUT_MS = 10_000;

export function describeHubDriver(name: string, openRig: () => Promise<DriverRig>): void {
  const withRig = (work: (rig: DriverRig) => Promise<void>) => async () => {
    const rig = await openRig();
    try {
      await work(rig);
    } finally {
      await rig.close();
    }
  };

  describe(`the ${name} driver`, () => {
    it(
      "carries a log to another device whole and in order",
      withRig(async (rig) => {
        const [ada, bob] = [await rig.open(ADA), await rig.open(BOB)];
        const log = makeLog(ADA, 1, 150);
        const inbox = listen(bob, null);
        await appendAll(ada, log);
        await until("the records come", () => inbox.records.length >= log.length);
        expect(inbox.records.map(plain)).toEqual(log.map(plain));
        await inbox.close();
      }),
    );

    it(
      "gives what was appended before anybody listened",
      withRig(async (rig) => {
        const [ada, bob] = [await rig.open(ADA), await rig.open(BOB)];
        const log = makeLog(ADA, 1, 5);
        await appendAll(ada, log);
        const inbox = listen(bob, null);
        await until("the records come", () => inbox.records.length >= 5);
        expect(inbox.records.map(plain)).toEqual(log.map(plain));
        await inbox.close();
      }),
    );

    it(
      "carries a record of the greatest size as it is",
      withRig(async (rig) => {
        const [ada, bob] = [await rig.open(ADA), await rig.open(BOB)];
        const log = [{ device: ADA, epoch: 1, seq: 1, bytes: randomBytes(MAX_RECORD_BYTES) }];
        await appendAll(ada, log);
        const inbox = listen(bob, null);
        await until("the record comes", () => inbox.records.length > 0);
        expect(inbox.records.map(plain)).toEqual(log.map(plain));
        await inbox.close();
      }),
    );

    it(
      "goes on at a cursor, also in a driver that is opened later",
      withRig(async (rig) => {
        const [ada, bob] = [await rig.open(ADA), await rig.open(BOB)];
        const log = makeLog(ADA, 1, 8);
        await appendAll(ada, log.slice(0, 5));
        const first = listen(bob, null);
        await until("the records come", () => first.records.length >= 5);
        await first.close();
        await bob.close();
        await appendAll(ada, log.slice(5));
        const again = await rig.open(BOB);
        const second = listen(again, first.cursor());
        await until("the records come", () => second.records.some(({ seq }) => seq === 8));
        // At least once: what lies right before the cursor may come again.
        expect(second.records.map(({ seq }) => seq).slice(-3)).toEqual([6, 7, 8]);
        await second.close();
      }),
    );

    it(
      "gives the same records again when they could not be taken",
      withRig(async (rig) => {
        const [ada, bob] = [await rig.open(ADA), await rig.open(BOB)];
        let refusals = 1;
        const inbox = listen(bob, null, () => {
          if (refusals-- > 0) throw new Error("not now");
        });
        await appendAll(ada, makeLog(ADA, 1, 3));
        await until("the records come", () => inbox.records.length >= 3);
        expect(new Set(inbox.records.map(({ seq }) => seq))).toEqual(new Set([1, 2, 3]));
        await inbox.close();
      }),
    );

    it(
      "does not give a device its own records",
      withRig(async (rig) => {
        const [ada, bob] = [await rig.open(ADA), await rig.open(BOB)];
        const inbox = listen(ada, null);
        await appendAll(ada, makeLog(ADA, 1, 2));
        await appendAll(bob, makeLog(BOB, 1, 1));
        await until("the records come", () => inbox.records.length > 0);
        expect(inbox.records.map(({ device }) => device)).toEqual([BOB]);
        await inbox.close();
      }),
    );

    it(
      "takes the same records twice as once",
      withRig(async (rig) => {
        const [ada, bob] = [await rig.open(ADA), await rig.open(BOB)];
        const log = makeLog(ADA, 1, 4);
        await appendAll(ada, log);
        expect(await ada.append(log.slice(2), TIMEOUT_MS)).toEqual({ epoch: 1, seq: 4 });
        await appendAll(ada, makeLog(ADA, 1, 5).slice(4));
        const inbox = listen(bob, null);
        await until("the records come", () => inbox.records.some(({ seq }) => seq === 5));
        expect(await ada.tail(TIMEOUT_MS)).toMatchObject({ device: ADA, epoch: 1, seq: 5 });
        await inbox.close();
      }),
    );

    it(
      "refuses a log that goes on differently from what is there",
      withRig(async (rig) => {
        const [ada, twin] = [await rig.open(ADA), await rig.open(ADA)];
        await appendAll(ada, makeLog(ADA, 1, 3));
        const other = makeLog(ADA, 1, 4).slice(1);
        await expect(twin.append(other, TIMEOUT_MS)).rejects.toMatchObject({
          code: "hub_conflict",
        });
        expect(await ada.tail(TIMEOUT_MS)).toMatchObject({ seq: 3 });
      }),
    );

    it(
      "waits for the rest of a log that seems to end before what is appended",
      withRig(async (rig) => {
        const [ada, bob] = [await rig.open(ADA), await rig.open(BOB)];
        const log = makeLog(ADA, 1, 4);
        await expect(ada.append(log.slice(1), 500)).rejects.toMatchObject({ code: "hub_away" });
        await appendAll(ada, log.slice(0, 2));
        await expect(ada.append(log.slice(3), 500)).rejects.toMatchObject({ code: "hub_away" });
        await appendAll(ada, log.slice(2));
        const inbox = listen(bob, null);
        await until("the records come", () => inbox.records.some(({ seq }) => seq === 4));
        expect(inbox.records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
        await inbox.close();
      }),
    );

    it(
      "takes a log that begins anew in a later epoch",
      withRig(async (rig) => {
        const [ada, bob] = [await rig.open(ADA), await rig.open(BOB)];
        await appendAll(ada, makeLog(ADA, 1, 3));
        await appendAll(ada, makeLog(ADA, 2, 2));
        const inbox = listen(bob, null);
        await until("the records come", () => inbox.records.length >= 5);
        expect(inbox.records.at(-1)).toMatchObject({ epoch: 2, seq: 2 });
        expect(await ada.tails(TIMEOUT_MS)).toMatchObject([{ device: ADA, epoch: 2, seq: 2 }]);
        await inbox.close();
      }),
    );

    it(
      "has no tail before the first record",
      withRig(async (rig) => {
        const ada = await rig.open(ADA);
        expect(await ada.tail(TIMEOUT_MS)).toBeNull();
      }),
    );
  });
}

const ADA = "a0".repeat(16);
const BOB = "b0".repeat(16);

function makeLog(device: string, epoch: number, length: number): SealedRecord[] {
  return Array.from({ length }, (_, index) => ({
    device,
    epoch,
    seq: index + 1,
    bytes: randomBytes(300 + index),
  }));
}

async function appendAll(driver: HubDriver, log: readonly SealedRecord[]): Promise<void> {
  for (let from = 0; from < log.length; from += 64) {
    const part = log.slice(from, from + 64);
    const last = await driver.append(part, TIMEOUT_MS);
    expect(last).toEqual({ epoch: part.at(-1)?.epoch, seq: part.at(-1)?.seq });
  }
}

function listen(driver: HubDriver, cursor: string | null, before: () => void = () => {}) {
  const records: CarriedRecord[] = [];
  let latest: string | null = cursor;
  const subscription = driver.subscribe({
    cursor,
    deliver: async (given, next) => {
      before();
      records.push(...given);
      latest = next;
    },
  });
  return { records, cursor: () => latest, close: subscription.close };
}

function plain({ device, epoch, seq, bytes }: SealedRecord) {
  return { device, epoch, seq, text: Buffer.from(bytes).toString("hex") };
}
