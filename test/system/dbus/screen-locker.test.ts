import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { createSourceKeeper } from "../../../src/capture/sources/keeper.ts";
import { createLogindSession } from "../../../src/capture/sources/logind.ts";
import { screenLocker } from "../../../src/capture/sources/screen-locker.ts";
import { openRecorded, sourceContext } from "../../helpers/source-recorder.ts";
import { until } from "../../helpers/until.ts";
import { type BusService, openBusService, Variant } from "../fakes/bus-service.ts";
import { openFakeLogin1 } from "../fakes/login1.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";

const GNOME = "org.gnome.ScreenSaver";
const open = { locked: false, asleep: null, idleInhibited: null };

let daemon: PrivateBus;
let service: BusService;

beforeEach(async () => {
  daemon = await openPrivateBus();
  service = await openBusService(daemon.address);
});

afterEach(async () => {
  service.close();
  await daemon.close();
});

/** A locker as GNOME and the others have one. */
async function startLocker(name: string): Promise<(active: boolean) => void> {
  let active = false;
  service.answer(`${name}.GetActive`, "b", () => [active]);
  await service.own(name);
  return (next) => {
    active = next;
    service.emit("/any", name, "ActiveChanged", "b", [next]);
  };
}

describe("the screen locker", () => {
  it.each(["gnome", "cinnamon", "mate", "xfce", "freedesktop"])(
    "of %s tells the lock as it comes and goes, and leaves sleep unknown",
    async (desktop) => {
      const name = `org.${desktop}.ScreenSaver`;
      const setActive = await startLocker(name);
      const { source, latest, lost, lossCount } = await openRecorded(screenLocker, daemon.env);
      expect(await source.snapshot()).toEqual({ ok: true, value: open });
      setActive(true);
      await expect.poll(latest).toEqual({ ...open, locked: true });
      setActive(false);
      await expect.poll(latest).toEqual(open);
      await service.release(name);
      await until("the loss", lost);
      source.close();
      expect(lossCount()).toBe(1);
    },
  );

  it("is passed over when there is none, or it does not know whether it is active", async () => {
    const context = sourceContext(daemon.env);
    expect(await screenLocker.open(context)).toHaveProperty("rejected");
    await service.own(GNOME);
    expect(await screenLocker.open(context)).toHaveProperty("rejected");
  });
});

describe("an inhibitor of idling", () => {
  it("of gnome-session is told while one is held", async () => {
    await startLocker(GNOME);
    const path = "/org/gnome/SessionManager";
    const name = "org.gnome.SessionManager";
    service.serve(path, name, { InhibitedActions: new Variant("u", 4) });
    await service.own(name);
    const { source, latest } = await openRecorded(screenLocker, daemon.env);
    await expect.poll(latest).toEqual({ ...open, idleInhibited: false });
    service.change(path, name, { InhibitedActions: new Variant("u", 12) });
    await expect.poll(latest).toEqual({ ...open, idleInhibited: true });
    source.close();
  });

  it("of Plasma is told while one is held", async () => {
    await startLocker("org.freedesktop.ScreenSaver");
    const iface = "org.kde.Solid.PowerManagement.PolicyAgent";
    let held = false;
    service.answer(`${iface}.HasInhibition`, "b", ([policies]) => [policies === 4 && held]);
    await service.own("org.kde.Solid.PowerManagement");
    const { source, latest } = await openRecorded(screenLocker, daemon.env);
    await expect.poll(latest).toEqual({ ...open, idleInhibited: false });
    held = true;
    service.emit("/any", iface, "InhibitionsChanged");
    await expect.poll(latest).toEqual({ ...open, idleInhibited: true });
    source.close();
  });
});

describe("logind and the desktop together", () => {
  it("are locked when either says so", async () => {
    const login1 = await openFakeLogin1(daemon.address);
    const setActive = await startLocker(GNOME);
    const { source, latest } = await openRecorded(createLogindSession(), daemon.env);
    setActive(true);
    await expect.poll(() => latest()?.locked).toBe(true);
    login1.setSession({ LockedHint: new Variant("b", true) });
    setActive(false);
    login1.setManager({ BlockInhibited: new Variant("s", "idle") });
    await expect.poll(() => latest()?.idleInhibited).toBe(true);
    expect(latest()?.locked).toBe(true);
    login1.setSession({ LockedHint: new Variant("b", false) });
    await expect.poll(() => latest()?.locked).toBe(false);
    source.close();
    login1.close();
  });

  it("know the lock where logind knows no session of this user", async () => {
    const login1 = await openFakeLogin1(daemon.address, { hasSession: false });
    const setActive = await startLocker(GNOME);
    const { source, latest } = await openRecorded(createLogindSession(), daemon.env);
    expect(latest()).toEqual({ locked: false, asleep: false, idleInhibited: false });
    setActive(true);
    await expect.poll(() => latest()?.locked).toBe(true);
    source.close();
    login1.close();
  });

  it("tell of an inhibitor that gnome-session keeps to itself", async () => {
    const login1 = await openFakeLogin1(daemon.address);
    const path = "/org/gnome/SessionManager";
    const name = "org.gnome.SessionManager";
    service.serve(path, name, { InhibitedActions: new Variant("u", 0) });
    await service.own(name);
    const { source, latest } = await openRecorded(createLogindSession(), daemon.env);
    service.change(path, name, { InhibitedActions: new Variant("u", 8) });
    await expect.poll(() => latest()?.idleInhibited).toBe(true);
    await service.release(name);
    await expect.poll(() => latest()?.idleInhibited).toBe(false);
    source.close();
    login1.close();
  });
});

test("logind that comes after the locker was found is used from then on", async () => {
  await startLocker(GNOME);
  const keeper = createSourceKeeper({
    kind: "session",
    providers: [createLogindSession(), screenLocker],
    context: sourceContext(daemon.env),
    onSample: () => {},
    onState: () => {},
  });
  await keeper.start();
  expect(keeper.status().backend).toBe("screen-locker");
  // The watch for it is set up beside the start.
  await until("logind", async () => {
    const login1 = await openFakeLogin1(daemon.address);
    const isUsed = await until("its use", () => keeper.status().backend === "logind", 1_000).catch(
      () => false,
    );
    login1.close();
    return isUsed;
  });
  keeper.close();
});
