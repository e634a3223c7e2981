/** Doctor beside a daemon whose sources are the real ones, in sessions where they cannot see. */
import { describe, expect, onTestFinished, test } from "vitest";
import { createActivityApp } from "../../src/app.ts";
import { systemClock } from "../../src/clock.ts";
import { parseConfig } from "../../src/config.ts";
import { examineMachine } from "../../src/daemon/doctor/examine.ts";
import type { Finding } from "../../src/daemon/doctor/finding.ts";
import { openMachine } from "../../src/daemon/doctor/machine.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { VERSION } from "../../src/version.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { until } from "../helpers/until.ts";
import { startJsXServer } from "../helpers/x-js-server.ts";

/** A daemon in a session of these variables, and what doctor says beside it. */
async function openSession(session: Readonly<Record<string, string>>) {
  const env = {
    ACTIVITYD_HOME: createTempHome(),
    DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/nowhere",
    ...session,
  };
  const paths = resolvePaths(env);
  const config = parseConfig("", "config.toml");
  const app = createActivityApp({ config, paths, env, clock: systemClock, log: silentLog });
  const at = { socketPath: paths.socketPath };
  const server = await serveActivityApi({ api: app, at, log: silentLog, version: VERSION });
  onTestFinished(async () => {
    await server.close();
    await app.close();
  });
  await app.start();
  const machine = { ...openMachine(env), run: () => null };
  return async (id: Finding["id"]): Promise<Finding | undefined> =>
    (await examineMachine(paths, machine)).findings.find((finding) => finding.id === id);
}

describe("doctor says why windows are not seen, and what mends it", () => {
  test("no display", async () => {
    const find = await openSession({});
    expect(await find("window-blind")).toEqual({
      id: "window-blind",
      state: "problem",
      what: "Windows cannot be seen: DISPLAY is not set.",
      // X servers that listen on the machine of the test are named behind it.
      remedy: expect.stringMatching(
        /^Start activityd inside the desktop session.* import-environment DISPLAY XAUTHORITY && activityd service restart$/,
      ),
    });
  });

  test("a display that nobody serves", async () => {
    const find = await openSession({ DISPLAY: "127.0.0.1:9" });
    expect(await find("window-blind")).toMatchObject({
      what: "Windows cannot be seen: No X server answers on display 127.0.0.1:9 (127.0.0.1 port 6009).",
      remedy: "Start the X session, or set DISPLAY to the display that is in use.",
    });
  });

  test("the wrong kind of session: Wayland, with an X display for some of the windows", async () => {
    const server = await startJsXServer();
    onTestFinished(server.close);
    const find = await openSession({ DISPLAY: server.display, XDG_SESSION_TYPE: "wayland" });
    expect((await find("window-blind"))?.what).toContain("Wayland session");
  });

  test("an X server that went away", async () => {
    const server = await startJsXServer();
    const find = await openSession({ DISPLAY: server.display });
    expect(await find("window-blind")).toBeUndefined();
    await server.close();
    const lost = await until("doctor sees that the X server is gone", () => find("window-lost"));
    expect(lost).toMatchObject({ state: "problem" });
    expect(lost.what).toContain(server.display);
  });
});
