import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WindowSample } from "../../src/capture/events.ts";
import { createSourceKeeper, type SourceKeeper } from "../../src/capture/sources/keeper.ts";
import type { SourceProvider, SourceResult } from "../../src/capture/sources/source.ts";
import { createWatchdog, type Watchdog } from "../../src/capture/watchdog.ts";
import { silentLog } from "../../src/log.ts";
import { createFakeClock, type FakeClock } from "../helpers/fake-clock.ts";

let clock: FakeClock;
let keeper: SourceKeeper<"window">;
let watchdog: Watchdog;
let changes: number;
let opened: number;
let told: SourceResult<WindowSample>[];
/** The desktop: what has the focus, and how the source serves it. */
let title: string;
let answers: boolean;
let reports: boolean;
let report: () => void;
let committedEndUs: number | null;

const sample = (): WindowSample => ({
  app: "Code",
  title,
  url: null,
  pid: null,
  executable: null,
  private: null,
});

/** A source that can lose its voice in two ways: it does not answer, or it does not report. */
const provider: SourceProvider<"window"> = {
  id: "fake",
  kind: "window",
  open: async () => {
    opened += 1;
    return {
      source: {
        start: (onSample) => {
          report = () => {
            if (reports) onSample({ ok: true, value: sample() });
          };
          onSample({ ok: true, value: sample() });
        },
        snapshot: () =>
          answers ? Promise.resolve({ ok: true, value: sample() }) : new Promise(() => {}),
        close: () => {},
      },
    };
  },
};

beforeEach(async () => {
  vi.useFakeTimers();
  clock = createFakeClock("2026-11-27T12:00:00Z");
  [changes, opened, told, title, answers, reports] = [0, 0, [], "one", true, true];
  committedEndUs = null;
  keeper = createSourceKeeper({
    kind: "window",
    providers: [provider],
    context: { env: {}, clock, log: silentLog },
    onSample: (result) => {
      told.push(result);
      watchdog.told("window", result);
    },
    onState: () => {},
  });
  watchdog = createWatchdog({
    keepers: [{ kind: "window", isPolled: false, ...keeper }],
    committedEndUs: () => committedEndUs,
    clock,
    log: silentLog,
    onChange: () => {
      changes += 1;
    },
  });
  await keeper.start();
  watchdog.start();
});

afterEach(() => {
  watchdog.close();
  keeper.close();
  vi.useRealTimers();
});

async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advanceMs(1000);
    await vi.advanceTimersByTimeAsync(1000);
  }
}

test("a source that answers and reports is left alone for an hour", async () => {
  for (let minute = 0; minute < 60; minute += 1) {
    title = `file ${minute}`;
    report();
    await pass(60);
    expect(watchdog.problems()).toEqual([]);
  }
  expect([opened, changes]).toEqual([1, 0]);
});

test("a source that does not answer is named within 15 seconds and begun anew", async () => {
  answers = false;
  await pass(15);
  expect(watchdog.problems()[0]?.reason).toBe(
    "The window source fake stalls: The window source fake did not answer within 4 s.",
  );
  expect(changes).toBeGreaterThan(0);
  await pass(10);
  expect(opened).toBeGreaterThan(1);
  answers = true;
  await pass(20);
  expect(watchdog.problems()).toEqual([]);
});

test("a source that misses events is found by asking it, and begun anew", async () => {
  reports = false;
  title = "two";
  report();
  await pass(15);
  expect(opened).toBe(2);
  expect(told.at(-1)).toMatchObject({ ok: true, value: { title: "two" } });
  reports = true;
  await pass(10);
  expect(watchdog.problems()).toEqual([]);
});

test("a title that churns is no missed event", async () => {
  reports = false;
  for (let second = 0; second < 60; second += 1) {
    title = `step ${second}`;
    await pass(1);
  }
  expect([opened, watchdog.problems()]).toEqual([1, []]);
});

test("a source that somebody else asks is judged by the answers that are passed on", async () => {
  const polled = createWatchdog({
    keepers: [{ kind: "window", isPolled: true, ...keeper }],
    committedEndUs: () => null,
    clock,
    log: silentLog,
    onChange: () => {},
  });
  polled.start();
  polled.answered("window", { ok: false, reason: "It hangs.", remedy: "" });
  expect(polled.problems()[0]?.reason).toBe("The window source fake stalls: It hangs.");
  polled.answered("window", { ok: true, value: sample() });
  expect([polled.problems(), opened]).toEqual([[], 1]);
  for (let time = 0; time < 2; time += 1) {
    polled.answered("window", { ok: false, reason: "It hangs.", remedy: "" });
  }
  await pass(1);
  expect(opened).toBe(2);
  polled.close();
});

test("a lost source is the keeper's matter", async () => {
  answers = false;
  keeper.restart({ reason: "Lost.", remedy: "" });
  expect(watchdog.problems()).toEqual([]);
});

test("an event that goes on but does not reach the store is named", async () => {
  committedEndUs = clock.nowUs();
  await pass(20);
  expect(watchdog.problems()).toEqual([]);
  await pass(20);
  expect(watchdog.problems()[0]?.reason).toMatch(
    /^The newest event in the store ends \d+ s ago although it goes on\.$/,
  );
  committedEndUs = clock.nowUs();
  await pass(10);
  expect(watchdog.problems()).toEqual([]);
});
