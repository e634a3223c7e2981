/** What time went to in a range of days: by application, document, project and host, and day by day. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Total, TotalsBy } from "../../../api.ts";
import { useLoad } from "../load.ts";
import { usePage, type Page } from "../page.ts";
import { Bar, EmptyState, Foreign, Panel, Refusal } from "../parts.tsx";
import { stretchOf } from "../route.ts";
import { Series, type SeriesPoint } from "../series.tsx";
import { toneOf } from "../timeline/colours.ts";
import { useScheme } from "../timeline/scheme.ts";
import { spanOf, type Viewport } from "../timeline/viewport.ts";
import { dateOf, DAY_US, HOUR_US, weekdayOf } from "../wall-clock.ts";

/** Ranges that end with a day before today (`back` days ago) or with today (0). */
const RANGES = [
  { id: "today", title: "Today", days: 1, back: 0 },
  { id: "yesterday", title: "Yesterday", days: 1, back: 1 },
  { id: "week", title: "7 days", days: 7, back: 0 },
  { id: "month", title: "30 days", days: 30, back: 0 },
  { id: "year", title: "Year", days: 365, back: 0 },
] as const;

const GROUPS: readonly { readonly by: TotalsBy; readonly title: string; readonly none: string }[] =
  [
    { by: "application", title: "Applications", none: "No window had the focus." },
    { by: "document", title: "Documents", none: "No document was in front." },
    { by: "project", title: "Projects", none: "No editor told of a project." },
    { by: "host", title: "Hosts", none: "No page was in front." },
  ];

const SHOWN_FIRST = 12;
const SHOWN_ALL = 200;

export function TotalsView(): JSX.Element {
  const page = usePage();
  const { router, formats } = page;
  const { params } = router.route.value;
  const range = readRange(page, params);
  const chosen = stretchOf(params) === null ? (params["range"] ?? "today") : "";
  return (
    <>
      <div class="timeline-bar">
        <h2 class="stretch-name">{nameOf(page, range)}</h2>
        <div class="segments" role="group" aria-label="Range">
          {RANGES.map(({ id, title }) => (
            <button
              key={id}
              type="button"
              class="button"
              aria-pressed={id === chosen}
              onClick={() => router.replaceParams({ range: id })}
            >
              {title}
            </button>
          ))}
        </div>
      </div>
      {spanOf(range) > 1.5 * DAY_US && <PerDay range={range} />}
      <div class="columns totals-columns">
        {GROUPS.map(({ by, title, none }) => (
          <Group key={by} by={by} title={title} none={none} range={range} />
        ))}
      </div>
      <p class="muted small totals-note">
        Focused time: how long a window was in front while you were there. Times of{" "}
        {formats.timeZone}.
      </p>
    </>
  );
}

function Group(props: {
  readonly by: TotalsBy;
  readonly title: string;
  readonly none: string;
  readonly range: Viewport;
}): JSX.Element {
  const { api, formats } = usePage();
  const scheme = useScheme();
  const all = useSignal(false);
  const { by, title, none, range } = props;
  const limit = all.value ? SHOWN_ALL : SHOWN_FIRST;
  const loaded = useLoad(
    `${by} ${range.fromUs} ${range.toUs} ${limit}`,
    (signal) => api.totals({ fromUs: range.fromUs, toUs: range.toUs, by, limit }, signal),
    { keepAcrossKeys: true },
  );
  const { answer, refused } = loaded.value;
  if (refused !== null) {
    return (
      <Panel title={title}>
        <Refusal error={refused} />
      </Panel>
    );
  }
  if (answer === null) {
    return (
      <Panel title={title}>
        <p class="muted">Asking…</p>
      </Panel>
    );
  }
  const longest = answer.totals[0]?.activeUs ?? 0;
  const attributedUs = answer.activeUs - answer.withoutUs;
  return (
    <Panel title={title} aside={<span class="muted">{formats.duration(attributedUs)}</span>}>
      {answer.totals.length === 0 ? (
        <p class="muted">{none}</p>
      ) : (
        <ol class="totals-list">
          {answer.totals.map((total, index) => (
            <li key={`${total.documentId} ${total.label} ${index}`}>
              <span class="totals-name">
                <Foreign text={total.label} maxGraphemes={120} />
                <TotalPlace total={total} />
              </span>
              <span class="number">
                {formats.duration(total.activeUs)}{" "}
                <span class="muted">
                  {formats.percent(total.activeUs / Math.max(1, answer.activeUs))}
                </span>
              </span>
              <Bar
                share={longest === 0 ? 0 : total.activeUs / longest}
                tone={toneOf(total.app ?? total.label, scheme).fill}
              />
            </li>
          ))}
        </ol>
      )}
      {answer.rest.count > 0 && (
        <p class="row small muted">
          {formats.count(answer.rest.count)} more, {formats.duration(answer.rest.activeUs)} together
          {!all.value && (
            <button
              type="button"
              class="button"
              onClick={() => {
                all.value = true;
              }}
            >
              Show more
            </button>
          )}
        </p>
      )}
      {answer.withoutUs > 0 && answer.totals.length > 0 && (
        <p class="small muted">
          {formats.duration(answer.withoutUs)} belong to no {by}.
        </p>
      )}
      {answer.fromDayTotals && (
        <p class="small muted">Days whose events have expired are counted by their totals.</p>
      )}
      {by === "application" && answer.elsewhere !== undefined && (
        <p class="small muted">
          This device alone. Elsewhere:{" "}
          {answer.elsewhere.map(({ device, activeUs }, index) => (
            <span key={index}>
              {index > 0 && ", "}
              <Foreign text={device} maxGraphemes={40} /> {formats.duration(activeUs)}
            </span>
          ))}
          .
        </p>
      )}
    </Panel>
  );
}

