/** An owner who logs out and in again under one service manager: the daemon has the variables of before. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { until } from "../../helpers/until.ts";
import { type DaemonRig, openDaemonRig } from "../daemon-rig.ts";
import { type BusService, openBusService, Variant } from "../fakes/bus-service.ts";
import { openPrivateBus, type PrivateBus } from "../fakes/private-bus.ts";
import { createProcesses } from "../processes.ts";
import { openXRig, type XRig } from "../x-rig.ts";

let bus: PrivateBus;
let manager: BusService;
let desktops: XRig[];
let daemon: DaemonRig;

beforeEach(async () => {
  bus = await openPrivateBus();
  manager = await openBusService(bus.address, "org.freedesktop.systemd1");
  desktops = [];
});

afterEach(async () => {
  await daemon.close();
  manager.close();
  for (const desktop of desktops) await desktop.close();
  await bus.close();
});

/** A display with one window that has the focus. */
async function openDesktop(title: string): Promise<XRig> {
  const rig = await openXRig();
  desktops.push(rig);
  await showWindow(rig, title);
  return rig;
}

async function showWindow(rig: XRig, title: string): Promise<void> {
  await rig.startWindowManager("openbox");
  const client = await rig.openClient();
  await client.activate(await client.open({ title }));
}

/** What sessions told the service manager, as `systemctl --user import-environment` does. */
function tell(variables: Readonly<Record<string, string>>): void {
  const environment = Object.entries({ LANG: "C", ...variables }).map((pair) => pair.join("="));
  manager.serve("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", {
    Environment: new Variant("as", environment),
  });
}

async function startDaemon(env: Readonly<Record<string, string>>): Promise<void> {
  daemon = openDaemonRig(createProcesses(), { ...bus.env, ...env });
  await daemon.start();
}

const isSeen = async (title: string): Promise<boolean> =>
  (await daemon.api.context({ form: "exact" })).block?.includes(title) === true;

/** Waits until a window is told, and gives how the source stands then. */
async function stateWhenSeen(title: string): Promise<string | undefined> {
  await until(`"${title}" is seen`, () => isSeen(title), 40_000);
  return (await daemon.api.status()).sources.find(({ kind }) => kind === "window")?.state;
}

it("a daemon that was started before the desktop sees it when the service manager knows its display", async () => {
  tell({});
  await startDaemon({});
  const desktop = await openDesktop("first login");
  expect(await isSeen("first login")).toBe(false);
  tell({ DISPLAY: desktop.display, XDG_SESSION_TYPE: "x11" });
  expect(await stateWhenSeen("first login")).toBe("live");
});

it("a session on another display is seen after the one of the start has ended", async () => {
  const before = await openDesktop("before");
  tell({ DISPLAY: before.display });
  await startDaemon({ DISPLAY: before.display });
  expect(await stateWhenSeen("before")).toBe("live");
  await before.killServer();
  const after = await openDesktop("after");
  tell({ DISPLAY: after.display });
  expect(await stateWhenSeen("after")).toBe("live");
});

it("a session of X11 is seen after one of Wayland", async () => {
  tell({ WAYLAND_DISPLAY: "wayland-0", XDG_SESSION_TYPE: "wayland" });
  await startDaemon({ WAYLAND_DISPLAY: "wayland-0", XDG_SESSION_TYPE: "wayland" });
  const desktop = await openDesktop("back to X11");
  tell({ DISPLAY: desktop.display, XDG_SESSION_TYPE: "x11" });
  expect(await stateWhenSeen("back to X11")).toBe("live");
});

it("the display of the start is seen again whatever a session left behind in the service manager", async () => {
  tell({ WAYLAND_DISPLAY: "wayland-0", XDG_SESSION_TYPE: "wayland" });
  const desktop = await openDesktop("here");
  await startDaemon({ DISPLAY: desktop.display });
  expect(await stateWhenSeen("here")).toBe("live");
  await desktop.killServer();
  await until("the loss is told", async () => {
    const { sources } = await daemon.api.status();
    return sources.some(({ kind, state }) => kind === "window" && state === "lost");
  });
  await desktop.startServer();
  await showWindow(desktop, "here again");
  expect(await stateWhenSeen("here again")).toBe("live");
});
