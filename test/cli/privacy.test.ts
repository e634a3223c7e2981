import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { parseConfig } from "../../src/config.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { openEventStore } from "../../src/store/events.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { storable } from "../helpers/storable.ts";
import { createTempHome } from "../helpers/temp-home.ts";

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

describe("activityd privacy add", () => {
  test("writes the rule behind what stands there, and leaves that as it is", async () => {
    const home = createTempHome();
    const config = '# mine\n[privacy]\nemails = "redact" # all of them';
    const words = ["privacy", "add", "--action", "redact", "--title", 'a"b\\d', "--name", "deals"];
    const { out, exitCode } = await runCli(words, { home, config });
    expect(out).toBe(
      `rule 1 is added to ${join(home, "config.toml")}\nno stored event falls under the rules\n`,
    );
    expect(exitCode).toBe(0);
    const text = readFileSync(join(home, "config.toml"), "utf8");
    expect(text.startsWith(`${config}\n\n[[privacy.rules]]\n`)).toBe(true);
    const { rules } = parseConfig(text, "config.toml").privacy;
    expect(rules).toEqual([{ action: "redact", title: 'a"b\\d', name: "deals" }]);
    await runCli(["privacy", "add", "--action", "drop", "--app", "slack"], { home });
    expect((await runCli(["privacy", "test", "Slack", "x"], { home })).out).toContain("by rule 2");
  });

  test("writes nothing that would be refused", async () => {
    const home = createTempHome();
    const words = ["privacy", "add", "--action", "drop", "--title", "("];
    const { talk, exitCode } = await runCli(words, { home, config: "# mine\n" });
    expect(talk).toMatch(/^activityd: The rule does not fit: --title: the pattern "\(" is invalid/);
    expect(talk).not.toContain("config.toml");
    expect(exitCode).toBe(2);
    expect(readFileSync(join(home, "config.toml"), "utf8")).toBe("# mine\n");
  });

  test("says how many stored events it concerns, and how to apply it to them", async () => {
    const home = createTempHome();
    const clock = createFakeClock("2026-11-30T12:00:00Z");
    const { dataDirectory } = resolvePaths({ ACTIVITYD_HOME: home });
    const store = openEventStore({ directory: dataDirectory, clock, log: silentLog });
    const span = { startUs: 1e15, endUs: 1e15 + 1e6, utcOffsetMinutes: 0, timeZone: "UTC" };
    for (const title of ["payroll", "lunch"]) {
      store.begin(
        { kind: "window", app: storable("Code"), title: storable(title), place: null },
        span,
      );
    }
    store.close();
    const { out } = await runCli(["privacy", "add", "--action", "drop", "--title", "payroll"], {
      home,
    });
    expect(out).toContain(
      "1 stored event falls under the rules; to apply them backwards: activityd forget --by-rules\n",
    );
  });
});
