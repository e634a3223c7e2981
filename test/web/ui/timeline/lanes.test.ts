import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TimelineSpan } from "../../../../src/api.ts";
import {
  chooseLayers,
  coveringLayer,
  eachRect,
  hitTest,
  layOut,
  neighbourOf,
  packRows,
  toLaneRows,
  type LaneRows,
} from "../../../../src/web/ui/timeline/lanes.ts";
import { law } from "../../../helpers/laws.ts";

function span(startUs: number, endUs: number, label = "notes"): TimelineSpan {
  return {
    startUs,
    endUs,
    kind: "window",
    state: null,
    app: "Editor",
    label,
    place: null,
    documentId: 1,
    activeUs: endUs - startUs,
    merged: 1,
  };
}

function rowsOf(
  spans: readonly TimelineSpan[],
  range: { fromUs: number; toUs: number } = { fromUs: 0, toUs: 1000 },
): LaneRows {
  const lanes = [{ id: "focus" as const, spans, merged: 0 }];
  return toLaneRows({ ...range, resolutionUs: 0, lanes, firstUs: 0, lastUs: range.toUs });
}

/** Spans that do not meet, by start. */
const row = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 400 })), {
    maxLength: 60,
  })
  .map((pairs) => {
    let at = 0;
    return pairs.map(([hole, length]) => {
      const made = span(at + hole, at + hole + length);
      at = made.endUs;
      return made;
    });
  });
const anySpans = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 1, max: 400 })))
  .map((pairs) =>
    pairs
      .map(([start, length]) => span(start, start + length))
      .sort((a, b) => a.startUs - b.startUs),
  );

function rectsOf(
  spans: readonly TimelineSpan[],
  viewport: { fromUs: number; toUs: number },
  widthPx: number,
): { span: TimelineSpan; x: number; end: number }[] {
  const rects: { span: TimelineSpan; x: number; end: number }[] = [];
  eachRect(spans, viewport, widthPx, (each, x, width) =>
    rects.push({ span: each, x, end: x + width }),
  );
  return rects;
}

describe("what is drawn of a row", () => {
  it("is cut at the edges of the stretch", () => {
    expect(
      rectsOf([span(0, 100), span(900, 2000)], { fromUs: 50, toUs: 1050 }, 1000),
    ).toMatchObject([
      { x: 0, end: 50 },
      { x: 850, end: 1000 },
    ]);
  });

  it("shows what is thinner than a pixel as one pixel, told by the longest", () => {
    const thin = [span(10, 11, "a"), span(12, 15, "b"), span(16, 17, "c")];
    expect(rectsOf(thin, { fromUs: 0, toUs: 10_000 }, 100)).toMatchObject([
      { span: { label: "b" }, end: expect.closeTo(1.1, 5) },
    ]);
  });

  it("lies beside its neighbour also where the edge leaves it less than a pixel", () => {
    const rects = rectsOf([span(0, 19), span(19, 20)], { fromUs: 0, toUs: 20 }, 10);
    expect(rects.map(({ x, end }) => [x, end])).toEqual([
      [0, 9.5],
      [9.5, 10],
    ]);
  });

  law(
    "lies side by side within the width, and leaves no span of two pixels out",
    fc.property(
      row,
      fc.integer({ min: 0, max: 3000 }),
      fc.integer({ min: 20, max: 20_000 }),
      fc.integer({ min: 10, max: 800 }),
      (spans, fromUs, lengthUs, widthPx) => {
        const viewport = { fromUs, toUs: fromUs + lengthUs };
        const rects = rectsOf(spans, viewport, widthPx);
        const scale = widthPx / lengthUs;
        const shown = new Set(rects.map((rect) => rect.span));
        const wide = spans.filter(
          (each) =>
            (Math.min(each.endUs, viewport.toUs) - Math.max(each.startUs, fromUs)) * scale > 2,
        );
        return (
          rects.length <= widthPx + 1 &&
          rects.every(
            (rect, index) =>
              rect.x >= (rects[index - 1]?.end ?? 0) - 1e-6 &&
              rect.end > rect.x - 1e-6 &&
              rect.end <= widthPx + 1e-6,
          ) &&
          wide.every((each) => shown.has(each))
        );
      },
    ),
  );
});

describe("rows of a lane", () => {
  law(
    "hold spans that do not meet, and all of them while there are rows enough",
    fc.property(anySpans, fc.integer({ min: 1, max: 4 }), (spans, maxRows) => {
      const rows = packRows(spans, maxRows);
      const unbounded = packRows(spans, 1000);
      const apart = rows.every((each) =>
        each.every((one, index) => one.startUs >= (each[index - 1]?.endUs ?? 0)),
      );
      return apart && rows.length <= maxRows && unbounded.flat().length === spans.length;
    }),
  );
});

