/** One record over several devices, through three real servers: what goes wrong with devices and their owners. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { until } from "../../helpers/until.ts";
import { openCluster, type ClusterRig } from "./cluster-rig.ts";
import { openHubDevice, type HubDevice, type HubDeviceOptions } from "./hub-devices.ts";

/** Records go out every five seconds at most, and some of these tests wait for several. */
const PATIENCE_MS = 60_000;
const TEST_MS = 180_000;

/** The problem that a device tells its owner; others, such as a hub that is away for a moment, may come before it. */
function told({ hub }: HubDevice, reason: RegExp) {
  return until(
    `${String(reason)} is told`,
    () => hub.problems().find((problem) => reason.test(problem.reason)),
    PATIENCE_MS,
  );
}

describe("devices in a hub of three servers", () => {
  let cluster: ClusterRig;
  let home: string;
  const opened: HubDevice[] = [];

  beforeAll(async () => {
    cluster = await openCluster();
    home = mkdtempSync(join(tmpdir(), "activityd-hub-devices-"));
  });

  afterAll(async () => {
    for (const device of opened) await device.stop().catch(() => {});
    await cluster.close();
    rmSync(home, { recursive: true, force: true });
  });

  async function add(name: string, options: Partial<HubDeviceOptions> = {}): Promise<HubDevice> {
    const device = await openHubDevice({ cluster, home, name, ...options });
    opened.push(device);
    return device;
  }

  it(
    "lose no event and double none while the leader is killed, and leave nothing to read at the hub",
    async () => {
      const ada = await add("ada");
      const bob = await add("bob", { code: ada.code() });
      const canary = `canary${randomBytes(8).toString("hex")}`;
      const titles = Array.from({ length: 6_000 }, (_, index) => `${canary} ${index}`);
      ada.record(titles.slice(0, 3_000));
      await until("the first come", () => bob.heard().length > 400, PATIENCE_MS);
      await cluster.kill(await cluster.leader(), "SIGKILL");
      ada.record(titles.slice(3_000));
      await until("all come", () => bob.heard().length >= titles.length, PATIENCE_MS);
      await cluster.hubUp();
      const heard = bob.heard();
      const [received, lost] = [new Set(heard), titles.filter((title) => !heard.includes(title))];
      process.stdout.write(
        `leader killed: sent ${titles.length} events, received ${received.size}, lost ${lost.length}, doubled ${heard.length - received.size}\n`,
      );
      expect(heard.toSorted()).toEqual(titles.toSorted());
      const files = cluster.readFiles();
      expect(files.reduce((sum, file) => sum + file.length, 0)).toBeGreaterThan(100_000);
      expect(files.filter((file) => file.includes(canary))).toEqual([]);
      // The search finds what is there: the subjects of the logs are.
      expect(files.some((file) => file.includes(ada.id))).toBe(true);
    },
    TEST_MS,
  );

  describe.concurrent("and their troubles", () => {
    it(
      "forget on both what was forgotten while one was away",
      async ({ expect }) => {
        const ada = await add("cleo");
        const bob = await add("dora", { code: ada.code() });
        ada.record(["secret plan", "shopping"]);
        await until("both come", () => bob.heard().length === 2, PATIENCE_MS);
        await bob.stop();
        await ada.forget("secret");
        ada.record(["later"]);
        await bob.start();
        await until("the later comes", () => bob.heard().includes("later"), PATIENCE_MS);
        await until("what was forgotten is gone", () => bob.heard().length === 2, PATIENCE_MS);
        expect(bob.heard()).toEqual(["shopping", "later"]);
      },
      TEST_MS,
    );

    it(
      "that were restored from an old backup are told so, and taken again when their owner says so",
      async ({ expect }) => {
        const ada = await add("emma");
        const bob = await add("fred", { code: ada.code() });
        ada.record(["kept"]);
        await until("the first comes", () => bob.heard().includes("kept"), PATIENCE_MS);
        await ada.hub.flush();
        await ada.stop();
        const backup = join(home, "backup");
        ada.copyTo(backup);
        await ada.start();
        ada.record(["lost with the disk"]);
        await until("the second comes", () => bob.heard().length === 2, PATIENCE_MS);
        await ada.stop();
        ada.copyFrom(backup);
        await ada.start();
        ada.record(["after the restore"]);
        const problem = await told(ada, /restored from an older backup/);
        expect(problem.remedy).toContain("activityd hub rejoin");
        expect(bob.heard()).toEqual(["kept", "lost with the disk"]);
        await ada.hub.request({ action: "rejoin" });
        await until("the third comes", () => bob.heard().length === 3, PATIENCE_MS);
        expect(bob.heard()).toEqual(["kept", "lost with the disk", "after the restore"]);
        expect(ada.hub.problems()).toEqual([]);
      },
      TEST_MS,
    );

    it(
      "that think they are the same are told so, and the first goes on",
      async ({ expect }) => {
        const ada = await add("gina");
        const bob = await add("hugo", { code: ada.code() });
        ada.record(["before the copy"]);
        await until("the first comes", () => bob.heard().length === 1, PATIENCE_MS);
        await ada.hub.flush();
        await ada.stop();
        const twin = await add("gina", { code: ada.code() });
        await twin.stop();
        ada.copyTo(twin.directory);
        await ada.start();
        ada.record(["on the first"]);
        await until("the second comes", () => bob.heard().length === 2, PATIENCE_MS);
        // The copy of the folder is opened beside the first, which runs on.
        const copy = await add("gina", { copyOf: twin.directory });
        copy.record(["on the copy"]);
        await told(copy, /copied to another device/);
        ada.record(["and on"]);
        await until("the first goes on", () => bob.heard().includes("and on"), PATIENCE_MS);
        expect(bob.heard()).toEqual(["before the copy", "on the first", "and on"]);
      },
      TEST_MS,
    );

    it(
      "whose clock is an hour ahead are told of, and keep their order",
      async ({ expect }) => {
        const ada = await add("iris");
        const ahead = {
          ...systemClock,
          nowUs: () => systemClock.nowUs() + 3_600_000_000,
        };
        const bob = await add("jack", { code: ada.code(), clock: ahead });
        bob.record(["one", "two"]);
        await until("both come", () => ada.heard().length === 2, PATIENCE_MS);
        expect(ada.heard()).toEqual(["one", "two"]);
        await told(ada, /clock of jack is (59|60) minutes ahead/);
      },
      TEST_MS,
    );

    it(
      "with a wrong key read nothing and change nothing",
      async ({ expect }) => {
        const ada = await add("kate");
        const bob = await add("liam", { code: ada.code() });
        const stranger = await add("mona", { code: ada.code(), hasWrongKey: true });
        ada.record(["for bob alone"]);
        stranger.record(["forged"]);
        await until("bob hears", () => bob.heard().length > 0, PATIENCE_MS);
        await told(stranger, /cannot be read/);
        expect(stranger.heard()).toEqual([]);
        await until("bob tells of it", () => bob.hub.problems()[0], PATIENCE_MS);
        expect(bob.heard()).toEqual(["for bob alone"]);
      },
      TEST_MS,
    );
  });
});
