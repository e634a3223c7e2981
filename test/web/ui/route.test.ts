import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRoute, stretchOf, toHash, VIEWS } from "../../../src/web/ui/route.ts";
import { law } from "../../helpers/laws.ts";

describe("an address of the page", () => {
  it("stands for the first view when it names none", () => {
    for (const hash of ["", "#", "#/", "#/nothing", "#/timeline/..", "#/__proto__"]) {
      expect(parseRoute(hash)).toEqual({ view: "timeline", params: {} });
    }
  });

  it("names a stretch, or none where it was cut off, mistyped or is no time of a record", () => {
    expect(stretchOf({ from: "1764500000", to: "1764500060.5" })).toEqual({
      fromUs: 1_764_500_000_000_000,
      toUs: 1_764_500_060_500_000,
    });
    for (const [from, to] of [
      ["-1e20", "5"],
      ["1", "1e300"],
      ["0", "30000000000"],
      ["", "5"],
      ["5", "5"],
      ["6", "5"],
      ["NaN", "Infinity"],
      ["0x10", "0x20"],
    ] as const) {
      expect([from, to, stretchOf({ from, to })]).toEqual([from, to, null]);
    }
    expect(stretchOf({ from: "5" })).toBeNull();
  });

  law(
    "leads back to the view and the parameters it was made of",
    fc.property(
      fc.constantFrom(...VIEWS),
      fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: "grapheme" })),
      (view, params) => {
        const route = parseRoute(toHash(view, params));
        return route.view === view && isDeepStrictEqual({ ...route.params }, { ...params });
      },
    ),
  );
});
