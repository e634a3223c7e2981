/** What is particular to sway: X clients inside it, and its X display, which is not the desktop. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createX11Providers } from "../../src/capture/sources/x11.ts";
import { sway } from "../../src/capture/sources/sway.ts";
import { openWayland } from "../../src/capture/sources/wayland.ts";
import { createWaylandIdle } from "../../src/capture/sources/wayland-idle.ts";
import { openRecorded, rejectionOf, sourceContext } from "../helpers/source-recorder.ts";
import { openSwayRig, type SwayRig } from "./sway-rig.ts";

let rig: SwayRig;

beforeEach(async () => {
  rig = await openSwayRig({ xwayland: true });
});

afterEach(async () => {
  await rig.close();
});

test("an X client is told like a Wayland client, and the focus between them as it moves", async () => {
  const terminal = await rig.openTerminal("native");
  const xClient = await rig.openXClient();
  const { source, untilTold } = await openRecorded(sway, rig.env);
  try {
    await xClient.open({ title: "from X", app: "Oldie" });
    const old = await untilTold("the X window", (value) => value?.title === "from X");
    expect(old).toMatchObject({ app: "Oldie", pid: process.pid, executable: process.execPath });
    await terminal.focus();
    const native = await untilTold("the terminal", (value) => value?.title === "native");
    expect(native).toMatchObject({ app: "foot", pid: terminal.pid });
  } finally {
    source.close();
    xClient.close();
  }
});

test("the X display of sway is refused as a desktop also when no variable tells that this is Wayland", async () => {
  const xClient = await rig.openXClient();
  const env = { DISPLAY: rig.xDisplay() };
  const { window, input } = createX11Providers();
  expect((await rejectionOf(window, env)).reason).toContain("Wayland session");
  expect((await rejectionOf(input, env)).reason).toContain("Wayland session");
  xClient.close();
});

test("a SWAYSOCK from before a restart does not hide the sway that runs now", async () => {
  const stale = rig.ipcSocket();
  await rig.kill();
  await rig.restart();
  const terminal = await rig.openTerminal("still here");
  await terminal.focus();
  const { source, untilTold } = await openRecorded(sway, { ...rig.env, SWAYSOCK: stale });
  const sample = await untilTold("the terminal", (value) => value?.title === "still here");
  expect(sample?.app).toBe("foot");
  source.close();
});

test("the idle time of a seat is told, and ends with a move of its pointer", async () => {
  const stillMs = 300;
  const { source, untilTold } = await openRecorded(createWaylandIdle(stillMs), rig.env);
  const pointer = await openVirtualPointer(rig);
  try {
    const idle = await untilTold("stillness", (value) => (value?.idleMs ?? 0) > 0);
    expect(idle?.idleMs).toBeGreaterThanOrEqual(stillMs);
    pointer.move();
    expect(await untilTold("input", (value) => value?.idleMs === 0)).toEqual({ idleMs: 0 });
    await untilTold("stillness again", (value) => (value?.idleMs ?? 0) >= stillMs);
  } finally {
    source.close();
    pointer.close();
  }
});

/** A pointer of wlr-virtual-pointer-unstable-v1. */
async function openVirtualPointer(on: SwayRig): Promise<{ move: () => void; close: () => void }> {
  const opened = await openWayland(sourceContext(on.env));
  if ("rejected" in opened) throw new Error(opened.rejected.reason);
  const { connection } = opened;
  const manager = connection.bind("zwlr_virtual_pointer_manager_v1", 1, () => {});
  const pointer = connection.newId(() => {});
  connection.request(manager, 0, 0, pointer);
  await connection.roundTrip();
  return {
    move: () => {
      // motion(time, dx, dy) in 24.8 fixed point, then frame.
      connection.request(pointer, 0, 1, 10 * 256, 10 * 256);
      connection.request(pointer, 4);
    },
    close: () => connection.close(),
  };
}
