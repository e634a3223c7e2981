/** Hyprland as its documentation describes it: an event socket and a request socket. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hyprland } from "../../../src/capture/sources/hyprland.ts";
import { openRecorded, rejectionOf, sourceContext } from "../../helpers/source-recorder.ts";
import { startUnixServer, type UnixServer } from "../../helpers/unix-server.ts";
import { until } from "../../helpers/until.ts";

let runtime: string;
let servers: UnixServer[];
let listeners: Socket[];
let active: unknown;
let requests: string[];

async function startHyprland(signature: string): Promise<void> {
  const folder = path.join(runtime, "hypr", signature);
  mkdirSync(folder, { recursive: true });
  servers.push(
    await startUnixServer(".socket2.sock", (socket) => listeners.push(socket), folder),
    await startUnixServer(
      ".socket.sock",
      (socket) => {
        socket.once("data", (chunk) => {
          requests.push(chunk.toString());
          socket.end(typeof active === "string" ? active : JSON.stringify(active));
        });
      },
      folder,
    ),
  );
}

beforeEach(async () => {
  runtime = mkdtempSync(path.join(tmpdir(), "activityd-hypr-"));
  [servers, listeners, requests, active] = [[], [], [], {}];
  await startHyprland("abc_123");
});

afterEach(async () => {
  for (const server of servers) await server.stop();
  rmSync(runtime, { recursive: true, force: true });
});

const env = (): Record<string, string> => ({
  XDG_RUNTIME_DIR: runtime,
  HYPRLAND_INSTANCE_SIGNATURE: "abc_123",
});

function window(address: string, title: string): object {
  return { address, class: "kitty", title, pid: process.pid, initialClass: "kitty", mapped: true };
}

async function send(text: string): Promise<void> {
  await until("a listener", () => listeners.length > 0);
  for (const listener of listeners) listener.write(text);
}

describe("the focused window", () => {
  test("is asked for, since a comma in a title cannot be told from the one before it", async () => {
    active = window("0x1", 'one, two, "three"');
    const { source, untilTold } = await openRecorded(hyprland, env());
    const sample = await untilTold("the window", (value) => value !== null);
    expect(sample).toEqual({
      app: "kitty",
      title: 'one, two, "three"',
      url: null,
      pid: process.pid,
      executable: process.execPath,
      private: null,
      window: "0x1",
    });
    expect(new Set(requests)).toEqual(new Set(["j/activewindow"]));
    source.close();
  });

  test("is told when it changes, however the events are cut", async () => {
    active = window("0x1", "one");
    const { source, untilTold } = await openRecorded(hyprland, env());
    await untilTold("one", (value) => value?.title === "one");
    active = window("0x2", "zwei 漢字");
    await send("activewi");
    await send("ndow>>kitty,zwei 漢字\nactivewindowv2>>2\n");
    expect((await untilTold("another", (value) => value?.title !== "one"))?.title).toBe(
      "zwei 漢字",
    );
    active = {};
    await send("closewindow>>2\nactivewindow>>,\nactivewindowv2>>\n");
    expect(await untilTold("a change", (value) => value?.title !== "zwei 漢字")).toBeNull();
    source.close();
  });

  test("with a title that churns is asked for once a second", async () => {
    active = window("0x1", "0");
    const { source, untilTold } = await openRecorded(hyprland, env());
    await untilTold("the first", (value) => value?.title === "0");
    const before = requests.length;
    const start = performance.now();
    for (let step = 1; step <= 30; step += 1) {
      active = window("0x1", `step ${step}`);
      await send("windowtitle>>1\n");
    }
    await untilTold("the last", (value) => value?.title === "step 30");
    const seconds = Math.ceil((performance.now() - start) / 1000);
    expect(requests.length - before).toBeLessThanOrEqual(2 * seconds + 2);
    source.close();
  });
});

describe("an instance", () => {
  test("that goes away is lost once, and found again under its new name", async () => {
    const { source, lost } = await openRecorded(hyprland, env());
    await until("the connection", () => listeners.length > 0);
    let woken = false;
    const stop = hyprland.watchForReturn?.(sourceContext(env()), () => {
      woken = true;
    });
    for (const server of servers.splice(0)) await server.stop();
    await until("the loss", lost);
    expect((await source.snapshot()).ok).toBe(false);
    source.close();
    active = window("0x9", "new");
    await startHyprland("def_456");
    await until("the wake", () => woken);
    stop?.();
    const again = await openRecorded(hyprland, env());
    expect(await again.source.snapshot()).toMatchObject({ ok: true, value: { title: "new" } });
    again.source.close();
  });

  test.each([
    ["answers without JSON", "unknown request"],
    ["answers with no object", "null"],
  ])("that %s is passed over", async (_name, answer) => {
    active = answer;
    expect(await rejectionOf(hyprland, env())).toMatchObject({
      reason: expect.stringContaining("No Hyprland answers"),
      applies: true,
    });
  });

  test("that is not there does not apply to this machine", async () => {
    expect((await rejectionOf(hyprland, {})).applies ?? false).toBe(false);
  });
});
