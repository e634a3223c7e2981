/** Weeks, months and years as maps of where the time went: the darker, the more. Each day leads to its timeline. */
import type { JSX } from "preact";
import type { DayActivity } from "../../../api.ts";
import { rangeAround, stepRange, weeksOf, type CalendarUnit, type DayRange } from "../days.ts";
import { useLoad } from "../load.ts";
import { usePage, type Page } from "../page.ts";
import { EmptyState, Refusal } from "../parts.tsx";
import { Sign } from "../sign.tsx";
import { firstWeekday } from "../wall-clock.ts";
import { HeatLegend, Month, Week, Year, type Days } from "./calendar-maps.tsx";

const UNITS: readonly { readonly unit: CalendarUnit; readonly title: string }[] = [
  { unit: "week", title: "Week" },
  { unit: "month", title: "Month" },
  { unit: "year", title: "Year" },
];

export function CalendarView(): JSX.Element {
  const page = usePage();
  const { api, router, clock } = page;
  const { params } = router.route.value;
  const unit = UNITS.find((each) => each.unit === params["unit"])?.unit ?? "month";
  const today = page.today.value;
  const day = clock.parseDay(params["day"] ?? "") ?? today;
  const weekBegin = firstWeekday(page.formats.locale);
  const range = rangeAround(day, unit, weekBegin);
  const request = { fromDay: clock.isoDay(range.first), toDay: clock.isoDay(range.last) };
  const loaded = useLoad(`${request.fromDay} ${request.toDay}`, (signal) =>
    api.days(request, signal),
  );
  const { answer, refused } = loaded.value;
  const days: Days = new Map(
    answer?.days.map((each) => [clock.parseDay(each.day) ?? 0, each] as const),
  );
  const go = (to: number, as: CalendarUnit = unit): void =>
    router.replaceParams({ unit: as, day: clock.isoDay(to) });
  const weeks = weeksOf(range, weekBegin);
  return (
    <>
      <div class="timeline-bar">
        <div class="row">
          <button
            type="button"
            class="button"
            aria-label="Earlier"
            onClick={() => go(stepRange(day, unit, -1))}
          >
            <Sign path="M10 3 5 8l5 5" />
          </button>
          <button
            type="button"
            class="button"
            aria-label="Later"
            onClick={() => go(stepRange(day, unit, 1))}
          >
            <Sign path="m6 3 5 5-5 5" />
          </button>
          <button type="button" class="button" onClick={() => go(today)}>
            Today
          </button>
          <h2 class="stretch-name" aria-live="polite">
            {nameOf(page, unit, range)}
          </h2>
        </div>
        <div class="row">
          <Sum days={answer?.days ?? []} />
          <div class="segments" role="group" aria-label="Show">
            {UNITS.map((each) => (
              <button
                key={each.unit}
                type="button"
                class="button"
                aria-pressed={each.unit === unit}
                onClick={() => go(day, each.unit)}
              >
                {each.title}
              </button>
            ))}
          </div>
        </div>
      </div>
      {refused !== null && <Refusal error={refused} />}
      <section class="panel" aria-label={nameOf(page, unit, range)}>
        {unit === "week" && <Week days={days} week={weeks[0] ?? []} today={today} />}
        {unit === "month" && <Month days={days} weeks={weeks} range={range} today={today} />}
        {unit === "year" && <Year days={days} range={range} weekBegin={weekBegin} today={today} />}
        <HeatLegend />
      </section>
      {answer !== null && answer.days.every(({ activeUs }) => activeUs === null) && (
        <EmptyState title="Nothing was recorded in these days">
          Days before the first event of the record, and days on which the daemon did not run, are
          empty here.
        </EmptyState>
      )}
    </>
  );
}

function Sum(props: { readonly days: readonly DayActivity[] }): JSX.Element | null {
  const { formats } = usePage();
  const known = props.days.filter(({ activeUs }) => activeUs !== null);
  if (known.length === 0) return null;
  const sumUs = known.reduce((sum, { activeUs }) => sum + (activeUs ?? 0), 0);
  return <span class="muted">{formats.duration(sumUs)} focused</span>;
}

function nameOf({ formats, clock }: Page, unit: CalendarUnit, range: DayRange): string {
  const firstUs = clock.dayStart(range.first);
  switch (unit) {
    case "week":
      return formats.range(firstUs, clock.dayStart(range.last), true);
    case "month":
      return formats.month(firstUs);
    case "year":
      return formats.year(firstUs);
  }
}
