/**
 * The marks of the time axis: which instants get one, by the wall clock, and where the next larger unit begins. It
 * promises marks in order, far enough apart for their labels, at round times also on days on which the clock is
 * put forward or back.
 */
import {
  dateOf,
  DAY_US,
  dayNumberOf,
  HOUR_US,
  MINUTE_US,
  SECOND_US,
  weekdayOf,
  type WallClock,
} from "../wall-clock.ts";
import { pixelUs, type Viewport } from "./viewport.ts";

/** How the instants of an axis are to be labelled. */
export type TickUnit = "second" | "minute" | "day" | "month" | "year";

export interface Axis {
  /** Instants within the viewport that get a mark and a label of `unit`. */
  readonly ticks: readonly number[];
  readonly unit: TickUnit;
  /** Where days, months or years begin; the first may lie before the viewport, since its label is held at the edge. */
  readonly majors: readonly number[];
  /** Null when the marks are the largest unit there is. */
  readonly majorUnit: "day" | "month" | "year" | null;
}

/** Widths that labels of an axis need, in pixels, the space to the next included. */
export interface LabelWidths {
  readonly clock: number;
  readonly clockWithSeconds: number;
  readonly day: number;
  readonly month: number;
}

type Step =
  | { readonly kind: "even"; readonly us: number }
  | { readonly kind: "days"; readonly count: number }
  | { readonly kind: "weeks" }
  | { readonly kind: "months"; readonly count: number };

const EVEN_STEPS = [
  5 * SECOND_US,
  10 * SECOND_US,
  15 * SECOND_US,
  30 * SECOND_US,
  MINUTE_US,
  2 * MINUTE_US,
  5 * MINUTE_US,
  10 * MINUTE_US,
  15 * MINUTE_US,
  30 * MINUTE_US,
  HOUR_US,
  2 * HOUR_US,
  3 * HOUR_US,
  6 * HOUR_US,
  12 * HOUR_US,
];

export function axisOf(
  viewport: Viewport,
  widthPx: number,
  clock: WallClock,
  labels: LabelWidths,
  weekStart: number,
): Axis {
  const step = chooseStep(pixelUs(viewport, widthPx), labels);
  const inView = (atUs: number): boolean => atUs >= viewport.fromUs && atUs < viewport.toUs;
  switch (step.kind) {
    case "even":
      return {
        ticks: evenTicks(viewport, clock, step.us),
        unit: step.us < MINUTE_US ? "second" : "minute",
        majors: dayStarts(viewport, clock, () => true),
        majorUnit: "day",
      };
    case "days":
      return {
        // Counted within the month, so that marks do not wander; none so near its end that labels would meet.
        ticks: dayStarts(viewport, clock, (day) => {
          const { day: inMonth, month } = dateOf(day);
          const isWholeStep = dateOf(day + step.count - 1).month === month;
          return (inMonth - 1) % step.count === 0 && isWholeStep;
        }).filter(inView),
        unit: "day",
        majors: monthStarts(viewport, clock, 1),
        majorUnit: "month",
      };
    case "weeks":
      return {
        ticks: dayStarts(viewport, clock, (day) => weekdayOf(day) === weekStart).filter(inView),
        unit: "day",
        majors: monthStarts(viewport, clock, 1),
        majorUnit: "month",
      };
    case "months":
      return {
        ticks: monthStarts(viewport, clock, step.count).filter(inView),
        unit: step.count < 12 ? "month" : "year",
        majors: step.count < 12 ? monthStarts(viewport, clock, 12) : [],
        majorUnit: step.count < 12 ? "year" : null,
      };
  }
}

function chooseStep(onePixelUs: number, labels: LabelWidths): Step {
  const even = EVEN_STEPS.find(
    (us) => us / onePixelUs >= (us < MINUTE_US ? labels.clockWithSeconds : labels.clock),
  );
  if (even !== undefined) return { kind: "even", us: even };
  const dayPx = DAY_US / onePixelUs;
  for (const count of [1, 2]) {
    if (dayPx * count >= labels.day) return { kind: "days", count };
  }
  if (dayPx * 7 >= labels.day) return { kind: "weeks" };
  for (const count of [1, 3]) {
    if (dayPx * 28 * count >= labels.month) return { kind: "months", count };
  }
  return { kind: "months", count: 12 };
}

/** Instants at which the wall clock shows a multiple of the step, counted from midnight. */
function evenTicks(viewport: Viewport, clock: WallClock, stepUs: number): number[] {
  const ticks: number[] = [];
  const misalignment = (atUs: number): number => modulo(atUs + clock.offsetUs(atUs), stepUs);
  let atUs = viewport.fromUs - misalignment(viewport.fromUs);
  while (atUs < viewport.toUs) {
    if (atUs >= viewport.fromUs && misalignment(atUs) === 0) ticks.push(atUs);
    let next = atUs + stepUs;
    const off = misalignment(next);
    // The clock was put forward or back in between: the next round time is nearer or further than a step.
    if (off !== 0) next = next - off > atUs ? next - off : next - off + stepUs;
    atUs = next;
  }
  return ticks;
}

/** Beginnings of the days from the one that the viewport begins in. */
function dayStarts(
  viewport: Viewport,
  clock: WallClock,
  isWanted: (day: number) => boolean,
): number[] {
  const starts: number[] = [];
  const last = clock.dayNumber(viewport.toUs);
  for (let day = clock.dayNumber(viewport.fromUs); day <= last; day += 1) {
    if (!isWanted(day)) continue;
    const atUs = clock.dayStart(day);
    if (atUs < viewport.toUs) starts.push(atUs);
  }
  return starts;
}

/** Beginnings of every `count`th month of a year, from the one that the viewport begins in. */
function monthStarts(viewport: Viewport, clock: WallClock, count: number): number[] {
  const starts: number[] = [];
  const { year, month } = dateOf(clock.dayNumber(viewport.fromUs));
  for (let index = Math.floor((month - 1) / count) * count + 1; ; index += count) {
    const atUs = clock.dayStart(dayNumberOf(year, index, 1));
    if (atUs >= viewport.toUs) return starts;
    starts.push(atUs);
  }
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
