import { mkdtempSync, rmSync, writeFileSync, existsSync, chmodSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { openPause, type Pause, type PauseState } from "../../../src/capture/privacy/pause.ts";
import { silentLog } from "../../../src/log.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";

const MINUTE_MS = 60_000;
let folder: string;
let open: Pause[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "activityd-pause-"));
  open = [];
});
afterEach(() => {
  for (const pause of open) pause.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(clock = createFakeClock("2026-11-30T12:00:00Z")) {
  const changes: (PauseState | null)[] = [];
  const pause = openPause({
    file: join(folder, "data", "pause.json"),
    clock,
    log: silentLog,
    onChange: (state) => changes.push(state),
  });
  open.push(pause);
  return { pause, clock, changes };
}

describe("a pause", () => {
  test("lasts until its end and then is over by itself", () => {
    const { pause, clock, changes } = start();
    const untilUs = clock.nowUs() + 15 * MINUTE_MS * 1000;
    expect(pause.pause(untilUs)).toEqual({ sinceUs: clock.nowUs(), untilUs });
    clock.advanceMs(15 * MINUTE_MS - 1);
    expect(pause.state()).not.toBeNull();
    clock.advanceMs(1);
    expect(pause.state()).toBeNull();
    expect(changes).toHaveLength(2);
    expect(existsSync(join(folder, "data", "pause.json"))).toBe(false);
  });

  test("does not last for a year because the clock was a year ahead when it began", () => {
    const { pause, clock } = start();
    const yearMs = 365 * 24 * 60 * MINUTE_MS;
    clock.jumpWallMs(yearMs);
    pause.pause(clock.nowUs() + 15 * MINUTE_MS * 1000);
    clock.advanceMs(MINUTE_MS);
    clock.jumpWallMs(-yearMs);
    expect(pause.state()).not.toBeNull();
    const { pause: restarted } = start(clock);
    expect(restarted.state()).not.toBeNull();
    clock.advanceMs(15 * MINUTE_MS);
    expect([pause.state(), restarted.state()]).toEqual([null, null]);
  });

  test("is not ended by a clock that fell to 1970 and came back", () => {
    const { pause, clock } = start();
    pause.pause(clock.nowUs() + 15 * MINUTE_MS * 1000);
    const lostMs = clock.nowUs() / 1000;
    clock.jumpWallMs(-lostMs);
    expect(pause.state()).not.toBeNull();
    clock.jumpWallMs(lostMs);
    expect(pause.state()).not.toBeNull();
  });

  test("ends at its time though nobody asks", () => {
    vi.useFakeTimers();
    try {
      const { pause, clock, changes } = start();
      pause.pause(clock.nowUs() + MINUTE_MS * 1000);
      clock.advanceMs(MINUTE_MS);
      vi.advanceTimersByTime(2_000);
      expect(changes.at(-1)).toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });

  test("outlives the daemon, with its beginning", () => {
    const first = start();
    const state = first.pause.pause(null);
    first.pause.close();
    first.clock.advanceMs(MINUTE_MS);
    const second = start(first.clock);
    expect(second.pause.state()).toEqual(state);
    second.pause.resume();
    expect(start(first.clock).pause.state()).toBeNull();
  });

  test("that ran out while no daemon was running is over", () => {
    const first = start();
    first.pause.pause(first.clock.nowUs() + 1_000_000);
    first.pause.close();
    first.clock.advanceMs(MINUTE_MS);
    expect(start(first.clock).pause.state()).toBeNull();
  });

  test("keeps its beginning when it is prolonged", () => {
    const { pause, clock, changes } = start();
    const { sinceUs } = pause.pause(clock.nowUs() + MINUTE_MS * 1000);
    clock.advanceMs(1000);
    expect(pause.pause(null)).toEqual({ sinceUs, untilUs: null });
    expect(changes).toHaveLength(1);
  });

  test("cannot end before it begins", () => {
    const { pause, clock } = start();
    expect(() => pause.pause(clock.nowUs())).toThrow("would end before it begins");
    expect(() => pause.pause(Number.NaN)).toThrow("would end before it begins");
    expect(pause.state()).toBeNull();
  });

  test.each(["", "{", '{"sinceUs":1', "null", '{"sinceUs":"now","untilUs":null}'])(
    "whose file is damaged (%j) counts as paused until it is resumed",
    (text) => {
      mkdirSync(join(folder, "data"));
      writeFileSync(join(folder, "data", "pause.json"), text);
      const { pause, clock } = start();
      expect(pause.state()).toEqual({ sinceUs: clock.nowUs(), untilUs: null });
      pause.resume();
      expect(pause.state()).toBeNull();
    },
  );

  test("that cannot be written is in force all the same, and says that it will not last", () => {
    writeFileSync(join(folder, "data"), "a file where the folder should be");
    const { pause } = start();
    chmodSync(join(folder, "data"), 0o400);
    const file = join(folder, "data", "pause.json");
    const why = "what should be a folder in it is a file.";
    expect(() => pause.resume()).toThrow(
      `Recording goes on, but the pause cannot be ended, in ${file}: ${why}`,
    );
    expect(pause.state()).toBeNull();
    // Asked again, it is tried again.
    expect(() => pause.resume()).toThrow(why);
    expect(() => pause.pause(null)).toThrow(
      `Recording is paused, but the pause cannot be kept in ${file}: `,
    );
    expect(pause.state()).not.toBeNull();
  });
});
