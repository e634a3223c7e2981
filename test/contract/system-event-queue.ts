/** What the event queue promises wherever its rows are kept, as tests. */
import { describe, expect, test } from "vitest";
import {
  createSystemEventQueue,
  MAX_EVENT_CHARS,
  type SystemEventQueue,
  type SystemEventRows,
} from "../../src/auto-reply/reply/system-events.ts";
import type { SessionEvent } from "../../src/context/markers.ts";

const START_US = Date.parse("2026-05-04T09:30:00Z") * 1000;
const HOUR_US = 3_600_000_000;

export function describeSystemEventQueue(name: string, open: () => SystemEventRows): void {
  function openQueue(): { readonly queue: SystemEventQueue; readonly pass: (us: number) => void } {
    let nowUs = START_US;
    const queue = createSystemEventQueue({ rows: open(), nowUs: () => nowUs });
    return {
      queue,
      pass: (us) => {
        nowUs += us;
      },
    };
  }
  const texts = (events: readonly SessionEvent[]): readonly string[] =>
    events.map((event) => event.text);

  describe(`the event queue, ${name}`, () => {
    test("tells each event once, oldest first, with its time", () => {
      const { queue, pass } = openQueue();
      queue.enqueue({ session: "a", text: "one" });
      pass(61_000_000);
      queue.enqueue({ session: "a", text: "two" });
      expect(queue.drain("a", (events) => events)).toEqual([
        { ts: "2026-05-04 09:30:00 UTC", text: "one" },
        { ts: "2026-05-04 09:31:01 UTC", text: "two" },
      ]);
      expect(queue.drain("a", texts)).toEqual([]);
    });

    test("keeps sessions apart", () => {
      const { queue } = openQueue();
      queue.enqueue({ session: "a", text: "one" });
      expect(queue.drain("b", texts)).toEqual([]);
      expect(queue.drain("a", texts)).toEqual(["one"]);
    });

    test("an event whose key waits already is a duplicate, also behind others", () => {
      const { queue } = openQueue();
      expect(queue.enqueue({ session: "a", text: "x", key: "exec:1" })).toBe("queued");
      queue.enqueue({ session: "a", text: "y" });
      expect(queue.enqueue({ session: "a", text: "x again", key: "exec:1" })).toBe("duplicate");
      expect(queue.enqueue({ session: "b", text: "x", key: "exec:1" })).toBe("queued");
      expect(queue.drain("a", texts)).toEqual(["x", "y"]);
      expect(queue.enqueue({ session: "a", text: "x", key: "exec:1" })).toBe("queued");
    });

    test("an event without a key is a duplicate of the newest alone", () => {
      const { queue } = openQueue();
      queue.enqueue({ session: "a", text: "ping" });
      expect(queue.enqueue({ session: "a", text: "ping" })).toBe("duplicate");
      queue.enqueue({ session: "a", text: "pong" });
      expect(queue.enqueue({ session: "a", text: "ping" })).toBe("queued");
      expect(queue.drain("a", texts)).toEqual(["ping", "pong", "ping"]);
    });

    test("an empty key is none", () => {
      const { queue } = openQueue();
      queue.enqueue({ session: "a", text: "ping", key: "" });
      expect(queue.enqueue({ session: "a", text: "pong", key: "" })).toBe("queued");
      expect(queue.drain("a", texts)).toEqual(["ping", "pong"]);
    });

    test("keeps twenty events and tells how many older ones were dropped", () => {
      const { queue } = openQueue();
      for (let number = 1; number <= 25; number += 1) {
        queue.enqueue({ session: "a", text: `event ${number}` });
      }
      const told = queue.drain("a", texts);
      expect(told).toHaveLength(21);
      expect(told.slice(0, 2)).toEqual(["5 earlier events were dropped", "event 6"]);
      expect(told.at(-1)).toBe("event 25");
      queue.enqueue({ session: "a", text: "later" });
      expect(queue.drain("a", texts)).toEqual(["later"]);
    });

    test("a duplicate is no reason to drop anything", () => {
      const { queue } = openQueue();
      for (let number = 1; number <= 20; number += 1) {
        queue.enqueue({ session: "a", text: `event ${number}`, key: String(number) });
      }
      expect(queue.enqueue({ session: "a", text: "again", key: "1" })).toBe("duplicate");
      expect(queue.drain("a", texts)[0]).toBe("event 1");
    });

    test("events that could not be rendered stay", () => {
      const { queue } = openQueue();
      queue.enqueue({ session: "a", text: "one" });
      expect(() =>
        queue.drain("a", () => {
          throw new Error("no");
        }),
      ).toThrow("no");
      expect(() =>
        queue.drain(
          "a",
          () => {
            throw new Error("no");
          },
          "request 1",
        ),
      ).toThrow("no");
      expect(queue.drain("a", texts)).toEqual(["one"]);
    });

    test("a request that is retried gets the same events and no newer ones", () => {
      const { queue } = openQueue();
      queue.enqueue({ session: "a", text: "one" });
      queue.enqueue({ session: "a", text: "two" });
      expect(queue.drain("a", texts, "request 1")).toEqual(["one", "two"]);
      queue.enqueue({ session: "a", text: "three" });
      expect(queue.drain("a", texts, "request 1")).toEqual(["one", "two"]);
      expect(queue.drain("a", texts, "request 2")).toEqual(["three"]);
      expect(queue.drain("a", texts, "request 1")).toEqual(["one", "two"]);
      expect(queue.drain("b", texts, "request 1")).toEqual([]);
    });

    test("the number of dropped events is repeated for a retried request too", () => {
      const { queue } = openQueue();
      for (let number = 1; number <= 21; number += 1) {
        queue.enqueue({ session: "a", text: `event ${number}` });
      }
      const first = queue.drain("a", texts, "request 1");
      expect(first[0]).toBe("1 earlier events were dropped");
      expect(queue.drain("a", texts, "request 1")).toEqual(first);
    });

    test("what was told is kept for an hour and then gone", () => {
      const { queue, pass } = openQueue();
      queue.enqueue({ session: "a", text: "one" });
      queue.drain("a", texts, "request 1");
      pass(HOUR_US);
      expect(queue.drain("a", texts, "request 1")).toEqual(["one"]);
      pass(1);
      expect(queue.drain("a", texts, "request 1")).toEqual([]);
    });

    test("an event without text or with too much is refused", () => {
      const { queue } = openQueue();
      expect(() => queue.enqueue({ session: "a", text: " \n" })).toThrow("The event has no text.");
      expect(() => queue.enqueue({ session: "a", text: "x".repeat(MAX_EVENT_CHARS + 1) })).toThrow(
        "The event has 8001 characters; 8000 are the most.",
      );
      queue.enqueue({ session: "a", text: "x".repeat(MAX_EVENT_CHARS) });
      expect(queue.drain("a", (events) => events.length)).toBe(1);
    });
  });
}
