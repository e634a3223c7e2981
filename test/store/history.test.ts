import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../src/log.ts";
import { openEventStore } from "../../src/store/events.ts";
import { type ActivityHistory, createHistory } from "../../src/store/history.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createMemoryHistory, type RecordedWindow } from "../helpers/memory-history.ts";
import { propertyRuns } from "../helpers/property-runs.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const S = 1_000_000;
const T0 = Date.parse("2026-11-23T08:00:00Z") * 1000;
const ZONE = { utcOffsetMinutes: 60, timeZone: "Europe/Berlin" };

const windows: fc.Arbitrary<readonly RecordedWindow[]> = fc
  .array(
    fc.record({
      title: fc.constantFrom("a.ts — shop", "(2) Inbox", "Inbox", "How bees overwinter"),
      gapS: fc.constantFrom(0, 1, 89, 90, 3000),
      lengthS: fc.integer({ min: 1, max: 900 }),
    }),
    { maxLength: 25 },
  )
  .map((steps) => {
    let atUs = T0;
    return steps.map(({ title, gapS, lengthS }) => {
      const startUs = atUs + gapS * S;
      atUs = startUs + lengthS * S;
      return { app: "Firefox", title, place: "example.org/a", startUs, endUs: atUs };
    });
  });

/** The same record in the store. */
function withStore(
  recorded: readonly RecordedWindow[],
  look: (history: ActivityHistory) => void,
): void {
  const clock = createFakeClock("2026-11-23T08:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  try {
    for (const { app, title, place, startUs, endUs } of recorded) {
      const facts = {
        kind: "window",
        app: storable(app),
        title: storable(title),
        place: place === undefined ? null : storable(place),
      } as const;
      store.begin(facts, { startUs, endUs, ...ZONE });
    }
    store.settle();
    look(createHistory(store.database));
  } finally {
    store.close();
  }
}

describe("the history in the store", () => {
  it("answers as the plain reading of the same record does", () => {
    fc.assert(
      fc.property(
        windows,
        fc.integer({ min: 0, max: 12_000 }),
        fc.integer({ min: 0, max: 12_000 }),
        (recorded, a, b) => {
          const plain = createMemoryHistory(recorded);
          const [fromUs, toUs] = [T0 + Math.min(a, b) * S, T0 + Math.max(a, b) * S];
          withStore(recorded, (stored) => {
            expect(stored.firstUs()).toBe(plain.firstUs());
            expect(stored.lastDocumentId()).toBe(plain.lastDocumentId());
            expect(stored.documentCount()).toBe(plain.documentCount());
            expect(stored.documentsAfter(0, 10)).toEqual(plain.documentsAfter(0, 10));
            expect(stored.visitsBetween(fromUs, toUs)).toEqual(plain.visitsBetween(fromUs, toUs));
            expect(stored.visitsFrom(fromUs, toUs, 3)).toEqual(plain.visitsFrom(fromUs, toUs, 3));
            for (const ids of [[1], [1, 2, 99], []]) {
              expect(stored.visitsOf(ids, toUs, 4)).toEqual(plain.visitsOf(ids, toUs, 4));
              expect(stored.documents(ids)).toEqual(plain.documents(ids));
            }
            expect(stored.eventIds(1, fromUs, toUs)).toEqual(plain.eventIds(1, fromUs, toUs));
          });
        },
      ),
      { numRuns: propertyRuns(12, 60) },
    );
  });

  it("counts idle, locked, asleep and unseen time as absence, a film without input not", () => {
    const clock = createFakeClock("2026-11-23T08:00:00Z");
    const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
    try {
      const at = (
        startS: number,
        endS: number,
      ): { startUs: number; endUs: number } & typeof ZONE => ({
        startUs: T0 + startS * S,
        endUs: T0 + endS * S,
        ...ZONE,
      });
      store.begin({ kind: "idle", state: "away" }, at(0, 600));
      store.begin({ kind: "idle", state: "passive" }, at(1000, 1600));
      store.begin({ kind: "lock" }, at(2000, 2600));
      store.begin({ kind: "sleep" }, at(3000, 3600));
      store.begin({ kind: "gap", reason: "paused" }, at(4000, 4600));
      const history = createHistory(store.database);
      const found = history.absencesBetween(T0 + 300 * S, T0 + 4300 * S);
      expect(found.map(({ kind }) => kind)).toEqual(["idle", "lock", "sleep", "gap"]);
      expect(found[0]).toEqual({ kind: "idle", startUs: T0, endUs: T0 + 600 * S });
      expect(history.absencesBetween(T0 + 600 * S, T0 + 2000 * S)).toEqual([]);
    } finally {
      store.close();
    }
  });
});
