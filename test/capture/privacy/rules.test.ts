import { describe, expect, test } from "vitest";

import { createPrivacyGate } from "../../../src/capture/privacy.ts";
import { DEFAULT_PRIVACY, privacySchema } from "../../../src/capture/privacy/rules.ts";

/** The message with which a rule is refused. */
function refusal(...rules: readonly unknown[]): string {
  const { error } = privacySchema.safeParse({ rules });
  if (error === undefined) return "accepted";
  return error.issues
    .map(({ path, message }) => `${["privacy", ...path].join(".")}: ${message}`)
    .join("\n");
}

describe("a rule that cannot be used is refused, with its key and the reason", () => {
  test.each([
    [
      { action: "drop", title: "(" },
      'privacy.rules.0.title: The pattern "(" is invalid: missing closing ): `(`.',
    ],
    [{ action: "drop", title: "(?=a)b" }, 'privacy.rules.0.title: The pattern "(?=a)b" is invalid'],
    [
      { action: "drop", title: "a".repeat(50_000) },
      "privacy.rules.0.title: The pattern has 50000 characters; at most 1000",
    ],
    [
      { action: "drop", title: "(?:a?){900}a{900}" },
      'privacy.rules.0.title: The pattern "(?:a?){900}a{900}" expands to',
    ],
    [
      { action: "drop", title: ".*" },
      'privacy.rules.0.title: The pattern ".*" matches the empty text',
    ],
    [
      { action: "drop" },
      "privacy.rules.0.every: The rule has no condition and would match everything",
    ],
    [
      { action: "drop", app: "x", every: true },
      "privacy.rules.0.every: The rule says every = true and has a condition (app)",
    ],
    [
      { action: "drop", place: "https://example.com/" },
      'privacy.rules.0.place: "https://example.com/" is not a host',
    ],
    [
      { action: "drop", between: "25:00-26:00" },
      'privacy.rules.0.between: "25:00-26:00" is not a time of day',
    ],
    [
      { action: "drop", between: "08:00-08:00" },
      'privacy.rules.0.between: "08:00-08:00" is not a time of day',
    ],
    [
      { action: "drop", app: "x", replacement: "y" },
      'privacy.rules.0.replacement: A rule with action "drop" replaces nothing',
    ],
    [{ action: "hide", app: "x" }, "privacy.rules.0.action: "],
    [{ action: "drop", application: "x" }, "application"],
    ["drop", "privacy.rules.0: "],
    [null, "privacy.rules.0: "],
  ])("case %#", (rule, expected) => {
    const message = refusal(rule);
    expect(message).toContain(expected);
    expect(message.length).toBeLessThan(400);
  });

  test("every problem is reported at once", () => {
    const message = refusal({ action: "drop", title: "(" }, { action: "drop", between: "now" });
    expect(message.split("\n")).toHaveLength(2);
  });

  test("a rule behind one that matches everything is refused", () => {
    expect(refusal({ action: "drop", every: true }, { action: "drop", app: "x" })).toContain(
      "privacy.rules.1: Never reached: rule 1",
    );
    expect(refusal({ action: "keep", app: "x" }, { action: "app-only", every: true })).toBe(
      "accepted",
    );
  });

  test("more patterns than can be tried in time are refused", () => {
    const many = Array.from({ length: 60 }, (_, i) => ({ action: "drop", title: `[a-z]{90}${i}` }));
    expect(refusal(...many)).toContain("The title patterns come to");
  });

  test("the gate itself refuses what did not come through the parser", () => {
    expect(() =>
      createPrivacyGate({ ...DEFAULT_PRIVACY, rules: [{ action: "drop", title: "(" }] }),
    ).toThrow(/rule 1, title: The pattern "\(" is invalid/);
    expect(() => createPrivacyGate({ ...DEFAULT_PRIVACY, rules: [{ action: "drop" }] })).toThrow(
      /has no condition/,
    );
  });
});

test("an absent section means the defaults", () => {
  expect(privacySchema.parse({})).toEqual(DEFAULT_PRIVACY);
});
