import { describe, expect, it } from "vitest";
import type { LedgerEntry } from "../../../../src/api.ts";
import {
  formWords,
  givenWhen,
  groupByDay,
  shortMoment,
  intentWords,
  sourceWords,
} from "../../../../src/web/ui/views/ledger-words.ts";

const formats = { clock: (atUs: number) => `t${atUs}`, count: String };

describe("an entry of the ledger", () => {
  it("says when it was given, and how often when that was more than once", () => {
    expect(givenWhen({ firstUs: 1, lastUs: 1, times: 1 }, formats)).toBe("t1");
    expect(givenWhen({ firstUs: 1, lastUs: 1, times: 3 }, formats)).toBe("t1, 3 times");
    expect(givenWhen({ firstUs: 1, lastUs: 9, times: 4 }, formats)).toBe("t1 – t9, 4 times");
  });

  it("stands under its day, today by its name", () => {
    const day = (atUs: number) => `day ${Math.floor(atUs / 10)}`;
    const entry = (lastUs: number): LedgerEntry => ({
      id: lastUs,
      firstUs: lastUs,
      lastUs,
      times: 1,
      client: null,
      session: null,
      form: "exact",
      intent: "now",
      source: "rules",
      text: null,
      untrustedSpans: [],
      ownerText: null,
      tokens: 0,
      eventIds: [],
      reasons: [],
    });
    const days = groupByDay([35, 31, 22, 5].map(entry), 38, { day });
    expect(days.map(({ day: name, entries }) => [name, entries.map(({ id }) => id)])).toEqual([
      ["Today", [35, 31]],
      ["day 2", [22]],
      ["day 0", [5]],
    ]);
  });

  it("tells a moment of today by the clock alone", () => {
    const day = (atUs: number) => String(Math.floor(atUs / 10));
    const telling = { ...formats, day, moment: (atUs: number) => `m${atUs}` };
    expect(shortMoment(35, 38, telling)).toBe("t35");
    expect(shortMoment(25, 38, telling)).toBe("m25");
  });

  it("keeps a word that it does not know", () => {
    expect([formWords("x"), intentWords("y"), sourceWords("z")]).toEqual(["x", "y", "z"]);
    expect(formWords("exact")).toBe("real-time block");
  });
});
