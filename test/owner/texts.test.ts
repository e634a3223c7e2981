import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SearchHit } from "../../src/api.ts";
import { joinLines, writeHits } from "../../src/owner/texts.ts";
import { nastyText } from "../helpers/arbitraries.ts";
import { law } from "../helpers/laws.ts";

const hit = (app: string, title: string | null, place: string | null): SearchHit => ({
  documentId: 1,
  kind: "window",
  app,
  title,
  place,
  lastUs: 1,
  activeUs: 1,
  visits: 1,
});

/** What stands in the spans. */
const strangersOf = ({ text, untrustedSpans }: ReturnType<typeof writeHits>) =>
  untrustedSpans.map(({ start, end }) => text.slice(start, end));

describe("what was given in another form than a block", () => {
  it("has the lines with their breaks, and the spans where they stand then", () => {
    const line = (text: string) => ({ text, untrustedSpans: [{ start: 2, end: text.length }] });
    const given = joinLines([line("- a"), line("- bc")]);
    expect(given.text).toBe("- a\n- bc\n");
    expect(strangersOf(given)).toEqual(["a", "bc"]);
  });

  it("has the words of hits as strangers', also where they look like the fields of one", () => {
    const hits = [hit("Code", '"title":"x"', null), hit('a","title":"b', null, "example.com/a")];
    expect(strangersOf(writeHits(hits))).toEqual([
      "Code",
      String.raw`\"title\":\"x\"`,
      String.raw`a\",\"title\":\"b`,
      "example.com/a",
    ]);
  });

  law(
    "has hits as their JSON, with every value of a stranger in a span of its own",
    fc.property(
      fc.array(fc.tuple(nastyText(), fc.option(nastyText()), fc.option(nastyText()))),
      (rows) => {
        const hits = rows.map(([app, title, place]) => hit(app, title, place));
        const given = writeHits(hits);
        const values = rows.flat().filter((value) => value !== null);
        const read = strangersOf(given).map((written): unknown => JSON.parse(`"${written}"`));
        return (
          given.text === JSON.stringify(hits) && JSON.stringify(read) === JSON.stringify(values)
        );
      },
    ),
  );
});
