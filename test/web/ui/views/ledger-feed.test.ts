import { describe, expect, it } from "vitest";
import type { LedgerAnswer, LedgerEntry, LedgerRequest } from "../../../../src/api.ts";
import {
  addNewer,
  addOlder,
  type LedgerFeed,
  newerRequest,
  olderRequest,
  PAGE_ENTRIES,
  showWaiting,
  startFeed,
} from "../../../../src/web/ui/views/ledger-feed.ts";

function entry(id: number, firstUs = id, lastUs = firstUs, times = 1): LedgerEntry {
  return {
    id,
    firstUs,
    lastUs,
    times,
    client: "test",
    session: null,
    form: "exact",
    intent: "now",
    source: "rules",
    text: "",
    untrustedSpans: [],
    ownerText: null,
    tokens: 0,
    eventIds: [],
    reasons: [],
  };
}

/** Answers as the daemon does: by the span they were given in, the last given first. */
function answerFrom(entries: readonly LedgerEntry[]) {
  return ({ fromUs = 0, toUs = Infinity, limit = 100 }: LedgerRequest): LedgerAnswer => {
    const found = entries
      .filter(({ firstUs, lastUs }) => lastUs >= fromUs && firstUs <= toUs)
      .sort((a, b) => b.lastUs - a.lastUs || b.id - a.id);
    return { entries: found.slice(0, limit), truncated: found.length > limit };
  };
}

const idsOf = (feed: LedgerFeed) => feed.entries.map(({ id }) => id);

describe("the ledger on the page", () => {
  it("reaches its oldest entry by asking on, each entry once, also those that were given for long", () => {
    const all = Array.from({ length: 180 }, (_, at) =>
      at % 7 === 0 ? entry(at + 1, at + 1, at + 60, 9) : entry(at + 1),
    );
    const ask = answerFrom(all);
    let feed = startFeed(ask({ limit: PAGE_ENTRIES }));
    for (let round = 0; round < 10; round++) {
      const request = olderRequest(feed);
      if (request === null) break;
      feed = addOlder(feed, ask(request));
    }
    expect(feed.hasOlder).toBe(false);
    expect(idsOf(feed)).toEqual(ask({ limit: 1000 }).entries.map(({ id }) => id));
  });

  it("asks for nothing older behind the last, and for the newest when it is empty", () => {
    const feed = startFeed({ entries: [], truncated: false });
    expect(olderRequest(feed)).toBeNull();
    expect(newerRequest(feed)).toEqual({ limit: PAGE_ENTRIES });
  });

  it("takes in what is new at once when nobody reads further down", () => {
    const feed = startFeed({ entries: [entry(2), entry(1)], truncated: true });
    const ask = answerFrom([entry(1), entry(2), entry(3)]);
    const next = addNewer(feed, ask(newerRequest(feed)), false);
    expect(idsOf(next)).toEqual([3, 2, 1]);
    expect(next.hasOlder).toBe(true);
  });

  it("lets what is new wait while somebody reads, and counts on where an entry stands", () => {
    const feed = startFeed({ entries: [entry(2), entry(1)], truncated: false });
    const ask = answerFrom([entry(1), entry(2, 2, 4, 5), entry(3)]);
    const held = addNewer(feed, ask(newerRequest(feed)), true);
    expect(idsOf(held)).toEqual([2, 1]);
    expect(held.entries[0]?.times).toBe(5);
    expect(held.waiting.map(({ id }) => id)).toEqual([3]);
    expect(newerRequest(held)).toEqual({ fromUs: 3, limit: PAGE_ENTRIES });
    expect(idsOf(showWaiting(held))).toEqual([2, 3, 1]);
  });

  it("is the same feed, with the same entries, when nothing is new", () => {
    const feed = startFeed({ entries: [entry(2), entry(1)], truncated: false });
    const ask = answerFrom([entry(1), entry(2)]);
    expect(addNewer(feed, ask(newerRequest(feed)), false)).toBe(feed);
  });

  it("does not grow without end, whether somebody reads or not, and reaches what it let go", () => {
    const all: LedgerEntry[] = [entry(1)];
    const ask = answerFrom(all);
    let [live, held] = [startFeed(ask({})), startFeed(ask({}))];
    for (let id = 2; id <= 2000; id++) {
      all.push(entry(id));
      live = addNewer(live, ask(newerRequest(live)), false);
      held = addNewer(held, ask(newerRequest(held)), true);
    }
    expect(live.entries.length).toBeLessThan(500);
    expect(held.waiting.length).toBeLessThan(500);
    for (const feed of [live, showWaiting(held)]) {
      const request = olderRequest(feed);
      const older = request === null ? [] : idsOf(addOlder(feed, ask(request)));
      expect(older).toEqual(older.map((_, at) => 2000 - at));
      expect(older.length).toBeGreaterThan(feed.entries.length);
    }
  });

  it("begins anew when more happened than one answer holds", () => {
    const feed = startFeed({ entries: [entry(1)], truncated: false });
    const news = { entries: [entry(99), entry(98)], truncated: true };
    expect(addNewer(feed, news, false)).toEqual(startFeed(news));
    const held = addNewer(feed, news, true);
    expect(idsOf(held)).toEqual([1]);
    expect(showWaiting(held)).toEqual(startFeed(news));
  });
});
