/** Two real daemons in two homes over three real servers: what is looked at on one is told on the other. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../helpers/until.ts";
import type { XTestClient } from "../../helpers/x-client.ts";
import { openDaemonRig, type DaemonRig } from "../daemon-rig.ts";
import { createProcesses } from "../processes.ts";
import { openXRig, type XRig } from "../x-rig.ts";
import { openCluster, type ClusterRig } from "./cluster-rig.ts";

const TEST_MS = 180_000;
const PATIENCE_MS = 60_000;

describe("two devices", () => {
  let cluster: ClusterRig;
  let x: XRig;
  let desktop: XTestClient;
  let laptop: DaemonRig;
  let desk: DaemonRig;

  beforeAll(async () => {
    cluster = await openCluster();
    x = await openXRig();
    await x.startWindowManager("openbox");
    desktop = await x.openClient();
    laptop = openDaemonRig(createProcesses(), x.env);
    desk = openDaemonRig(createProcesses(), {});
    const { servers, ca_file: ca } = cluster.settings("laptop");
    const place = ["--server", ...servers, "--ca", ca];
    const key = (name: string) => ["--credentials", cluster.settings(name).credentials_file];
    const made = await laptop.run([
      "hub",
      "create",
      "--name",
      "laptop",
      ...place,
      ...key("laptop"),
    ]);
    if (made.code !== 0) throw new Error(made.talk);
    const code = made.out.trim();
    const joined = await desk.run(
      ["hub", "join", "-", "--name", "desk", "--ca", ca, ...key("desktop")],
      code,
    );
    if (joined.code !== 0) throw new Error(joined.talk);
    await Promise.all([laptop.start(), desk.start()]);
    await until("both are in the hub", async () => {
      const { devices } = await desk.api.hub();
      return devices.length === 2;
    });
  }, TEST_MS);

  afterAll(async () => {
    desktop?.close();
    for (const rig of [laptop, desk, x]) await rig?.close();
    await cluster?.close();
  });

  async function focus(title: string): Promise<void> {
    await desktop.activate(await desktop.open({ title, app: "Editor" }));
  }

  it(
    "name each other's windows, each within seconds",
    async () => {
      const tookMs: number[] = [];
      for (const title of ["retry.ts", "backoff.ts", "jitter.ts"]) {
        const from = performance.now();
        await focus(title);
        const block = await until(
          `the other device names ${title}`,
          async () => {
            const { out } = await desk.run(["now"]);
            return out.includes(title) ? out : null;
          },
          PATIENCE_MS,
        );
        tookMs.push(Math.round(performance.now() - from));
        expect(block).toMatch(/^- Also: laptop.*: Editor: "\w+\.ts"/m);
      }
      process.stdout.write(`named on the other device after ${tookMs.join(", ")} ms\n`);
    },
    TEST_MS,
  );

  it(
    "miss nothing while the leader of the servers is killed",
    async () => {
      const titles = Array.from({ length: 8 }, (_, index) => `chapter${index}`);
      for (const [index, title] of titles.entries()) {
        if (index === 3) await cluster.kill(await cluster.leader(), "SIGKILL");
        await focus(title);
        await until(`${title} is seen here`, async () =>
          (await laptop.run(["now"])).out.includes(title),
        );
      }
      const found = async (title: string): Promise<number> => {
        const { out } = await desk.run(["search", title, "--json"]);
        return out.split("\n").filter((line) => line.includes(title)).length;
      };
      for (const title of titles) {
        await until(`${title} is found there`, async () => (await found(title)) > 0, PATIENCE_MS);
      }
      const counts = await Promise.all(titles.map(found));
      const received = counts.filter((count) => count > 0).length;
      const doubled = counts.filter((count) => count > 1).length;
      process.stdout.write(
        `leader killed under two daemons: sent ${titles.length}, received ${received}, lost ${titles.length - received}, doubled ${doubled}\n`,
      );
      expect([received, doubled]).toEqual([titles.length, 0]);
      await cluster.hubUp();
      const files = cluster.readFiles();
      for (const title of titles) {
        expect(files.filter((file) => file.includes(title))).toEqual([]);
      }
    },
    TEST_MS,
  );

  it(
    "forget on both what is forgotten on one",
    async () => {
      await focus("surprise party");
      await until(
        "it is found there",
        async () => (await desk.run(["search", "surprise"])).out.includes("surprise party"),
        PATIENCE_MS,
      );
      await focus("chapter9");
      const { code } = await desk.run(["forget", "--match", "surprise"]);
      expect(code).toBe(0);
      for (const device of [desk, laptop]) {
        await until(
          "it is gone",
          async () => !(await device.run(["search", "surprise"])).out.includes("surprise party"),
          PATIENCE_MS,
        );
        expect((await device.run(["search", "chapter1"])).out).toContain("chapter1");
      }
    },
    TEST_MS,
  );
});
