import { describe, expect, it } from "vitest";
import { createTurnMemory } from "../../src/capture/turn-memory.ts";

const MINUTE_US = 60_000_000;

describe("the memory of turns", () => {
  it("gives the turns before, of the same session alone", () => {
    const memory = createTurnMemory();
    expect(memory.exchange("a", "one", 0)).toEqual([]);
    expect(memory.exchange("b", "other", 1)).toEqual([]);
    expect(memory.exchange("a", "two", 2)).toEqual(["one"]);
    expect(memory.exchange("a", "three", 3)).toEqual(["one", "two"]);
    expect(memory.exchange("a", "three", 4)).toEqual(["one", "two"]);
    memory.clear();
    expect(memory.exchange("a", "four", 4)).toEqual([]);
  });

  it("keeps the last six", () => {
    const memory = createTurnMemory();
    for (let turn = 0; turn < 9; turn += 1) memory.exchange("a", `${turn}`, turn);
    expect(memory.exchange("a", "last", 9)).toEqual(["3", "4", "5", "6", "7", "8"]);
  });

  it("forgets after half an hour, and the sessions used longest ago", () => {
    const memory = createTurnMemory();
    memory.exchange("a", "one", 0);
    expect(memory.exchange("a", "two", 31 * MINUTE_US)).toEqual([]);
    for (let session = 0; session < 64; session += 1) {
      memory.exchange(`s${session}`, "x", 32 * MINUTE_US);
    }
    expect(memory.exchange("a", "three", 32 * MINUTE_US)).toEqual([]);
    expect(memory.exchange("s63", "y", 32 * MINUTE_US)).toEqual(["x"]);
  });
});
