/** Ranges of days as the calendar and the totals show them, and the questions for them. Pure arithmetic of day numbers. */
import { dateOf, dayNumberOf, weekdayOf } from "./wall-clock.ts";

/** Days from the first to the last, both included. */
export interface DayRange {
  readonly first: number;
  readonly last: number;
}

export type CalendarUnit = "week" | "month" | "year";

/** The week, month or year that a day lies in. `firstWeekday`: 0 for Sunday. */
export function rangeAround(day: number, unit: CalendarUnit, firstWeekday: number): DayRange {
  const { year, month } = dateOf(day);
  switch (unit) {
    case "week": {
      const first = weekStart(day, firstWeekday);
      return { first, last: first + 6 };
    }
    case "month":
      return { first: dayNumberOf(year, month, 1), last: dayNumberOf(year, month + 1, 1) - 1 };
    case "year":
      return { first: dayNumberOf(year, 1, 1), last: dayNumberOf(year + 1, 1, 1) - 1 };
  }
}

/** A day of the range before (-1) or after (1) the one that a day lies in. */
export function stepRange(day: number, unit: CalendarUnit, direction: 1 | -1): number {
  const { year, month, day: inMonth } = dateOf(day);
  if (unit === "week") return day + 7 * direction;
  const target = unit === "month" ? month + direction : month + 12 * direction;
  const lastOfTarget = dateOf(dayNumberOf(year, target + 1, 1) - 1).day;
  return dayNumberOf(year, target, Math.min(inMonth, lastOfTarget));
}

/** The weeks that a range touches, each as its seven days. */
export function weeksOf(range: DayRange, firstWeekday: number): readonly (readonly number[])[] {
  const weeks: number[][] = [];
  for (let day = weekStart(range.first, firstWeekday); day <= range.last; day += 7) {
    weeks.push(Array.from({ length: 7 }, (_, index) => day + index));
  }
  return weeks;
}

function weekStart(day: number, firstWeekday: number): number {
  return day - ((weekdayOf(day) - firstWeekday + 7) % 7);
}

/** How dark a share is drawn: 0 for nothing, then 1 to 5. Anything above nothing is seen. */
export function heatOf(value: number, full: number): number {
  if (value <= 0) return 0;
  return Math.min(5, 1 + Math.floor((value / full) * 5));
}