function TotalPlace(props: { readonly total: Total }): JSX.Element | null {
  const { app, place } = props.total;
  if (app === null && place === null) return null;
  return (
    <span class="muted small">
      {" "}
      {app !== null && <Foreign text={app} maxGraphemes={40} />}
      {app !== null && place !== null && " · "}
      {place !== null && <Foreign text={place} maxGraphemes={60} />}
    </span>
  );
}

const HOURS_AXIS = { step: 2 * HOUR_US, tell: (us: number): string => `${us / HOUR_US} h` };

function PerDay(props: { readonly range: Viewport }): JSX.Element {
  const page = usePage();
  const { api, clock } = page;
  const first = clock.dayNumber(props.range.fromUs);
  const last = Math.min(clock.dayNumber(props.range.toUs - 1), first + 399);
  const request = { fromDay: clock.isoDay(first), toDay: clock.isoDay(last) };
  const loaded = useLoad(`${first} ${last}`, (signal) => api.days(request, signal), {
    keepAcrossKeys: true,
  });
  const { answer } = loaded.value;
  const points = useMemo(() => toPoints(page, answer?.days ?? []), [page, answer]);
  if (answer === null) return <Panel title="Day by day">Asking…</Panel>;
  if (points.every(({ value }) => value === null)) {
    return <EmptyState title="Nothing was recorded in these days" />;
  }
  return (
    <section class="panel" aria-label="Day by day">
      <Series title="Focused time each day" points={points} axis={HOURS_AXIS} />
    </section>
  );
}

function toPoints(
  { formats, clock }: Page,
  days: readonly { readonly day: string; readonly activeUs: number | null }[],
): readonly SeriesPoint[] {
  return days.map(({ day, activeUs }) => {
    const number = clock.parseDay(day) ?? 0;
    const atUs = clock.dayStart(number);
    const inMonth = dateOf(number).day;
    const tick =
      days.length <= 8
        ? formats.weekday(atUs)
        : days.length <= 40
          ? weekdayOf(number) === 1
            ? formats.shortDate(atUs)
            : null
          : inMonth === 1
            ? formats.shortMonth(atUs)
            : null;
    const text = activeUs === null ? "not recorded" : formats.duration(activeUs);
    return { label: formats.shortDay(atUs), tick, value: activeUs, text };
  });
}

/** The range that an address names: one of those above, or any stretch that another view led here with. */
function readRange({ clock, today }: Page, params: Readonly<Record<string, string>>): Viewport {
  const stretch = stretchOf(params);
  if (stretch !== null) return stretch;
  const { days, back } = RANGES.find(({ id }) => id === params["range"]) ?? RANGES[0];
  const last = today.value - back;
  return { fromUs: clock.dayStart(last - days + 1), toUs: clock.dayStart(last + 1) };
}

function nameOf({ formats, clock }: Page, range: Viewport): string {
  const first = clock.dayNumber(range.fromUs);
  const isDay = clock.dayStart(first) === range.fromUs && clock.dayStart(first + 1) === range.toUs;
  if (isDay) return formats.day(range.fromUs);
  return formats.range(range.fromUs, range.toUs - 1, spanOf(range) > 3 * DAY_US);
}
