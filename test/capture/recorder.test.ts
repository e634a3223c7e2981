/** What is kept beside a record that cannot be written, as far as the recorder says when it is needed no more. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createRecorder } from "../../src/capture/recorder.ts";
import { ActivityError } from "../../src/errors.ts";
import { silentLog } from "../../src/log.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

describe("what waits for the store", () => {
  it("is said to wait no more as soon as it was written, whatever had it written", () => {
    const { recorder, held, clock, setWritable } = openRecorder();
    setWritable(false);
    recorder.set("window", windowOf("one"), clock.nowUs());
    clock.advanceMs(5_000);
    recorder.advance(clock.nowUs());
    expect(held.at(-1)).toBe(1);
    setWritable(true);
    // Not the tick: a change of focus comes first.
    recorder.set("window", windowOf("two"), clock.nowUs());
    expect(held.at(-1)).toBe(0);
  });

  it("is said to wait no more when the owner had all of it forgotten", () => {
    const { recorder, held, clock, setWritable } = openRecorder();
    setWritable(false);
    recorder.set("window", windowOf("one"), clock.nowUs());
    clock.advanceMs(5_000);
    recorder.advance(clock.nowUs());
    recorder.forgetWaiting(null);
    expect(held.at(-1)).toBe(0);
  });
});

function windowOf(title: string) {
  return { kind: "window", app: storable("App"), title: storable(title), place: null } as const;
}

function openRecorder() {
  const clock = createFakeClock("2026-11-27T12:00:00Z");
  const store = openEventStore({ directory: createTempHome(), clock, log: silentLog });
  onTestFinished(() => store.close());
  const held: number[] = [];
  let isWritable = true;
  const unwritable = (): void => {
    if (!isWritable) throw new ActivityError("database_unwritable", "The disk is full.", "Wait.");
  };
  const guarded: EventStore = {
    ...store,
    begin: (facts, span) => {
      unwritable();
      return store.begin(facts, span);
    },
    setEnd: (id, endUs) => {
      unwritable();
      store.setEnd(id, endUs);
    },
    hold: (events) => void held.push(events.length),
  };
  return {
    recorder: createRecorder({ store: guarded, clock, log: silentLog }),
    held,
    clock,
    setWritable: (next: boolean) => {
      isWritable = next;
    },
  };
}
