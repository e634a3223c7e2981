import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createWallClock,
  dateOf,
  DAY_US,
  dayNumberOf,
  firstWeekday,
  HOUR_US,
  weekdayOf,
} from "../../../src/web/ui/wall-clock.ts";
import { law } from "../../helpers/laws.ts";

/** Zones with every kind of change: none, at 2:00, at midnight, by half an hour, and far from UTC. */
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Africa/Cairo",
  "Asia/Beirut",
  "America/Havana",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Pacific/Kiritimati",
  "Pacific/Pago_Pago",
];
const clocks = new Map(ZONES.map((zone) => [zone, createWallClock(zone)]));
const clockOf = (zone: string): ReturnType<typeof createWallClock> =>
  clocks.get(zone) ?? createWallClock(zone);
const day = fc.integer({ min: dayNumberOf(2015, 1, 1), max: dayNumberOf(2035, 1, 1) });
const zone = fc.constantFrom(...ZONES);

describe("a wall clock", () => {
  it("has days of 23 and 25 hours in Berlin in 2026", () => {
    const { dayStart } = clockOf("Europe/Berlin");
    const lengthOf = (date: number): number => (dayStart(date + 1) - dayStart(date)) / HOUR_US;
    expect(lengthOf(dayNumberOf(2026, 3, 29))).toBe(23);
    expect(lengthOf(dayNumberOf(2026, 10, 25))).toBe(25);
    expect(lengthOf(dayNumberOf(2026, 11, 27))).toBe(24);
  });

  it("begins a day without a midnight with its first instant", () => {
    const { dayStart } = clockOf("Africa/Cairo");
    // On 24 April 2026 the clock goes from 00:00 to 01:00, which is 22:00 UTC of the day before.
    expect(dayStart(dayNumberOf(2026, 4, 24))).toBe(Date.UTC(2026, 3, 23, 22) * 1000);
  });

  it("reads days that there are, and no others", () => {
    const { parseDay, isoDay } = clockOf("UTC");
    expect(parseDay("2026-11-27")).toBe(dayNumberOf(2026, 11, 27));
    expect(isoDay(dayNumberOf(2026, 11, 27))).toBe("2026-11-27");
    for (const text of [
      "2026-02-30",
      "2026-13-01",
      "27.11.2026",
      "",
      "2026-11-27T00:00",
      "0001-01-01",
      "9999-12-31",
    ]) {
      expect(parseDay(text)).toBeNull();
    }
  });

  it("knows weekdays and the first of the week", () => {
    expect(weekdayOf(dayNumberOf(2026, 11, 27))).toBe(5);
    expect(weekdayOf(dayNumberOf(1969, 12, 31))).toBe(3);
    expect(firstWeekday("de-DE")).toBe(1);
    expect(firstWeekday("en-US")).toBe(0);
  });

  law(
    "puts days one after the other: an instant lies in the day that began last",
    fc.property(zone, day, fc.double({ min: 0, max: 1, noNaN: true }), (name, date, share) => {
      const clock = clockOf(name);
      const start = clock.dayStart(date);
      const next = clock.dayStart(date + 1);
      const inside = Math.min(start + Math.floor(share * (next - start)), next - 1);
      return (
        next - start >= 22 * HOUR_US &&
        next - start <= 26 * HOUR_US &&
        clock.dayNumber(start) === date &&
        clock.dayNumber(start - 1) < date &&
        // Where the clock goes back over midnight, an hour of the day before is told again.
        Math.abs(clock.dayNumber(inside) - date) <= (next - start > DAY_US ? 1 : 0)
      );
    }),
  );

  law(
    "gives back the date that a day number was made of",
    fc.property(day, (date) => {
      const { year, month, day: inMonth } = dateOf(date);
      return dayNumberOf(year, month, inMonth) === date;
    }),
  );
});
