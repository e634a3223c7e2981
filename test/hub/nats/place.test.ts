/** Where a reader goes on when the servers of a cluster do not know the same. */
import { describe, expect, it } from "vitest";
import { createPlaceFinder } from "../../../src/hub/nats/place.ts";
import { silentLog } from "../../../src/log.ts";

const MADE = "2026-05-04T09:30:00Z";
const CURSOR = { created: MADE, sequence: 40 };

function stream(last: number, { created = MADE, first = 1 } = {}) {
  return { created, first_seq: first, last_seq: last };
}

describe("a reader's place in the stream", () => {
  it("is the first message for a reader that has read nothing", () => {
    const places = createPlaceFinder(silentLog, () => 0);
    expect(places.find(stream(40), null)).toEqual({ created: MADE, start: 1 });
  });

  it("is after the last message that was read", () => {
    const places = createPlaceFinder(silentLog, () => 0);
    expect(places.find(stream(40), CURSOR)).toEqual({ created: MADE, start: 41 });
    expect(places.find(stream(50, { first: 45 }), CURSOR).start).toBe(41);
  });

  it("is the first message of a stream that was made anew", () => {
    const places = createPlaceFinder(silentLog, () => 0);
    const anew = "2026-05-05T09:30:00Z";
    expect(places.find(stream(50, { created: anew }), CURSOR)).toEqual({ created: anew, start: 1 });
  });

  it("is where it was when another server of the cluster dates the stream a moment later", () => {
    const places = createPlaceFinder(silentLog, () => 0);
    const cursor = { created: "2026-11-30T13:10:57.765319107Z", sequence: 240 };
    const created = "2026-11-30T13:10:57.765872662Z";
    expect(places.find(stream(241, { created }), cursor)).toEqual({ created, start: 241 });
    // Nor does it wander with whoever is asked.
    const restarted = "2026-11-30T13:12:40.1Z";
    expect(places.find(stream(241, { created: restarted }), cursor).start).toBe(241);
    const unreadable = { created: "once upon a time", sequence: 240 };
    expect(places.find(stream(241), unreadable).start).toBe(1);
  });

  it("is waited for while a server lags, and is where it was when the server has caught up", () => {
    let nowMs = 0;
    const places = createPlaceFinder(silentLog, () => nowMs);
    for (; nowMs < 29_000; nowMs += 1_000) {
      expect(() => places.find(stream(39), CURSOR)).toThrow("lags behind");
    }
    expect(places.find(stream(41), CURSOR).start).toBe(41);
    // The next server that lags is given its time too.
    nowMs += 10_000;
    expect(() => places.find(stream(39), CURSOR)).toThrow("lags behind");
  });

  it("is the first message again where the stream stays shorter: it was put back from a copy", () => {
    let nowMs = 0;
    const places = createPlaceFinder(silentLog, () => nowMs);
    expect(() => places.find(stream(39), CURSOR)).toThrow("lags behind");
    nowMs = 30_000;
    expect(places.find(stream(39), CURSOR).start).toBe(1);
  });
});
