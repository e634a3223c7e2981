/** A compositor that tells programs nothing: the honest answer is "unknown", with the reason. */
import { chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSourceKeeper } from "../../src/capture/sources/keeper.ts";
import { createSourceRegistry } from "../../src/capture/sources/registry.ts";
import { sourceContext } from "../helpers/source-recorder.ts";
import { until } from "../helpers/until.ts";
import { createProcesses, type Processes } from "./processes.ts";

let processes: Processes;
let folder: string;

beforeEach(async () => {
  processes = createProcesses();
  folder = mkdtempSync(path.join(tmpdir(), "activityd-weston-"));
  chownSync(folder, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  const weston = processes.start(
    "weston",
    ["--backend=headless-backend.so", "--socket=wayland-7", "--idle-time=0"],
    { env: { XDG_RUNTIME_DIR: folder, HOME: folder } },
  );
  await until("weston is ready (apt-get install weston)", () => {
    if (weston.exitCode !== null) throw new Error(`weston ended with ${weston.exitCode}`);
    return existsSync(path.join(folder, "wayland-7"));
  });
});

afterEach(async () => {
  await processes.close();
  rmSync(folder, { recursive: true, force: true });
});

test("under weston windows and idle time are unknown, and every backend says why", async () => {
  const env = {
    WAYLAND_DISPLAY: "wayland-7",
    XDG_RUNTIME_DIR: folder,
    // An X display beside it does not make it the desktop.
    DISPLAY: ":0",
  };
  const registry = createSourceRegistry();
  for (const kind of ["window", "input"] as const) {
    const keeper = createSourceKeeper({
      kind,
      providers: registry.providersFor(kind),
      context: sourceContext(env),
      onSample: () => {},
      onState: () => {},
    });
    try {
      await keeper.start();
      const { state, backend, rejected } = keeper.status();
      expect([state, backend]).toEqual(["blind", null]);
      expect(rejected.map((each) => each.backend)).toEqual(
        registry.providersFor(kind).map((provider) => provider.id),
      );
      expect(rejected.filter((each) => each.reason === "")).toEqual([]);
      expect(await keeper.snapshot()).toMatchObject({
        ok: false,
        reason: expect.stringContaining("The Wayland compositor"),
      });
    } finally {
      keeper.close();
    }
  }
});
