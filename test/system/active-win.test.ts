/** The last resort on X11, with the package itself: what it loses is told as unreadable. */
import { afterEach, expect, test, vi } from "vitest";
import { createActiveWin } from "../../src/capture/sources/active-win.ts";
import { openRecorded } from "../helpers/source-recorder.ts";
import { until } from "../helpers/until.ts";
import { openXRig, type XRig } from "./x-rig.ts";

let rig: XRig | null = null;

afterEach(async () => {
  vi.unstubAllEnvs();
  await rig?.close();
});

test("a plain title is told, one with an equals sign is unreadable and not nothing", async () => {
  rig = await openXRig();
  await rig.startWindowManager("openbox");
  const client = await rig.openClient();
  const window = await client.open({ title: "plain", app: "Editor" });
  await client.activate(window);
  // The package knows no display but the one of its process.
  vi.stubEnv("DISPLAY", rig.display);
  const { source, told, untilTold } = await openRecorded(createActiveWin(), rig.env);
  try {
    const sample = await untilTold("the window", (value) => value?.title === "plain");
    expect(sample).toMatchObject({ app: "Editor", pid: process.pid });
    await client.setTitle(window, "a=b : c=1+1");
    await until("the loss", () => told.at(-1)?.ok === false);
    expect(JSON.stringify(told)).not.toContain("1+1");
    expect(JSON.stringify(told)).toContain("beyond it");
  } finally {
    source.close();
    client.close();
  }
});
