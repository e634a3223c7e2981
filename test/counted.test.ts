import { expect, test } from "vitest";
import { counted } from "../src/counted.ts";

test("one of something is told as one, and none as many", () => {
  expect([0, 1, 2].map((count) => counted(count, "event"))).toEqual([
    "0 events",
    "1 event",
    "2 events",
  ]);
  expect(counted(3, "entry", "entries")).toBe("3 entries");
});
