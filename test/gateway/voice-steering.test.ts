/** The directive itself. What the stripper makes of any directive stands in test/contract. */
import { describe, expect, test } from "vitest";
import {
  makeLeakStripper,
  stripLeakedDirectives,
  VOICE_TURN_DIRECTIVE,
} from "../../src/gateway/voice-steering.ts";

describe("the voice directive", () => {
  test("is what a stripper looks for unless it is told otherwise", () => {
    expect(stripLeakedDirectives(`${VOICE_TURN_DIRECTIVE} Yes.`)).toBe("Yes.");
    const stripper = makeLeakStripper();
    expect(stripper.push(VOICE_TURN_DIRECTIVE) + stripper.flush()).toBe("");
    expect(stripper).toMatchObject({ removed: true, empty: true });
  });

  test("bears no marker and no line break: it belongs to the system prompt", () => {
    expect(VOICE_TURN_DIRECTIVE).not.toMatch(/System:|^#|\n/);
  });
});
