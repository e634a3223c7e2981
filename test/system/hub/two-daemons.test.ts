/** Two daemons in two homes over one folder: what one sees the other tells, and what is forgotten goes from both. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { filesWith } from "../../helpers/files-below.ts";
import { until } from "../../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "../daemon-rig.ts";
import { createProcesses, type Processes } from "../processes.ts";
import { openXRig, type XRig } from "../x-rig.ts";

const CANARY = "Zebra-Kanarienvogel-4711";

describe("two daemons over a folder", () => {
  let x: XRig;
  let folder = "";
  let desk: DaemonRig;
  let lap: DaemonRig;
  let lapProcesses: Processes;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "activityd-hub-"));
    x = await openXRig();
    await x.startWindowManager("openbox");
    lapProcesses = createProcesses();
    desk = openDaemonRig(createProcesses(), x.env);
    lap = openDaemonRig(lapProcesses, {});
  });
  afterEach(async () => {
    await lap.close();
    await desk.close();
    await x.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function joinBoth(): Promise<void> {
    const made = await desk.run(["hub", "create", "--folder", folder, "--name", "desk"]);
    expect(made).toMatchObject({ code: 0 });
    const joined = await lap.run(
      ["hub", "join", "-", "--folder", folder, "--name", "lap"],
      made.out,
    );
    expect(joined).toMatchObject({ code: 0 });
    await desk.start();
    await lap.start();
    await until("each knows the other", async () => {
      const [a, b] = [await desk.api.hub(), await lap.api.hub()];
      return a.devices[1]?.name === "lap" && b.devices[1]?.name === "desk";
    });
  }

  async function found(daemon: DaemonRig, words: string): Promise<string> {
    return (await daemon.run(["search", words])).out;
  }

  it("the other's block names a window within six seconds, and its search finds it", async () => {
    await joinBoth();
    const client = await x.openClient();
    const first = await client.open({ title: "warming up", app: "Editor" });
    await client.activate(first);
    await until("the first window arrives", async () => (await found(lap, "warming")) !== "");
    const window = await client.open({ title: `${CANARY} budget`, app: "Editor" });
    const focusedAt = performance.now();
    await client.activate(window);
    // Asked over the socket: a command takes longer to start than the block to be asked for.
    await until("the other's block names it", async () =>
      (await lap.api.context({ form: "exact" })).block?.includes(CANARY),
    );
    expect(performance.now() - focusedAt).toBeLessThan(6_000);
    expect((await lap.run(["now"])).out).toMatch(/^- Also: desk.*Editor: "Zebra/m);
    expect(await found(lap, "budget")).toContain(CANARY);
    client.close();
  });

  it("forgetting on one takes it from both, and nothing of it was ever readable in the folder", async () => {
    await joinBoth();
    const client = await x.openClient();
    const window = await client.open({ title: `${CANARY} diary`, app: "Editor" });
    await client.activate(window);
    await until("the other has it", async () => (await found(lap, "diary")) !== "");
    await client.setTitle(window, "something plain");
    await until("the title changed", async () =>
      (await lap.run(["now"])).out.includes("something plain"),
    );
    expect(filesWith(folder, CANARY)).toEqual([]);
    // On the one that only heard of it.
    const forgotten = await lap.run(["forget", "--match", CANARY]);
    expect(forgotten).toMatchObject({ code: 0 });
    await until("it is gone from the one that saw it", async () => {
      const { out } = await desk.run(["search", "diary"]);
      return out === "" && filesWith(desk.home, CANARY).length === 0;
    });
    expect(await found(lap, "diary")).toBe("");
    expect(filesWith(lap.home, CANARY)).toEqual([]);
    expect(filesWith(folder, CANARY)).toEqual([]);
    expect(await found(lap, "plain")).not.toBe("");
    client.close();
  });

  it("a device that was away hears what it missed, and doctor and status say how the hub stands", async () => {
    await joinBoth();
    await lapProcesses.close();
    const client = await x.openClient();
    const window = await client.open({ title: "while it was away", app: "Editor" });
    await client.activate(window);
    await until("it is recorded", async () => (await found(desk, "away")) !== "");
    await lap.start();
    await until("it arrives", async () => (await found(lap, "away")) !== "");
    const status = await lap.run(["hub", "status"]);
    expect(status.out).toContain(`hub: folder ${folder}`);
    expect(status.out).toContain("state: connected");
    expect(status.out).toMatch(/device: desk \(.*last heard/);
    expect((await lap.run(["hub", "devices", "--json"])).out).toContain('"name":"desk"');
    rmSync(folder, { recursive: true });
    const problem = await until("it is told that the folder is gone", async () => {
      const { out } = await desk.run(["status"]);
      return out.includes("is not there") ? out : null;
    });
    expect(problem).toContain(folder);
    client.close();
  });

  it("a folder that does not answer keeps a daemon neither from answering nor from its end", async () => {
    await lap.run(["hub", "create", "--folder", folder]);
    const child = await lap.start();
    const [hub = ""] = await until("it writes", () => {
      const names = readdirSync(folder);
      return names.length > 0 && names;
    });
    const other = join(folder, hub, "0".repeat(32));
    const hanging = join(other, "000001-000000000001.log");
    mkdirSync(other);
    // A read of it waits for what is written into it, as one of a server that is gone waits for the server.
    execFileSync("mkfifo", [hanging]);
    const writer = await until("it is read", () => openWriter(hanging));
    expect((await lap.run(["now"])).code).toBe(0);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
    expect([null, "SIGTERM"]).toEqual([child.exitCode, child.signalCode]);
    closeSync(writer);
  });

  it("a device that is taken out reads nothing new; one that leaves keeps its own record alone", async () => {
    await joinBoth();
    const client = await x.openClient();
    const window = await client.open({ title: "before", app: "Editor" });
    await client.activate(window);
    await until("the other has it", async () => (await found(lap, "before")) !== "");
    expect(await desk.run(["hub", "revoke", "lap"])).toMatchObject({ code: 0 });
    await client.setTitle(window, "afterwards");
    await until("the lost one is told", async () =>
      (await lap.run(["hub", "status"])).out.includes("taken out"),
    );
    await until("it is recorded", async () => (await found(desk, "afterwards")) !== "");
    expect(await found(lap, "afterwards")).toBe("");
    expect(await lap.run(["hub", "leave"])).toMatchObject({ code: 0 });
    expect(await found(lap, "before")).toBe("");
    expect((await lap.run(["hub", "invite"])).code).toBe(1);
    client.close();
  });
});

/** Null while nobody reads it. */
function openWriter(fifo: string): number | null {
  try {
    return openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}
