import { describe, expect, it } from "vitest";
import { createTurnMemory } from "../../src/capture/turn-memory.ts";

const MINUTE_US = 60_000_000;

describe("the memory of turns", () => {
  it("gives the turn before, of the same session alone", () => {
    const memory = createTurnMemory();
    expect(memory.exchange("a", "one", 0)).toBeNull();
    expect(memory.exchange("b", "other", 1)).toBeNull();
    expect(memory.exchange("a", "two", 2)).toBe("one");
    expect(memory.exchange("a", "three", 3)).toBe("two");
    expect(memory.exchange("a", "three", 4)).toBe("two");
    memory.clear();
    expect(memory.exchange("a", "four", 4)).toBeNull();
  });

  it("forgets after half an hour, and the sessions used longest ago", () => {
    const memory = createTurnMemory();
    memory.exchange("a", "one", 0);
    expect(memory.exchange("a", "two", 31 * MINUTE_US)).toBeNull();
    for (let session = 0; session < 64; session += 1) {
      memory.exchange(`s${session}`, "x", 32 * MINUTE_US);
    }
    expect(memory.exchange("a", "three", 32 * MINUTE_US)).toBeNull();
    expect(memory.exchange("s63", "y", 32 * MINUTE_US)).toBe("x");
  });
});
