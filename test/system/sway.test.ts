/** What is particular to sway: X clients inside it, and its X display, which is not the desktop. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createX11Providers } from "../../src/capture/sources/x11.ts";
import { sway } from "../../src/capture/sources/sway.ts";
import { openRecorded, rejectionOf } from "../helpers/source-recorder.ts";
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
