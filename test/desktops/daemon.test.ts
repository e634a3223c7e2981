/** The daemon on each desktop that is heavy to install: what it says, and why it passed others over. */
import { afterEach, describe, expect, it } from "vitest";
import { createWaylandIdle } from "../../src/capture/sources/wayland-idle.ts";
import { gnomeIdle } from "../../src/capture/sources/gnome.ts";
import { openRecorded } from "../helpers/source-recorder.ts";
import { until } from "../helpers/until.ts";
import { type DaemonRig, openDaemonRig } from "../system/daemon-rig.ts";
import { createProcesses } from "../system/processes.ts";
import type { DesktopRig } from "./desktop-rig.ts";
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
