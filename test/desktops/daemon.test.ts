/** The daemon on each desktop that is heavy to install: what it says, and why it passed others over. */
import { type ChildProcess } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { createWaylandIdle } from "../../src/capture/sources/wayland-idle.ts";
import { gnomeIdle } from "../../src/capture/sources/gnome.ts";
import { openRecorded } from "../helpers/source-recorder.ts";
import { until } from "../helpers/until.ts";
import { type DaemonRig, openDaemonRig } from "../system/daemon-rig.ts";
import { createProcesses } from "../system/processes.ts";
import type { DesktopRig } from "./desktop-rig.ts";
import { type DesktopSession, openDesktopSession } from "./desktop-session.ts";
import { openGnomeRig } from "./gnome-rig.ts";
import { openKwinRig } from "./kwin-rig.ts";

const open: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const rig of open.splice(0).reverse()) await rig.close();
});

async function openDaemon(env: Readonly<Record<string, string>>): Promise<DaemonRig> {
  const daemon = openDaemonRig(createProcesses(), env);
  open.push(daemon);
  await daemon.start();
  return daemon;
}

async function openDesktop<R extends { readonly close: () => Promise<void> }>(
  opening: Promise<R>,
): Promise<R> {
  const rig = await opening;
  open.push(rig);
  return rig;
}

/** Fails with the block that stood instead. */
async function untilBlockHas(daemon: DaemonRig, text: string): Promise<string> {
  let block = "";
  const found = until(`the block has ${text}`, async () => {
    ({ out: block } = await daemon.run(["now"]));
    return block.includes(text);
  });
  await found.catch((error: unknown) => {
    throw new Error(`${String(error)}\n${block}`, { cause: error });
  });
  return block;
}

describe.each([
  ["GNOME Shell", "gnome-shell", openGnomeRig],
  ["KWin", "kwin", openKwinRig],
])("the daemon under %s", (_, backend, openRig: () => Promise<DesktopRig>) => {
  it("says exactly what has the focus, outlives the compositor, resumes and names the gap", async () => {
    const rig = await openDesktop(openRig());
    const daemon = await openDaemon(rig.env);
    const first = await rig.open("first");
    await first.focus();
    await untilBlockHas(daemon, '- Focused: fixture: "first"');
    await first.rename('a=b "q" \\ 漢字 👩‍💻');
    await untilBlockHas(daemon, `- Focused: fixture: "a=b 'q' \\ 漢字 👩💻"`);
    const second = await rig.open("second");
    await second.focus();
    await untilBlockHas(daemon, '- Focused: fixture: "second"');
    await second.close();

    const status = await daemon.run(["status"]);
    expect(status.out).toContain(`window       live by ${backend}\n`);
    expect(status.out).toMatch(/passed over sway: .+/);

    await rig.kill();
    await untilBlockHas(daemon, "- Focused: unknown");
    await rig.restart();
    const after = await rig.open("after");
    await after.focus();
    await untilBlockHas(daemon, '- Focused: fixture: "after"');
    const { events } = await daemon.api.events({ fromUs: 0, kinds: ["gap"] });
    expect(events.map((event) => event.kind === "gap" && event.reason)).toEqual(["source-lost"]);
  });
});

describe("GNOME Shell without the extension", () => {
  it("is blind with the remedy in the status and in the block", async () => {
    const rig = await openDesktop(openGnomeRig({ installExtension: false }));
    const daemon = await openDaemon(rig.env);
    await untilBlockHas(daemon, "- Focused: unknown, windows cannot be seen: GNOME Shell ");
    const status = await daemon.run(["status"]);
    expect(status.out).toContain("to do: Run: activityd gnome install-extension");
  });
});

describe("the idle time", () => {
  it("of GNOME is told by Mutter", async () => {
    const rig = await openDesktop(openGnomeRig({ installExtension: false }));
    const { source } = await openRecorded(gnomeIdle, rig.env);
    const result = await source.snapshot();
    expect(result).toMatchObject({ ok: true, value: { idleMs: expect.any(Number) } });
    source.close();
  });

  it("of KWin under Wayland is told by its own protocol", async () => {
    const rig = await openDesktop(openKwinRig());
    const { source } = await openRecorded(createWaylandIdle(), rig.env);
    const idleMs = await until("half a second of stillness", async () => {
      const result = await source.snapshot();
      return result.ok && (result.value?.idleMs ?? 0) > 500 ? result.value?.idleMs : null;
    });
    expect(idleMs).toBeLessThan(60_000);
    source.close();
  });
});

describe("a compositor that tells nobody what has the focus", () => {
  it("is blind, and the reason and every backend passed over are told", async () => {
    const session = await openDesktop(openDesktopSession("wl-weston"));
    await startWeston(session);
    const daemon = await openDaemon(session.env);
    const window = await until("all backends were probed", async () => {
      const { sources } = await daemon.api.status();
      const status = sources.find(({ kind }) => kind === "window");
      return status !== undefined && status.rejected.length > 0 ? status : null;
    });
    expect(window).toMatchObject({ state: "blind", backend: null });
    expect(window.why?.reason).not.toBe("");
    for (const id of ["sway", "gnome-shell", "kwin", "wlroots", "x11"]) {
      expect(window.rejected.map(({ backend }) => backend)).toContain(id);
    }
    await untilBlockHas(daemon, "- Focused: unknown, windows cannot be seen: ");
  });
});

async function startWeston(session: DesktopSession): Promise<ChildProcess> {
  const server = session.start("weston", ["--backend=headless-backend.so", "--socket=wl-weston"]);
  let said = "";
  server.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await until("weston is up", () => {
    if (server.exitCode !== null) throw new Error(`weston ended: ${said}`);
    return said.includes("launching");
  });
  return server;
}
