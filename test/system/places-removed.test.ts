/** A cleaner, or an owner who forgot that the daemon is there, takes away what it holds open. */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses, type Processes } from "./processes.ts";

let processes: Processes;
let daemon: DaemonRig;
beforeEach(() => {
  processes = createProcesses();
  daemon = openDaemonRig(processes, {});
});
afterEach(() => daemon.close());

/** Each by a connection of its own: one that was made before goes on. */
const answers = async (): Promise<boolean> =>
  (await daemon.curl(["http://localhost/v1/status"])).code === 0;

describe("a running daemon", () => {
  it("is found again within seconds when its socket was removed, also with its folder", async () => {
    await daemon.start();
    rmSync(daemon.socket);
    expect(await answers()).toBe(false);
    await until("it answers again", answers);
    rmSync(join(daemon.home, "run"), { recursive: true });
    await until("it answers again", answers);
    expect((await daemon.run(["stop"])).code).toBe(0);
  });

  it("keeps a second one out when its data folder was removed, and has lost nothing", async () => {
    await daemon.start();
    await daemon.api.pause({ minutes: 1 });
    await daemon.api.resume();
    const before = (await daemon.api.events({ fromUs: 0 })).events.length;
    expect(before).toBeGreaterThan(0);
    renameSync(join(daemon.home, "data"), join(daemon.home, "elsewhere"));
    await until("the lock is held again", async () => {
      const { talk } = await daemon.run(["start"]);
      return talk.includes("is using");
    });
    expect((await daemon.api.events({ fromUs: 0 })).events.length).toBeGreaterThanOrEqual(before);
  });
});
