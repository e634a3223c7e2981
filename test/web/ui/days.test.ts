import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  heatOf,
  rangeAround,
  stepRange,
  weeksOf,
  type CalendarUnit,
} from "../../../src/web/ui/days.ts";
import { dateOf, dayNumberOf, weekdayOf } from "../../../src/web/ui/wall-clock.ts";
import { law } from "../../helpers/laws.ts";

const day = fc.integer({ min: dayNumberOf(2019, 1, 1), max: dayNumberOf(2033, 1, 1) });
const unit = fc.constantFrom<CalendarUnit>("week", "month", "year");
const firstWeekday = fc.constantFrom(0, 1, 6);

describe("the calendar", () => {
  it("has November 2026 from Sunday 1 to Monday 30, in six weeks that begin on Monday", () => {
    const range = rangeAround(dayNumberOf(2026, 11, 27), "month", 1);
    expect([range.first, range.last]).toEqual([
      dayNumberOf(2026, 11, 1),
      dayNumberOf(2026, 11, 30),
    ]);
    expect(weeksOf(range, 1)).toHaveLength(6);
  });

  it("goes from the last of January to the last of February", () => {
    const next = stepRange(dayNumberOf(2026, 1, 31), "month", 1);
    expect(dateOf(next)).toEqual({ year: 2026, month: 2, day: 28 });
    expect(dateOf(stepRange(dayNumberOf(2024, 2, 29), "year", 1))).toEqual({
      year: 2025,
      month: 2,
      day: 28,
    });
  });

  law(
    "has every day in one range of each unit, and steps to the one beside it",
    fc.property(day, unit, firstWeekday, (date, by, first) => {
      const range = rangeAround(date, by, first);
      const next = rangeAround(stepRange(date, by, 1), by, first);
      const before = rangeAround(stepRange(date, by, -1), by, first);
      return (
        range.first <= date &&
        date <= range.last &&
        next.first === range.last + 1 &&
        before.last === range.first - 1
      );
    }),
  );

  law(
    "shows whole weeks that begin on the day on which weeks begin, with every day of the range",
    fc.property(day, unit, firstWeekday, (date, by, first) => {
      const range = rangeAround(date, by, first);
      const weeks = weeksOf(range, first);
      return (
        weeks.every((week) => week.length === 7 && weekdayOf(week[0] ?? 0) === first) &&
        weeks.flat().filter((each) => each >= range.first && each <= range.last).length ===
          range.last - range.first + 1
      );
    }),
  );

  law(
    "is never white for something, never darker for less, and darkest for all",
    fc.property(
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 0, max: 100_000 }),
      (value, more) =>
        heatOf(value, 100_000) >= 1 &&
        heatOf(value + more, 100_000) >= heatOf(value, 100_000) &&
        heatOf(100_000 + more, 100_000) === 5 &&
        heatOf(0, 100_000) === 0,
    ),
  );
});
