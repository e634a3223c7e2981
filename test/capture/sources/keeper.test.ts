import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createSourceKeeper, type SourceKeeper } from "../../../src/capture/sources/keeper.ts";
import type {
  Blindness,
  Rejection,
  SourceProvider,
  SourceResult,
  SourceStatus,
} from "../../../src/capture/sources/source.ts";
import type { InputSample } from "../../../src/capture/events.ts";
import fc from "fast-check";
import { ActivityError } from "../../../src/errors.ts";
import { silentLog } from "../../../src/log.ts";
import { propertyRuns } from "../../helpers/property-runs.ts";
import { createFakeClock, type FakeClock } from "../../helpers/fake-clock.ts";

/** A backend that opens, fails and is lost at the word of the test. */
interface FakeBackend {
  readonly provider: SourceProvider<"input">;
  rejection: Rejection | null;
  readonly probes: () => number;
  readonly openCount: () => number;
  readonly tell: (idleMs: number) => void;
  readonly lose: (reason: string) => void;
  readonly wake: () => void;
  readonly isWatched: () => boolean;
}

function createFakeBackend(id: string): FakeBackend {
  let probes = 0;
  let openCount = 0;
  let onSample: (result: SourceResult<InputSample>) => void = () => {};
  let onLost: (why: Blindness) => void = () => {};
  let onWake: (() => void) | null = null;
  const fake: FakeBackend = {
    rejection: null,
    probes: () => probes,
    openCount: () => openCount,
    tell: (idleMs: number) => onSample({ ok: true, value: { idleMs } }),
    lose: (reason: string) => onLost({ reason, remedy: "" }),
    wake: () => onWake?.(),
    isWatched: () => onWake !== null,
    provider: {
      id,
      kind: "input",
      open: async () => {
        probes += 1;
        if (fake.rejection !== null) return { rejected: fake.rejection };
        openCount += 1;
        let isOpen = true;
        return {
          source: {
            start: (sample, lost) => {
              onSample = sample;
              onLost = lost;
            },
            snapshot: async () => ({ ok: true, value: { idleMs: 7 } }),
            close: () => {
              if (isOpen) openCount -= 1;
              isOpen = false;
            },
          },
        };
      },
      watchForReturn: (_context, wake) => {
        onWake = wake;
        return () => {
          onWake = null;
        };
      },
    },
  };
  return fake;
}

let clock: FakeClock;
let first: FakeBackend;
let second: FakeBackend;
let keeper: SourceKeeper<"input">;
let told: (readonly [SourceResult<InputSample>, string])[];
let states: SourceStatus[];
let lines: string[];

beforeEach(() => {
  vi.useFakeTimers();
  clock = createFakeClock("2026-11-27T12:00:00Z");
  first = createFakeBackend("first");
  second = createFakeBackend("second");
  told = [];
  states = [];
  lines = [];
  const line = (message: string): void => void lines.push(message);
  keeper = createSourceKeeper({
    kind: "input",
    providers: [first.provider, second.provider],
    context: { env: {}, clock, log: { info: line, warn: line, error: line } },
    onSample: (result, id) => told.push([result, id]),
    onState: (status) => states.push(status),
  });
});

afterEach(() => {
  keeper.close();
  const left = [first, second].filter((fake) => fake.openCount() > 0 || fake.isWatched());
  if (left.length > 0) throw new Error("the keeper left something open");
  vi.useRealTimers();
});

