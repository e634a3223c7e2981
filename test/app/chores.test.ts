import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createChores, type Chores } from "../../src/app/chores.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse("2026-11-27T09:20:00Z");

let runs: string[];
let chores: Chores;
beforeEach(async () => {
  vi.useFakeTimers({ now: START });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  runs = [];
  chores = createChores({
    work: async () => {
      runs.push(new Date().toISOString().slice(0, 16));
    },
    nowUs: () => Date.now() * 1000,
  });
  await chores.begin();
  onTestFinished(chores.close);
});

/** The wall clock goes on and nothing else does, as in a suspend or when it is set. */
function leap(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

test("chores are done at each hour", async () => {
  await vi.advanceTimersByTimeAsync(2 * HOUR_MS);
  expect(runs).toEqual(["2026-11-27T10:07", "2026-11-27T11:07"]);
});

test("an hour that was slept through is made up for at once, without a word on the console", async () => {
  const said = vi.spyOn(console, "warn").mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  leap(5 * DAY_MS);
  chores.leapt();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(runs).toEqual(["2026-12-02T09:20"]);
  // So too where the library notices it first.
  leap(3 * HOUR_MS);
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(new Set(runs.slice(1))).toEqual(new Set(["2026-12-02T13:07"]));
  expect(said).not.toHaveBeenCalled();
});

test("naps of minutes do not bring them forward", async () => {
  for (let nap = 0; nap < 3; nap += 1) {
    leap(5 * 60_000);
    chores.leapt();
  }
  await vi.advanceTimersByTimeAsync(1_000);
  expect(runs).toEqual([]);
});

test("they go on after a clock that was a year ahead for hours was put right", async () => {
  leap(365 * DAY_MS);
  chores.leapt();
  await vi.advanceTimersByTimeAsync(2 * HOUR_MS);
  leap(-365 * DAY_MS);
  chores.leapt();
  runs = [];
  await vi.advanceTimersByTimeAsync(2 * HOUR_MS);
  expect(runs).toEqual(["2026-11-27T12:07", "2026-11-27T13:07"]);
});
