/** Disks that are full: of one server of three, which then lacks messages without a word, and of a server alone. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { until } from "../../helpers/until.ts";
import { carry, print } from "./carrying.ts";
import { openCluster } from "./cluster-rig.ts";

const run = promisify(execFile);
const ADA = "a0".repeat(16);
const BOB = "b0".repeat(16);

describe("a full disk", () => {
  it("at one server of three loses nothing", async () => {
    const cluster = await openCluster({
      // A disk of 1 MB under the second server's JetStream. Needs the right to mount.
      prepare: async (folder) => {
        const disk = join(folder, "node-2", "jetstream");
        mkdirSync(disk, { recursive: true });
        await run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]);
        return async () => void (await run("umount", [disk]));
      },
    });
    try {
      const from = await cluster.open("laptop", ADA);
      const to = await cluster.open("desktop", BOB);
      const carried = await carry({ from, to, device: ADA, records: 6_000 });
      print("one disk full", carried);
      expect(statfsSync(join(cluster.folder, "node-2", "jetstream")).bavail).toBeLessThan(4);
      expect(carried).toMatchObject({
        sent: 6_000,
        received: 6_000,
        lost: 0,
        doubled: 0,
        inOrder: true,
      });
    } finally {
      await cluster.close();
    }
  }, 16_000);

  it("of a server alone is told, and what waits goes on when there is room", async () => {
    const cluster = await openCluster({ args: ["--servers", "1", "--max-store", "1MB"] });
    try {
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
    } finally {
      await cluster.close();
    }
  }, 60_000);
});
