import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  between,
  fromX,
  keepInBounds,
  MAX_SPAN_US,
  MIN_SPAN_US,
  moveBy,
  spanOf,
  toX,
  zoomAt,
} from "../../../../src/web/ui/timeline/viewport.ts";
import { DAY_US, HOUR_US } from "../../../../src/web/ui/wall-clock.ts";
import { law } from "../../../helpers/laws.ts";

const NOW = Date.UTC(2026, 10, 27, 17) * 1000;
const bounds = { firstUs: NOW - 400 * DAY_US, nowUs: NOW };
const viewport = fc
  .tuple(
    fc.integer({ min: 0, max: 300 * DAY_US }),
    fc.integer({ min: MIN_SPAN_US, max: MAX_SPAN_US }),
  )
  .map(([ago, span]) => keepInBounds({ fromUs: NOW - ago - span, toUs: NOW - ago }, bounds));
const factor = fc.double({ min: 0.01, max: 100, noNaN: true });

describe("the stretch of time on the screen", () => {
  it("may end after now by the rest of a day, and not by a week", () => {
    const today = { fromUs: NOW - 17 * HOUR_US, toUs: NOW + 7 * HOUR_US };
    expect(keepInBounds(today, bounds)).toEqual(today);
    expect(moveBy(today, 7 * DAY_US, bounds).toUs).toBe(NOW + DAY_US);
  });

  it("may be anywhere before now while it is not known when the record begins", () => {
    const longAgo = { fromUs: NOW - 900 * DAY_US, toUs: NOW - 899 * DAY_US };
    expect(keepInBounds(longAgo, { firstUs: undefined, nowUs: NOW })).toEqual(longAgo);
    expect(keepInBounds(longAgo, bounds).fromUs).toBe(NOW - 401 * DAY_US);
  });

  it("stays at today where nothing was ever recorded", () => {
    const moved = moveBy({ fromUs: NOW - HOUR_US, toUs: NOW }, -90 * DAY_US, {
      firstUs: null,
      nowUs: NOW,
    });
    expect(moved.fromUs).toBe(NOW - DAY_US);
  });

  it("shows today whole where the record begins after now, as on a clock that was set back", () => {
    const today = { fromUs: NOW - 17 * HOUR_US, toUs: NOW + 7 * HOUR_US };
    const later = { firstUs: NOW + 9 * HOUR_US, nowUs: NOW };
    expect(keepInBounds(today, later)).toEqual(today);
  });

  law(
    "is between a minute and a year wide, in whole microseconds, however it is zoomed and moved",
    fc.property(viewport, factor, fc.double({ min: 0, max: 1, noNaN: true }), (view, by, share) => {
      const at = view.fromUs + share * spanOf(view);
      const zoomed = moveBy(zoomAt(view, by, at, bounds), spanOf(view) * (share - 0.5), bounds);
      return (
        Number.isInteger(zoomed.fromUs) &&
        Number.isInteger(zoomed.toUs) &&
        spanOf(zoomed) >= MIN_SPAN_US &&
        spanOf(zoomed) <= MAX_SPAN_US
      );
    }),
  );

  law(
    "keeps the instant under the pointer where it is, while it is far from the ends",
    fc.property(factor, fc.integer({ min: 0, max: 1000 }), (by, x) => {
      const view = { fromUs: NOW - 200 * DAY_US, toUs: NOW - 199 * DAY_US };
      const at = fromX(view, 1000, x);
      const zoomed = zoomAt(view, by, at, bounds);
      return Math.abs(toX(zoomed, 1000, at) - x) < 0.01;
    }),
  );

  law(
    "passes from one to another without turning back, and arrives",
    fc.property(viewport, viewport, (a, b) => {
      const spans = [0, 0.25, 0.5, 0.75, 1].map((share) => spanOf(between(a, b, share)));
      const sorted = spans.toSorted((x, y) => (spanOf(a) <= spanOf(b) ? x - y : y - x));
      return spans.every((span, index) => span === sorted[index]) && between(a, b, 1) === b;
    }),
  );
});
