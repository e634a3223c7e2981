/**
 * What every implementation of `ActivityApi` promises, as tests. It runs on the implementation in process and
 * on the client over a real socket: whoever speaks to one may speak to the other.
 */
import { describe, expect, test } from "vitest";
import type { ActivityApi, WatchMessage } from "../../src/api.ts";
import type { ActivityEvent, StorableText } from "../../src/capture/events.ts";
import { stripUserContent } from "../../src/context/turn.ts";
import { ActivityError } from "../../src/errors.ts";

/** One implementation under test, with the strings to move what it captures. */
export interface Subject {
  readonly api: ActivityApi;
  /** Brings the implementation to another block than before. */
  readonly change: () => Promise<void> | void;
  /** Two window events from 1,000 s and 2,000 s, 100 s each, and an idle event from 1,500 s. */
  readonly recordThree: () => Promise<void> | void;
  /** A window event "plan" of another device called "lap", from 1,200 s, 100 s long. */
  readonly recordElsewhere: () => Promise<void> | void;
}

export function describeActivityApi(name: string, open: () => Promise<Subject>): void {
  describe(`ActivityApi, ${name}`, () => {
    test("the status names version, process, socket, every source and the store", async () => {
      const { api } = await open();
      const status = await api.status();
      expect(status.version).not.toBe("");
      expect(status.pid).toBeGreaterThan(0);
      expect(["ok", "degraded"]).toContain(status.health);
      expect(status.sources.map((source) => source.kind)).toContain("window");
      expect(typeof status.store.writable).toBe("boolean");
    });

    test("the exact block is the same bytes and the same etag until something changes", async () => {
      const { api, change } = await open();
      await change();
      const first = await api.context({ form: "exact" });
      const again = await api.context({ form: "exact" });
      expect(again.block).toBe(first.block);
      expect(again.etag).toBe(first.etag);
      await change();
      const changed = await api.context({ form: "exact" });
      expect(changed.block).not.toBe(first.block);
      expect(changed.etag).not.toBe(first.etag);
    });

    test("a time zone that is none is a bad request, whichever block is asked for", async () => {
      const { api } = await open();
      const turn = "what did I do today?";
      for (const form of ["exact", "digest", "auto"] as const) {
        const error = await failureOf(api.context({ form, turn, timeZone: "Mars/Olympus" }));
        expect(error.code).toBe("bad_request");
        expect(error.message).toContain("Mars/Olympus");
      }
    });

    test("a digest without a turn is a bad request that says what to give", async () => {
      const { api } = await open();
      const error = await failureOf(api.context({ form: "digest" }));
      expect(error.code).toBe("bad_request");
      expect(error.message).not.toBe("");
      expect(error.hint).not.toBe("");
    });

    test.each(["soon", "27.11.2026", "2026-02-30T12:00:00Z", "5"])(
      "%j is no instant that a request could name",
      async (now) => {
        const { api } = await open();
        const error = await failureOf(api.context({ form: "exact", now }));
        expect(error.code).toBe("bad_request");
        expect(error.message).toContain(now);
      },
    );

    test("a turn tells the events of its session once, then the block, then the owner's words", async () => {
      const { api, change } = await open();
      await change();
      const { block } = await api.context({ form: "exact" });
      expect(await api.enqueueEvent({ session: "a", text: "one\ntwo", key: "k" })).toEqual({
        outcome: "queued",
      });
      expect(await api.enqueueEvent({ session: "a", text: "again", key: "k" })).toEqual({
        outcome: "duplicate",
      });
      const turn = await api.composeTurn({ session: "a", ownerText: "  hi", form: "exact" });
      const told = /^System: \[[^\]]+ UTC\] one\nSystem: two\n\n/.exec(turn.modelText)?.[0] ?? "";
      expect(told).not.toBe("");
      expect(turn.modelText).toBe(`${told}${block}  hi`);
      expect(turn.ownerText).toBe("  hi");
      expect(turn.injectedLength).toBe(turn.modelText.length - "  hi".length);
      expect(
        turn.untrustedSpans.slice(0, 2).map(({ start, end }) => turn.modelText.slice(start, end)),
      ).toEqual(["one", "two"]);
      const next = await api.composeTurn({ session: "a", ownerText: "hi", form: "exact" });
      expect(next.modelText).not.toContain("System:");
    });

    test("a turn that is asked again by its id tells the same events", async () => {
      const { api } = await open();
      await api.enqueueEvent({ session: "a", text: "one" });
      const request = { session: "a", ownerText: "hi", form: "exact", requestId: "r1" } as const;
      const first = await api.composeTurn(request);
      await api.enqueueEvent({ session: "a", text: "two" });
      const again = await api.composeTurn(request);
      expect(again.modelText.split("\n\n")[0]).toBe(first.modelText.split("\n\n")[0]);
      expect(first.modelText).toContain("] one\n");
      const next = await api.composeTurn({ ...request, requestId: "r2" });
      expect(next.modelText).toContain("] two\n");
      expect(next.modelText).not.toContain("] one\n");
    });

    test("a turn in parts gets its context in front of the first text", async () => {
      const { api } = await open();
      await api.enqueueEvent({ session: "a", text: "one" });
      const image = { type: "image_url", image_url: { url: "data:," } };
      const parts = [image, { type: "text", text: "hi" }, { type: "text", text: "there" }];
      const turn = await api.composeParts({ session: "a", parts, form: "exact" });
      expect(turn.ownerText).toBe("hi\nthere");
      expect(turn.injectedPart).toBe(1);
      expect(turn.parts[0]).toEqual(image);
      expect(stripUserContent(turn.parts)).toEqual(parts);
      expect(turn.untrustedSpans.length).toBeGreaterThan(0);
    });

    test("an event of more than 8,000 characters is a bad request, in however few lines", async () => {
      const { api } = await open();
      const long = failureOf(api.enqueueEvent({ session: "a", text: "x".repeat(8_001) }));
      expect((await long).message).toBe("The event has 8001 characters; 8000 are the most.");
    });

    test("an event without text is a bad request", async () => {
      const { api } = await open();
      const error = await failureOf(api.enqueueEvent({ session: "a", text: " " }));
      expect(error.code).toBe("bad_request");
      expect(error.hint).not.toBe("");
    });

    test("events are those that touch the range, oldest first", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const { events, truncated } = await api.events({ fromUs: 1050e6, toUs: 1600e6 });
      expect(events.map((event) => event.startUs)).toEqual([1000e6, 1500e6]);
      expect(truncated).toBe(false);
    });

    test("events of other kinds are left out", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const { events } = await api.events({ fromUs: 0, toUs: 3000e6, kinds: ["idle"] });
      expect(events.map((event) => event.kind)).toEqual(["idle"]);
    });

    test("a search gives the documents that have every word, last seen first", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const { hits, truncated } = await api.search({ q: "retry payments" });
      expect(hits.map(({ app, title, lastUs }) => ({ app, title, lastUs }))).toEqual([
        { app: "Editor", title: "retry.ts — payments-api", lastUs: 1100e6 },
      ]);
      expect(truncated).toBe(false);
      expect((await api.search({ q: "retry budget" })).hits).toEqual([]);
    });

    test("a limit keeps the newest events and says that older ones were left out", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const { events, truncated } = await api.events({ fromUs: 0, toUs: 3000e6, limit: 1 });
      expect(events.map((event) => event.startUs)).toEqual([2000e6]);
      expect(truncated).toBe(true);
    });

    test("an event has the same fields however it was asked for", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const { events } = await api.events({ fromUs: 1990e6, toUs: 3000e6 });
      expect(events).toEqual([THREE[2]]);
    });

    test("a watch yields the present block at once and again after a change, with growing ids", async () => {
      const { api, change } = await open();
      await change();
      const stop = new AbortController();
      const seen: WatchMessage[] = [];
      for await (const message of api.watch({ signal: stop.signal })) {
        seen.push(message);
        if (seen.length === 2) break;
        await change();
      }
      const [first, second] = seen;
      expect(second?.answer.block).not.toBe(first?.answer.block);
      expect(second?.id).toBeGreaterThan(first?.id ?? Infinity);
      stop.abort();
    });

    test("a watch ends without an error when its signal aborts", async () => {
      const { api } = await open();
      const stop = new AbortController();
      const seen: WatchMessage[] = [];
      for await (const message of api.watch({ signal: stop.signal })) {
        seen.push(message);
        stop.abort();
      }
      expect(seen).toHaveLength(1);
    });

    test("a watch whose signal was aborted before yields nothing", async () => {
      const { api } = await open();
      const messages: WatchMessage[] = [];
      for await (const message of api.watch({ signal: AbortSignal.abort() }))
        messages.push(message);
      expect(messages).toEqual([]);
    });

    test("a pause is told by the status until it is resumed", async () => {
      const { api } = await open();
      const { paused } = await api.pause({ minutes: 15 });
      expect(paused?.untilUs).toBeGreaterThan(paused?.sinceUs ?? Infinity);
      expect((await api.status()).paused).toEqual(paused);
      expect((await api.pause({})).paused?.untilUs).toBeNull();
      expect(await api.resume()).toEqual({ paused: null });
      expect((await api.status()).paused).toBeNull();
    });

    test("a pause of no length is a bad request", async () => {
      const { api } = await open();
      expect((await failureOf(api.pause({ minutes: 0 }))).code).toBe("bad_request");
    });

    test("forgetting counts first and removes then", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const wish = { match: "payments-api" };
      expect(await api.forget({ ...wish, dryRun: true })).toMatchObject({
        dryRun: true,
        events: 1,
        proof: null,
      });
      const range = { fromUs: 0, toUs: 3000e6 };
      expect((await api.events(range)).events).toHaveLength(3);
      const done = await api.forget(wish);
      expect(done).toMatchObject({ dryRun: false, events: 1 });
      expect(done.proof?.foundIn).toEqual([]);
      expect((await api.events(range)).events.map(({ id }) => id)).toEqual([1500e6, 2000e6]);
    });

    test("examples of what would go are told when they are asked for, and the ledger says so", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const wish = { match: "payments-api", dryRun: true };
      expect((await api.forget(wish)).examples).toEqual([]);
      const { examples } = await api.forget({ ...wish, examples: 5, client: "contract" });
      expect(examples).toMatchObject([
        {
          facts: { kind: "window", app: "Editor", title: "retry.ts — payments-api" },
          fate: "removed",
          events: 1,
          durationUs: 100e6,
          lastUs: 1100e6,
          lastId: 1000e6,
        },
      ]);
      const { entries } = await api.ledger({ client: "contract" });
      expect(entries).toMatchObject([{ form: "events", text: null, eventIds: [1000e6] }]);
    });

    test("what a digest does without is told when it is asked for, and stands in the ledger", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const asked = {
        form: "digest",
        turn: "find the payments-api file",
        budgetTokens: 1,
        client: "contract",
      } as const;
      expect((await api.context(asked)).leftOut).toBeUndefined();
      const { block, leftOut } = await api.context({ ...asked, withLeftOut: true });
      expect(block).toBeNull();
      const [first] = leftOut ?? [];
      expect(first?.text).toContain("retry.ts — payments-api");
      expect(first?.eventIds).toEqual([1000e6]);
      const { entries } = await api.ledger({ client: "contract" });
      expect(entries).toMatchObject([
        { form: "left-out", eventIds: leftOut?.flatMap(({ eventIds }) => eventIds) },
      ]);
      expect(entries[0]?.text).toContain(first?.text);
    });

    test("forgetting nothing in particular is a bad request", async () => {
      const { api } = await open();
      expect((await failureOf(api.forget({}))).code).toBe("bad_request");
    });

    test("the ledger tells the bytes that a client was given", async () => {
      const { api, change } = await open();
      await change();
      const { block } = await api.context({ form: "exact", client: "contract" });
      await api.context({ form: "exact", client: "somebody else" });
      const { entries, truncated } = await api.ledger({ client: "contract" });
      expect(entries).toMatchObject([{ client: "contract", form: "exact", text: block }]);
      expect(entries[0]?.reasons).not.toEqual([]);
      expect(truncated).toBe(false);
    });

    test("the ledger tells what the owner wrote, and where strangers' characters stand in what was given for it", async () => {
      const { api, change } = await open();
      await change();
      const turn = await api.composeTurn({
        session: "s",
        ownerText: "what am I at? my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD",
        form: "exact",
        client: "contract",
      });
      const { entries } = await api.ledger({ client: "contract" });
      const [entry] = entries;
      expect(entry?.ownerText).toBe("what am I at? my key is [secret]");
      expect(entry?.text).toBe(turn.modelText.slice(0, turn.injectedLength));
      expect(entry?.untrustedSpans).toEqual(turn.untrustedSpans);
      expect(entry?.untrustedSpans).not.toEqual([]);
      const gone = await api.forget({ match: "what am I at?" });
      expect(gone.ledgerEntries).toBe(1);
      expect(gone.proof?.foundIn).toEqual([]);
      expect((await api.ledger({ client: "contract" })).entries).toEqual([]);
    });

    test("a timeline tells windows, presence and where the record begins", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const range = { fromUs: 900e6, toUs: 2200e6 };
      const { lanes, firstUs, resolutionUs } = await api.timeline(range);
      const told = lanes.map(({ id, spans }) => [
        id,
        spans.map(({ startUs, endUs, app, state }) => [startUs, endUs, app ?? state]),
      ]);
      const focus = [
        [1000e6, 1100e6, "Editor"],
        [2000e6, 2100e6, "Browser"],
      ];
      expect(told).toEqual([
        ["focus", focus],
        ["documents", focus],
        ["tabs", []],
        ["presence", [[1500e6, 1600e6, "away"]]],
        ["media", []],
        ["gaps", [[900e6, 1000e6, "unrecorded"]]],
      ]);
      expect(firstUs).toBe(1000e6);
      expect(resolutionUs).toBe(0);
      const some = await api.timeline({ ...range, lanes: ["gaps", "focus"] });
      expect(some.lanes.map(({ id }) => id)).toEqual(["focus", "gaps"]);
    });

    test("what another device recorded is told as its own: in searches, in lists that ask for it, in a lane", async () => {
      const { api, recordThree, recordElsewhere } = await open();
      await recordThree();
      await recordElsewhere();
      const range = { fromUs: 900e6, toUs: 2200e6 };
      const own = await api.events(range);
      expect(own.events).toEqual(THREE);
      const all = await api.events({ ...range, allDevices: true });
      expect(all.events.map(({ startUs, device }) => [startUs, device])).toEqual([
        [1000e6, undefined],
        [1200e6, "lap"],
        [1500e6, undefined],
        [2000e6, undefined],
      ]);
      const newest = await api.events({ ...range, allDevices: true, limit: 1 });
      expect(newest).toMatchObject({ events: [{ startUs: 2000e6 }], truncated: true });
      const { hits } = await api.search({ q: "plan" });
      expect(hits).toMatchObject([{ device: "lap", activeUs: 100e6, lastUs: 1300e6 }]);
      expect((await api.search({ q: "retry" })).hits[0]).not.toHaveProperty("device");
      const { lanes } = await api.timeline({ ...range, lanes: ["elsewhere"] });
      expect(lanes).toMatchObject([{ spans: [{ device: "lap", label: "plan", app: "Calc" }] }]);
      const totals = await api.totals({ ...range, by: "application" });
      expect(totals.activeUs).toBe(200e6);
      expect(totals.elsewhere).toEqual([{ device: "lap", activeUs: 100e6 }]);
      const now = "1970-01-01T00:22:00Z";
      const { block } = await api.context({ form: "exact", now, timeZone: "UTC" });
      expect(block).toContain('- Also: lap (laptop): Calc: "plan", 1 min ago\n');
      await api.forget({ match: "plan" });
      expect((await api.search({ q: "plan" })).hits).toEqual([]);
      expect((await api.events({ ...range, allDevices: true })).events).toEqual(THREE);
      const after = await api.context({ form: "exact", now, timeZone: "UTC" });
      expect(after.block).not.toContain("Also");
    });

    test("totals tell what time went to, the largest first", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const range = { fromUs: 1040e6, toUs: 3000e6 };
      const whole = { app: null, place: null, documentId: null };
      expect(await api.totals({ ...range, by: "application" })).toEqual({
        totals: [
          { ...whole, label: "Browser", activeUs: 100e6 },
          { ...whole, label: "Editor", activeUs: 60e6 },
        ],
        activeUs: 160e6,
        rest: { activeUs: 0, count: 0 },
        withoutUs: 0,
        fromDayTotals: false,
      });
      const { totals, withoutUs } = await api.totals({ ...range, by: "host" });
      expect(totals).toEqual([{ ...whole, label: "docs.example.com", activeUs: 100e6 }]);
      expect(withoutUs).toBe(60e6);
    });

    test("days tell hours, and a day without a record from a day without activity", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const { days, timeZone } = await api.days({ fromDay: "1970-01-01", toDay: "1970-01-02" });
      expect(timeZone).toBe("Europe/Berlin");
      expect(days.map(({ day, activeUs }) => [day, activeUs])).toEqual([
        ["1970-01-01", 200e6],
        ["1970-01-02", null],
      ]);
      // At one o'clock in Berlin the first hour of 1970 began by UTC.
      expect(days[0]?.hours[1]).toBe(200e6);
    });

    test.each([
      ["a timeline", (api: ActivityApi) => api.timeline({ fromUs: 2, toUs: 1 })],
      ["totals", (api: ActivityApi) => api.totals({ fromUs: 2, toUs: 1, by: "host" })],
      ["days", (api: ActivityApi) => api.days({ fromDay: "2026-11-02", toDay: "2026-11-01" })],
      ["a day", (api: ActivityApi) => api.days({ fromDay: "2026-13-01", toDay: "2026-13-01" })],
      [
        "a day of no calendar",
        (api: ActivityApi) => api.days({ fromDay: "2026-02-30", toDay: "2026-03-02" }),
      ],
    ])("%s that is no range is a bad request", async (_, ask) => {
      const { api } = await open();
      const error = await failureOf(ask(api));
      expect(error.code).toBe("bad_request");
      expect(error.hint).not.toBe("");
    });

    test("the rules in force are told, and tried on a window without a trace", async () => {
      const { api } = await open();
      const { lines } = await api.rules();
      expect(lines).toContain("Your rules");
      const dropped = await api.testRule({ app: "KeePassXC", title: "Passwords" });
      expect(dropped).toMatchObject({ verdict: "drop", stored: null });
      expect(dropped.rule).not.toBeNull();
      const kept = await api.testRule({
        app: "Code",
        title: "a.ts",
        url: "https://a.example/x?y=1",
      });
      expect(kept).toMatchObject({
        verdict: "keep",
        rule: null,
        stored: { app: "Code", title: "a.ts", place: "a.example/x" },
      });
      expect((await api.ledger({})).entries).toEqual([]);
      expect((await api.status()).notes).toEqual([]);
    });

    test("a client that is refused gets nothing until it is allowed again", async () => {
      const { api, change } = await open();
      await change();
      await api.context({ form: "exact", client: "tool/1.0 (linux)" });
      const { clients } = await api.clients();
      expect(clients).toMatchObject([
        { client: "tool", access: "allowed", times: 1, revokedUs: null },
      ]);
      const refused = await api.setClient({ client: "tool", access: "revoked" });
      expect(refused.clients).toMatchObject([{ client: "tool", access: "revoked", times: 1 }]);
      const client = "tool/2.0";
      const range = { fromUs: 0, toUs: 1 };
      const asks = [
        () => api.context({ form: "exact", client }),
        () => api.composeTurn({ session: "a", ownerText: "hi", client }),
        () => api.composeParts({ session: "a", parts: [], client }),
        () => api.events({ ...range, client }),
        () => api.search({ q: "a", client }),
        () => api.timeline({ ...range, client }),
        () => api.totals({ ...range, by: "host", client }),
        () => api.days({ fromDay: "2026-11-01", toDay: "2026-11-01", client }),
        () => api.forget({ match: "a", dryRun: true, examples: 1, client }),
        () => api.watch({ client })[Symbol.asyncIterator]().next(),
      ];
      for (const ask of asks) {
        const error = await failureOf(ask());
        expect(error.code).toBe("client_revoked");
        expect(error.hint).toContain("activityd clients allow tool");
      }
      expect((await api.context({ form: "exact", client: "other" })).block).not.toBeNull();
      await api.setClient({ client: "tool", access: "allowed" });
      expect((await api.context({ form: "exact", client })).block).not.toBeNull();
    });

    test("what reads the record in another form stands in the ledger", async () => {
      const { api, recordThree } = await open();
      await recordThree();
      const range = { fromUs: 0, toUs: 3000e6, client: "contract" };
      await api.timeline(range);
      await api.totals({ ...range, by: "project" });
      await api.days({ fromDay: "1970-01-01", toDay: "1970-01-01", client: "contract" });
      const { entries } = await api.ledger({ client: "contract" });
      expect(entries.map(({ form }) => form)).toEqual(["days", "totals", "timeline"]);
      for (const { reasons } of entries) expect(reasons.join(" ")).toContain("1970-01-01");
    });

    test("where no page is served, a link to it is refused with what to do", async () => {
      const { api } = await open();
      const error = await failureOf(api.openPage());
      expect(error.code).toBe("page_unavailable");
      expect(error.hint).not.toBe("");
    });

    test("where there is no hub, it says so, and there is nothing to change about it", async () => {
      const { api } = await open();
      expect(await api.hub()).toEqual({
        place: null,
        link: null,
        devices: [],
        waiting: 0,
        lastSentUs: null,
        problems: [],
        notes: [],
      });
      const error = await failureOf(api.changeHub({ action: "rotate" }));
      expect(error.code).toBe("not_found");
      expect(error.hint).toContain("activityd hub join");
    });

    test("closing ends the watches", async () => {
      const { api } = await open();
      let messages = 0;
      for await (const _ of api.watch()) {
        messages += 1;
        await api.close();
      }
      expect(messages).toBe(1);
    });

    test("closing twice is closing once", async () => {
      const { api } = await open();
      await api.close();
      await expect(api.close()).resolves.toBeUndefined();
    });
  });
}

