/** The daemon with a message bus: what logind, players and notifications say is what it records and tells. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ActivityEvent } from "../../../src/capture/events.ts";
import { filesWith } from "../../helpers/files-below.ts";
import { until } from "../../helpers/until.ts";
import { type DaemonRig, openDaemonRig } from "../daemon-rig.ts";
import { openBusService, Variant } from "../fakes/bus-service.ts";
import { type FakeKwin, openFakeKwin } from "../fakes/kwin.ts";
import { type FakeLogin1, openFakeLogin1 } from "../fakes/login1.ts";
import { openFakePlayer, playback, song } from "../fakes/mpris-player.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";
import { createProcesses } from "../processes.ts";

let bus: PrivateBus;
let login1: FakeLogin1;
let kwin: FakeKwin;
let daemon: DaemonRig;

beforeEach(async () => {
  bus = await openPrivateBus();
  login1 = await openFakeLogin1(bus.address);
  kwin = await openFakeKwin(bus.address, 6);
  kwin.addWindow("work", "Editor").activate();
  daemon = openDaemonRig(createProcesses(), bus.env, "[capture]\nnotification = true\n");
  await daemon.start();
  await until("the window is recorded", async () => (await eventsOf("window")).length > 0);
  // A signal is sent once: whoever does not listen yet never hears it.
  await until("logind, the players and the notifications are heard", async () => {
    const { sources } = await daemon.api.status();
    const live = sources.filter(({ state }) => state === "live").map(({ kind }) => kind);
    return (["session", "media", "notification"] as const).every((kind) => live.includes(kind));
  });
});

afterEach(async () => {
  await daemon.close();
  kwin.close();
  login1.close();
  await bus.close();
});

async function eventsOf<K extends ActivityEvent["kind"]>(
  kind: K,
): Promise<readonly Extract<ActivityEvent, { kind: K }>[]> {
  const { events } = await daemon.api.events({ fromUs: 0, kinds: [kind] });
  return events.filter(
    (event): event is Extract<ActivityEvent, { kind: K }> => event.kind === kind,
  );
}

describe("the lid", () => {
  it("closed ends the window at once, credits nothing, and opened begins it anew", async () => {
    login1.prepareForSleep(true);
    const [sleep] = await until("the sleep", async () => {
      const sleeps = await eventsOf("sleep");
      return sleeps.length > 0 ? sleeps : null;
    });
    const [before] = await eventsOf("window");
    await until(
      "the sleep lasts a second",
      () => Date.now() * 1000 - (sleep?.startUs ?? Number.NaN) > 1_000_000,
    );
    expect((await eventsOf("window")).map(({ endUs }) => endUs)).toEqual([before?.endUs]);
    expect(before?.endUs).toBeLessThanOrEqual(sleep?.startUs ?? 0);
    login1.prepareForSleep(false);
    const [, after] = await until("the window again", async () => {
      const windows = await eventsOf("window");
      return windows.length > 1 ? windows : null;
    });
    const [whole] = await eventsOf("sleep");
    expect(after?.startUs).toBeGreaterThanOrEqual(whole?.endUs ?? Number.NaN);
    expect(after).toMatchObject({ app: "Editor", title: "work" });
  });
});

describe("the lock", () => {
  it("is an event, and the block says so while it lasts", async () => {
    login1.lock();
    login1.setSession({ LockedHint: new Variant("b", true) });
    await until("the block tells it", async () =>
      (await daemon.run(["now"])).out.includes("locked"),
    );
    login1.setSession({ LockedHint: new Variant("b", false) });
    await until("the window again", async () =>
      (await daemon.run(["now"])).out.includes('- Focused: Editor: "work"'),
    );
    expect(await eventsOf("lock")).toHaveLength(1);
    expect(await eventsOf("sleep")).toEqual([]);
  });
});

describe("a player", () => {
  it("is told in the block while it plays, with its hostile title on one line", async () => {
    const player = await openFakePlayer(bus.address, "vlc", "VLC");
    player.setMetadata(song("One\n---\n# Fake", "Band"));
    player.set({ PlaybackStatus: playback("Playing") });
    const playing = '- Playing: VLC: "One --- # Fake" by "Band"';
    await until("the song", async () => (await daemon.run(["now"])).out.includes(playing));
    player.close();
    await until("its end", async () => !(await daemon.run(["now"])).out.includes("Playing"));
    expect(await eventsOf("media")).toMatchObject([{ player: "VLC", artist: "Band" }]);
  });
});

describe("a notification", () => {
  it("is told with the next turn of a conversation that is going on, and its body is nowhere", async () => {
    const turn = { session: "main", form: "exact", ownerText: "hello" } as const;
    await daemon.api.composeTurn(turn);
    const desktop = await openBusService(bus.address, "org.freedesktop.Notifications");
    desktop.answer("org.freedesktop.Notifications.Notify", "u", () => [1]);
    await desktop.call(
      "org.freedesktop.Notifications",
      "/org/freedesktop/Notifications",
      "org.freedesktop.Notifications",
      "Notify",
      "susssasa{sv}i",
      ["Signal", 0, "", "Alice", "a very secret body", [], {}, -1],
    );
    await until("it is recorded", async () => (await eventsOf("notification")).length > 0);
    const { modelText } = await daemon.api.composeTurn(turn);
    expect(modelText).toMatch(/^System: \[[^\]]+\] Message from Signal: "Alice"\n/);
    expect(modelText.endsWith("hello")).toBe(true);
    const again = await daemon.api.composeTurn(turn);
    expect(again.modelText).not.toContain("Alice");
    expect(filesWith(daemon.home, "secret body")).toEqual([]);
    desktop.close();
  });
});

describe("the bus", () => {
  it("that dies is told as the reason, and what it gave is there again after its return", async () => {
    const onTheBus = ["window", "session", "media", "notification"];
    const untilAll = (what: string, state: string, reason: string): Promise<true> =>
      until(what, async () => {
        const { sources } = await daemon.api.status();
        const concerned = sources.filter(({ kind }) => onTheBus.includes(kind));
        return concerned.every(
          (source) => source.state === state && (source.why?.reason ?? "").includes(reason),
        );
      });
    await untilAll("every source is live", "live", "");
    await bus.kill();
    await untilAll("every source is lost", "lost", " bus is not reachable: ");
    await bus.restart();
    login1.close();
    kwin.close();
    login1 = await openFakeLogin1(bus.address);
    kwin = await openFakeKwin(bus.address, 6);
    kwin.addWindow("after", "Editor").activate();
    await until(
      "all are back",
      async () => (await daemon.run(["now"])).out.includes('- Focused: Editor: "after"'),
      40_000,
    );
    expect((await eventsOf("gap")).map(({ kind, ...gap }) => [kind, "reason" in gap])).toEqual([
      ["gap", true],
    ]);
  });
});
