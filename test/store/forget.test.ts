import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { EventFacts, WindowFacts } from "../../src/capture/events.ts";
import { silentLog } from "../../src/log.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { carryOut } from "../../src/store/forget.ts";
import { planForget, planRules } from "../../src/store/forget/plan.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createOtherDevice } from "../helpers/other-device.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const S = 1_000_000;
const T0 = Date.parse("2026-10-24T20:00:00Z") * 1000;

function facts(app: number): WindowFacts {
  return {
    kind: "window",
    app: storable(`App${app}`),
    title: storable(`title ${app}`),
    place: null,
  };
}

interface Recorded {
  readonly app: string;
  readonly fromS: number;
  readonly toS: number;
}

/** What is in the record, in seconds after the beginning. */
function readRecord(store: EventStore): readonly Recorded[] {
  const { events } = store.between(0, Number.MAX_SAFE_INTEGER, { limit: 10_000 });
  return events.flatMap((event) =>
    event.kind === "window"
      ? [{ app: event.app, fromS: (event.startUs - T0) / S, toS: (event.endUs - T0) / S }]
      : [],
  );
}

/** Time by application as the totals tell it, in seconds. */
function readTotals(store: EventStore): Readonly<Record<string, number>> {
  store.settle();
  const rows = store.database
    .prepare<{ app: string; total: number }>(
      `SELECT app, sum(active_us) AS total FROM day_total JOIN document ON document.id = document_id
        GROUP BY app ORDER BY app`,
    )
    .all();
  return Object.fromEntries(rows.map(({ app, total }) => [app, total / S]));
}

function totalsOf(record: readonly Recorded[]): Readonly<Record<string, number>> {
  const totals: Record<string, number> = {};
  for (const { app, fromS, toS } of record) {
    if (toS > fromS) totals[app] = (totals[app] ?? 0) + toS - fromS;
  }
  return Object.fromEntries(Object.entries(totals).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const stretch = fc.record({
  app: fc.integer({ min: 0, max: 2 }),
  gapS: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constantFrom(0, 7200)),
  lengthS: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(7200, 90_000)),
});
const instantS = fc.integer({ min: -10, max: 200_000 });

async function withStore(
  work: (store: EventStore, clear: () => void) => Promise<void>,
): Promise<void> {
  const clock = createFakeClock("2026-10-24T20:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  const clear = (): void =>
    store.database.execute(
      "DELETE FROM event; DELETE FROM visit; DELETE FROM day_total; DELETE FROM day; DELETE FROM hour_total; DELETE FROM meta; DELETE FROM label; DELETE FROM document",
    );
  try {
    await work(store, clear);
  } finally {
    store.close();
  }
}

function fill(
  store: EventStore,
  stretches: readonly { app: number; gapS: number; lengthS: number }[],
) {
  let atUs = T0;
  for (const { app, gapS, lengthS } of stretches) {
    const startUs = atUs + gapS * S;
    atUs = startUs + lengthS * S;
    store.begin(facts(app), {
      startUs,
      endUs: atUs,
      utcOffsetMinutes: 120,
      timeZone: "Europe/Berlin",
    });
  }
}

describe("forgetting a span", () => {
  test("that was cut off in the middle and comes again leaves each part once", () =>
    withStore(async (store) => {
      fill(store, [{ app: 0, gapS: 0, lengthS: 100 }]);
      const wish = { span: { fromUs: T0 + 10 * S, toUs: T0 + 20 * S }, isMeant: null };
      const setEnd = (): never => {
        throw new Error("killed");
      };
      await expect(carryOut({ ...store, setEnd }, await planForget(store, wish))).rejects.toThrow(
        "killed",
      );
      await carryOut(store, await planForget(store, wish));
      const whole = { app: "App0", fromS: 0, toS: 100 };
      expect(readRecord(store)).toEqual([
        { ...whole, toS: 10 },
        { ...whole, fromS: 20 },
      ]);
    }));

  test("leaves exactly what lies outside it, of the applications that are meant, and totals that agree", () =>
    withStore(async (store, clear) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(stretch, { maxLength: 12 }),
          instantS,
          instantS,
          fc.option(fc.integer({ min: 0, max: 2 })),
          fc.boolean(),
          async (stretches, oneS, otherS, app, settled) => {
            clear();
            fill(store, stretches);
            if (settled) store.settle();
            const before = readRecord(store);
            const [fromS, toS] = [Math.min(oneS, otherS), Math.max(oneS, otherS) + 1];
            const span = { fromUs: T0 + fromS * S, toUs: T0 + toS * S };
            const isMeant =
              app === null
                ? null
                : (found: { kind: string; app?: string }) => found.app === `App${app}`;
            await carryOut(store, await planForget(store, { span, isMeant }));
            const expected = before
              .flatMap((event) =>
                app !== null && event.app !== `App${app}`
                  ? [event]
                  : [
                      { ...event, toS: Math.min(event.toS, fromS) },
                      { ...event, fromS: Math.max(event.fromS, toS) },
                    ].filter((part) => part.toS > part.fromS),
              )
              .sort((a, b) => a.fromS - b.fromS);
            const after = readRecord(store);
            expect(after).toEqual(expected);
            expect(readTotals(store)).toEqual(totalsOf(after));
          },
        ),
        { numRuns: propertyRuns(60, 1000) },
      );
    }));
});

