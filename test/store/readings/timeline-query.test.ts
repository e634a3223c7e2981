import { describe, expect, onTestFinished, test } from "vitest";
import type { EventFacts } from "../../../src/capture/events.ts";
import { silentLog } from "../../../src/log.ts";
import { openEventStore } from "../../../src/store/events.ts";
import { localTime } from "../../../src/context/plain-text.ts";
import { readDays } from "../../../src/store/readings/days-query.ts";
import {
  readTimeline,
  type TimelineLaneId,
  type TimelineRequest,
} from "../../../src/store/readings/timeline-query.ts";
import type { Running } from "../../../src/store/readings/timeline-rows.ts";
import { readTotals } from "../../../src/store/readings/totals-query.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { createOtherDevice } from "../../helpers/other-device.ts";
import { storable } from "../../helpers/storable.ts";
import { createTempHome } from "../../helpers/temp-home.ts";

const S = 1_000_000;
const HOUR = 3600 * S;
const DAY = 24 * HOUR;
const ZONE = "Europe/Berlin";
/** A Monday midnight in Berlin. */
const T0 = Date.parse("2026-11-02T00:00:00+01:00") * 1000;

describe("a timeline", () => {
  test("tells holes by their reason, apart from times when the owner was away", () => {
    const { see, lane } = openRecord();
    see(window("Code", "a.ts"), 0, 60);
    see({ kind: "gap", reason: "paused" }, 60, 120);
    see({ kind: "idle", state: "away" }, 120, 180);
    see({ kind: "lock" }, 130, 170);
    see({ kind: "gap", reason: "not-running" }, 200, 260);
    const told = (id: "gaps" | "presence") =>
      lane(id, -30, 300).map(({ startUs, endUs, kind, state }) => [
        (startUs - T0) / S,
        (endUs - T0) / S,
        state ?? kind,
      ]);
    expect(told("gaps")).toEqual([
      [-30, 0, "unrecorded"],
      [60, 120, "paused"],
      [200, 260, "not-running"],
    ]);
    expect(told("presence")).toEqual([
      [120, 180, "away"],
      [130, 170, "lock"],
    ]);
  });

  test("of an empty record says that nothing was ever recorded", () => {
    const { timeline } = openRecord();
    const { firstUs, lastUs, lanes } = timeline({ fromUs: T0, toUs: T0 + HOUR });
    expect([firstUs, lastUs]).toEqual([null, null]);
    expect(lanes.at(-1)?.spans).toMatchObject([
      { startUs: T0, endUs: T0 + HOUR, state: "unrecorded" },
    ]);
  });

  test("clips what reaches into the range, from however long before", () => {
    const { see, lane } = openRecord();
    see(window("Film", "long"), 0, 5 * 3600);
    expect(lane("focus", 4 * 3600, 4 * 3600 + 60)).toMatchObject([
      { startUs: T0 + 4 * HOUR, endUs: T0 + 4 * HOUR + 60 * S, app: "Film", label: null },
    ]);
  });

  test("lets what goes on last until now", () => {
    const { see, timeline } = openRecord();
    const id = see(window("Code", "a.ts"), 0, 10);
    const range = { fromUs: T0, toUs: T0 + HOUR };
    const { lanes, lastUs } = timeline(range, { ids: [id], nowUs: T0 + 25 * S });
    expect(lanes[0]?.spans).toMatchObject([{ endUs: T0 + 25 * S }]);
    expect(lastUs).toBe(T0 + 25 * S);
  });

  test("joins windows of one application in the lane of applications alone", () => {
    const { see, lane } = openRecord();
    see(window("Code", "a.ts"), 0, 10);
    see(window("Code", "b.ts", "shop"), 10, 30);
    expect(lane("focus", 0, 60)).toMatchObject([{ app: "Code", activeUs: 30 * S, merged: 1 }]);
    expect(lane("documents", 0, 60)).toMatchObject([
      { app: "Code", label: "a.ts", place: null },
      { app: "Code", label: "b.ts", place: "shop" },
    ]);
  });

  test("shows media while they play", () => {
    const { see, lane } = openRecord();
    const piece = {
      kind: "media",
      player: storable("mpv"),
      title: storable("Tango"),
      artist: null,
    } as const;
    see({ ...piece, playing: true }, 0, 30);
    see({ ...piece, playing: false }, 30, 60);
    expect(lane("media", 0, 60)).toMatchObject([
      { endUs: T0 + 30 * S, app: "mpv", label: "Tango", state: "playing" },
    ]);
  });

  test("shows tabs and files as their programs tell them", () => {
    const { see, lane } = openRecord();
    see(
      {
        kind: "editor",
        app: storable("Code"),
        file: storable("a.ts"),
        project: storable("shop"),
        branch: null,
        language: null,
      },
      0,
      30,
    );
    expect(lane("tabs", 0, 60)).toMatchObject([
      { kind: "editor", app: "Code", label: "a.ts", place: "shop" },
    ]);
  });

  test("of months keeps to the spans that it may have, and loses no time", () => {
    const { see, timeline, store } = openRecord();
    let activeUs = 0;
    store.database.transaction(() => {
      for (let index = 0; index < 3000; index += 1) {
        const app = `App ${index % 7}`;
        see(window(app, `title ${index % 50}`), index * 1800, index * 1800 + 300 + (index % 900));
        activeUs += (300 + (index % 900)) * S;
      }
    });
    store.settle();
    const { lanes, resolutionUs } = timeline({
      fromUs: T0,
      toUs: T0 + 63 * DAY,
      maxSpans: 200,
    });
    expect(resolutionUs).toBeGreaterThan(90 * S);
    for (const id of ["focus", "documents"]) {
      const spans = lanes.find((lane) => lane.id === id)?.spans ?? [];
      expect(spans.length).toBeLessThanOrEqual(200);
      const sum = spans.reduce((total, span) => total + span.activeUs, 0);
      expect(Math.abs(sum - activeUs)).toBeLessThan(spans.length + 1);
      expect(spans[0]?.app).toMatch(/^App \d$/);
    }
  });

  test("of one window in a month tells of one, and not that it was drawn to the second", () => {
    const { see, timeline, store } = openRecord();
    see(window("Code", "a.ts"), 0, 20_000);
    store.settle();
    const { lanes, resolutionUs } = timeline({ fromUs: T0, toUs: T0 + 30 * DAY, maxSpans: 1000 });
    expect(lanes.find(({ id }) => id === "documents")?.spans).toMatchObject([
      { label: "a.ts", merged: 1, activeUs: 20_000 * S },
    ]);
    expect(resolutionUs).toBeGreaterThan(0);
  });

  test.each([1, 10_001, 10.5])("of %s spans is refused", (maxSpans) => {
    const { timeline } = openRecord();
    expect(() => timeline({ fromUs: 0, toUs: 1, maxSpans })).toThrow(/Cannot draw/);
  });
});

