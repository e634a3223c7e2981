/** What holds of the record whatever the clocks do: suspend, NTP steps, a lost clock, travel, daylight saving. */
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ActivityEvent } from "../../src/capture/events.ts";
import { createPrivacyGate } from "../../src/capture/privacy.ts";
import { DEFAULT_PRIVACY } from "../../src/capture/privacy/rules.ts";
import { createSampler } from "../../src/capture/sampler.ts";
import { silentLog } from "../../src/log.ts";
import { openEventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const SECOND_US = 1_000_000;

type Step =
  | { readonly do: "pass"; readonly seconds: number }
  | { readonly do: "focus"; readonly app: string }
  | { readonly do: "step"; readonly seconds: number }
  | { readonly do: "suspend"; readonly seconds: number }
  | { readonly do: "lose-clock"; readonly seconds: number }
  | { readonly do: "wrong-clock"; readonly seconds: number; readonly aheadDays: number }
  | { readonly do: "travel"; readonly zone: string }
  | { readonly do: "restart"; readonly seconds: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      seconds: fc.integer({ min: 1, max: 120 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("focus" as const),
      app: fc.constantFrom("Code", "Firefox", "Mail"),
    }),
  },
  fc.record({
    do: fc.constant("step" as const),
    seconds: fc.constantFrom(-7200, -3600, -61, -20, -2, 2, 20),
  }),
  fc.record({ do: fc.constant("suspend" as const), seconds: fc.constantFrom(5, 60, 28_800) }),
  fc.record({ do: fc.constant("lose-clock" as const), seconds: fc.integer({ min: 1, max: 60 }) }),
  fc.record({
    do: fc.constant("wrong-clock" as const),
    seconds: fc.integer({ min: 1, max: 60 }),
    aheadDays: fc.constantFrom(2, 30, 4000),
  }),
  fc.record({
    do: fc.constant("travel" as const),
    zone: fc.constantFrom("Europe/Berlin", "Asia/Kolkata", "America/New_York"),
  }),
  fc.record({ do: fc.constant("restart" as const), seconds: fc.constantFrom(0, 3, 600) }),
);

describe("the record", () => {
  it("has no negative and no overlapping spans, and credits what passed, whatever the clocks do", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 14 }), (steps) => {
        const { events, attendedUs, transitions, nowUs } = live(steps);
        for (const event of events) {
          expect(event.endUs).toBeGreaterThanOrEqual(event.startUs);
          // A step back and a clock that is lost may leave it ahead for so long.
          expect(event.endUs).toBeLessThanOrEqual(nowUs + 36 * 3600 * SECOND_US);
        }
        for (const kind of new Set(events.map((event) => event.kind))) {
          expect(overlapsOf(events.filter((event) => event.kind === kind))).toEqual([]);
        }
        const windows = events.filter((event) => event.kind === "window");
        const creditedUs = windows.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);
        // A poll for each transition, and never more than what passed.
        expect(Math.abs(creditedUs - attendedUs)).toBeLessThanOrEqual(
          (transitions + 1) * SECOND_US,
        );
      }),
      { numRuns: propertyRuns(12, 500) },
    );
  }, 600_000);

  it("keeps the days of local time through the end of daylight saving", () => {
    const { events } = live(
      [
        { do: "focus", app: "Code" },
        { do: "pass", seconds: 3 * 3600 },
      ],
      "2026-10-24T23:30:00Z",
    );
    expect(
      events.map(({ startUs, endUs, utcOffsetMinutes }) => [endUs - startUs, utcOffsetMinutes]),
    ).toEqual([[3 * 3600 * SECOND_US, 120]]);
  });
});

/** Lives through the steps and gives what was recorded, with how long a window was really in front. */
function live(
  steps: readonly Step[],
  start = "2026-11-27T09:00:00Z",
): {
  events: readonly ActivityEvent[];
  attendedUs: number;
  transitions: number;
  nowUs: number;
} {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const directory = createTempHome();
  const clock = createFakeClock(start, "Europe/Berlin");
  let desk = open(directory, clock);
  let app: string | null = null;
  let attendedUs = 0;
  let transitions = 0;
  const focus = (next: string): void => {
    app = next;
    desk.sampler.take.window({
      ok: true,
      value: { app: next, title: "x", url: null, pid: null, executable: null, private: null },
    });
  };
  const pass = (seconds: number): void => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advanceMs(1000);
      vi.advanceTimersByTime(1000);
    }
    if (app !== null) attendedUs += seconds * SECOND_US;
  };
  for (const step of steps) {
    if (step.do !== "pass") transitions += 1;
    switch (step.do) {
      case "pass":
        pass(step.seconds);
        break;
      case "focus":
        focus(step.app);
        break;
      case "step":
      case "suspend":
        // The monotonic clock stands still in a suspend: the same as a step for whoever looks at both.
        clock.jumpWallMs(step.seconds * 1000);
        pass(1);
        break;
      case "lose-clock": {
        const lostMs = clock.nowUs() / 1000;
        clock.jumpWallMs(-lostMs);
        pass(step.seconds);
        clock.jumpWallMs(lostMs);
        pass(1);
        transitions += 1;
        break;
      }
      case "wrong-clock": {
        const aheadMs = step.aheadDays * 86_400_000;
        // Two steps between two looks at the clocks are seen as one.
        pass(5);
        clock.jumpWallMs(aheadMs);
        pass(step.seconds);
        clock.jumpWallMs(-aheadMs);
        pass(5);
        transitions += 1;
        break;
      }
      case "travel":
        clock.setTimeZone(step.zone);
        break;
      case "restart":
        desk.close();
        clock.advanceMs(step.seconds * 1000);
        desk = open(directory, clock);
        if (app !== null) focus(app);
        break;
    }
  }
  const { events } = desk.store.between(0, Number.MAX_SAFE_INTEGER, { limit: 100_000 });
  desk.close();
  const store = openEventStore({ directory, clock, log: silentLog });
  const recorded = store.between(0, Number.MAX_SAFE_INTEGER, { limit: 100_000 }).events;
  store.close();
  const longer = recorded.length >= events.length ? recorded : events;
  return { events: longer, attendedUs, transitions, nowUs: clock.nowUs() };
}

function open(directory: string, clock: ReturnType<typeof createFakeClock>) {
  const store = openEventStore({ directory, clock, log: silentLog });
  const sampler = createSampler({
    store,
    gate: createPrivacyGate(DEFAULT_PRIVACY),
    clock,
    log: silentLog,
    idleAfterMs: 180_000,
    onChange: () => {},
  });
  sampler.start({ input: null, system: null, window: null });
  return {
    store,
    sampler,
    close: () => {
      sampler.close();
      store.close();
    },
  };
}

function overlapsOf(events: readonly ActivityEvent[]): readonly string[] {
  const ordered = events.toSorted((a, b) => a.startUs - b.startUs);
  return ordered.flatMap((event, index) => {
    const next = ordered[index + 1];
    return next !== undefined && next.startUs < event.endUs
      ? [`${event.kind} ${event.startUs}–${event.endUs} and ${next.startUs}–${next.endUs}`]
      : [];
  });
}
