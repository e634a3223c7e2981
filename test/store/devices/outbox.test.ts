/** What a device has to tell is noted as it happens, and nowhere else. */
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/log.ts";
import type { EventFacts } from "../../../src/capture/events.ts";
import { openEventStore, type EventStore } from "../../../src/store/events.ts";
import { createOutbox, type ChangeBatch, type Outbox } from "../../../src/store/devices/outbox.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { storable } from "../../helpers/storable.ts";
import { createTempHome } from "../../helpers/temp-home.ts";

const S = 1_000_000;
const T0 = Date.parse("2026-05-04T09:00:00Z") * 1000;
const NONE: ReadonlySet<number> = new Set();

function open(): { readonly store: EventStore; readonly outbox: Outbox } {
  const clock = createFakeClock("2026-05-04T09:30:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  return { store, outbox: createOutbox(store.database) };
}

function windowFacts(title: string): EventFacts {
  return { kind: "window", app: storable("Code"), title: storable(title), place: null };
}

function spanAt(slot: number, lengthS = 10) {
  const startUs = T0 + slot * 60 * S;
  return { startUs, endUs: startUs + lengthS * S, utcOffsetMinutes: 0, timeZone: "UTC" };
}

function take(outbox: Outbox, openIds = NONE, withGrowth = false): ChangeBatch | null {
  const batch = outbox.changes(100, openIds, withGrowth);
  batch?.done();
  return batch;
}

function titles(batch: ChangeBatch | null): (string | null)[] {
  return (batch?.events ?? []).map(({ facts }) => (facts.kind === "window" ? facts.title : null));
}

describe("the outbox", () => {
  it("notes nothing where there is no hub", () => {
    const { store, outbox } = open();
    store.begin(windowFacts("one"), spanAt(0));
    expect(outbox.waiting(new Set())).toBe(0);
    expect(outbox.isStarted()).toBe(false);
    store.close();
  });

  it("notes what begins, grows and goes, in the transaction that makes it so", () => {
    const { store, outbox } = open();
    outbox.begin(false);
    const id = store.begin(windowFacts("one"), spanAt(0));
    expect(() =>
      store.database.transaction(() => {
        store.begin(windowFacts("undone"), spanAt(1));
        throw new Error("undo");
      }),
    ).toThrow("undo");
    expect(titles(take(outbox))).toEqual(["one"]);
    expect(take(outbox)).toBeNull();
    store.setEnd(id, T0 + 20 * S);
    expect(take(outbox)?.events).toMatchObject([{ startUs: T0, endUs: T0 + 20 * S }]);
    store.close();
  });

  it("takes up what was recorded before, when it is asked to", () => {
    const { store, outbox } = open();
    store.begin(windowFacts("before"), spanAt(0));
    outbox.begin(true);
    store.begin(windowFacts("after"), spanAt(1));
    expect(titles(take(outbox))).toEqual(["before", "after"]);
    store.close();
  });

  it("tells nothing of what was recorded before, whatever becomes of it, where that is to stay here", () => {
    const { store, outbox } = open();
    const before = store.begin(windowFacts("before"), spanAt(0));
    const gone = store.begin(windowFacts("gone"), spanAt(1));
    outbox.begin(false);
    store.begin(windowFacts("after"), spanAt(2));
    store.setEnd(before, T0 + 20 * S);
    store.database.prepare("DELETE FROM event WHERE start_us = ?").run(gone);
    const batch = take(outbox);
    expect([titles(batch), batch?.erased]).toEqual([["after"], []]);
    // Such as for a hub that lost everything.
    outbox.retell();
    expect(titles(take(outbox))).toEqual(["after"]);
    store.close();
  });

  it("leaves growth of an event that goes on for later, and never its beginning", () => {
    const { store, outbox } = open();
    outbox.begin(false);
    const id = store.begin(windowFacts("one"), spanAt(0));
    expect(take(outbox, new Set([id]))?.events).toMatchObject([{ isOpen: true }]);
    store.setEnd(id, T0 + 30 * S);
    expect(take(outbox, new Set([id]))).toBeNull();
    expect(take(outbox, new Set([id]), true)?.events).toMatchObject([{ endUs: T0 + 30 * S }]);
    store.setEnd(id, T0 + 40 * S);
    expect(take(outbox)?.events).toMatchObject([{ isOpen: false, endUs: T0 + 40 * S }]);
    store.close();
  });

  it("tells of what is gone in runs that no event lies in, and not of what nobody heard of", async () => {
    const { store, outbox } = open();
    outbox.begin(false);
    const ids = [0, 1, 2, 3, 4].map((slot) => store.begin(windowFacts(`w${slot}`), spanAt(slot)));
    take(outbox);
    const unheard = store.begin(windowFacts("unheard"), spanAt(5));
    await store.eraser.events([ids[0], ids[1], ids[3], unheard].map(Number), "forget");
    expect(take(outbox)).toMatchObject({
      events: [],
      erased: [
        [ids[0], ids[1]],
        [ids[3], ids[3]],
      ],
    });
    store.close();
  });

  it("tells rewritten facts, and nothing of the machine's load", async () => {
    const { store, outbox } = open();
    outbox.begin(false);
    const id = store.begin(windowFacts("secret"), spanAt(0));
    take(outbox);
    await store.eraser.rewrite([{ id, facts: windowFacts("withheld") }]);
    store.begin(
      {
        kind: "system",
        power: "ac",
        batteryPercent: null,
        online: true,
        cpuLoad: 0.5,
        memoryUsed: null,
        displayCount: 1,
      },
      spanAt(1),
    );
    expect(titles(take(outbox))).toEqual(["withheld"]);
    store.close();
  });

  it("gives what is left in pieces, oldest first", () => {
    const { store, outbox } = open();
    outbox.begin(false);
    for (const slot of [0, 1, 2]) store.begin(windowFacts(`w${slot}`), spanAt(slot));
    const first = outbox.changes(2, NONE, false);
    expect([titles(first), first?.hasMore]).toEqual([["w0", "w1"], true]);
    first?.done();
    expect(take(outbox)).toMatchObject({ hasMore: false, events: [{ startUs: T0 + 120 * S }] });
    store.close();
  });

  it("keeps sealed records until they are acknowledged", () => {
    const { store, outbox } = open();
    outbox.begin(false);
    outbox.together(() => {
      for (const seq of [1, 2, 3]) outbox.addMessage({ epoch: 1, seq, bytes: Buffer.from([seq]) });
      outbox.writeLog({
        device: "d",
        epoch: 1,
        seq: 3,
        hash: Buffer.alloc(32, 7),
        cursor: null,
        toldUs: 0,
      });
    });
    outbox.sync();
    outbox.acknowledged(1, 2);
    expect(outbox.messages(10).map(({ seq }) => seq)).toEqual([3]);
    expect(outbox.readLog()).toMatchObject({ device: "d", seq: 3, cursor: null });
    outbox.stop();
    expect([outbox.messageCount(), outbox.readLog(), outbox.isStarted()]).toEqual([0, null, false]);
    store.close();
  });
});
