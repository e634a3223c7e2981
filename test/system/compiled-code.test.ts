/** What a start leaves for the next one. */
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { until } from "../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "./daemon-rig.ts";
import { createProcesses } from "./processes.ts";

let daemon: DaemonRig;
beforeEach(() => {
  daemon = openDaemonRig(createProcesses(), {});
});
afterEach(() => daemon.close());

/** Starts, waits until the start is over, and stops. */
async function startOnce(file: string): Promise<void> {
  const log = join(daemon.home, "log", "activityd.log");
  const starts = (): number => {
    try {
      return readFileSync(log, "utf8").split('"msg":"started"').length;
    } catch {
      return 0;
    }
  };
  const before = Math.max(1, starts());
  const child = await daemon.start();
  await until("the start is over", async () => (starts() > before ? true : null));
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  expect(statSync(file).mode & 0o777).toBe(0o600);
}

it("compiled code is written by the first start, taken by the second, and made anew when it is of no use", async () => {
  const file = join(daemon.home, "cache", "compiled-code.bin");
  await startOnce(file);
  const written = statSync(file);
  await startOnce(file);
  // Written again, it would be another file.
  expect(statSync(file).ino).toBe(written.ino);
  expect(statSync(file).mtimeMs).toBe(written.mtimeMs);
  writeFileSync(file, "nothing of ours");
  await startOnce(file);
  expect(statSync(file).size).toBeGreaterThan(100_000);
});