describe("applying rules backwards", () => {
  test("gives each event what the rules make of it, and totals that agree", () =>
    withStore(async (store, clear) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(stretch, { maxLength: 12 }),
          fc.tuple(...[0, 1, 2].map(() => fc.constantFrom(null, 0, 1, 2, 7))),
          async (stretches, rules) => {
            clear();
            fill(store, stretches);
            const before = readRecord(store);
            const judge = (found: { kind: string; app?: string }) => {
              const index = Number(found.app?.slice(3));
              const next = rules[index] ?? null;
              if (next === null) return null;
              return next === index ? (found as WindowFacts) : facts(next);
            };
            await carryOut(store, await planRules(store, judge, false));
            const after = readRecord(store);
            expect(after).toEqual(
              before.flatMap((event) => {
                const next = rules[Number(event.app.slice(3))] ?? null;
                return next === null ? [] : [{ ...event, app: `App${next}` }];
              }),
            );
            expect(readTotals(store)).toEqual(totalsOf(after));
          },
        ),
        { numRuns: propertyRuns(60, 1000) },
      );
    }));
});

describe("a wish to forget", () => {
  /** A laptop with three windows: before a span of a minute, reaching into it, and in it. */
  function openWithLaptop() {
    const clock = createFakeClock("2026-10-25T00:00:00Z");
    const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
    const laptop = createOtherDevice(store, "laptop");
    const at = (fromS: number, toS: number, title: string) => ({
      title,
      startUs: T0 + fromS * S,
      endUs: T0 + toS * S,
    });
    laptop.tell([at(0, 10, "before"), at(50, 70, "into"), at(80, 90, "within")], T0);
    laptop.tell([at(110, 130, "out of")], T0);
    const titles = () =>
      [...store.remote().all()]
        .flat()
        .map(({ event }) =>
          event.kind === "window" ? `${event.title} ${(event.endUs - T0) / S}` : event.kind,
        );
    return { store, laptop, at, titles, span: { fromUs: T0 + 60 * S, toUs: T0 + 120 * S } };
  }

  test("takes what other devices recorded as well, and keeps away what comes again of it", async () => {
    const { store, laptop, at, titles, span } = openWithLaptop();
    const plan = await planForget(store, { span, isMeant: null });
    expect(plan).toMatchObject({ remote: { whole: [{ startUs: T0 + 80 * S }] }, labelCount: 3 });
    expect(await carryOut(store, plan)).toMatchObject({ events: 1, cut: 2 });
    expect(titles()).toEqual(["before 10", "into 60"]);
    laptop.tell([at(80, 90, "within"), at(120, 130, "out of")], T0);
    expect(titles()).toEqual(["before 10", "into 60", "out of 130"]);
    const left = store.database.prepare("SELECT 1 FROM document WHERE title = 'within'").all();
    expect(left).toEqual([]);
    store.close();
  });

  test("means them by their words too", async () => {
    const { store, titles } = openWithLaptop();
    const plan = await planForget(store, {
      span: null,
      isMeant: (facts) => facts.kind === "window" && facts.title === "within",
    });
    await carryOut(store, plan);
    expect(titles()).toEqual(["before 10", "into 70", "out of 130"]);
    store.close();
  });

  test("that was made on another device takes of that device what it had recorded by then, and of no third", async () => {
    const { store, laptop, at, titles } = openWithLaptop();
    const phone = createOtherDevice(store, "phone");
    phone.tell([at(80, 90, "on the phone")], T0);
    laptop.tell([at(90, 95, "later")], T0);
    const elsewhere = { deviceKey: laptop.key, version: 5 };
    const plan = await planForget(store, { span: null, isMeant: null, elsewhere });
    await carryOut(store, plan, false);
    expect(titles()).toEqual(["later 95", "on the phone 90"]);
    store.close();
  });

  test("by this device's rules takes them from here alone, and gives others other words", async () => {
    const { store, titles } = openWithLaptop();
    const judge = (facts: EventFacts): EventFacts | null => {
      if (facts.kind !== "window") return facts;
      if (facts.title === "within") return null;
      return facts.title === "into" ? { ...facts, title: storable("withheld") } : facts;
    };
    const plan = await planRules(store, judge, false);
    expect(await carryOut(store, plan, false)).toMatchObject({ events: 1, rewritten: 1 });
    expect(titles()).toEqual(["before 10", "withheld 70", "out of 130"]);
    const kept = store.database.prepare("SELECT 1 FROM remote_erased").all();
    expect(kept).toEqual([]);
    store.close();
  });
});
