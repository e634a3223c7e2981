import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { silentLog } from "../../src/log.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { openLedger, type Ledger, type LedgerNote } from "../../src/store/ledger.ts";
import { createRetention } from "../../src/store/retention.ts";
import { createFakeClock, type FakeClock } from "../helpers/fake-clock.ts";
import { storable } from "../helpers/storable.ts";

let folder: string;
let clock: FakeClock;
let store: EventStore;
let ledger: Ledger;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "activityd-ledger-"));
  clock = createFakeClock("2026-11-30T12:00:00Z");
  store = openEventStore({ directory: folder, clock, log: silentLog });
  ledger = openLedger({ database: store.database, clock, log: silentLog });
});
afterEach(() => {
  ledger.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function note(text: string, rest: Partial<LedgerNote> = {}): LedgerNote {
  return {
    client: "editor",
    session: null,
    form: "exact",
    intent: "now",
    source: "rules",
    text,
    untrustedSpans: [],
    ownerText: null,
    tokens: 12,
    eventIds: [1, 2],
    reasons: ["it is so now"],
    ...rest,
  };
}

function all() {
  return ledger.read({ fromUs: 0, toUs: Number.MAX_SAFE_INTEGER, limit: 100 }).entries;
}

describe("what a client was given", () => {
  test("is told with its bytes, its events and its reasons, at once and after a restart", () => {
    ledger.note(note("block one"));
    const [entry] = all();
    expect(entry).toEqual({
      ...note("block one"),
      id: 1,
      firstUs: clock.nowUs(),
      lastUs: clock.nowUs(),
      times: 1,
    });
    ledger.close();
    ledger = openLedger({ database: store.database, clock, log: silentLog });
    expect(all()).toEqual([entry]);
  });

  test("is one entry with a count when the same bytes are given again", () => {
    const firstUs = clock.nowUs();
    ledger.note(note("same"));
    ledger.note(note("same"));
    ledger.flush();
    clock.advanceMs(60_000);
    ledger.note(note("same"));
    expect(all()).toMatchObject([{ firstUs, lastUs: clock.nowUs(), times: 3 }]);
  });

  test("is a new entry after a while, for another client, and after other bytes", () => {
    ledger.note(note("same"));
    ledger.flush();
    clock.advanceMs(11 * 60_000);
    ledger.note(note("same"));
    ledger.note(note("same", { client: "chat" }));
    ledger.note(note("same"));
    ledger.note(note("other"));
    ledger.note(note("same"));
    expect(all().map(({ client, text, times }) => [client, text, times])).toEqual([
      ["editor", "same", 1],
      ["editor", "other", 1],
      ["chat", "same", 1],
      ["editor", "same", 2],
      ["editor", "same", 1],
    ]);
  });

  test("can be asked for by client, by time and up to a limit", () => {
    for (const text of ["a", "b", "c"]) {
      ledger.note(note(text, { client: text === "b" ? "chat" : null }));
      ledger.flush();
      clock.advanceMs(1000);
    }
    const startUs = clock.nowUs() - 3_000_000;
    const texts = (query: Partial<Parameters<Ledger["read"]>[0]>) => {
      const found = ledger.read({ fromUs: 0, toUs: Number.MAX_SAFE_INTEGER, limit: 10, ...query });
      return [found.entries.map(({ text }) => text), found.truncated];
    };
    expect(texts({ client: "chat" })).toEqual([["b"], false]);
    expect(texts({ client: "nobody" })).toEqual([[], false]);
    expect(texts({ client: "cha" })).toEqual([[], false]);
    expect(texts({ fromUs: startUs + 1 })).toEqual([["c", "b"], false]);
    expect(texts({ toUs: startUs })).toEqual([["a"], false]);
    expect(texts({ limit: 2 })).toEqual([["c", "b"], true]);
  });
});

test("a client's name without a version stands for all of its versions", () => {
  for (const client of ["curl/8.5.0", "curl/9.0", "curly", "curl"]) {
    ledger.note(note(client, { client }));
  }
  const { entries } = ledger.read({ fromUs: 0, toUs: 1e16, client: "curl", limit: 10 });
  expect(entries.map(({ client }) => client)).toEqual(["curl", "curl/9.0", "curl/8.5.0"]);
});

describe("forgetting", () => {
  beforeEach(() => {
    ledger.note(note("Focused: canary", { eventIds: [7] }));
    ledger.note(note("Focused: other", { eventIds: [8], reasons: ["you asked about the Canary"] }));
    clock.advanceMs(60_000);
    ledger.note(note("Focused: third", { eventIds: [9], client: "chat" }));
    ledger.flush();
  });
  const none = { eventIds: new Set<number>(), span: null, holds: null };

  test("counts first and removes then", () => {
    const selection = { ...none, eventIds: new Set([7]) };
    expect(ledger.forget(selection, true)).toBe(1);
    expect(all()).toHaveLength(3);
    expect(ledger.forget(selection, false)).toBe(1);
    expect(all().map(({ text }) => text)).toEqual(["Focused: third", "Focused: other"]);
  });

  test("looks at bytes and reasons alike", () => {
    const holds = (text: string) => text.toLowerCase().includes("canary");
    expect(ledger.forget({ ...none, holds }, false)).toBe(2);
  });

  test("takes what was given within a span", () => {
    const span = { fromUs: clock.nowUs() - 30_000_000, toUs: clock.nowUs() + 1 };
    expect(ledger.forget({ ...none, span }, false)).toBe(1);
    expect(all()).toHaveLength(2);
  });

  test("does not let the same bytes join an entry that is gone", () => {
    ledger.forget({ ...none, eventIds: new Set([9]) }, false);
    ledger.note(note("Focused: third", { eventIds: [9], client: "chat" }));
    expect(all()[0]).toMatchObject({ text: "Focused: third", times: 1 });
  });
});

describe("when events expire", () => {
  function record(title: string): number {
    const nowUs = clock.nowUs();
    return store.begin(
      { kind: "window", app: storable("Code"), title: storable(title), place: null },
      { startUs: nowUs, endUs: nowUs + 1e6, utcOffsetMinutes: 0, timeZone: "UTC" },
    );
  }

  test("what was given before the oldest event goes", () => {
    ledger.note(note("old", { eventIds: [] }));
    ledger.flush();
    clock.advanceMs(3_600_000);
    ledger.expire();
    expect(all()).toHaveLength(1);
    record("new");
    ledger.expire();
    expect(all()).toHaveLength(0);
  });

  test("what was given since but tells of them goes too, and stands in no file", async () => {
    const old = record("Canary-7731");
    clock.advanceMs(40 * 86_400_000);
    const kept = record("other");
    ledger.note(note("Canary-7731, last month", { eventIds: [old, kept] }));
    ledger.note(note("Focused: other", { eventIds: [kept] }));
    ledger.flush();
    clock.advanceMs(86_400_001);
    await createRetention(store, { maxAgeDays: 30, maxBytes: null }, silentLog).run(clock.nowUs());
    expect(all().map(({ text }) => text)).toEqual(["Focused: other"]);
    const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
    expect(bytes.join()).not.toContain("Canary-7731");
  });
});
