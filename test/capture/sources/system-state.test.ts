import childProcess from "node:child_process";
import { expect, test, vi } from "vitest";
import { createSourceRegistry } from "../../../src/capture/sources/registry.ts";
import { openRecorded } from "../../helpers/source-recorder.ts";

test("the state of the machine is read without starting a process", async () => {
  // Before the library is loaded: it takes its copies of these functions then.
  const spies = (
    ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"] as const
  ).map((name) => vi.spyOn(childProcess, name));
  const [provider] = createSourceRegistry().providersFor("system");
  if (provider === undefined) throw new Error("no provider");
  const { source } = await openRecorded(provider, {});
  for (let round = 0; round < 3; round += 1) {
    const result = await source.snapshot();
    if (!result.ok || result.value === null) throw new Error("unreadable");
    const { memoryUsed, cpuLoad, batteryPercent, online, displayCount } = result.value;
    expect(memoryUsed).toBeGreaterThan(0);
    expect(memoryUsed).toBeLessThan(1);
    expect(cpuLoad ?? 0).toBeGreaterThanOrEqual(0);
    expect(cpuLoad ?? 0).toBeLessThanOrEqual(1);
    expect(batteryPercent ?? 0).toBeLessThanOrEqual(100);
    expect([true, false, null]).toContain(online);
    expect(displayCount ?? 0).toBeGreaterThanOrEqual(0);
  }
  source.close();
  expect(spies.flatMap((spy) => spy.mock.calls)).toEqual([]);
});
