/** What becomes of records while servers are killed and frozen: none is lost, none comes twice. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CarriedRecord } from "../../../src/hub/driver.ts";
import { until } from "../../helpers/until.ts";
import { carry, print } from "./carrying.ts";
import { openCluster, type ClusterRig } from "./cluster-rig.ts";
const ADA = "a0".repeat(16);
const BOB = "b0".repeat(16);
const WHOLE = { lost: 0, doubled: 0, inOrder: true };
/** A frozen server is held for so long here; `scripts/torture-hub.mjs` holds it for 30 s. */
const FROZEN_MS = 6_000;

describe("three servers", () => {
  let cluster: ClusterRig;

  beforeAll(async () => {
    cluster = await openCluster();
  });

  afterAll(async () => cluster.close());

  /** Two devices on a hub of their own. */
  async function openPair() {
    const hub = randomBytes(16).toString("hex");
    const from = await cluster.open("laptop", ADA, { hub });
    const to = await cluster.open("desktop", BOB, { hub });
    return { from, to, device: ADA, hub };
  }

  it("lose nothing when the leader is killed in mid-stream, nor when it comes back", async () => {
    const pair = await openPair();
    const carried = await carry({
      ...pair,
      records: 2_000,
      during: {
        800: async () => cluster.kill(await cluster.leader(), "SIGKILL"),
        1_600: async () => cluster.hubUp(),
      },
    });
    print("leader killed", carried);
    expect(carried).toMatchObject({ sent: 2_000, received: 2_000, ...WHOLE });
  }, 120_000);

  it("lose nothing when a follower is killed in mid-stream", async () => {
    const pair = await openPair();
    const carried = await carry({
      ...pair,
      records: 2_000,
      during: {
        800: async () => cluster.kill(((await cluster.leader()) % 3) + 1, "SIGKILL"),
        1_600: async () => cluster.hubUp(),
      },
    });
    print("follower killed", carried);
    expect(carried).toMatchObject({ sent: 2_000, received: 2_000, ...WHOLE });
  }, 120_000);

  it("lose nothing when the leader freezes and thaws", async () => {
    const pair = await openPair();
    let thawed: Promise<unknown> = Promise.resolve();
    const carried = await carry({
      ...pair,
      records: 2_000,
      during: {
        800: async () => {
          const leader = await cluster.leader();
          await cluster.kill(leader, "SIGSTOP");
          thawed = new Promise((resolve) => {
            setTimeout(resolve, FROZEN_MS);
          }).then(async () => cluster.kill(leader, "SIGCONT"));
        },
        1_980: async () => thawed,
      },
    });
    print(`leader frozen for ${FROZEN_MS / 1_000} s`, carried);
    expect(carried).toMatchObject({ sent: 2_000, received: 2_000, ...WHOLE });
  }, 120_000);

  it("give nothing again to a reader that has read further than the server it asks knows", async () => {
    const { from, to } = await openPair();
    const append = async (first: number, last: number): Promise<void> => {
      for (let seq = first; seq <= last; seq += 1)
        await from.append([{ device: ADA, epoch: 1, seq, bytes: randomBytes(100) }], 10_000);
    };
    const listen = (cursor: string | null) => {
      const seqs: number[] = [];
      let at = "";
      const deliver = async (records: readonly CarriedRecord[], next: string): Promise<void> => {
        seqs.push(...records.map(({ seq }) => seq));
        at = next;
      };
      return { ...to.subscribe({ cursor, deliver }), seqs, cursor: () => at };
    };
    await append(1, 10);
    const before = listen(null);
    await until("the log comes", () => before.seqs.length === 10);
    await before.close();
    // Each append is one message. To a reader that stands three further, every server seems to lag.
    const [read = "", created = ""] = before.cursor().split("@");
    const after = listen(`${Number(read) + 3}@${created}`);
    await append(11, 15);
    await until("the end comes", () => after.seqs.includes(15), 40_000);
    await after.close();
    expect(after.seqs).toEqual([14, 15]);
  }, 60_000);

  it("hold nothing twice when a whole log is sent again", async () => {
    const { from, to, hub } = await openPair();
    const log = Array.from({ length: 200 }, (_, index) => ({
      device: ADA,
      epoch: 1,
      seq: index + 1,
      bytes: randomBytes(100),
    }));
    const parts = [0, 50, 100, 150].map((at) => log.slice(at, at + 50));
    for (const part of parts) await from.append(part, 10_000);
    await from.close();
    // Another run of the daemon, which knows nothing of what was acknowledged.
    const again = await cluster.open("laptop", ADA, { hub });
    for (const part of parts) await again.append(part, 10_000);
    // Cut otherwise than before: a batch may begin inside of a message.
    await again.append(log.slice(30, 90), 10_000);
    const seqs: number[] = [];
    const subscription = to.subscribe({
      cursor: null,
      deliver: async (records) => void seqs.push(...records.map(({ seq }) => seq)),
    });
    await until("the log comes", () => seqs.length >= 200);
    await again.append([{ device: ADA, epoch: 1, seq: 201, bytes: randomBytes(9) }], 10_000);
    await until("the end comes", () => seqs.includes(201));
    await subscription.close();
    expect(seqs).toEqual(Array.from({ length: 201 }, (_, index) => index + 1));
  }, 60_000);
});
