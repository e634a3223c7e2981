import { describe, expect, test } from "vitest";

import { runCli } from "../helpers/run-cli.ts";

const run = (config: string, ...argv: readonly string[]) => runCli(argv, { config });

describe("activityd privacy test", () => {
  test("says which rule dropped a window", async () => {
    const { out, exitCode } = await run("", "privacy", "test", "1Password", "Vault — 1Password");
    expect(out).toBe(
      'dropped by seeded: 1Password (password manager)\nstored: nothing but a gap named "filtered"\n',
    );
    expect(exitCode).toBe(0);
  });

  test("keeps nothing of a private window but the gap", async () => {
    const { out } = await run("", "privacy", "test", "Firefox", "Inbox (Private Browsing)");
    expect(out).toBe('dropped by private window\nstored: nothing but a gap named "filtered"\n');
  });

  test("shows what a rule of the config makes of a window", async () => {
    const config = '[[privacy.rules]]\nname = "deals"\naction = "redact"\ntitle = "zeus"\n';
    const { out } = await run(
      config,
      "privacy",
      "test",
      "Code",
      "Zeus plan",
      "https://e.org/zeus?q",
    );
    expect(out).toBe(
      'stored after deals\napp: "Code"\ntitle: "[redacted] plan"\nplace: "e.org/[redacted]"\n',
    );
  });

  test("can be asked about another time of day, and answers as JSON", async () => {
    const config = '[[privacy.rules]]\naction = "app-only"\nbetween = "22:00-07:30"\n';
    const late = await run(config, "privacy", "test", "Code", "x", "--at", "23:00", "--json");
    expect(JSON.parse(late.out)).toEqual({
      verdict: "store",
      facts: { kind: "window", app: "Code", title: null, place: null },
      rule: "rule 1",
    });
    const noon = await run(config, "privacy", "test", "Code", "x", "--at", "12:00", "--json");
    expect(JSON.parse(noon.out)).toMatchObject({ rule: null });
  });
});

test("a rule that cannot be used is told with its line, its key and the reason", async () => {
  const config =
    '[privacy]\nemails = "redact"\n\n[[privacy.rules]]\naction = "drop"\napp = "x"\n\n[[privacy.rules]]\naction = "drop"\ntitle = "("\n';
  const { talk, exitCode } = await run(config, "privacy", "explain");
  expect(talk).toContain(
    'config.toml:10: privacy.rules.1.title: the pattern "(" is invalid: missing closing ): `(`.',
  );
  expect(exitCode).toBe(2);
});

test("a config that was written half is told with its line", async () => {
  const { talk, exitCode } = await run('[[privacy.rules]]\naction = "dro', "privacy", "explain");
  expect(talk).toMatch(/config\.toml:2:\d+: /);
  expect(exitCode).toBe(2);
});

test("explain prints the rules in order and then the defaults", async () => {
  const { out, exitCode } = await run(
    '[[privacy.rules]]\naction = "drop"\napp = "slack"\n',
    "privacy",
    "explain",
  );
  expect(out).toContain('Your rules\n  1. application "slack": dropped\n');
  expect(out).toContain("lock screen: Lock screens");
  expect(exitCode).toBe(0);
});
