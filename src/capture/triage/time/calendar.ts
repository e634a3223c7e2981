/** Days, weeks, months and years by name or number, seen from today and biased to the past. */
import {
  addDays,
  daysBetween,
  firstOfMonth,
  validDay,
  weekdayOf,
  type LocalDay,
} from "../local-time.ts";
import type { DayNode, PeriodNode } from "./nodes.ts";
import type { Shade } from "./words.ts";

export interface DayRun {
  readonly first: LocalDay;
  readonly days: number;
}

/** The day that is meant, or null when the calendar has none such. */
export function resolveDay(
  day: DayNode,
  period: PeriodNode | null,
  today: LocalDay,
): LocalDay | null {
  switch (day.type) {
    case "back": {
      // "a week ago yesterday"
      const weeks = period?.unit === "week" && period.loose ? (period.back ?? 0) : 0;
      return addDays(today, -day.days - 7 * weeks);
    }
    case "weekday":
      return resolveWeekday(day.weekday, day.which, period, today);
    case "date":
      return resolveDate(day, period, today);
  }
}

function resolveWeekday(
  weekday: number,
  which: "last" | "this" | null,
  period: PeriodNode | null,
  today: LocalDay,
): LocalDay | null {
  const monday = addDays(today, -((weekdayOf(today) + 6) % 7));
  const inWeek = (weekday + 6) % 7;
  if (period?.number !== undefined) {
    const run = resolvePeriod(period, today);
    return addDays(run.first, (weekday - weekdayOf(run.first) + 7) % 7);
  }
  if (period?.unit === "week" && period.back !== null) {
    // "a week ago Tuesday" counts from the last Tuesday, "Tuesday last week" by the calendar.
    if (!period.loose) return addDays(monday, inWeek - 7 * period.back);
    const back = (weekdayOf(today) - weekday + 7) % 7 || 7;
    return addDays(today, -back - 7 * period.back);
  }
  const thisWeek = addDays(monday, inWeek);
  if (which === "this" && daysBetween(thisWeek, today) <= 0) return thisWeek;
  // Said on the day itself, its name means the one a week ago.
  return addDays(today, -((weekdayOf(today) - weekday + 7) % 7 || 7));
}

function resolveDate(
  date: Extract<DayNode, { type: "date" }>,
  period: PeriodNode | null,
  today: LocalDay,
): LocalDay | null {
  if (date.month === null) {
    if (period?.month != null) return validDay(period.year ?? today.year, period.month, date.day);
    const start = period?.unit === "month" && period.back !== null ? period.back : 0;
    for (let back = start; back < start + 12; back++) {
      const month = firstOfMonth(today, -back);
      const day = validDay(month.year, month.month, date.day);
      if (day !== null && daysBetween(day, today) <= 0) return day;
    }
    return null;
  }
  const readings = [lastDate(date.day, date.month, date.year, today)];
  if (date.swappable) readings.push(lastDate(date.month, date.day, date.year, today));
  const past = readings.filter((day) => day !== null && daysBetween(day, today) <= 0);
  return past.reduce(
    (best, day) => (best === null || (day !== null && daysBetween(day, best) > 0) ? day : best),
    null,
  );
}

function lastDate(
  day: number,
  month: number,
  year: number | null,
  today: LocalDay,
): LocalDay | null {
  if (month > 12) return null;
  if (year !== null) return validDay(year, month, day);
  for (let back = 0; back <= 4; back++) {
    const made = validDay(today.year - back, month, day);
    if (made !== null && daysBetween(made, today) <= 0) return made;
  }
  return null;
}

/** The run of days that is meant. */
export function resolvePeriod(period: PeriodNode, today: LocalDay): DayRun {
  const spanOf = (first: LocalDay, days: number): DayRun => ({ first, days });
  const back = period.back ?? 0;
  switch (period.unit) {
    case "week": {
      if (period.number !== undefined) return numberedWeek(period, period.number, today);
      if (period.loose && back === 1) return spanOf(addDays(today, -8), 3);
      const monday = addDays(today, -((weekdayOf(today) + 6) % 7));
      return spanOf(addDays(monday, -7 * back), 7);
    }
    case "weekend": {
      const sinceSaturday = (weekdayOf(today) + 1) % 7;
      const running = sinceSaturday <= 1;
      const last = addDays(today, -sinceSaturday);
      return spanOf(addDays(last, -7 * (running ? back : Math.max(0, back - 1))), 2);
    }
    case "month": {
      if (period.loose && back === 1) {
        const first = firstOfMonth(today, -1);
        return spanOf(addDays(validDay(first.year, first.month, today.day) ?? first, -4), 9);
      }
      if (period.month === null) {
        const first = firstOfMonth(today, -back);
        return spanOf(first, daysBetween(firstOfMonth(first, 1), first));
      }
      const year = period.year ?? (period.month > today.month ? today.year - 1 : today.year);
      const first = { year, month: period.month, day: 1 };
      return spanOf(first, daysBetween(firstOfMonth(first, 1), first));
    }
    case "quarter": {
      const own = { ...today, month: today.month - ((today.month - 1) % 3), day: 1 };
      const month = period.number === undefined ? own.month : period.number * 3 - 2;
      const year = period.year ?? (month > today.month ? today.year - 1 : today.year);
      const first = firstOfMonth({ year, month, day: 1 }, -3 * back);
      return spanOf(first, daysBetween(firstOfMonth(first, 3), first));
    }
    case "year": {
      const year = period.year ?? today.year - back;
      const first = { year, month: 1, day: 1 };
      return spanOf(first, daysBetween({ year: year + 1, month: 1, day: 1 }, first));
    }
  }
}

/** "KW 46" is a week by ISO 8601, "the second week of November" the 8th to the 14th, "the last" its last seven days. */
function numberedWeek({ month, back, year }: PeriodNode, number: number, today: LocalDay): DayRun {
  if (month === null && back === null) {
    // The week with the fourth of January is the first.
    const ofYear = (year: number): LocalDay => {
      const fourth = { year, month: 1, day: 4 };
      return addDays(fourth, 7 * (number - 1) - ((weekdayOf(fourth) + 6) % 7));
    };
    const first = ofYear(today.year);
    return { first: daysBetween(first, today) > 0 ? ofYear(today.year - 1) : first, days: 7 };
  }
  const whole = { unit: "month", month, back, year, loose: false } as const;
  const run = resolvePeriod(whole, today);
  const skipped = number < 0 ? run.days - 7 : 7 * (number - 1);
  return { first: addDays(run.first, skipped), days: Math.min(7, run.days - skipped) };
}

/** The first, middle or last part of a run: "early this week", "mi-novembre", "am Ende des Monats". */
export function shadeRun(run: DayRun, shade: Shade | null): DayRun {
  if (shade === null) return run;
  const days = Math.max(1, Math.round(run.days * 0.4));
  // The middle of a week is that of its working days.
  const rest = run.days === 7 ? 5 - days : run.days - days;
  const skipped = { early: 0, mid: Math.round(rest / 2), late: run.days - days };
  return { first: addDays(run.first, skipped[shade]), days };
}
