import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { axisOf } from "../../../../src/web/ui/timeline/ticks.ts";
import {
  MAX_SPAN_US,
  MIN_SPAN_US,
  toX,
  type Viewport,
} from "../../../../src/web/ui/timeline/viewport.ts";
import {
  createWallClock,
  DAY_US,
  dayNumberOf,
  HOUR_US,
  MINUTE_US,
} from "../../../../src/web/ui/wall-clock.ts";
import { law } from "../../../helpers/laws.ts";

const LABELS = { clock: 60, clockWithSeconds: 76, day: 60, month: 48 };
const BERLIN = createWallClock("Europe/Berlin");

/** Local times of the marks of one day: `02:00`. */
function clockTimes(viewport: Viewport, widthPx: number): string[] {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: "Europe/Berlin",
    hour: "2-digit",
    minute: "2-digit",
  });
  return axisOf(viewport, widthPx, BERLIN, LABELS, 1).ticks.map((at) => format.format(at / 1000));
}

function dayOf(year: number, month: number, day: number): Viewport {
  const number = dayNumberOf(year, month, day);
  return { fromUs: BERLIN.dayStart(number), toUs: BERLIN.dayStart(number + 1) };
}

describe("the time axis", () => {
  it("skips the hour that the clock skips, and stays at round hours", () => {
    expect(clockTimes(dayOf(2026, 3, 29), 560)).toEqual([
      "00:00",
      "03:00",
      "06:00",
      "09:00",
      "12:00",
      "15:00",
      "18:00",
      "21:00",
    ]);
    expect(clockTimes(dayOf(2026, 3, 29), 1500).slice(0, 4)).toEqual([
      "00:00",
      "01:00",
      "03:00",
      "04:00",
    ]);
  });

  it("shows the hour that the clock repeats twice, and stays at round hours", () => {
    expect(clockTimes(dayOf(2026, 10, 25), 560)).toEqual([
      "00:00",
      "03:00",
      "06:00",
      "09:00",
      "12:00",
      "15:00",
      "18:00",
      "21:00",
    ]);
    expect(clockTimes(dayOf(2026, 10, 25), 1600).slice(0, 5)).toEqual([
      "00:00",
      "01:00",
      "02:00",
      "02:00",
      "03:00",
    ]);
  });

  it("goes from seconds to months as the stretch grows", () => {
    const end = BERLIN.dayStart(dayNumberOf(2026, 11, 27));
    const unitOf = (spanUs: number): string =>
      axisOf({ fromUs: end - spanUs, toUs: end }, 1000, BERLIN, LABELS, 1).unit;
    expect(unitOf(MIN_SPAN_US)).toBe("second");
    expect(unitOf(HOUR_US)).toBe("minute");
    expect(unitOf(DAY_US)).toBe("minute");
    expect(unitOf(10 * DAY_US)).toBe("day");
    expect(unitOf(MAX_SPAN_US)).toBe("month");
  });

  it("has no mark at the end of a month that is nearer to the next than a step, in leap years too", () => {
    const days = (year: number): readonly number[] => {
      const fromUs = BERLIN.dayStart(dayNumberOf(year, 2, 25));
      const view = { fromUs, toUs: BERLIN.dayStart(dayNumberOf(year, 4, 5)) };
      return axisOf(view, 1400, BERLIN, LABELS, 1)
        .ticks.slice(0, 4)
        .map((at) => new Date(at / 1000 + 7_200_000).getUTCDate());
    };
    expect(days(2024)).toEqual([25, 27, 1, 3]);
    expect(days(2026)).toEqual([25, 27, 1, 3]);
  });

  it("names the day in which the stretch begins, for a label at the edge", () => {
    const start = BERLIN.dayStart(dayNumberOf(2026, 11, 27));
    const view = { fromUs: start + 5 * HOUR_US, toUs: start + 5 * HOUR_US + MINUTE_US };
    expect(axisOf(view, 1000, BERLIN, LABELS, 1).majors).toEqual([start]);
  });

  law(
    "has marks in order, within the stretch, far enough apart for their labels, and not too few",
    fc.property(
      fc.constantFrom("Europe/Berlin", "Africa/Cairo", "Australia/Lord_Howe", "UTC"),
      fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2027, 0, 1) }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 320, max: 3840 }),
      (zone, fromMs, zoom, widthPx) => {
        const spanUs = Math.round(MIN_SPAN_US * (MAX_SPAN_US / MIN_SPAN_US) ** zoom);
        const view = { fromUs: fromMs * 1000, toUs: fromMs * 1000 + spanUs };
        const { ticks, unit } = axisOf(view, widthPx, createWallClock(zone), LABELS, 1);
        const xs = ticks.map((at) => toX(view, widthPx, at));
        // A month is 28 to 31 days, a two-day step ends with a month, an hour is left out in spring.
        const nearest = unit === "second" || unit === "minute" ? 30 : 44;
        return (
          ticks.length >= 1 &&
          ticks.every((at) => at >= view.fromUs && at < view.toUs) &&
          xs.every((x, index) => index === 0 || x - (xs[index - 1] ?? 0) >= nearest) &&
          ticks.length <= widthPx / 40
        );
      },
    ),
  );
});
