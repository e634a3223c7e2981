import { describe, expect, test } from "vitest";
import { prependSystemEvents } from "../../../src/auto-reply/reply/session-updates.ts";

describe("prependSystemEvents", () => {
  test("marks every line, leaves a blank line and does not touch the body", () => {
    const body = "# Device Activity (exact, real-time)\n- Now\n---\n\n  hi\r\n";
    expect(
      prependSystemEvents({ events: [{ ts: "2026-05-04 09:30:00 UTC", text: "one\ntwo" }], body }),
    ).toBe(`System: [2026-05-04 09:30:00 UTC] one\nSystem: two\n\n${body}`);
  });

  test("without events the body comes back byte for byte", () => {
    expect(prependSystemEvents({ events: [], body: "\n System: x" })).toBe("\n System: x");
  });
});