describe("the lane of other devices", () => {
  const boxes = (spans: readonly TimelineSpan[]): readonly string[] => {
    const lanes = [{ id: "elsewhere" as const, spans, merged: 0 }];
    const range = { fromUs: 0, toUs: 1000, firstUs: 0, lastUs: 1000 };
    return layOut(1000, 14, [toLaneRows({ ...range, resolutionUs: 0, lanes })]).boxes.map(
      ({ id, rowCount }) => `${id} ${rowCount}`,
    );
  };

  it("takes no room where there are none, and a row for each that was in use at once", () => {
    expect(boxes([]).join()).not.toContain("elsewhere");
    expect(boxes([span(0, 100), span(50, 200), span(150, 300)])).toContain("elsewhere 2");
  });
});

describe("the pointer", () => {
  const layers = [rowsOf([span(100, 200, "a"), span(300, 301, "b")])];
  const layout = layOut(1000, 14, layers);
  const viewport = { fromUs: 0, toUs: 1000 };
  const focus = layout.boxes[0];
  const at = (x: number, y = (focus?.y ?? 0) + 3): string | null =>
    hitTest(layers, layout, viewport, 1000, x, y)?.span.label ?? null;

  it("means the span it stands on, or one within four pixels", () => {
    expect(at(150)).toBe("a");
    expect(at(203)).toBe("a");
    expect(at(297)).toBe("b");
    expect(at(250)).toBeNull();
    expect(at(150, 1)).toBeNull();
    expect(at(-3)).toBeNull();
  });

  law(
    "finds what was drawn where it stands",
    fc.property(row, fc.integer({ min: 100, max: 2000 }), (spans, lengthUs) => {
      const known = [rowsOf(spans, { fromUs: 0, toUs: lengthUs })];
      const view = { fromUs: 0, toUs: lengthUs };
      return rectsOf(spans, view, 500)
        .filter(({ span: drawn }) => ((drawn.endUs - drawn.startUs) / lengthUs) * 500 > 2)
        .every(
          ({ span: drawn, x, end }) =>
            hitTest(known, layOut(500, 14, known), view, 500, (x + end) / 2, (focus?.y ?? 0) + 20)
              ?.span === drawn,
        );
    }),
  );
});

describe("layers", () => {
  const year = rowsOf([], { fromUs: 0, toUs: 10_000 });
  const day = rowsOf([], { fromUs: 4000, toUs: 5000 });
  const hour = rowsOf([], { fromUs: 4400, toUs: 4500 });

  const none = (): boolean => false;

  it("are drawn from coarse to fine, without those that a finer one covers", () => {
    const known = [hour, year, day];
    expect(chooseLayers(known, { fromUs: 4420, toUs: 4480 }, none)).toEqual([hour]);
    expect(chooseLayers(known, { fromUs: 4300, toUs: 4600 }, none)).toEqual([day, hour]);
    expect(chooseLayers(known, { fromUs: 3000, toUs: 6000 }, none)).toEqual([year, day, hour]);
    expect(chooseLayers([day], { fromUs: 6000, toUs: 7000 }, none)).toEqual([]);
  });

  it("are one alone when it is sharp enough and covers the screen", () => {
    const view = { fromUs: 3000, toUs: 6000 };
    expect(chooseLayers([hour, year, day], view, (layer) => layer === year)).toEqual([year]);
    expect(chooseLayers([hour, year, day], view, (layer) => layer === day)).toHaveLength(3);
  });

  it("have one that is whole, or none", () => {
    expect(coveringLayer([year, day, hour], { fromUs: 4300, toUs: 4600 })).toBe(day);
    expect(coveringLayer([day, hour], { fromUs: 3000, toUs: 4600 })).toBeUndefined();
  });
});

describe("moving by keys", () => {
  const layers = [rowsOf([span(100, 200, "a"), span(300, 400, "b"), span(500, 600, "c")])];

  it("goes from a span to its neighbours, and from nothing to the nearest", () => {
    const first = neighbourOf(layers, "focus", null, 250, 1);
    expect(first?.label).toBe("b");
    expect(neighbourOf(layers, "focus", first, 0, 1)?.label).toBe("c");
    expect(neighbourOf(layers, "focus", first, 0, -1)?.label).toBe("a");
    expect(neighbourOf(layers, "focus", null, 50, -1)).toBeNull();
    expect(neighbourOf(layers, "media", null, 50, 1)).toBeNull();
  });
});
