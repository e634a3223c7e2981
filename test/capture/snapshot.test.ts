import { describe, expect, it } from "vitest";
import { readSnapshot } from "../../src/capture/snapshot.ts";
import { silentLog } from "../../src/log.ts";
import { openEventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const START = "2026-11-27T09:00:00Z";
const NOW = Date.parse(START) * 1000;
const MINUTE = 60_000_000;

describe("what was looked at before", () => {
  it("is no window that was seen first while its owner was away", () => {
    const { see, snapshot } = openRecord();
    see("worked on", NOW - 30 * MINUTE, NOW - 20 * MINUTE);
    see("left open", NOW - 10 * MINUTE, NOW - 10 * MINUTE);
    const { focused, recent } = snapshot();
    expect(focused).toBeNull();
    expect(recent.map(({ title }) => title)).toEqual(["worked on"]);
  });

  it("is in front from its first moment on", () => {
    const { see, snapshot } = openRecord();
    see("just opened", NOW, NOW);
    expect(snapshot().focused).toMatchObject({ title: "just opened" });
  });
});

function openRecord() {
  const store = openEventStore({
    directory: createTempHome(),
    clock: createFakeClock(START),
    log: silentLog,
  });
  return {
    see: (title: string, startUs: number, endUs: number) =>
      store.begin(
        { kind: "window", app: storable("Viewer"), title: storable(title), place: null },
        { startUs, endUs, utcOffsetMinutes: 0, timeZone: "UTC" },
      ),
    snapshot: () =>
      readSnapshot({
        store,
        present: null,
        nowUs: NOW,
        timeZone: "UTC",
        assistantApps: [],
        elsewhere: { read: () => [] },
      }),
  };
}
