/** The whole daemon on each desktop that opens here: what happened is what its events and its block say. */
import { afterEach, describe, expect, it } from "vitest";
import type { StatusAnswer } from "../../src/api.ts";
import type { RigWindow } from "../contract/window-source.ts";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";
import { openSwayRig } from "./sway-rig.ts";
import { openXRig } from "./x-rig.ts";

interface Desktop {
  readonly env: Readonly<Record<string, string>>;
  readonly openWindow: (title: string) => Promise<RigWindow>;
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const open: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const rig of open.splice(0).reverse()) await rig.close();
});

async function openX(): Promise<Desktop> {
  const rig = await openXRig();
  open.push(rig);
  await rig.startWindowManager("openbox");
  let client = await rig.openClient();
  return {
    ...rig,
    openWindow: async (title) => {
      const window = await client.open({ title, app: "Editor" });
      await client.activate(window);
      return {
        app: "Editor",
        pid: process.pid,
        focus: () => client.activate(window),
        rename: (next) => client.setTitle(window, next),
        close: () => client.destroy(window),
      };
    },
    kill: () => {
      client.close();
      return rig.killServer();
    },
    restart: async () => {
      await rig.startServer();
      await rig.startWindowManager("openbox");
      client = await rig.openClient();
    },
  };
}

async function openSway(): Promise<Desktop> {
  const rig = await openSwayRig({ xwayland: false });
  open.push(rig);
  return { ...rig, openWindow: rig.openTerminal };
}

async function openDaemon(desktop: Desktop): Promise<DaemonRig> {
  const daemon = openDaemonRig(createProcesses(), desktop.env);
  open.push(daemon);
  await daemon.start();
  return daemon;
}

/** The titles of all window events, oldest first, as the daemon answers over its socket. */
async function titlesOf(daemon: DaemonRig): Promise<readonly string[]> {
  const { events } = await daemon.api.events({ fromUs: 0, kinds: ["window"] });
  return events.map((event) => (event.kind === "window" ? (event.title ?? "") : ""));
}

const NASTY = 'a=b "q" \\ 漢字 👩‍💻';

describe.each([
  ["x11", openX],
  ["sway", openSway],
] as const)("on %s", (backend, openDesktop) => {
  it("windows focused in turn, renamed and closed are told by the events and the block", async () => {
    const desktop = await openDesktop();
    const daemon = await openDaemon(desktop);
    const windows: RigWindow[] = [];
    for (const title of ["one", "two", "three"]) {
      windows.push(await desktop.openWindow(title));
      await until(`${title} is recorded`, async () => (await titlesOf(daemon)).at(-1) === title);
    }
    await windows[0]?.focus();
    await until("one again", async () => (await titlesOf(daemon)).at(-1) === "one");
    await windows[0]?.rename(NASTY);
    await until("the new title", async () => (await titlesOf(daemon)).at(-1) === NASTY);
    const { block } = await daemon.api.context({ form: "exact" });
    // The block shows a title on one line between quotes: quotes inside become single, joiners are dropped.
    expect(block).toContain(`- Focused: ${windows[0]?.app}: "a=b 'q' \\ 漢字 👩💻", since `);
    await windows[0]?.close();
    await until("the closed window is over", async () => {
      const now = await daemon.api.context({ form: "exact" });
      return now.block?.includes(`Focused: ${windows[0]?.app}: "a=b`) === false;
    });
    expect((await titlesOf(daemon)).slice(0, 5)).toEqual(["one", "two", "three", "one", NASTY]);
  });

  it("status names the backend and why those before it were passed over", async () => {
    const desktop = await openDesktop();
    const daemon = await openDaemon(desktop);
    const source = await until("windows are seen", async () => {
      const { sources } = await daemon.api.status();
      return sources.find((each) => each.kind === "window" && each.state === "live");
    });
    expect([source.backend, source.why]).toEqual([backend, null]);
    for (const { backend: other, reason } of source.rejected) {
      expect([other, reason.length > 10]).toEqual([other, true]);
    }
    const { out, talk } = await daemon.run(["status"]);
    expect(out + talk).toContain(backend);
  });

  it("a killed desktop is a named gap, and capture resumes when it returns", async () => {
    const desktop = await openDesktop();
    const daemon = await openDaemon(desktop);
    await desktop.openWindow("before");
    await until("before is recorded", async () => (await titlesOf(daemon)).at(-1) === "before");
    await desktop.kill();
    await until("the loss shows", async () => {
      const { health, problems } = await daemon.api.status();
      return health === "degraded" && problems[0]?.reason.includes("window cannot be seen");
    });
    const { block } = await daemon.api.context({ form: "exact" });
    expect(block).toContain("Focused: unknown");
    await desktop.restart();
    await desktop.openWindow("after");
    await until("after is recorded", async () => (await titlesOf(daemon)).at(-1) === "after");
    const { events } = await daemon.api.events({ fromUs: 0, kinds: ["gap"] });
    expect(events).toMatchObject([{ kind: "gap", reason: "source-lost" }]);
    const titles = await titlesOf(daemon);
    expect(titles.filter((title) => title !== "before" && title !== "after")).toEqual([]);
  });
});

it("an X server that hangs is told by status within 15 seconds, and captured again when it goes on", async () => {
  const rig = await openXRig();
  open.push(rig);
  await rig.startWindowManager("openbox");
  const client = await rig.openClient();
  await client.activate(await client.open({ title: "patience", app: "Editor" }));
  const daemon = openDaemonRig(createProcesses(), rig.env);
  open.push(daemon);
  await daemon.start();
  await until("it is recorded", async () => (await titlesOf(daemon)).at(-1) === "patience");
  const isDegraded = async (): Promise<StatusAnswer | null> => {
    const status = await daemon.api.status();
    return status.health === "degraded" ? status : null;
  };
  rig.freezeServer();
  const status = await until("status says so", isDegraded, 15_000);
  expect(JSON.stringify(status.problems)).toMatch(/X server|window source/);
  rig.thawServer();
  await until("all is well again", async () => (await daemon.api.status()).health === "ok", 40_000);
  client.close();
});
