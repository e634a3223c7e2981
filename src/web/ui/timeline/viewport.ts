/**
 * The stretch of time that is on the screen: zooming, moving and where it must stop. It promises to stay between
 * a minute and a year wide, near the record, in whole microseconds.
 */
import { DAY_US, MINUTE_US } from "../wall-clock.ts";

export interface Viewport {
  readonly fromUs: number;
  readonly toUs: number;
}

export const MIN_SPAN_US = MINUTE_US;
export const MAX_SPAN_US = 366 * DAY_US;

/** What a viewport must not lose sight of. */
export interface Bounds {
  /** When the record begins; null: there is none. Undefined: that is not known yet, and nothing is too early. */
  readonly firstUs: number | null | undefined;
  readonly nowUs: number;
}

export function spanOf(viewport: Viewport): number {
  return viewport.toUs - viewport.fromUs;
}

/** Microseconds that one pixel stands for. */
export function pixelUs(viewport: Viewport, widthPx: number): number {
  return spanOf(viewport) / Math.max(1, widthPx);
}

export function toX(viewport: Viewport, widthPx: number, atUs: number): number {
  return ((atUs - viewport.fromUs) / spanOf(viewport)) * widthPx;
}

export function fromX(viewport: Viewport, widthPx: number, x: number): number {
  return viewport.fromUs + (x / Math.max(1, widthPx)) * spanOf(viewport);
}

/** Zooms so that the instant `atUs` stays where it is; `factor` above 1 shows less time. */
export function zoomAt(viewport: Viewport, factor: number, atUs: number, bounds: Bounds): Viewport {
  const span = clamp(spanOf(viewport) / factor, MIN_SPAN_US, MAX_SPAN_US);
  const share = (atUs - viewport.fromUs) / spanOf(viewport);
  const fromUs = atUs - share * span;
  return keepInBounds({ fromUs, toUs: fromUs + span }, bounds);
}

export function moveBy(viewport: Viewport, us: number, bounds: Bounds): Viewport {
  return keepInBounds({ fromUs: viewport.fromUs + us, toUs: viewport.toUs + us }, bounds);
}

/** Moves a viewport no further from the record than that half of it is still about it. */
export function keepInBounds(viewport: Viewport, { firstUs, nowUs }: Bounds): Viewport {
  const span = clamp(Math.round(spanOf(viewport)), MIN_SPAN_US, MAX_SPAN_US);
  // The day of today is allowed whole: its evening is still to come. So is the day of the first event.
  const reachUs = Math.max(span / 2, DAY_US);
  const latest = nowUs + reachUs - span;
  // Where a clock was set back the record may begin after now, and today is shown all the same.
  const beginUs =
    firstUs === undefined ? Number.NEGATIVE_INFINITY : Math.min(firstUs ?? nowUs, nowUs);
  const earliest = Math.min(beginUs - reachUs, latest);
  const fromUs = Math.round(clamp(viewport.fromUs, earliest, latest));
  return { fromUs, toUs: fromUs + span };
}

/** A viewport between two others, for the frames of a movement; `share` from 0 to 1. */
export function between(a: Viewport, b: Viewport, share: number): Viewport {
  if (share >= 1) return b;
  // Spans change by equal factors: a zoom looks even over all its frames.
  const span = spanOf(a) * (spanOf(b) / spanOf(a)) ** share;
  const centreA = (a.fromUs + a.toUs) / 2;
  const centreB = (b.fromUs + b.toUs) / 2;
  const ratio = spanOf(b) / spanOf(a);
  // The centre follows the span, so that the instant under the pointer stays under it.
  const done = Math.abs(ratio - 1) < 1e-6 ? share : (span / spanOf(a) - 1) / (ratio - 1);
  const centre = centreA + (centreB - centreA) * done;
  const fromUs = Math.round(centre - span / 2);
  return { fromUs, toUs: fromUs + Math.max(1, Math.round(span)) };
}

function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(Math.max(value, lowest), highest);
}
