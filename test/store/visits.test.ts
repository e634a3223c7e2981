import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventFacts } from "../../src/capture/events.ts";
import { silentLog } from "../../src/log.ts";
import type { StoreDatabase } from "../../src/store/database.ts";
import { openEventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const S = 1_000_000;
/** Two hours before a local midnight on the eve of the end of daylight saving in Berlin. */
const T0 = Date.parse("2026-10-24T20:00:00Z") * 1000;

interface Step {
  readonly move: boolean;
  readonly document: number;
  readonly gapS: number;
  readonly lengthS: number;
  readonly which: number;
  readonly settle: boolean;
  readonly redate: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  move: fc.boolean(),
  document: fc.integer({ min: 0, max: 2 }),
  gapS: fc.oneof(fc.integer({ min: -200, max: 200 }), fc.constantFrom(89, 90, 91, 3600, 100_000)),
  lengthS: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constantFrom(0, 3600, 90_000)),
  which: fc.nat(),
  settle: fc.boolean(),
  redate: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
});

describe("visits and totals", () => {
  it("equal what the events alone give, after any begins, moved ends, settlements and moved clocks in any order", () => {
    const home = createTempHome();
    const clock = createFakeClock("2026-10-24T20:00:00Z");
    const store = openEventStore({ directory: home, clock, log: silentLog });
    try {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
          store.database.execute(
            "DELETE FROM event; DELETE FROM visit; DELETE FROM day_total; DELETE FROM day; DELETE FROM hour_total; DELETE FROM meta",
          );
          let ids: number[] = [];
          let atUs = T0;
          for (const { move, document, gapS, lengthS, which, settle, redate } of steps) {
            if (settle) store.settle();
            if (redate && gapS > 0) {
              const moved = store.redate(gapS * S, atUs - gapS * S);
              ids = ids.map((id) => moved.get(id) ?? id);
              atUs -= gapS * S;
              continue;
            }
            const id = ids[which % Math.max(ids.length, 1)];
            if (move && id !== undefined) {
              store.setEnd(id, id + lengthS * S);
              continue;
            }
            const startUs = atUs + gapS * S;
            const endUs = startUs + lengthS * S;
            const zone = { utcOffsetMinutes: 120, timeZone: "Europe/Berlin" };
            ids.push(store.begin(window(document), { startUs, endUs, ...zone }));
            atUs = Math.max(atUs, endUs);
          }
          const days = Object.fromEntries(activeDays(store.database));
          const told = Object.keys(days).map((day) => [day, store.activeOn(day)?.activeUs]);
          expect(Object.fromEntries(told)).toEqual(days);
          store.settle();
          expect(readTotals(store.database)).toEqual(totalsFromEvents(store.database));
          expect(readVisits(store.database)).toEqual(visitsFromEvents(store.database));
        }),
        { numRuns: propertyRuns(150, 5000) },
      );
    } finally {
      store.close();
    }
  }, 600_000);

  it("part at local midnight, on the day as long as it is", () => {
    const clock = createFakeClock("2026-10-24T20:00:00Z");
    const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
    const hour = 3600 * S;
    // 22:00 local until 23:30 local two days on; the day between has 25 hours.
    const span = { startUs: T0, endUs: T0 + 50.5 * hour, utcOffsetMinutes: 120 };
    store.begin(window(0), { ...span, timeZone: "Europe/Berlin" });
    expect(store.activeOn("2026-10-24")).toEqual({ activeUs: 2 * hour, firstUs: T0 });
    expect(store.activeOn("2026-10-25")).toEqual({ activeUs: 25 * hour, firstUs: T0 + 2 * hour });
    expect(store.activeOn("2026-10-26")).toEqual({
      activeUs: 23.5 * hour,
      firstUs: T0 + 27 * hour,
    });
    expect(store.activeOn("2026-10-27")).toBeNull();
    expect(store.activeOn("yesterday")).toBeNull();
    store.close();
  });
});

function window(document: number): EventFacts {
  return { kind: "window", app: storable("A"), title: storable(`t${document}`), place: null };
}

interface EventRow {
  readonly start_us: number;
  readonly end_us: number;
  readonly document_id: number;
}

function windowEvents(database: StoreDatabase): EventRow[] {
  return database
    .prepare<EventRow>(
      `SELECT start_us, start_us + duration_us AS end_us, document_id
         FROM event JOIN label ON label.id = label_id ORDER BY start_us`,
    )
    .all();
}

