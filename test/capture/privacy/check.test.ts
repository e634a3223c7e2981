import { describe, expect, test } from "vitest";

import { createPrivacyGate, type PrivacyGate } from "../../../src/capture/privacy.ts";
import { checkPrivacyGate } from "../../../src/capture/privacy/check.ts";
import { describeResult, explainPrivacy } from "../../../src/capture/privacy/explain.ts";
import { DEFAULT_PRIVACY, privacySchema } from "../../../src/capture/privacy/rules.ts";
import { storable } from "../../helpers/storable.ts";

const NOW_US = Date.parse("2026-11-30T12:00:00Z") * 1000;
const gate = createPrivacyGate(DEFAULT_PRIVACY);

describe("the canary of every start", () => {
  test("finds nothing in the gate as it is, whatever the owner's rules", () => {
    const { rules } = privacySchema.parse({
      rules: [
        { action: "keep", app: "firefox" },
        { action: "redact", title: "made", replacement: "x" },
        { action: "app-only", every: true },
      ],
    });
    for (const config of [
      DEFAULT_PRIVACY,
      { ...DEFAULT_PRIVACY, rules },
      { ...DEFAULT_PRIVACY, seeded: false },
    ]) {
      expect(() => checkPrivacyGate(createPrivacyGate(config), config, NOW_US)).not.toThrow();
    }
  });

  test.each<[string, Partial<PrivacyGate>, string]>([
    [
      "window",
      {
        window: ({ app, title }) => ({
          verdict: "store",
          facts: { kind: "window", app: storable(app), title: storable(title ?? ""), place: null },
          rule: null,
        }),
      },
      "in a window title",
    ],
    [
      "media",
      {
        media: (sample) => ({
          verdict: "store",
          facts: {
            kind: "media",
            player: storable(sample.player),
            title: null,
            artist: storable(sample.artist ?? ""),
            playing: true,
          },
          rule: null,
        }),
      },
      "in a song",
    ],
    ["text", { text: (raw) => storable(raw) }, "from a client"],
    [
      "rule",
      { notification: ({ summary }) => ({ verdict: "drop", rule: summary }) },
      "in a notification",
    ],
  ])("stops a gate that leaks by %s, without telling the secret", (_way, leak, said) => {
    const check = () => checkPrivacyGate({ ...gate, ...leak }, DEFAULT_PRIVACY, NOW_US);
    expect(check).toThrow(said);
    expect(check).not.toThrow(/[Cc]anary[0-9a-f]/);
  });

  test("stops a gate that fails on ordinary input", () => {
    const config = privacySchema.parse({ rules: [{ action: "drop", between: "22:00-07:30" }] });
    const failing = createPrivacyGate(config, { timeZone: () => "Mars/Olympus" });
    expect(() => checkPrivacyGate(failing, config, NOW_US)).toThrow(
      "fails on ordinary input (RangeError)",
    );
  });
});

describe("what the policy says of itself", () => {
  const sample = { url: null, pid: null, executable: null, private: null };

  test("a dropped window leaves a gap", () => {
    const result = gate.window({ ...sample, app: "1Password", title: "Vault" }, NOW_US);
    expect(describeResult("1Password", result)).toEqual([
      "dropped by seeded: 1Password (password manager)",
      'stored: nothing but a gap named "filtered"',
    ]);
  });

  test("a stored window shows what is stored, and what cannot be known", () => {
    const result = gate.window(
      { ...sample, app: "chromium", title: "password=x", url: "https://e.org/a?b" },
      NOW_US,
    );
    expect(describeResult("chromium", result)).toEqual([
      "stored; no rule acted",
      'app: "chromium"',
      'title: "password=[secret]"',
      'place: "e.org/a"',
      "note: this browser sets no mark on private windows, so that they cannot be told from others",
    ]);
  });

  test("every rule is told in order, and every default", () => {
    const config = privacySchema.parse({
      emails: "redact",
      rules: [
        { name: "chat", action: "app-only", app: "slack", between: "18:00-08:00" },
        { action: "redact", title: "zeus", replacement: "X" },
        { action: "drop", place: "example.com/private", private: false },
        { action: "keep", every: true },
      ],
    });
    const text = explainPrivacy(config).join("\n");
    expect(text).toContain(
      [
        '  1. chat: application "slack" and between 18:00-08:00: the application\'s name alone',
        '  2. title like /zeus/: what matches becomes "X"',
        "  3. address at example.com/private and not a private window: dropped",
        "  4. everything: kept (secrets are replaced, private windows dropped all the same)",
      ].join("\n"),
    );
    expect(text).toContain("password manager: 1Password, Bitwarden");
    expect(text).toContain("[e-mail]");
    expect(explainPrivacy({ ...DEFAULT_PRIVACY, seeded: false }).join("\n")).toContain("is off");
  });
});
