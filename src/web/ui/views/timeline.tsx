/** The record as lanes over time: any stretch from a minute to a year, beginning with today. */
import { useComputed, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { usePage, type Page } from "../page.ts";
import { Refusal } from "../parts.tsx";
import { stretchOf, toHash } from "../route.ts";
import { Sign } from "../sign.tsx";
import { TimelineCanvas } from "../timeline/canvas.tsx";
import { createTimelineController, type TimelineController } from "../timeline/controller.ts";
import { Chosen } from "../timeline/details.tsx";
import { Diary } from "../timeline/diary.tsx";
import { GapLegend } from "../timeline/legend.tsx";
import { Nothing } from "../timeline/nothing.tsx";
import { StretchTotals } from "../timeline/stretch-totals.tsx";
import { MAX_SPAN_US, spanOf, type Viewport } from "../timeline/viewport.ts";
import { DAY_US, HOUR_US, type WallClock } from "../wall-clock.ts";

export function TimelineView(): JSX.Element {
  const page = usePage();
  const { router, clock } = page;
  const timeline = useMemo(
    () => createTimelineController(page, readStretch(router.route.peek().params, page)),
    [page, router, clock],
  );
  useEffect(() => () => timeline.close(), [timeline]);
  useAddress(page, timeline);
  const name = useComputed(() => nameOf(page, timeline.settled.value));
  useNextDay(page, timeline);
  const today = (): void => timeline.show(dayOf(clock, page.today.peek()));
  return (
    <>
      <Bar timeline={timeline} name={name.value} onToday={today} />
      <section class="panel timeline-panel" aria-label="Lanes">
        <TimelineCanvas timeline={timeline} name={`Timeline, ${name.value}`} onToday={today} />
        <Nothing timeline={timeline} />
        <GapLegend timeline={timeline} />
      </section>
      {timeline.refused.value !== null && <Refusal error={timeline.refused.value} />}
      <div class="timeline-below">
        <Diary timeline={timeline} />
        <div class="timeline-side">
          <section class="panel" aria-label="Chosen">
            <Chosen timeline={timeline} />
          </section>
          <StretchTotals timeline={timeline} />
        </div>
      </div>
    </>
  );
}

/** Widths that one press shows, about the middle of what is shown now. */
const WIDTHS = [
  { title: "Hour", us: HOUR_US },
  { title: "Day", us: DAY_US },
  { title: "Week", us: 7 * DAY_US },
  { title: "Month", us: 31 * DAY_US },
  { title: "Year", us: MAX_SPAN_US },
] as const;

function Bar(props: {
  readonly timeline: TimelineController;
  readonly name: string;
  readonly onToday: () => void;
}): JSX.Element {
  const { timeline, name, onToday } = props;
  const page = usePage();
  const { clock } = page;
  const step = (direction: 1 | -1): void => {
    const view = timeline.viewport.peek();
    const day = wholeDay(view, clock);
    // Days differ in length: from a whole day one goes to the whole day beside it.
    if (day === null) timeline.move(direction * spanOf(view), true);
    else timeline.show(dayOf(clock, day + direction));
  };
  const span = spanOf(timeline.settled.value);
  return (
    <div class="timeline-bar">
      <div class="row">
        <button type="button" class="button" aria-label="Earlier" onClick={() => step(-1)}>
          <Sign path="M10 3 5 8l5 5" />
        </button>
        <button type="button" class="button" aria-label="Later" onClick={() => step(1)}>
          <Sign path="m6 3 5 5-5 5" />
        </button>
        <button type="button" class="button" onClick={onToday}>
          Today
        </button>
        <h2 class="stretch-name" aria-live="polite">
          {name}
        </h2>
      </div>
      <div class="row">
        <div class="segments" role="group" aria-label="Width">
          {WIDTHS.map(({ title, us }) => (
            <button
              key={title}
              type="button"
              class="button"
              aria-pressed={Math.abs(span / us - 1) < 0.06}
              onClick={() => timeline.show(ofWidth(timeline.viewport.peek(), us, page))}
            >
              {title}
            </button>
          ))}
        </div>
        <div class="segments" role="group" aria-label="Zoom">
          <button
            type="button"
            class="button"
            aria-label="Zoom out"
            onClick={() => timeline.zoom(1 / 2, undefined, true)}
          >
            <Sign path="M3 8h10" />
          </button>
          <button
            type="button"
            class="button"
            aria-label="Zoom in"
            onClick={() => timeline.zoom(2, undefined, true)}
          >
            <Sign path="M3 8h10M8 3v10" />
          </button>
        </div>
      </div>
    </div>
  );
}

/** Keeps the address and the stretch in step: links lead here, and a reload shows the same. */
function useAddress(page: Page, timeline: TimelineController): void {
  const { router, clock } = page;
  const written = useRef(toHash("timeline", router.route.peek().params));
  useSignalEffect(() => {
    const { view, params } = router.route.value;
    const hash = toHash(view, params);
    if (view !== "timeline" || hash === written.current) return;
    written.current = hash;
    timeline.show(readStretch(params, page), false);
  });
  useSignalEffect(() => {
    const params = writeStretch(timeline.settled.value, clock);
    const hash = toHash("timeline", params);
    if (hash === written.current || router.route.peek().view !== "timeline") return;
    written.current = hash;
    router.replaceParams(params);
  });
}

/** Who looks at today looks at today on the next day as well, however long the page was left alone. */
function useNextDay({ clock, today }: Page, timeline: TimelineController): void {
  const was = useRef(today.peek());
  useSignalEffect(() => {
    const day = today.value;
    if (day === was.current) return;
    const isShown = wholeDay(timeline.viewport.peek(), clock) === was.current;
    was.current = day;
    if (isShown) timeline.show(dayOf(clock, day), false);
  });
}

/** The stretch that the parameters of an address name; today for none. */
function readStretch(params: Readonly<Record<string, string>>, { clock, today }: Page): Viewport {
  const stretch = stretchOf(params);
  if (stretch !== null) return stretch;
  const day = clock.parseDay(params["day"] ?? "") ?? today.peek();
  return dayOf(clock, day);
}

function writeStretch(view: Viewport, clock: WallClock): Readonly<Record<string, string>> {
  const day = wholeDay(view, clock);
  if (day !== null) return { day: clock.isoDay(day) };
  return {
    from: String(Math.round(view.fromUs / 1_000_000)),
    to: String(Math.round(view.toUs / 1_000_000)),
  };
}

function dayOf(clock: WallClock, day: number): Viewport {
  return { fromUs: clock.dayStart(day), toUs: clock.dayStart(day + 1) };
}

/** The day that a stretch is, to the minute; null when it is none. */
function wholeDay(view: Viewport, clock: WallClock): number | null {
  const day = clock.dayNumber((view.fromUs + view.toUs) / 2);
  const { fromUs, toUs } = dayOf(clock, day);
  const off = Math.max(Math.abs(fromUs - view.fromUs), Math.abs(toUs - view.toUs));
  return off < 60_000_000 ? day : null;
}

function ofWidth(view: Viewport, us: number, { clock, today }: Page): Viewport {
  const middle = (view.fromUs + view.toUs) / 2;
  if (us === DAY_US) return dayOf(clock, clock.dayNumber(middle));
  // What is wider than a day ends with today at the latest: the rest would be empty.
  const endUs = clock.dayStart(today.peek() + 1);
  const toUs = us < DAY_US ? middle + us / 2 : Math.min(middle + us / 2, endUs);
  return { fromUs: toUs - us, toUs };
}

function nameOf({ formats, clock }: Page, view: Viewport): string {
  const day = wholeDay(view, clock);
  if (day !== null) return formats.day(clock.dayStart(day));
  return formats.range(view.fromUs, view.toUs, spanOf(view) > 3 * DAY_US);
}
