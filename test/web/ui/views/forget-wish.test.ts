import { describe, expect, it } from "vitest";
import type { ForgetAnswer, ForgetExample } from "../../../../src/api.ts";
import type { StorableText } from "../../../../src/capture/events.ts";
import {
  countWords,
  EMPTY_FORM,
  exampleTexts,
  isEmpty,
  readForgetForm,
} from "../../../../src/web/ui/views/forget-wish.ts";

const NOW = new Date("2026-11-30T16:12:00").getTime() * 1000;

const NOTHING: ForgetAnswer = {
  dryRun: true,
  events: 0,
  shortened: 0,
  rewritten: 0,
  documents: 0,
  ledgerEntries: 0,
  otherRows: 0,
  backups: 0,
  span: null,
  examples: [],
  proof: null,
};

describe("the form for forgetting", () => {
  it("means the last quarter of an hour at first", () => {
    expect(readForgetForm(EMPTY_FORM, NOW)).toEqual({
      ok: true,
      request: { fromUs: NOW - 900e6 },
    });
  });

  it("means today from midnight on", () => {
    expect(readForgetForm({ ...EMPTY_FORM, span: "today", app: " Slack " }, NOW)).toEqual({
      ok: true,
      request: { fromUs: new Date("2026-11-30T00:00:00").getTime() * 1000, app: "Slack" },
    });
  });

  it("takes an open beginning, an open end and both ends", () => {
    const from = "2026-11-30T09:00";
    const to = "2026-11-30T10:00";
    const range = (ends: { from?: string; to?: string }) =>
      readForgetForm({ ...EMPTY_FORM, span: "range", ...ends }, NOW);
    const us = (text: string) => new Date(text).getTime() * 1000;
    expect(range({ from })).toEqual({ ok: true, request: { fromUs: us(from) } });
    expect(range({ to })).toEqual({ ok: true, request: { fromUs: 0, toUs: us(to) } });
    expect(range({ from, to })).toEqual({ ok: true, request: { fromUs: us(from), toUs: us(to) } });
    expect(range({ from: to, to: from })).toEqual({ ok: false, why: "It ends before it begins." });
    expect(range({}).ok).toBe(false);
  });

  it("never means everything by saying nothing", () => {
    expect(readForgetForm({ ...EMPTY_FORM, span: "all", match: "  " }, NOW).ok).toBe(false);
    expect(readForgetForm({ ...EMPTY_FORM, span: "all", match: "Zeus" }, NOW)).toEqual({
      ok: true,
      request: { match: "Zeus" },
    });
  });

  it("leaves the rules alone to say what goes", () => {
    expect(readForgetForm({ ...EMPTY_FORM, span: "rules", app: "Slack" }, NOW)).toEqual({
      ok: true,
      request: { byRules: true },
    });
  });
});

describe("what would be forgotten", () => {
  it("is nothing when neither events nor what was told of them would go; backups alone are none", () => {
    expect(isEmpty({ ...NOTHING, backups: 3 })).toBe(true);
    expect(isEmpty({ ...NOTHING, ledgerEntries: 1 })).toBe(false);
  });

  it("is counted in words, without what there is none of", () => {
    const answer = {
      ...NOTHING,
      events: 1,
      shortened: 2,
      documents: 1,
      ledgerEntries: 3,
      backups: 1,
    };
    expect(countWords(answer, String)).toEqual([
      "1 event",
      "2 events cut at the edges",
      "1 distinct thing",
      "3 ledger entries",
      "1 backup, made anew without it",
    ]);
  });

  it("is told afterwards without things of which something is left", () => {
    const done = { ...NOTHING, dryRun: false, events: 4, ledgerEntries: 1 };
    expect(countWords(done, String)).toEqual(["4 events", "1 ledger entry"]);
    expect(countWords({ ...done, documents: 2 }, String)).toContain("all there was of 2 things");
  });

  it("is shown by examples of every kind", () => {
    const example = (facts: ForgetExample["facts"]): ForgetExample => ({
      facts,
      fate: "removed",
      events: 1,
      durationUs: 1,
      lastUs: 1,
      lastId: 1,
    });
    // The gate alone makes this brand; these words never met a stranger.
    const text = (words: string) => words as StorableText;
    expect(
      exampleTexts(
        example({
          kind: "media",
          player: text("mpv"),
          title: text("Song"),
          artist: null,
          playing: true,
        }),
      ),
    ).toEqual({ app: "mpv", title: "Song", place: null });
    expect(exampleTexts(example({ kind: "sleep" })).app).toBe("asleep");
  });
});
