import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  clusterStretches,
  fillBuckets,
  type Drawn,
  type Stretch,
} from "../../../src/store/readings/thinning.ts";

const FRAME = { fromUs: 0, toUs: 10_000, resolutionUs: 100 };

/** Stretches by start that never meet, as windows are. */
const apart = fc
  .array(
    fc.record({ gapUs: fc.nat(300), lengthUs: fc.integer({ min: 1, max: 400 }), key: fc.nat(4) }),
    {
      maxLength: 60,
    },
  )
  .map((steps) => {
    let atUs = 0;
    return steps.flatMap(({ gapUs, lengthUs, key }): Stretch[] => {
      const startUs = atUs + gapUs;
      const endUs = Math.min(startUs + lengthUs, FRAME.toUs);
      atUs = endUs;
      return endUs > startUs ? [{ startUs, endUs, activeUs: endUs - startUs, key }] : [];
    });
  });

function sumOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { activeUs }) => sum + activeUs, 0);
}

describe("joining stretches that lie closer than can be drawn", () => {
  const draw = (stretches: readonly Stretch[], followsUs = 0) =>
    clusterStretches(stretches, FRAME, { followsUs, areApart: true });

  test("loses and adds no time, counts every stretch, and draws no two within the resolution", () => {
    fc.assert(
      fc.property(apart, (stretches) => {
        const drawn = draw(stretches);
        expect(sumOf(drawn)).toBe(sumOf(stretches));
        for (const [index, span] of drawn.entries()) {
          expect(span.activeUs).toBeLessThanOrEqual(span.endUs - span.startUs);
          const before = drawn[index - 1];
          if (before === undefined) continue;
          expect(span.startUs - before.startUs).toBeGreaterThanOrEqual(FRAME.resolutionUs);
          expect(span.startUs).toBeGreaterThanOrEqual(before.endUs);
        }
      }),
    );
  });

  test("leaves alone what is long enough", () => {
    const long = [
      { startUs: 0, endUs: 150, activeUs: 150, key: 1 },
      { startUs: 150, endUs: 300, activeUs: 150, key: 2 },
    ];
    expect(draw(long)).toEqual(long.map((stretch) => ({ ...stretch, merged: 1 })));
  });

  test("is called by what had most of the time, and says how many it stands for", () => {
    const short = [
      { startUs: 0, endUs: 30, activeUs: 30, key: 1 },
      { startUs: 30, endUs: 70, activeUs: 40, key: 2 },
      { startUs: 70, endUs: 90, activeUs: 20, key: 1 },
      { startUs: 99, endUs: 119, activeUs: 20, key: 3 },
    ];
    expect(draw(short)).toEqual([{ startUs: 0, endUs: 119, activeUs: 110, key: 1, merged: 4 }]);
  });

  test("takes neighbours of one key for one stretch", () => {
    const same = [
      { startUs: 0, endUs: 100, activeUs: 100, key: 1 },
      { startUs: 101, endUs: 300, activeUs: 199, key: 1 },
    ];
    expect(draw(same, 1)).toEqual([{ startUs: 0, endUs: 300, activeUs: 299, key: 1, merged: 1 }]);
    expect(draw(same, 0)).toHaveLength(2);
  });
});

describe("counting stretches that may meet in pieces", () => {
  const fill = (stretches: readonly Stretch[]) => fillBuckets(stretches, FRAME);
  const anywhere = fc.array(
    fc
      .record({
        startUs: fc.integer({ min: -2000, max: 11_000 }),
        lengthUs: fc.integer({ min: 0, max: 3000 }),
        key: fc.nat(4),
      })
      .map(({ startUs, lengthUs, key }): Stretch => ({
        startUs,
        endUs: startUs + lengthUs,
        activeUs: lengthUs,
        key,
      })),
    { maxLength: 60 },
  );

  test("keeps the time within the range, and gives spans in order that never meet", () => {
    fc.assert(
      fc.property(anywhere, (stretches) => {
        const drawn = fill(stretches);
        const within = stretches.reduce(
          (sum, { startUs, endUs }) =>
            sum + Math.max(0, Math.min(endUs, FRAME.toUs) - Math.max(startUs, FRAME.fromUs)),
          0,
        );
        expect(Math.abs(sumOf(drawn) - within)).toBeLessThanOrEqual(drawn.length + 100);
        expectInOrder(drawn);
        expect(drawn.length).toBeLessThanOrEqual(100);
      }),
    );
  });

  test("counts a stretch once in each span that it has a part of, however many pieces it fills", () => {
    fc.assert(
      fc.property(anywhere, (stretches) => {
        for (const { startUs, endUs, merged } of fill(stretches)) {
          const meeting = stretches.filter(
            (each) => each.endUs > each.startUs && each.startUs < endUs && each.endUs > startUs,
          );
          expect(merged).toBe(meeting.length);
        }
      }),
    );
    const long = { startUs: 10, endUs: 9_990, activeUs: 9_980, key: 1 };
    expect(fill([long])).toMatchObject([{ startUs: 10, endUs: 9_990, merged: 1 }]);
  });

  test("draws one span for a run of pieces with the same first key", () => {
    const day = [
      { startUs: 10, endUs: 490, activeUs: 240, key: 1 },
      { startUs: 200, endUs: 250, activeUs: 50, key: 2 },
      { startUs: 600, endUs: 620, activeUs: 20, key: 1 },
    ];
    expect(fill(day).map(({ startUs, endUs, key }) => [startUs, endUs, key])).toEqual([
      [10, 490, 1],
      [600, 620, 1],
    ]);
  });
});

function expectInOrder(drawn: readonly Drawn[]): void {
  for (const [index, span] of drawn.entries()) {
    expect(span.startUs).toBeGreaterThanOrEqual(drawn[index - 1]?.endUs ?? FRAME.fromUs);
    expect(span.endUs).toBeLessThanOrEqual(FRAME.toUs);
  }
}
