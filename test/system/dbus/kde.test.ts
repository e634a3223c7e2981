import { readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kdeIdle, kwin } from "../../../src/capture/sources/kde.ts";
import { openRecorded, sourceContext, type SourceRecorder } from "../../helpers/source-recorder.ts";
import { until } from "../../helpers/until.ts";
import { openBusService } from "../fakes/bus-service.ts";
import { type FakeKwin, openFakeKwin } from "../fakes/kwin.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";

const NASTY = 'a=b "q" \\ 漢字 👩‍💻';

let daemon: PrivateBus;
const kwins: FakeKwin[] = [];
const recordings: { readonly source: { readonly close: () => void } }[] = [];

beforeEach(async () => {
  daemon = await openPrivateBus();
});

afterEach(async () => {
  for (const { source } of recordings.splice(0)) source.close();
  for (const fake of kwins.splice(0)) fake.close();
  await daemon.close();
});

async function startKwin(
  plasma: 5 | 6,
  options?: { readonly silent?: boolean },
): Promise<FakeKwin> {
  const fake = await openFakeKwin(daemon.address, plasma, options);
  kwins.push(fake);
  return fake;
}

async function listen(): Promise<SourceRecorder<"window">> {
  const recording = await openRecorded(kwin, daemon.env);
  recordings.push(recording);
  return recording;
}

describe.each([5, 6] as const)("KWin of Plasma %i", (plasma) => {
  it("tells the window that has the focus at the start", async () => {
    const fake = await startKwin(plasma);
    fake.addWindow(NASTY, "konsole", { pid: process.pid }).activate();
    const { source } = await listen();
    expect(await source.snapshot()).toEqual({
      ok: true,
      value: {
        app: "konsole",
        title: NASTY,
        url: null,
        pid: process.pid,
        executable: realpathSync(process.execPath),
        private: null,
        window: expect.any(String),
      },
    });
  });

  it("tells each change of focus and of the caption, and that nothing has the focus", async () => {
    const fake = await startKwin(plasma);
    const { told } = await listen();
    const one = fake.addWindow("one", "kate");
    const two = fake.addWindow("two", "konsole");
    one.activate();
    two.activate();
    one.setCaption("one, in the background");
    two.setCaption("two renamed");
    two.destroy();
    fake.activateNothing();
    await until("nothing focused", () => told.length >= 5);
    one.activate();
    // For a moment nothing has the focus between two windows, which is not worth a word.
    fake.activateNothing();
    fake.addWindow("three", "konsole").activate();
    await until("all changes", () => told.length >= 7);
    const titles = told.map((result) => result.ok && (result.value?.title ?? null));
    expect(titles).toEqual([
      null,
      "one",
      "two",
      "two renamed",
      null,
      "one, in the background",
      "three",
    ]);
  });

  it("is asked to forget the script when the source closes", async () => {
    const fake = await startKwin(plasma);
    const { source } = await listen();
    expect(fake.scripts()).toEqual(["activityd-focus"]);
    source.close();
    await expect.poll(fake.scripts).toEqual([]);
  });
});

describe("KWin", () => {
  it("is not flooded by, nor floods us with, a title that never stops changing", async () => {
    const fake = await startKwin(6);
    const window = fake.addWindow("0", "konsole");
    window.activate();
    const { latest } = await listen();
    const before = fake.callCount();
    for (let n = 1; n <= 200; n++) window.setCaption(String(n));
    await expect.poll(() => latest()?.title).toBe("200");
    expect(fake.callCount() - before).toBe(2);
  });

  it("with the desktop in front has nothing focused", async () => {
    const fake = await startKwin(6);
    fake.addWindow("Desktop", "plasmashell", { desktopWindow: true }).activate();
    const { source } = await listen();
    expect(await source.snapshot()).toEqual({ ok: true, value: null });
  });

  it("drops the script that a killed daemon left behind", async () => {
    const fake = await startKwin(6);
    await fake.service.call(
      "org.kde.KWin",
      "/Scripting",
      "org.kde.kwin.Scripting",
      "loadScript",
      "ss",
      ["/nowhere.js", "activityd-focus"],
    );
    await listen();
    expect(fake.scripts()).toEqual(["activityd-focus"]);
  });

  it("leaves no file behind", async () => {
    await startKwin(6);
    const directory = path.dirname(daemon.address.replace("unix:path=", ""));
    const recording = await openRecorded(kwin, { ...daemon.env, XDG_RUNTIME_DIR: directory });
    recordings.push(recording);
    expect(readdirSync(directory).filter((name) => name.startsWith("activityd"))).toEqual([]);
  });

  it("is passed over when it is not there", async () => {
    expect(await kwin.open(sourceContext(daemon.env))).toEqual({
      rejected: { reason: "KWin is not on the session bus.", remedy: "" },
    });
  });

  it("is passed over when its script does not report", async () => {
    await startKwin(6, { silent: true });
    expect(await kwin.open(sourceContext(daemon.env))).toMatchObject({
      rejected: { reason: "KWin loaded the script of activityd, but it did not report." },
    });
  });

  it("is lost when it restarts, and wakes whoever waits for its return", async () => {
    const fake = await startKwin(6);
    const { lost, lossCount } = await listen();
    fake.close();
    await until("the loss", lost);
    expect(lossCount()).toBe(1);
    let woken = false;
    const stop = kwin.watchForReturn?.(sourceContext(daemon.env), () => {
      woken = true;
    });
    await until("the watch to see it", async () => {
      const again = await openFakeKwin(daemon.address, 6);
      again.close();
      return woken;
    });
    stop?.();
    await startKwin(6);
    expect(await (await listen()).source.snapshot()).toEqual({ ok: true, value: null });
  });

  it("is lost when its script was unloaded by somebody else", async () => {
    const fake = await startKwin(6);
    const { source, lossCount } = await listen();
    fake.unloadAll();
    expect(await source.snapshot()).toMatchObject({ ok: false });
    expect(lossCount()).toBe(1);
  });

  it("alone is believed", async () => {
    const fake = await startKwin(6);
    fake.addWindow("true", "kate").activate();
    const { source } = await listen();
    const impostor = await openBusService(daemon.address);
    // The unique names of private buses count up from :1.0; ours is among the first.
    for (let n = 0; n < 10; n++) {
      await impostor
        .call(`:1.${n}`, "/org/activityd/Focus", "org.activityd.Focus", "Active", "bssi", [
          true,
          "false",
          "evil",
          1,
        ])
        .catch(() => {});
    }
    expect(await source.snapshot()).toMatchObject({ value: { title: "true" } });
    impostor.close();
  });
});

describe("the idle time of Plasma", () => {
  it("is told in milliseconds where KWin and its screen locker answer", async () => {
    const fake = await startKwin(5);
    fake.service.answer("org.freedesktop.ScreenSaver.GetSessionIdleTime", "u", () => [61_500]);
    await fake.service.own("org.freedesktop.ScreenSaver");
    const recording = await openRecorded(kdeIdle, daemon.env);
    recordings.push(recording);
    expect(await recording.source.snapshot()).toEqual({ ok: true, value: { idleMs: 61_500 } });
  });

  it("is rejected where Plasma refuses it, as it does under Wayland", async () => {
    const fake = await startKwin(5);
    fake.service.refuse(
      "org.freedesktop.ScreenSaver.GetSessionIdleTime",
      "org.freedesktop.DBus.Error.NotSupported",
    );
    await fake.service.own("org.freedesktop.ScreenSaver");
    expect(await kdeIdle.open(sourceContext(daemon.env))).toHaveProperty("rejected");
  });
});
