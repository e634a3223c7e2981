import { describe, expect, it } from "vitest";
import { findServiceManager, watchdogInterval } from "../../src/daemon/notify.ts";
import { silentLog } from "../../src/log.ts";

describe("the watchdog", () => {
  it.each([
    [{ WATCHDOG_USEC: "30000000" }, 15_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "7" }, 15_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "8" }, null],
    [{}, null],
    [{ WATCHDOG_USEC: "0" }, null],
    [{ WATCHDOG_USEC: "soon" }, null],
  ])("of %j wants a sign of life every %s ms", (env, expected) => {
    expect(watchdogInterval(env, 7)).toBe(expected);
  });
});

describe("without a service manager", () => {
  it("nothing is sent and nothing is counted", async () => {
    const manager = findServiceManager({}, silentLog);
    expect(manager.way).toBe("none");
    expect(manager.watchdogMs).toBeNull();
    expect(() => manager.alive()).not.toThrow();
  });
});
