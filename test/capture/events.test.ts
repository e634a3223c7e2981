import { describe, expect, it } from "vitest";
import { clipSpan, isSameFacts } from "../../src/capture/events.ts";
import { storable } from "../helpers/storable.ts";

describe("facts are the same", () => {
  it("whatever the order of their fields, and never across kinds", () => {
    const app = storable("Code");
    const window = { kind: "window", app, title: null, place: null } as const;
    expect(isSameFacts(window, { place: null, title: null, app, kind: "window" })).toBe(true);
    expect(isSameFacts(window, { ...window, title: storable("") })).toBe(false);
    expect(isSameFacts({ kind: "lock" }, { kind: "sleep" })).toBe(false);
  });
});

describe("a span clipped to a range", () => {
  it.each([
    [10, 20, 0, 100, 10, 20],
    [10, 20, 15, 100, 15, 20],
    [10, 20, 0, 12, 10, 12],
  ])("[%i, %i) in [%i, %i) is [%i, %i)", (startUs, endUs, fromUs, toUs, clippedFrom, clippedTo) => {
    expect(clipSpan({ startUs, endUs }, fromUs, toUs)).toEqual({
      startUs: clippedFrom,
      endUs: clippedTo,
    });
  });

  it("that it only touches is nothing", () => {
    expect(clipSpan({ startUs: 10, endUs: 20 }, 20, 30)).toBeNull();
  });
});
