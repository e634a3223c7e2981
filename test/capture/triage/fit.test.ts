import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { type DigestLine, fitDigest, type SpanLine } from "../../../src/capture/triage/fit.ts";
import { nastyText } from "../../helpers/arbitraries.ts";
import { propertyRuns } from "../../helpers/property-runs.ts";

const MINUTE_US = 60_000_000;
const NOW = Date.parse("2026-11-27T15:12:00Z") * 1000;
const ZONE = "Europe/Berlin";

function span(
  title: string | null,
  startIso: string,
  minutes: number,
  more: Partial<SpanLine> = {},
): SpanLine {
  const startUs = Date.parse(startIso) * 1000;
  return {
    kind: "span",
    device: null,
    document: { id: 1, app: "Code", title, place: null },
    startUs,
    endUs: startUs + minutes * MINUTE_US,
    activeUs: minutes * MINUTE_US,
    score: 1,
    reason: "",
    ...more,
  };
}

function blockOf(lines: readonly DigestLine[], budget = 400): string | null {
  return fitDigest(lines, budget, NOW, ZONE)?.block ?? null;
}

describe("a digest", () => {
  it("tells days, spans, totals and what is not there, in the order of time", () => {
    const page = { id: 2, app: "Firefox", title: 'Say "yes"', place: "example.org/yes" };
    const lines: readonly DigestLine[] = [
      span("cart.ts — shop", "2026-11-27T08:02:00Z", 38, { activeUs: 31 * MINUTE_US }),
      span("Plan.odt", "2026-11-20T09:00:00Z", 5, { document: { ...page, place: null, id: 3 } }),
      span(null, "2026-11-26T22:59:00Z", 75),
      span("x", "2026-11-26T09:13:00Z", 15, { document: page, activeUs: 45_000_000 }),
      {
        kind: "total",
        device: null,
        subject: "the shop",
        eventIds: [],
        activeUs: 570 * MINUTE_US,
        allUs: 2618 * MINUTE_US,
        fromUs: Date.parse("2026-11-22T23:00:00Z") * 1000,
        toUs: NOW,
        score: 2,
        reason: "",
      },
    ];
    expect(blockOf(lines)).toBe(
      [
        "# Device Activity (relevant, distilled by fast triage)",
        '- total on "the shop": 9 h 30 min of 43 h 38 min active, Mon 23 Nov – Fri 27 Nov 2026',
        "Fri 20 Nov 2026:",
        "- 10:00–10:05 (5 min) Firefox: \"Say 'yes'\"",
        "Thu 26 Nov 2026 (yesterday):",
        "- 10:13–10:28 (45 s) Firefox: \"Say 'yes'\" example.org/yes",
        "- 23:59–01:14 (1 h 15 min) Code",
        "Fri 27 Nov 2026 (today):",
        '- 09:02–09:40 (31 min) Code: "cart.ts — shop"',
        "---",
        "",
        "",
      ].join("\n"),
    );
  });

  it("says since when nothing was recorded", () => {
    const nothing = {
      kind: "nothing",
      device: null,
      window: null,
      meanwhile: null,
      subject: "scuba diving",
      score: 1,
      reason: "",
    } as const;
    const since = { ...nothing, sinceUs: Date.parse("2026-10-30T09:00:00Z") * 1000 };
    expect(blockOf([since])).toContain(
      '\n- nothing recorded about "scuba diving" (history since 30 Oct 2026)\n---\n',
    );
    expect(blockOf([{ ...nothing, sinceUs: null }])).toContain(
      '\n- nothing recorded about "scuba diving" (no history yet)\n---\n',
    );
  });

  it("says in which time nothing was recorded", () => {
    const us = (local: string): number => Date.parse(`2026-11-${local}+01:00`) * 1000;
    const told = (from: string, to: string): string =>
      blockOf([
        {
          kind: "nothing",
          device: null,
          window: { fromUs: us(from), toUs: us(to) },
          meanwhile: null,
          subject: null,
          sinceUs: us("01T09:00"),
          score: 1,
          reason: "",
        },
      ]) ?? "";
    expect(told("22T03:00", "22T04:00")).toContain(
      "\n- nothing recorded Sun 22 Nov 03:00–04:00 (history since 1 Nov 2026)\n",
    );
    expect(told("22T00:00", "23T00:00")).toContain(
      "\n- nothing recorded Sun 22 Nov (history since 1 Nov 2026)\n",
    );
    expect(told("21T00:00", "23T00:00")).toContain(
      "\n- nothing recorded Sat 21 Nov – Sun 22 Nov (history since 1 Nov 2026)\n",
    );
    expect(told("21T22:00", "22T02:00")).toContain(
      "\n- nothing recorded Sat 21 Nov 22:00 – Sun 22 Nov 02:00 (history since 1 Nov 2026)\n",
    );
  });

  it("calls the day before today yesterday also where the clocks changed between", () => {
    const monday = Date.parse("2026-10-26T00:10:00Z") * 1000;
    const sunday = span("a", "2026-10-25T00:30:00Z", 5);
    const block = fitDigest([sunday], 400, monday, ZONE)?.block;
    expect(block).toContain("\nSun 25 Oct 2026 (yesterday):\n");
  });

  it("leaves out whole lines of least worth when the budget is small, and says nothing rather than too much", () => {
    const lines = [1, 2, 3].map((hour) =>
      span(`file number ${hour}`, `2026-11-27T0${hour}:00:00Z`, 5, { score: hour }),
    );
    const all = blockOf(lines) ?? "";
    const some = blockOf(lines, countTokens(all) - 1) ?? "";
    expect(some).not.toContain("number 1");
    expect(some).toContain("number 2");
    expect(some).toContain("number 3");
    expect(blockOf(lines, 10)).toBeNull();
    expect(blockOf([])).toBeNull();
  });

  it("never costs more tokens than the budget, and never more than it says, whatever stands in titles", () => {
    const line = fc.record({
      title: nastyText(8),
      place: fc.option(nastyText(6)),
      app: nastyText(4),
      hour: fc.nat(200),
    });
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.integer({ min: 0, max: 400 }),
        (fields, budget) => {
          const lines = fields.map(({ title, place, app, hour }, index) => {
            const document = { id: index, app, title, place };
            const startUs = NOW - hour * 3_600_000_000;
            return span(title, "2026-11-27T08:00:00Z", 1, {
              document,
              startUs,
              endUs: startUs + MINUTE_US,
            });
          });
          const fitted = fitDigest(lines, budget, NOW, ZONE);
          if (fitted === null) return;
          expect(countTokens(fitted.block)).toBeLessThanOrEqual(fitted.tokens);
          expect(fitted.tokens).toBeLessThanOrEqual(budget);
          const body = fitted.block.trimEnd().split("\n").slice(1, -1);
          expect(body.filter((text) => text.startsWith("- "))).toHaveLength(fitted.lines.length);
          expect(fitted.block.split("\n").filter((text) => text === "---")).toHaveLength(1);
        },
      ),
      { numRuns: propertyRuns(80, 5000) },
    );
  });

  it("is the same for the same lines in any order", () => {
    const lines = [1, 2, 3, 4].map((id) =>
      span(`same ${id}`, "2026-11-27T08:00:00Z", 5, {
        document: { id, app: "a", title: `same ${id}`, place: null },
      }),
    );
    const block = blockOf(lines, 80);
    fc.assert(
      fc.property(fc.shuffledSubarray(lines, { minLength: 4 }), (shuffled) => {
        expect(blockOf(shuffled, 80)).toBe(block);
      }),
      { numRuns: 24 },
    );
  });
});
