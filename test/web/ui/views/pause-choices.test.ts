import { describe, expect, it } from "vitest";
import { countdown, pauseChoices } from "../../../../src/web/ui/views/pause-choices.ts";

const us = (text: string): number => new Date(text).getTime() * 1000;

describe("a pause from the page", () => {
  it("may last until the next morning of the calendar", () => {
    for (const now of ["2026-11-30T00:10:00", "2026-11-30T23:50:00"]) {
      const told: number[] = [];
      const choices = pauseChoices(us(now), (untilUs) => {
        told.push(untilUs);
        return "Tue";
      });
      expect(choices.map(({ label }) => label)).toEqual([
        "15 minutes",
        "1 hour",
        "Until tomorrow, Tue",
        "Until I resume",
      ]);
      expect(told).toEqual([us("2026-12-01T06:00:00")]);
      expect(choices[2]?.request).toEqual({ until: new Date("2026-12-01T06:00:00").toISOString() });
      expect(choices[3]?.request).toEqual({});
    }
  });

  it.each([
    [0, "0:00"],
    [-5_000_000, "0:00"],
    [1, "0:01"],
    [61_000_000, "1:01"],
    [3_599_000_001, "1:00:00"],
    [90_000_000_000, "25:00:00"],
  ])("with %d µs left reads %s", (leftUs, text) => {
    expect(countdown(1e15 + leftUs, 1e15)).toBe(text);
  });

  it("without an end counts nothing down", () => {
    expect(countdown(null, 1e15)).toBeNull();
  });
});
