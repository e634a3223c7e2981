/** A daemon whose disk is full for a while: it stays up, says so, and has lost nothing when there is room again. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";
import { openXRig, type XRig } from "./x-rig.ts";

const SHIM = fileURLToPath(new URL("../../scripts/faults/failing-disk.c", import.meta.url));

const open: (XRig | DaemonRig)[] = [];
const scratch = mkdtempSync(join(tmpdir(), "activityd-disk-"));
afterEach(async () => {
  for (const rig of open.splice(0).reverse()) await rig.close();
  rmSync(scratch, { recursive: true, force: true });
});

describe("a daemon whose disk is full", () => {
  it("stays up, says so, goes on telling, and writes what happened when there is room", async () => {
    const shim = join(scratch, "failing-disk.so");
    execFileSync("cc", ["-shared", "-fPIC", "-o", shim, SHIM, "-ldl"]);
    const full = join(scratch, "full");
    const x = await openXRig();
    open.push(x);
    await x.startWindowManager("openbox");
    const env = { ...x.env, LD_PRELOAD: shim, FAILING_DISK_WHILE: full };
    const daemon = openDaemonRig(createProcesses(), env);
    open.push(daemon);
    await daemon.start();
    const client = await x.openClient();
    const show = async (title: string): Promise<void> => {
      await client.activate(await client.open({ title, app: "Editor" }));
      await until(`the block shows ${title}`, async () =>
        (await daemon.api.context({ form: "exact" })).block?.includes(`"${title}"`),
      );
    };
    await show("before");
    writeFileSync(full, "");
    await show("during");
    const status = await until("the status tells of the disk", async () => {
      const told = await daemon.api.status();
      return told.store.writable ? null : told;
    });
    expect(status.health).toBe("degraded");
    expect(status.problems.map(({ reason }) => reason).join()).toContain("cannot be written");
    rmSync(full);
    await until("it writes again", async () => (await daemon.api.status()).store.writable);
    const { events } = await daemon.api.events({ fromUs: 0, kinds: ["window"] });
    const titles = events.map((event) => (event.kind === "window" ? event.title : null));
    expect(titles.filter((title) => title === "before" || title === "during")).toEqual([
      "before",
      "during",
    ]);
    client.close();
  });
});