/** Lets both the timers and the clock go on. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    clock.advanceMs(10);
    await vi.advanceTimersByTimeAsync(10);
  }
}

test("the first backend that opens is used and nothing below it is asked", async () => {
  await keeper.start();
  expect(keeper.status()).toMatchObject({
    state: "live",
    backend: "first",
    why: null,
    rejected: [],
  });
  expect(second.probes()).toBe(0);
  first.tell(5);
  expect(told).toEqual([[{ ok: true, value: { idleMs: 5 } }, "first"]]);
  expect(await keeper.snapshot()).toEqual({ ok: true, value: { idleMs: 7 } });
});

test("a better backend that is there but does not answer is asked again, ever more seldom", async () => {
  first.rejection = { reason: "Busy.", remedy: "", applies: true };
  await keeper.start();
  expect(keeper.status().backend).toBe("second");
  await pass(29_000);
  expect(first.probes()).toBe(1);
  await pass(2_000);
  expect(first.probes()).toBe(2);
  await pass(58_000);
  expect(first.probes()).toBe(2);
  first.rejection = null;
  await pass(3_000);
  expect(keeper.status().backend).toBe("first");
  await pass(700_000);
  expect(first.probes()).toBe(3);
});

test("a better backend of which this machine shows no sign is not asked again", async () => {
  first.rejection = { reason: "No such desktop.", remedy: "" };
  await keeper.start();
  await pass(700_000);
  expect(first.probes()).toBe(1);
});

test("a backend that is passed over stays in the status with reason and remedy", async () => {
  first.rejection = { reason: "No bus.", remedy: "Start one." };
  await keeper.start();
  expect(keeper.status()).toMatchObject({
    backend: "second",
    rejected: [{ backend: "first", reason: "No bus.", remedy: "Start one." }],
  });
});

test("a backend whose code cannot be had tells why, with what to do", async () => {
  const replaced = new ActivityError("program_replaced", "It was upgraded.", "Start it again.");
  const gone: SourceProvider<"input"> = {
    id: "gone",
    kind: "input",
    open: () => Promise.reject(replaced),
  };
  const alone = createSourceKeeper({
    kind: "input",
    providers: [gone],
    context: { env: {}, clock, log: silentLog },
    onSample: () => {},
    onState: () => {},
  });
  onTestFinished(alone.close);
  await alone.start();
  expect(alone.status().why).toEqual({ reason: "It was upgraded.", remedy: "Start it again." });
});

test("while nothing opens, the reason of the backend that shows signs of being here is given", async () => {
  first.rejection = { reason: "It hangs.", remedy: "Restart it.", applies: true };
  second.rejection = { reason: "Not here.", remedy: "Install it." };
  await keeper.start();
  expect(await keeper.snapshot()).toEqual({
    ok: false,
    reason: "It hangs.",
    remedy: "Restart it.",
  });
  expect(keeper.status()).toMatchObject({ state: "blind", backend: null });
});

test("probing backs off from a quarter of a second to half a minute and logs one line in all", async () => {
  first.rejection = second.rejection = { reason: "Not here.", remedy: "" };
  await keeper.start();
  const probesAt: number[] = [];
  let seen = first.probes();
  for (let ms = 10; ms <= 130_000; ms += 10) {
    await pass(10);
    if (first.probes() > seen) probesAt.push(ms);
    seen = first.probes();
  }
  const waits = probesAt.map((at, index) => at - (probesAt[index - 1] ?? 0));
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  expect(lines).toEqual(["input source blind: Not here."]);
});

test("a loss is told once as unknown, and the backend is used again when it returns", async () => {
  await keeper.start();
  await pass(10_000);
  first.rejection = second.rejection = { reason: "Gone.", remedy: "" };
  first.lose("It crashed.");
  expect(told).toEqual([[{ ok: false, reason: "It crashed.", remedy: "" }, "first"]]);
  expect(keeper.status()).toMatchObject({
    state: "lost",
    backend: null,
    why: { reason: "It crashed." },
  });
  await pass(3_000);
  first.rejection = null;
  await pass(2_000);
  expect(states.map(({ state, backend }) => [state, backend])).toEqual([
    ["live", "first"],
    ["lost", null],
    ["live", "first"],
  ]);
  expect(lines).toHaveLength(3);
});

test("a backend that announces its return is tried at once, however long the backoff has become", async () => {
  first.rejection = second.rejection = { reason: "Not here.", remedy: "" };
  await keeper.start();
  await pass(60_000);
  first.rejection = null;
  first.wake();
  await pass(60);
  expect(keeper.status().state).toBe("live");
});

test("a return announced a little too early is found within half a second", async () => {
  first.rejection = second.rejection = { reason: "Not here.", remedy: "" };
  await keeper.start();
  await pass(60_000);
  first.wake();
  await pass(60);
  first.rejection = null;
  await pass(500);
  expect(keeper.status().state).toBe("live");
});

test("a better backend takes over from a lesser one when it comes", async () => {
  first.rejection = { reason: "Not yet.", remedy: "" };
  await keeper.start();
  expect(keeper.status().backend).toBe("second");
  first.rejection = null;
  first.wake();
  await pass(60);
  expect(keeper.status()).toMatchObject({ backend: "first", rejected: [] });
  expect(second.openCount()).toBe(0);
  second.tell(1);
  expect(told).toEqual([]);
});

test("a backend that dies as soon as it opens is not hammered", async () => {
  await keeper.start();
  for (let ms = 0; ms < 20_000; ms += 10) {
    if (first.openCount() === 1) first.lose("It crashed.");
    await pass(10);
  }
  expect(first.probes()).toBeLessThan(10);
});

test("a probe that never answers is passed over, and what it opens late is closed", async () => {
  let resolveLate: (() => void) | null = null;
  let closed = false;
  const hanging: SourceProvider<"input"> = {
    id: "hanging",
    kind: "input",
    open: () =>
      new Promise((resolve) => {
        resolveLate = () =>
          resolve({
            source: {
              start: () => {},
              snapshot: async () => ({ ok: true, value: null }),
              close: () => {
                closed = true;
              },
            },
          });
      }),
  };
  const other = createSourceKeeper({
    kind: "input",
    providers: [hanging, second.provider],
    context: { env: {}, clock, log: { info: () => {}, warn: () => {}, error: () => {} } },
    onSample: () => {},
    onState: () => {},
  });
  const started = other.start();
  await pass(5_000);
  await started;
  expect(other.status()).toMatchObject({
    backend: "second",
    rejected: [{ backend: "hanging", reason: "No answer within 5 s." }],
  });
  (resolveLate as (() => void) | null)?.();
  await pass(10);
  expect(closed).toBe(true);
  other.close();
});

test("a backend that stalls can be restarted", async () => {
  await keeper.start();
  keeper.restart({ reason: "It stalled.", remedy: "" });
  await pass(10);
  expect(keeper.status()).toMatchObject({ state: "live", backend: "first" });
  expect(first.probes()).toBe(2);
  expect(first.openCount()).toBe(1);
});

type Step =
  | { readonly do: "allow" | "refuse" | "lose" | "wake" | "restart"; readonly which: 0 | 1 }
  | { readonly do: "pass"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom("allow", "refuse", "lose", "wake", "restart"),
    which: fc.constantFrom(0, 1),
  }),
  fc.record({ do: fc.constant("pass"), ms: fc.constantFrom(10, 100, 1_000, 31_000) }),
);

test("whatever comes and goes, at most one backend is open, and one is whenever one can be", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const fakes = [createFakeBackend("better"), createFakeBackend("lesser")] as const;
      const heard: string[] = [];
      const law = createSourceKeeper({
        kind: "input",
        providers: fakes.map((fake) => fake.provider),
        context: { env: {}, clock, log: silentLog },
        onSample: () => {},
        onState: ({ state, backend }) => heard.push(`${state} ${backend ?? ""}`),
      });
      await law.start();
      const check = (): void => {
        const open = fakes.filter((fake) => fake.openCount() > 0);
        expect(open.length).toBeLessThanOrEqual(1);
        expect(fakes.map((fake) => fake.openCount() <= 1)).toEqual([true, true]);
        const { state, backend } = law.status();
        expect(backend).toBe(open[0]?.provider.id ?? null);
        expect(state === "live").toBe(open.length === 1);
      };
      for (const each of steps) {
        if (each.do === "pass") await pass(each.ms);
        else if (each.do === "restart") law.restart({ reason: "It stalled.", remedy: "" });
        else {
          const fake = fakes[each.which];
          if (each.do === "allow") fake.rejection = null;
          else if (each.do === "refuse") fake.rejection = { reason: "Gone.", remedy: "" };
          else if (each.do === "lose") fake.lose("It crashed.");
          else fake.wake();
        }
        await pass(10);
        check();
      }
      // No two reports in a row say the same: a state is told when it changes.
      expect(heard.filter((line, index) => line === heard[index - 1])).toEqual([]);
      for (const fake of fakes) fake.rejection = null;
      await pass(31_000);
      expect(law.status().state).toBe("live");
      law.close();
      expect(fakes.map((fake) => [fake.openCount(), fake.isWatched()])).toEqual([
        [0, false],
        [0, false],
      ]);
    }),
    { numRuns: propertyRuns(15, 300) },
  );
});