describe("totals", () => {
  test("of long ranges are those of the events, at the edges too", () => {
    const { see, store } = openRecord();
    for (let day = 0; day < 10; day += 1)
      see(window("Code", `${day}.ts`), day * 86_400 + 3600, day * 86_400 + 7200);
    store.settle();
    const range = { fromUs: T0 + HOUR + 600 * S, toUs: T0 + 9 * DAY + HOUR + 60 * S };
    const { totals, activeUs } = readTotals(store.database, { ...range, by: "application" }, ZONE);
    expect(totals).toMatchObject([{ label: "Code", activeUs: 8 * HOUR + 3000 * S + 60 * S }]);
    expect(activeUs).toBe(totals[0]?.activeUs);
  });

  test("say how much went to others than the largest, and to what has no project", () => {
    const { see, store } = openRecord();
    see(window("Code", "a.ts — shop"), 0, 100);
    see(window("Code", "b.ts — Shop"), 100, 150);
    see(window("Firefox", "Pull requests", "github.com/acme/tools/pulls"), 150, 190);
    see(window("Signal", "Anna"), 200, 230);
    store.settle();
    const range = { fromUs: T0, toUs: T0 + HOUR, limit: 1 };
    expect(readTotals(store.database, { ...range, by: "project" }, ZONE)).toMatchObject({
      totals: [{ label: "shop", activeUs: 150 * S }],
      activeUs: 220 * S,
      rest: { activeUs: 40 * S, count: 1 },
      withoutUs: 30 * S,
    });
  });

  test("of days whose events have expired are those that were kept, and say so", () => {
    const { see, store } = openRecord();
    see(window("Code", "a.ts"), 3600, 7200);
    see(window("Code", "a.ts"), 8 * 86_400, 8 * 86_400 + 60);
    store.settle();
    store.database.execute(`DELETE FROM event WHERE start_us < ${T0 + DAY}`);
    const range = { fromUs: T0, toUs: T0 + 8 * DAY + HOUR };
    expect(readTotals(store.database, { ...range, by: "document" }, ZONE)).toMatchObject({
      totals: [{ label: "a.ts", app: "Code", activeUs: HOUR + 60 * S }],
      fromDayTotals: true,
    });
    const gaps = readTimeline(store.database, { ...range, lanes: ["gaps"] }, NOTHING).lanes[0];
    expect(gaps?.spans.map(({ state }) => state)).toEqual(["unrecorded", "expired"]);
  });
});

