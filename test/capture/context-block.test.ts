/** The lines of the real-time block, from a snapshot. */
import { describe, expect, it } from "vitest";
import { renderContextBlock } from "../../src/capture/context-block.ts";
import type { IdleEvent, Snapshot, WindowEvent } from "../../src/capture/events.ts";
import { pausedSnapshot } from "../../src/capture/snapshot.ts";
import { storable } from "../helpers/storable.ts";

const NOW = us("2026-11-27T16:12:20Z");

function us(iso: string): number {
  return Date.parse(iso) * 1000;
}

const zone = { utcOffsetMinutes: 0, timeZone: "UTC" } as const;

function windowAt(from: string, to: string): WindowEvent {
  return {
    id: 1,
    kind: "window",
    app: storable("Code"),
    title: storable("retry.ts"),
    place: null,
    private: false,
    startUs: us(from),
    endUs: us(to),
    ...zone,
  } as WindowEvent;
}

function idleAt(from: string, to: string): IdleEvent {
  return { id: 2, kind: "idle", state: "away", startUs: us(from), endUs: us(to), ...zone };
}

function linesOf(parts: Partial<Snapshot>): readonly string[] {
  const snapshot = { ...pausedSnapshot(NOW, NOW, "UTC"), gaps: [], ...parts };
  const { block } = renderContextBlock(snapshot, 300);
  return (block ?? "").split("\n").slice(2, -3);
}

describe("a time in the real-time block", () => {
  const quiet = { state: "unknown", sinceUs: null, lastIdle: null, activeToday: null } as const;

  it("of today has no day", () => {
    const focused = windowAt("2026-11-27T16:00:00Z", "2026-11-27T16:12:20Z");
    const sinceUs = us("2026-11-27T16:10:00Z");
    const lastIdle = idleAt("2026-11-27T15:55:00Z", "2026-11-27T15:56:00Z");
    expect(linesOf({ focused, input: { ...quiet, state: "away", sinceUs, lastIdle } })).toEqual([
      '- Focused: Code: "retry.ts", since 16:00 (12 min)',
      "- Input: idle since 16:10; last idle 15:55–15:56 (1 min)",
    ]);
  });

  it("of another day names it, wherever it stands: old must not look like current", () => {
    const focused = windowAt("2026-11-26T16:00:00Z", "2026-11-27T16:12:20Z");
    const sinceUs = us("2026-11-24T16:10:00Z");
    const lastIdle = idleAt("2026-11-26T23:55:00Z", "2026-11-27T00:05:00Z");
    expect(linesOf({ focused, input: { ...quiet, state: "away", sinceUs, lastIdle } })).toEqual([
      '- Focused: Code: "retry.ts", since Thu 26 Nov 16:00 (24 h 12 min)',
      "- Input: idle since Tue 24 Nov 16:10; last idle Thu 26 Nov 23:55–00:05 (10 min)",
    ]);
  });

  it("of a window left on another day names it", () => {
    const focused = windowAt("2026-11-26T22:00:00Z", "2026-11-26T22:30:00Z");
    expect(linesOf({ focused, recent: [focused] })).toEqual([
      '- Focused: Code: "retry.ts", Thu 26 Nov 22:00–22:30 (30 min), left 17 h 42 min ago',
      '- Before: Code: "retry.ts", Thu 26 Nov 22:00–22:30 (30 min)',
    ]);
  });

  it("since which windows cannot be seen names its day", () => {
    const lost = {
      id: 3,
      kind: "gap",
      reason: "source-lost",
      startUs: us("2026-11-26T14:02:00Z"),
      endUs: NOW,
      ...zone,
    } as const;
    expect(linesOf({ focused: "unknown", gaps: [lost] })).toEqual([
      "- Focused: unknown, windows cannot be seen since Thu 26 Nov 14:02",
      "- Gaps: window source lost since Thu 26 Nov 14:02",
    ]);
  });
});
