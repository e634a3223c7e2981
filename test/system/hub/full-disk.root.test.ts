/** Disks that are full: of one server of three, which then lacks messages without a word, and of a server alone. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../helpers/until.ts";
import { carry, print } from "./carrying.ts";
import { openCluster } from "./cluster-rig.ts";

const run = promisify(execFile);
const ADA = "a0".repeat(16);
const BOB = "b0".repeat(16);
const ALL = { sent: 6_000, received: 6_000, lost: 0, doubled: 0, inOrder: true };

describe("a full disk", () => {
  it("at one server of three loses nothing", async () => {
    const cluster = await openCluster({
      prepare: async (folder) => mountDisk({ folder, server: 2, sizeMb: 1 }),
    });
    onTestFinished(cluster.close);
    const from = await cluster.open("laptop", ADA);
    const to = await cluster.open("desktop", BOB);
    const carried = await carry({ from, to, device: ADA, records: 6_000 });
    print("one disk full", carried);
    expect(freeBlocks(cluster.folder, 2)).toBeLessThan(4);
    expect(carried).toMatchObject(ALL);
  });

  it("at the server that makes the consumers of the cluster loses nothing", async () => {
    const cluster = await openCluster({
      prepare: async (folder) => {
        const undo = await Promise.all(
          [1, 2, 3].map(async (server) => mountDisk({ folder, server, sizeMb: 8 })),
        );
        return async () => void (await Promise.all(undo.map(async (each) => each())));
      },
    });
    onTestFinished(cluster.close);
    const from = await cluster.open("laptop", ADA);
    await cluster.leader();
    const full = await cluster.metaLeader();
    fillDisk(join(cluster.folder, `node-${full}`, "jetstream"));
    const to = await cluster.open("desktop", BOB);
    const carried = await carry({ from, to, device: ADA, records: 6_000 });
    print("the disk of the cluster's leader full", carried);
    expect(freeBlocks(cluster.folder, full)).toBeLessThan(4);
    expect(carried).toMatchObject(ALL);
  });

  it("of a server alone is told, and what waits goes on when there is room", async () => {
    const cluster = await openCluster({ args: ["--servers", "1", "--max-store", "1MB"] });
    onTestFinished(cluster.close);
    const driver = await cluster.open("laptop", ADA);
    const log = Array.from({ length: 8 }, (_, index) => ({
      device: ADA,
      epoch: 1,
      seq: index + 1,
      bytes: randomBytes(200_000),
    }));
    await expect(driver.append(log, 10_000)).rejects.toMatchObject({
      code: "hub_refused",
      message: "The hub refuses: it has no room left.",
    });
    await cluster.hubUp("--stop");
    await cluster.hubUp("--max-store", "1GB");
    const end = await until("the server takes records", () =>
      driver.append(log, 5_000).catch(() => null),
    );
    expect(end).toEqual({ epoch: 1, seq: 8 });
    expect(driver.state().state).toBe("connected");
  });
});

/** A small disk under a server's JetStream. Needs the right to mount. */
async function mountDisk(wanted: {
  readonly folder: string;
  readonly server: number;
  readonly sizeMb: number;
}): Promise<() => Promise<void>> {
  const disk = join(wanted.folder, `node-${wanted.server}`, "jetstream");
  mkdirSync(disk, { recursive: true });
  await run("mount", ["-t", "tmpfs", "-o", `size=${wanted.sizeMb}m`, "tmpfs", disk]);
  return async () => void (await run("umount", [disk]));
}

function freeBlocks(folder: string, server: number): number {
  return statfsSync(join(folder, `node-${server}`, "jetstream")).bavail;
}

function fillDisk(disk: string): void {
  const filler = openSync(join(disk, "filler"), "w");
  try {
    for (;;) writeSync(filler, randomBytes(4096));
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ENOSPC")) throw thrown;
  } finally {
    closeSync(filler);
  }
}
