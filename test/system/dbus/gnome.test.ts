import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gnomeIdle, gnomeShell } from "../../../src/capture/sources/gnome.ts";
import { openRecorded, sourceContext, type SourceRecorder } from "../../helpers/source-recorder.ts";
import { until } from "../../helpers/until.ts";
import { type BusService, openBusService } from "../fakes/bus-service.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";

const FOCUS = "org.activityd.Focus";
const PATH = "/org/activityd/Focus";

let daemon: PrivateBus;
let shell: BusService;
const recordings: SourceRecorder<"window">[] = [];

beforeEach(async () => {
  daemon = await openPrivateBus();
  shell = await openBusService(daemon.address, "org.gnome.Shell");
});

afterEach(async () => {
  for (const { source } of recordings.splice(0)) source.close();
  shell.close();
  await daemon.close();
});

/** What the extension does in the shell: serve, then own its name. */
async function loadExtension(facts: unknown[], signature = "bssuu"): Promise<void> {
  shell.answer(`${FOCUS}.Get`, signature, () => facts);
  await shell.own(FOCUS);
}

async function listen(): Promise<SourceRecorder<"window">> {
  const recording = await openRecorded(gnomeShell, daemon.env);
  recordings.push(recording);
  return recording;
}

describe("GNOME Shell", () => {
  it("tells the focused window and each change of it, in order", async () => {
    await loadExtension([true, 'a=b "q" \\ 漢字 👩‍💻', "org.gnome.TextEditor", process.pid, 1]);
    const { source, told } = await listen();
    expect(await source.snapshot()).toMatchObject({
      ok: true,
      value: {
        app: "org.gnome.TextEditor",
        title: 'a=b "q" \\ 漢字 👩‍💻',
        pid: process.pid,
        executable: expect.stringContaining("node"),
        private: null,
        window: "1",
      },
    });
    shell.emit(PATH, FOCUS, "Changed", "bssuu", [true, "one", "foot", process.pid, 1]);
    shell.emit(PATH, FOCUS, "Changed", "bssuu", [true, "two", "foot", 0, 2]);
    shell.emit(PATH, FOCUS, "Changed", "bssuu", [false, "", "", 0, 0]);
    await until("three changes", () => told.length >= 3);
    expect(told.map((result) => result.ok && (result.value?.title ?? null))).toEqual([
      "one",
      "two",
      null,
    ]);
  });

  it("without the extension says how to install it", async () => {
    expect(await gnomeShell.open(sourceContext(daemon.env))).toEqual({
      rejected: {
        reason:
          "GNOME Shell tells nobody which window has the focus, and the extension of activityd is not running in it.",
        remedy: "Run: activityd gnome install-extension, then log out and in again.",
        applies: true,
      },
    });
  });

  it("is passed over on other desktops", async () => {
    shell.close();
    expect(await gnomeShell.open(sourceContext(daemon.env))).toEqual({
      rejected: { reason: "GNOME Shell is not on the session bus.", remedy: "" },
    });
  });

  it("is not believed when another program owns the extension's name", async () => {
    const impostor = await openBusService(daemon.address, FOCUS);
    impostor.answer(`${FOCUS}.Get`, "bssuu", () => [true, "false", "evil", 1, 1]);
    expect(await gnomeShell.open(sourceContext(daemon.env))).toMatchObject({
      rejected: { applies: true },
    });
    impostor.close();
  });

  it("that answers with wrong types has an unknown title, never a wrong one", async () => {
    await loadExtension([true, 7, "foot", -1n], "bisx");
    const { source } = await listen();
    expect(await source.snapshot()).toMatchObject({
      ok: true,
      value: { app: "foot", title: null },
    });
  });

  it("is lost when the extension is switched off, and wakes whoever waits for its return", async () => {
    await loadExtension([false, "", "", 0, 0]);
    const { lost, lossCount } = await listen();
    await shell.release(FOCUS);
    await until("the loss", lost);
    let woken = false;
    const stop = gnomeShell.watchForReturn?.(sourceContext(daemon.env), () => {
      woken = true;
    });
    await until("the watch to see it", async () => {
      await shell.own(FOCUS);
      await shell.release(FOCUS);
      return woken;
    });
    stop?.();
    expect(lossCount()).toBe(1);
  });
});

describe("the idle time of Mutter", () => {
  it("is told in milliseconds", async () => {
    shell.answer("org.gnome.Mutter.IdleMonitor.GetIdletime", "t", () => [90_061n]);
    await shell.own("org.gnome.Mutter.IdleMonitor");
    const { source } = await openRecorded(gnomeIdle, daemon.env);
    expect(await source.snapshot()).toEqual({ ok: true, value: { idleMs: 90_061 } });
    await shell.release("org.gnome.Mutter.IdleMonitor");
    expect(await source.snapshot()).toMatchObject({ ok: false });
    source.close();
  });

  it("is passed over where there is no Mutter", async () => {
    expect(await gnomeIdle.open(sourceContext(daemon.env))).toHaveProperty("rejected");
  });
});
