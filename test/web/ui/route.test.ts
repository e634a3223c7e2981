import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRoute, toHash, VIEWS } from "../../../src/web/ui/route.ts";
import { law } from "../../helpers/laws.ts";

describe("an address of the page", () => {
  it("stands for the first view when it names none", () => {
    for (const hash of ["", "#", "#/", "#/nothing", "#/timeline/..", "#/__proto__"]) {
      expect(parseRoute(hash)).toEqual({ view: "timeline", params: {} });
    }
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