/** The events of `recordThree`, oldest first. */
export const THREE: readonly ActivityEvent[] = [
  {
    id: 1000e6,
    kind: "window",
    // Only the privacy gate makes this brand; the texts of these events never met a stranger.
    app: "Editor" as StorableText,
    title: "retry.ts — payments-api" as StorableText,
    place: null,
    startUs: 1000e6,
    endUs: 1100e6,
    utcOffsetMinutes: 60,
    timeZone: "Europe/Berlin",
  },
  {
    id: 1500e6,
    kind: "idle",
    state: "away",
    startUs: 1500e6,
    endUs: 1600e6,
    utcOffsetMinutes: 60,
    timeZone: "Europe/Berlin",
  },
  {
    id: 2000e6,
    kind: "window",
    app: "Browser" as StorableText,
    title: null,
    place: "docs.example.com/api" as StorableText,
    startUs: 2000e6,
    endUs: 2100e6,
    utcOffsetMinutes: 60,
    timeZone: "Europe/Berlin",
  },
];

/** The error an operation fails with; a success or another kind of error fails the test. */
export async function failureOf(operation: Promise<unknown>): Promise<ActivityError> {
  try {
    await operation;
  } catch (thrown) {
    if (thrown instanceof ActivityError) return thrown;
    throw thrown;
  }
  throw new Error("The operation should have failed.");
}