function readTotals(database: StoreDatabase): unknown {
  return {
    days: database
      .prepare("SELECT local_day, document_id, active_us FROM day_total ORDER BY 1, 2")
      .all(),
    day: database.prepare("SELECT local_day, active_us FROM day ORDER BY 1").all(),
    firsts: database.prepare("SELECT local_day, first_us FROM day ORDER BY 1").all(),
    hours: database.prepare("SELECT utc_hour, active_us FROM hour_total ORDER BY 1").all(),
  };
}

/** The totals by the slow way: every second of every event looked at on a Berlin calendar. */
function totalsFromEvents(database: StoreDatabase): unknown {
  const days = new Map<string, number>();
  const day = new Map<number, number>();
  const firsts = new Map<number, number>();
  const hours = new Map<number, number>();
  for (const { start_us, end_us, document_id } of windowEvents(database)) {
    for (let atUs = start_us; atUs < end_us;) {
      const hour = Math.floor(atUs / (3600 * S));
      // Berlin's midnights are whole UTC hours, so that an hour lies in one local day.
      const untilUs = Math.min(end_us, (hour + 1) * 3600 * S);
      const localDay = berlinDay(atUs);
      const us = untilUs - atUs;
      const key = `${localDay} ${document_id}`;
      days.set(key, (days.get(key) ?? 0) + us);
      day.set(localDay, (day.get(localDay) ?? 0) + us);
      firsts.set(localDay, Math.min(firsts.get(localDay) ?? Infinity, atUs));
      hours.set(hour, (hours.get(hour) ?? 0) + us);
      atUs = untilUs;
    }
  }
  const ordered = (map: Map<number, number>): [number, number][] =>
    [...map].sort(([a], [b]) => a - b);
  return {
    days: [...days]
      .map(([key, active_us]) => {
        const [local_day = 0, document_id = 0] = key.split(" ").map(Number);
        return { local_day, document_id, active_us };
      })
      .sort((a, b) => a.local_day - b.local_day || a.document_id - b.document_id),
    day: ordered(day).map(([local_day, active_us]) => ({ local_day, active_us })),
    firsts: ordered(firsts).map(([local_day, first_us]) => ({ local_day, first_us })),
    hours: ordered(hours).map(([utc_hour, active_us]) => ({ utc_hour, active_us })),
  };
}

/** Active time by local day ("2026-10-24"), whatever is settled. */
function activeDays(database: StoreDatabase): readonly (readonly [string, number])[] {
  const hours = new Map<string, number>();
  for (const { start_us, end_us } of windowEvents(database)) {
    for (let atUs = start_us; atUs < end_us;) {
      const untilUs = Math.min(end_us, (Math.floor(atUs / (3600 * S)) + 1) * 3600 * S);
      const day = String(berlinDay(atUs)).replace(/(\d{4})(\d\d)(\d\d)/, "$1-$2-$3");
      hours.set(day, (hours.get(day) ?? 0) + untilUs - atUs);
      atUs = untilUs;
    }
  }
  return [...hours];
}

function berlinDay(atUs: number): number {
  const changeUs = Date.parse("2026-10-25T01:00:00Z") * 1000;
  const localUs = atUs + (atUs < changeUs ? 2 : 1) * 3600 * S;
  return Number(new Date(localUs / 1000).toISOString().slice(0, 10).replaceAll("-", ""));
}

function readVisits(database: StoreDatabase): unknown {
  return database
    .prepare("SELECT document_id, start_us, end_us, active_us FROM visit ORDER BY 1, 2")
    .all();
}

function visitsFromEvents(database: StoreDatabase): unknown {
  const visits: { document_id: number; start_us: number; end_us: number; active_us: number }[] = [];
  const events = windowEvents(database).sort((a, b) => a.document_id - b.document_id);
  for (const { document_id, start_us, end_us } of events) {
    const last = visits.at(-1);
    const active_us = end_us - start_us;
    if (last?.document_id === document_id && start_us - last.end_us < 90 * S) {
      last.end_us = Math.max(last.end_us, end_us);
      last.active_us += active_us;
    } else {
      visits.push({ document_id, start_us, end_us, active_us });
    }
  }
  return visits;
}
