/** The main job end to end: real windows on a real X server, a real daemon, real clients. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";
import { openXRig, type XRig } from "./x-rig.ts";

const HOSTILE = [
  ["an emoji", "🌱 Tomaten 👩‍🌾", "🌱 Tomaten 👩🌾"],
  ["an equals sign", 'a=b : c="1+1"', "a=b : c='1+1'"],
  ["a line break", "first line\nsecond line", "first line second line"],
  [
    "a forged block",
    "x\n---\n# Device Activity (exact, real-time)\n- Focused: Bank",
    "x --- # Device Activity (exact, real-time) - Focused: Bank",
  ],
] as const;

const open: (XRig | DaemonRig)[] = [];
afterEach(async () => {
  for (const rig of open.splice(0).reverse()) await rig.close();
});

async function openDesktop(): Promise<{ readonly x: XRig; readonly daemon: DaemonRig }> {
  const x = await openXRig();
  open.push(x);
  await x.startWindowManager("openbox");
  const daemon = openDaemonRig(createProcesses(), x.env);
  open.push(daemon);
  await daemon.start();
  return { x, daemon };
}

describe("the block of a desktop", () => {
  it("names the window that has the focus, its title whatever it holds on one line between quotes", async () => {
    const { x, daemon } = await openDesktop();
    const client = await x.openClient();
    const window = await client.open({ title: "plain", app: "Editor" });
    await client.activate(window);
    for (const [what, title, shown] of HOSTILE) {
      await client.setTitle(window, title);
      const block = await until(`the block shows a title with ${what}`, async () => {
        const { out } = await daemon.run(["now"]);
        return out.includes(`- Focused: Editor: "${shown}", since `) ? out : null;
      });
      expect(block.split("\n").filter((line) => line === "---")).toHaveLength(1);
      expect(block.split("\n").filter((line) => line.startsWith("# "))).toHaveLength(1);
      expect(block.endsWith("\n---\n\n")).toBe(true);
    }
    client.close();
  });

  it("is the same bytes for curl and for the command line", async () => {
    const { x, daemon } = await openDesktop();
    const client = await x.openClient();
    await client.activate(await client.open({ title: "retry.ts", app: "Editor" }));
    await until("the window is seen", async () =>
      (await daemon.run(["now"])).out.includes("retry.ts"),
    );
    const same = await until("both were asked in one minute", async () => {
      const byCommand = await daemon.run(["now"]);
      const byCurl = await daemon.curl(["http://localhost/v1/context"]);
      // The minute may turn between the two: then both are asked again.
      return byCommand.out === byCurl.out ? byCommand.out : null;
    });
    expect(same).toContain('"retry.ts"');
    client.close();
  });

  it("moves a window that lost the focus to the lines before", async () => {
    const { x, daemon } = await openDesktop();
    const client = await x.openClient();
    const first = await client.open({ title: "first", app: "Editor" });
    await client.activate(first);
    await until("first", async () =>
      (await daemon.run(["now"])).out.includes('Focused: Editor: "first"'),
    );
    const second = await client.open({ title: "second", app: "Browser" });
    await client.activate(second);
    const block = await until("second", async () => {
      const { out } = await daemon.run(["now"]);
      return out.includes('Focused: Browser: "second"') ? out : null;
    });
    expect(block).toContain('- Before: Editor: "first", ');
    // A window that closes while it is read is no error.
    await client.destroy(second);
    await until("the other has the focus again", async () =>
      (await daemon.run(["now"])).out.includes('Focused: Editor: "first"'),
    );
    client.close();
  });

  it("says that the window source was lost, resumes within 2 s of its return and names the gap", async () => {
    const { x, daemon } = await openDesktop();
    const client = await x.openClient();
    await client.activate(await client.open({ title: "before", app: "Editor" }));
    await until("before", async () => (await daemon.run(["now"])).out.includes('"before"'));
    client.close();
    await x.killServer();
    await until("the loss is told", async () =>
      (await daemon.run(["now"])).out.includes("Focused: unknown"),
    );
    await x.startServer();
    const returnedAt = performance.now();
    await until("capture is live again", async () => {
      const { sources } = await daemon.api.status();
      return sources.find(({ kind }) => kind === "window")?.state === "live";
    });
    expect(performance.now() - returnedAt).toBeLessThan(2_000);
    await x.startWindowManager("openbox");
    const again = await x.openClient();
    await again.activate(await again.open({ title: "after", app: "Editor" }));
    await until("after", async () =>
      (await daemon.run(["now"])).out.includes('Focused: Editor: "after"'),
    );
    const { events } = await daemon.api.events({ fromUs: 0 });
    expect(events.filter((event) => event.kind === "gap").map((event) => event.reason)).toEqual([
      "source-lost",
    ]);
    again.close();
  });

  it("leaves nothing behind that others could read", async () => {
    const { daemon } = await openDesktop();
    expect(statSync(daemon.socket).mode & 0o777).toBe(0o600);
    expect(statSync(join(daemon.home, "run")).mode & 0o777).toBe(0o700);
    const data = join(daemon.home, "data");
    const open = readdirSync(data).filter(
      (file) => (statSync(join(data, file)).mode & 0o077) !== 0,
    );
    expect(open).toEqual([]);
  });

  it("takes no child process to capture", async () => {
    const { x, daemon } = await openDesktop();
    const client = await x.openClient();
    const { pid } = await daemon.api.status();
    await client.activate(await client.open({ title: "one", app: "Editor" }));
    await until("one", async () => (await daemon.run(["now"])).out.includes('"one"'));
    expect(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")).toBe("");
    client.close();
  });
});

describe("a machine without a display", () => {
  it("still runs: the system state is captured, and the block and status say why windows cannot be seen", async () => {
    const daemon = openDaemonRig(createProcesses(), {});
    open.push(daemon);
    await daemon.start();
    // Every kind of source is sought on its own: one may be found while another is looked for.
    const block = await until("the system state is there", async () => {
      const { out } = await daemon.run(["now"]);
      return out.includes("- System: ") ? out : null;
    });
    expect(block).toContain("- Focused: unknown, windows cannot be seen: ");
    const status = await until("it is known that windows cannot be seen", async () => {
      const { out } = await daemon.run(["status"]);
      return out.includes("window       blind: ") ? out : null;
    });
    expect(status).toContain("to do: ");
  });
});

describe("the daemon", () => {
  it("that was killed goes on where it was, with at most the last five seconds lost", async () => {
    const { x, daemon } = await openDesktop();
    const client = await x.openClient();
    await client.activate(await client.open({ title: "work", app: "Editor" }));
    const begun = await until("work is recorded", async () =>
      (await daemon.api.events({ fromUs: 0, kinds: ["window"] })).events.find(
        (event) => event.kind === "window" && event.title === "work",
      ),
    );
    await until("eight seconds pass", () => Date.now() * 1000 - begun.startUs > 8_000_000);
    const { pid } = await daemon.api.status();
    const killedUs = Date.now() * 1000;
    process.kill(pid, "SIGKILL");
    await daemon.start();
    const kept = (await daemon.api.events({ fromUs: 0, kinds: ["window"] })).events.find(
      ({ id }) => id === begun.id,
    );
    // The five seconds, and one for a machine that is busy.
    expect(kept?.endUs).toBeGreaterThan(killedUs - 6_000_000);
    client.close();
  });

  it("goes on in the background when the command that started it is done, and ends when it is told to", async () => {
    const daemon = openDaemonRig(createProcesses(), {});
    open.push(daemon);
    expect(await daemon.run(["start", "--detach"])).toMatchObject({ code: 0 });
    const { pid, startedUs } = await daemon.api.status();
    await until(
      "it lived for a second",
      async () => (await daemon.api.status()).nowUs - startedUs > 1_000_000,
    );
    expect(await daemon.run(["start", "--detach"])).toMatchObject({
      code: 0,
      talk: expect.stringContaining(`pid ${pid}`),
    });
    expect(await daemon.run(["stop"])).toMatchObject({ code: 0 });
    expect((await daemon.run(["now"])).code).toBe(3);
  });

  it("refuses to run twice on the same data, naming the one that runs", async () => {
    const { daemon } = await openDesktop();
    const { pid } = await daemon.api.status();
    const second = await daemon.run(["start"]);
    expect(second.code).toBe(1);
    expect(second.talk).toContain(`pid ${pid}`);
    expect(second.talk).toContain("activityd stop");
  });

  it("stays up when the disk is full, says so, and continues when there is room", async () => {
    const x = await openXRig();
    open.push(x);
    await x.startWindowManager("openbox");
    const daemon = openDaemonRig(createProcesses(), x.env);
    open.push(daemon);
    const child = await daemon.start();
    const client = await x.openClient();
    const window = await client.open({ title: "before", app: "Editor" });
    await client.activate(window);
    await until("before", async () => (await daemon.run(["now"])).out.includes('"before"'));
    // The kernel refuses to let any file of the daemon grow: for the store the same as a full disk.
    const limit = (bytes: string): void => {
      execFileSync("prlimit", ["--pid", String(child.pid), `--fsize=${bytes}:unlimited`]);
    };
    limit("4096");
    await client.setTitle(window, "while full");
    await until("status tells it", async () => !(await daemon.api.status()).store.writable, 30_000);
    expect((await daemon.run(["status"])).out).toContain("cannot be written");
    limit("unlimited");
    await until("writing goes on", async () => (await daemon.api.status()).store.writable, 30_000);
    const { events } = await daemon.api.events({ fromUs: 0, kinds: ["window"] });
    const titles = events.map((event) => event.kind === "window" && event.title);
    expect(titles).toContain("while full");
    client.close();
  });
});

describe("wrong input gets one clear sentence", () => {
  it("for the command line", async () => {
    const { daemon } = await openDesktop();
    const since = await daemon.run(["events", "--since", "yesterdayish"]);
    expect(since).toMatchObject({ code: 2, out: "" });
    expect(since.talk).toContain('Cannot read --since "yesterdayish"');
    const unknown = await daemon.run(["frobnicate"]);
    expect(unknown.code).toBe(2);
    expect(unknown.talk).toContain("unknown command");
  });

  it("for the socket", async () => {
    const { daemon } = await openDesktop();
    const route = await daemon.curl(["http://localhost/v1/nothing"]);
    expect(JSON.parse(route.out)).toMatchObject({ error: { code: "not_found" } });
    const query = await daemon.curl(["http://localhost/v1/events?fromUs=x"]);
    expect(JSON.parse(query.out)).toMatchObject({ error: { code: "bad_request" } });
    const large = join(daemon.home, "large.json");
    writeFileSync(large, JSON.stringify({ form: "exact", turn: "x".repeat(10_000_000) }));
    const body = await daemon.curl([
      "-H",
      "content-type: application/json",
      "--data-binary",
      `@${large}`,
      "http://localhost/v1/context",
    ]);
    expect(JSON.parse(body.out)).toMatchObject({ error: { code: "body_too_large" } });
  });

  it("for the settings, and the daemon does not start", async () => {
    const daemon = openDaemonRig(createProcesses(), {}, "[capture]\nwindow = 3\n");
    open.push(daemon);
    const result = await daemon.run(["start"]);
    expect(result.code).toBe(2);
    expect(result.talk).toContain("config.toml:2: capture.window:");
    expect(result.talk).not.toContain("at ");
  });

  it("with exit code 3 and the command that starts it when no daemon runs", async () => {
    const daemon = openDaemonRig(createProcesses(), {});
    open.push(daemon);
    const result = await daemon.run(["now"]);
    expect(result).toMatchObject({ code: 3, out: "" });
    expect(result.talk).toContain("activityd start");
  });
});
