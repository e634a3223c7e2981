/** Idle time where these tests do not run: the parts that can be checked anywhere. */
import { describe, expect, test } from "vitest";
import { createMacosIdle } from "../../../src/capture/sources/macos-idle.ts";
import { createWindowsIdle } from "../../../src/capture/sources/windows-idle.ts";
import { openRecorded, rejectionOf } from "../../helpers/source-recorder.ts";

describe("macOS", () => {
  const IOREG = `
    +-o IOHIDSystem  <class IOHIDSystem, id 0x100000, registered, matched, active, busy 0>
        {
          "HIDParameters" = {"HIDIdleTimeSomething"=1}
          "HIDIdleTime" = 125004333916
        }`;

  test("the idle time is read from ioreg, in nanoseconds", async () => {
    const { source } = await openRecorded(
      createMacosIdle("darwin", async () => IOREG),
      {},
    );
    expect(await source.snapshot()).toEqual({ ok: true, value: { idleMs: 125_004 } });
  });

  test("an ioreg without it, or none at all, is unknown and not zero", async () => {
    expect(
      (
        await rejectionOf(
          createMacosIdle("darwin", async () => "{}"),
          {},
        )
      ).reason,
    ).toContain("HIDIdleTime");
    const absent = createMacosIdle("darwin", () => Promise.reject(new Error("ENOENT")));
    expect((await rejectionOf(absent, {})).applies).toBe(true);
  });

  test("is passed over elsewhere without running anything", async () => {
    let runs = 0;
    const linux = createMacosIdle("linux", async () => {
      runs += 1;
      return IOREG;
    });
    await rejectionOf(linux, {});
    expect(runs).toBe(0);
  });
});

describe("Windows", () => {
  const open = (lastInput: number, now: number) =>
    openRecorded(
      createWindowsIdle("win32", async () => () => ({ lastInput, now })),
      {},
    );

  test("the idle time is the difference of the ticks", async () => {
    const { source } = await open(1_000, 61_000);
    expect(await source.snapshot()).toEqual({ ok: true, value: { idleMs: 60_000 } });
  });

  test("also when the ticks have wrapped around since the last input", async () => {
    const { source } = await open(0xffff_ff00, 0x0000_0100);
    expect(await source.snapshot()).toEqual({ ok: true, value: { idleMs: 0x200 } });
  });

  test("no answer is unknown and not zero", async () => {
    const { source } = await openRecorded(
      createWindowsIdle("win32", async () => () => null),
      {},
    );
    expect((await source.snapshot()).ok).toBe(false);
  });

  test("an absent package is named; elsewhere it is not loaded", async () => {
    const absent = () => Promise.reject(new Error("not found"));
    expect((await rejectionOf(createWindowsIdle("win32", absent), {})).reason).toContain("koffi");
    expect((await rejectionOf(createWindowsIdle("linux", absent), {})).reason).toContain("Windows");
  });
});
