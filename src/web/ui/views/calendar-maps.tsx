/** The maps of the calendar: a week by the hour, a month and a year by the day, each as a table that can be heard as well. */
import type { JSX } from "preact";
import type { DayActivity } from "../../../api.ts";
import { heatOf, weeksOf, type DayRange } from "../days.ts";
import { usePage, type Page } from "../page.ts";
import { toHash } from "../route.ts";
import { dateOf, HOUR_US } from "../wall-clock.ts";

/** A day of so much focused time is as dark as can be. */
const FULL_DAY_US = 9 * HOUR_US;
/** Holes shorter than this are not worth a word on a day. */
const NOTED_GAP_US = HOUR_US;

/** The days of a range, by number. */
export type Days = ReadonlyMap<number, DayActivity>;

/** Hours as rows, days as columns. Hours before the first and after the last with anything are left out. */
export function Week(props: {
  readonly days: Days;
  readonly week: readonly number[];
  readonly today: number;
}): JSX.Element {
  const { formats, clock } = usePage();
  const { days, week, today } = props;
  const hoursOf = (day: number): readonly number[] => days.get(day)?.hours ?? [];
  const busy = Array.from({ length: 24 }, (_, hour) => hour).filter((hour) =>
    week.some((day) => (hoursOf(day)[hour] ?? 0) > 0),
  );
  const first = Math.max(0, Math.min(8, (busy[0] ?? 8) - 1));
  const last = Math.min(23, Math.max(18, (busy.at(-1) ?? 18) + 1));
  // An hour is named by the clock of a day on which no clock is changed.
  const hourName = (hour: number): string => formats.clock(clock.dayStart(0) + hour * HOUR_US);
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Hours of the week">
      <table class="heat heat-week">
        <thead>
          <tr>
            <td />
            {week.map((day) => (
              <th key={day} scope="col" class={day === today ? "today" : ""}>
                <DayLink day={day}>
                  {formats.weekday(clock.dayStart(day))} {dateOf(day).day}
                </DayLink>
                <span class="heat-sum">
                  <DaySum activity={days.get(day)} toCome={day > today} />
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: last - first + 1 }, (_, index) => first + index).map((hour) => (
            <tr key={hour}>
              <th scope="row">{hourName(hour)}</th>
              {week.map((day) => {
                const us = hoursOf(day)[hour] ?? 0;
                const unknown = days.get(day)?.activeUs === null;
                const text =
                  day > today
                    ? "to come"
                    : unknown
                      ? "not recorded"
                      : us === 0
                        ? "none"
                        : formats.duration(us);
                return (
                  <td
                    key={day}
                    class={
                      day > today
                        ? "heat-to-come"
                        : unknown
                          ? "heat-unknown"
                          : `heat-${heatOf(us, HOUR_US)}`
                    }
                    title={`${formats.shortDay(clock.dayStart(day))}, ${hourName(hour)}: ${text}`}
                  >
                    <span class="visually-hidden">{text}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Month(props: {
  readonly days: Days;
  readonly weeks: readonly (readonly number[])[];
  readonly range: DayRange;
  readonly today: number;
}): JSX.Element {
  const { days, weeks, range, today } = props;
  return (
    <table class="heat heat-month">
      <thead>
        <WeekdayNames week={weeks[0] ?? []} />
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]}>
            {week.map((day) => {
              if (day < range.first || day > range.last)
                return <td key={day} class="heat-outside" />;
              const activity = days.get(day);
              return (
                <td key={day} class={heatClass(activity, day > today)}>
                  <DayLink day={day} today={day === today}>
                    {dateOf(day).day}
                  </DayLink>
                  <span class="heat-sum">
                    <DaySum activity={activity} toCome={day > today} />
                  </span>
                  <Hours activity={activity} />
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Weekdays as rows, weeks as columns, as a strip of a whole year. */
export function Year(props: {
  readonly days: Days;
  readonly range: DayRange;
  readonly weekBegin: number;
  readonly today: number;
}): JSX.Element {
  const { formats, clock } = usePage();
  const { days, range, weekBegin, today } = props;
  const months = Array.from({ length: 12 }, (_, index) => index + 1).map((month) => {
    const { year } = dateOf(range.first);
    const inMonth = [...Array(range.last - range.first + 1).keys()]
      .map((index) => range.first + index)
      .filter((day) => dateOf(day).month === month && dateOf(day).year === year);
    return {
      month,
      weeks: weeksOf({ first: inMonth[0] ?? 0, last: inMonth.at(-1) ?? 0 }, weekBegin),
    };
  });
  return (
    <div class="heat-year">
      {months.map(({ month, weeks }) => (
        <table key={month} class="heat">
          <caption>{formats.monthName(month)}</caption>
          <thead class="visually-hidden">
            <WeekdayNames week={weeks[0] ?? []} />
          </thead>
          <tbody>
            {weeks.map((week) => (
              <tr key={week[0]}>
                {week.map((day) => {
                  if (dateOf(day).month !== month) return <td key={day} class="heat-outside" />;
                  const activity = days.get(day);
                  return (
                    <td
                      key={day}
                      class={heatClass(activity, day > today)}
                      title={`${formats.shortDay(clock.dayStart(day))}: ${sumText(formats, activity, day > today)}`}
                    >
                      <DayLink day={day} today={day === today}>
                        {dateOf(day).day}
                        <span class="visually-hidden">
                          , {sumText(formats, activity, day > today)}
                        </span>
                      </DayLink>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}

function heatClass(activity: DayActivity | undefined, toCome: boolean): string {
  if (toCome) return "heat-to-come";
  if (activity === undefined) return "heat-0";
  if (activity.activeUs === null) return "heat-unknown";
  return `heat-${heatOf(activity.activeUs, FULL_DAY_US)}`;
}

function sumText(
  formats: Page["formats"],
  activity: DayActivity | undefined,
  toCome: boolean,
): string {
  if (toCome) return "to come";
  if (activity === undefined) return "";
  return activity.activeUs === null ? "not recorded" : formats.duration(activity.activeUs);
}

function WeekdayNames(props: { readonly week: readonly number[] }): JSX.Element {
  const { formats, clock } = usePage();
  return (
    <tr>
      {props.week.map((day) => (
        <th key={day} scope="col">
          {formats.weekday(clock.dayStart(day))}
        </th>
      ))}
    </tr>
  );
}

function DayLink(props: {
  readonly day: number;
  readonly today?: boolean;
  readonly children: JSX.Element | number | (string | number | JSX.Element)[];
}): JSX.Element {
  const { clock } = usePage();
  return (
    <a
      class="day-link"
      href={toHash("timeline", { day: clock.isoDay(props.day) })}
      {...(props.today === true ? { "aria-current": "date" as const } : {})}
    >
      {props.children}
    </a>
  );
}

function DaySum(props: {
  readonly activity: DayActivity | undefined;
  readonly toCome: boolean;
}): JSX.Element {
  const { formats } = usePage();
  const { activity, toCome } = props;
  if (activity === undefined || toCome) return <></>;
  // Where there is no room for it the pattern says it alone, which the legend explains.
  if (activity.activeUs === null) return <span class="long muted">not recorded</span>;
  return (
    <>
      <span class="long">
        {activity.activeUs === 0 ? "none" : formats.duration(activity.activeUs)}
      </span>
      <span class="short" aria-hidden="true">
        {activity.activeUs === 0 ? "–" : formats.hours(activity.activeUs)}
      </span>
      {activity.gapUs >= NOTED_GAP_US && (
        <span class="visually-hidden">, {formats.duration(activity.gapUs)} not known</span>
      )}
    </>
  );
}

/** The hours of a day as bars, for the eye alone: their numbers stand in the week. */
function Hours(props: { readonly activity: DayActivity | undefined }): JSX.Element | null {
  const hours = props.activity?.hours ?? [];
  if (hours.every((us) => us === 0)) return null;
  const bars = hours
    .map((us, hour) => {
      const height = Math.min(1, us / HOUR_US) * 10;
      return height === 0 ? "" : `M${hour + 0.1} 10v${-height}h.8v${height}z`;
    })
    .join("");
  return (
    <svg class="heat-hours" viewBox="0 0 24 10" preserveAspectRatio="none" aria-hidden="true">
      <path d={bars} />
    </svg>
  );
}

export function HeatLegend(): JSX.Element {
  return (
    <p class="heat-legend small muted">
      less
      {[0, 1, 2, 3, 4, 5].map((step) => (
        <span key={step} class={`heat-step heat-${step}`} aria-hidden="true" />
      ))}
      more
      <span class="heat-step heat-unknown" aria-hidden="true" /> not recorded
    </p>
  );
}