describe("days", () => {
  test("have 24 hours of the wall clock, also when the clock is changed", () => {
    const { see, store } = openRecord();
    // On 28 March 2027 the hour from two to three is left out.
    const midnight = Date.parse("2027-03-28T00:00:00+01:00") * 1000;
    const from = (midnight - T0) / S;
    see(window("Code", "a.ts"), from + 1.5 * 3600, from + 2.5 * 3600);
    store.settle();
    const { days } = readDays(store.database, { fromDay: "2027-03-27", toDay: "2027-03-29" }, ZONE);
    expect(days.map(({ day, activeUs }) => [day, activeUs])).toEqual([
      ["2027-03-27", null],
      ["2027-03-28", HOUR],
      ["2027-03-29", null],
    ]);
    const hours = days[1]?.hours ?? [];
    expect(hours).toHaveLength(24);
    expect([hours[1], hours[2], hours[3]]).toEqual([HOUR / 2, 0, HOUR / 2]);
  });

  test.each(["Asia/Kolkata", "Asia/Kathmandu", "Australia/Adelaide"])(
    "have the hours of a clock that is no whole hours off: %s",
    (timeZone) => {
      const { store } = openRecord();
      const local = localTime(timeZone);
      /** An instant of 3 November by that clock, in minutes after midnight. */
      const at = (minutes: number): number => {
        const utcUs = Date.parse("2026-11-03T00:00:00Z") * 1000;
        return utcUs - local.offsetMinutes(utcUs) * 60 * S + minutes * 60 * S;
      };
      const see = (from: number, to: number): void => {
        const utcOffsetMinutes = local.offsetMinutes(at(from));
        const span = { startUs: at(from), endUs: at(to), utcOffsetMinutes, timeZone };
        store.begin(window("Code", "a.ts"), span);
      };
      see(-20, 10);
      see(20, 50);
      see(9 * 60 + 10, 10 * 60 + 20);
      see(23 * 60 + 40, 24 * 60 + 15);
      store.settle();
      const request = { fromDay: "2026-11-03", toDay: "2026-11-04" };
      const { days } = readDays(store.database, request, timeZone);
      const minutes = days.map(({ hours }) =>
        hours.flatMap((us, hour) => (us === 0 ? [] : [[hour, us / S / 60]])),
      );
      expect(minutes).toEqual([
        [
          [0, 40],
          [9, 50],
          [10, 20],
          [23, 20],
        ],
        [[0, 15]],
      ]);
      expect(days.map(({ activeUs }) => (activeUs ?? 0) / S / 60)).toEqual([130, 15]);
    },
  );

  test("on which nothing was done are not those of which nothing is known", () => {
    const { see, store } = openRecord();
    see({ kind: "idle", state: "away" }, 3600, 7200);
    see({ kind: "gap", reason: "not-running" }, 20 * 3600, 30 * 3600);
    const { days } = readDays(store.database, { fromDay: "2026-11-02", toDay: "2026-11-03" }, ZONE);
    expect(days.map(({ activeUs, gapUs }) => [activeUs, gapUs])).toEqual([
      [0, 4 * HOUR],
      [null, 6 * HOUR],
    ]);
  });
});

const NOTHING: Running = { ids: [], nowUs: 0 };

function openRecord() {
  const clock = createFakeClock("2026-11-27T16:12:00Z", ZONE);
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  onTestFinished(store.close);
  const timeline = (request: TimelineRequest, running = NOTHING) =>
    readTimeline(store.database, request, running);
  return {
    store,
    timeline,
    /** From and to in seconds after the first midnight. Returns the id. */
    see: (facts: EventFacts, from: number, to: number) =>
      store.begin(facts, {
        startUs: T0 + from * S,
        endUs: T0 + to * S,
        utcOffsetMinutes: 60,
        timeZone: ZONE,
      }),
    lane: (id: TimelineLaneId, from: number, to: number) =>
      timeline({ fromUs: T0 + from * S, toUs: T0 + to * S, lanes: [id] }).lanes[0]?.spans ?? [],
  };
}

describe("the windows of other devices", () => {
  test("are a lane of their own with the device of each, by this device's clock, and none where there is none", () => {
    const { store, timeline, lane } = openRecord();
    const range = { fromUs: T0, toUs: T0 + 3600 * S };
    expect(timeline(range).lanes.map(({ id }) => id)).not.toContain("elsewhere");
    expect(timeline({ ...range, lanes: ["elsewhere"] }).lanes).toEqual([]);
    const offsetUs = 3600 * S;
    const attic = createOtherDevice(store, "attic", { offsetUs });
    const laptop = createOtherDevice(store, "laptop");
    const at = (from: number, to: number) => ({ startUs: T0 + from * S, endUs: T0 + to * S });
    laptop.tell([{ title: "plan", app: "Calc", ...at(10, 70) }], T0);
    attic.tell([{ title: "log", ...at(3600 + 30, 3600 + 90) }], T0);
    expect(lane("elsewhere", 0, 60)).toMatchObject([
      { device: "laptop", app: "Calc", label: "plan", startUs: T0 + 10 * S, activeUs: 50 * S },
      { device: "attic", app: "Code", label: "log", startUs: T0 + 30 * S, endUs: T0 + 60 * S },
    ]);
    // Of a year the same, in fewer pieces.
    const year = { fromUs: T0, toUs: T0 + 300 * 86_400 * S, maxSpans: 100 };
    const drawn = timeline({ ...year, lanes: ["elsewhere"] }).lanes[0]?.spans ?? [];
    expect(drawn.map(({ device, activeUs }) => [device, activeUs / S])).toEqual([
      ["laptop", 60],
      ["attic", 60],
    ]);
    attic.erase(T0, T0 + 9000 * S);
    expect(lane("elsewhere", 0, 60).map(({ device }) => device)).toEqual(["laptop"]);
  });
});

function window(app: string, title: string, place: string | null = null): EventFacts {
  return {
    kind: "window",
    app: storable(app),
    title: storable(title),
    place: place === null ? null : storable(place),
  };
}
