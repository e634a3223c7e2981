import { describe, expect, it } from "vitest";
import { parseInstant, parseRange } from "../src/instant.ts";

const NOW_US = Date.parse("2026-11-27T16:12:00Z") * 1000;

describe("an instant on the command line", () => {
  it.each([
    ["45m", "2026-11-27T15:27:00Z"],
    ["1h", "2026-11-27T15:12:00Z"],
    ["1.5h", "2026-11-27T14:42:00Z"],
    ["7d", "2026-11-20T16:12:00Z"],
    ["2026-11-27T14:00:00Z", "2026-11-27T14:00:00Z"],
  ])("%s is %s", (text, iso) => {
    expect(parseInstant(text, "--since", NOW_US)).toBe(Date.parse(iso) * 1000);
  });

  it("as a time of today or a date is local", () => {
    expect(parseInstant("14:00", "--since", NOW_US)).toBe(
      new Date(NOW_US / 1000).setHours(14, 0, 0, 0) * 1000,
    );
    expect(parseInstant("2026-11-26", "--since", NOW_US)).toBe(
      new Date(2026, 10, 26).getTime() * 1000,
    );
  });

  it.each([
    "yesterdayish",
    "1x",
    "25:00",
    "",
    "-1h",
    "2026-13-45",
    "2026-02-30",
    "2026-06-31T14:00",
  ])("%j is refused with the accepted forms", (text) => {
    expect(() => parseInstant(text, "--since", NOW_US)).toThrow(/Cannot read --since/);
  });
});

describe("a range on the command line", () => {
  it("is open where no end was given", () => {
    expect(parseRange(["--since", "1h"], ["--until", undefined], NOW_US)).toEqual({
      fromUs: NOW_US - 3_600_000_000,
    });
    expect(parseRange(["--since", undefined], ["--until", undefined], NOW_US)).toEqual({});
  });

  it("that ends before it begins is refused in the words that were typed", () => {
    expect(() => parseRange(["--since", "2026-11-02"], ["--until", "2026-11-01"], NOW_US)).toThrow(
      "The range ends before it begins: --since 2026-11-02, --until 2026-11-01.",
    );
  });

  it("that has yet to begin is refused in them too, unless its end was given", () => {
    expect(() => parseRange(["--since", "2099-01-01"], ["--until", undefined], NOW_US)).toThrow(
      "The range begins in the future: --since 2099-01-01.",
    );
    // What a clock that was ahead recorded lies there.
    expect(parseRange(["--from", "0s"], ["--to", "2100-01-01"], NOW_US)).toMatchObject({
      fromUs: NOW_US,
    });
    expect(parseRange(["--from", "0s"], ["--to", undefined], NOW_US)).toEqual({ fromUs: NOW_US });
  });
});
