import { expect, test } from "vitest";
import { createLivePrivacy } from "../../../src/capture/privacy/live.ts";
import { DEFAULT_PRIVACY, privacySchema } from "../../../src/capture/privacy/rules.ts";

const NOW_US = Date.parse("2026-11-30T12:00:00Z") * 1000;
/** A zone that nobody knows: the rule fails on whatever it is asked of. */
const clock = { nowUs: () => NOW_US, monotonicUs: () => 0, timeZone: () => "Mars/Olympus" };
const failing = privacySchema.parse({ rules: [{ action: "drop", between: "22:00-07:30" }] });
const refused = expect.objectContaining({ code: "privacy_failed" });

test("a gate that fails the canary is not made use of, whoever asks first", () => {
  const privacy = createLivePrivacy(failing, clock);
  expect(() => privacy.gate.text("a line")).toThrow(refused);
  const window = { app: "Code", title: "x", url: null, pid: null, executable: null, private: null };
  expect(() => privacy.gate.window(window, NOW_US)).toThrow(refused);
  expect(() => privacy.check()).toThrow(refused);
});

test("rules that fail the canary leave those in force", () => {
  const privacy = createLivePrivacy(DEFAULT_PRIVACY, clock);
  privacy.check();
  expect(() => privacy.use(failing)).toThrow(refused);
  expect(privacy.rules()).toBe(DEFAULT_PRIVACY);
  expect(privacy.gate.text("a line")).toBe("a line");
});

test("rules that pass it replace a gate that did not", () => {
  const privacy = createLivePrivacy(failing, clock);
  privacy.use(DEFAULT_PRIVACY);
  privacy.check();
  expect(privacy.gate.text("a line")).toBe("a line");
});
