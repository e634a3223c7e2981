import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { createActivityApp } from "../../src/app.ts";
import { parsePause } from "../../src/cli/commands/owner.ts";
import { parseConfig } from "../../src/config.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createFakeDesktop } from "../helpers/fake-desktop.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTempHome } from "../helpers/temp-home.ts";
import { VERSION } from "../../src/version.ts";

/** A daemon on its socket, in this process, with the command line beside it. */
async function serve() {
  const home = createTempHome();
  const env = { ACTIVITYD_HOME: home };
  const paths = resolvePaths(env);
  const clock = createFakeClock(new Date().toISOString());
  const desktop = createFakeDesktop();
  const config = parseConfig("", "config.toml");
  const { registry } = desktop;
  const app = createActivityApp({ config, paths, env, clock, log: silentLog, registry });
  const at = { socketPath: paths.socketPath };
  const server = await serveActivityApi({ api: app, at, log: silentLog, version: VERSION });
  onTestFinished(async () => {
    await server.close();
    await app.close();
  });
  await app.start();
  return { home, app, desktop, clock, run: (...argv: readonly string[]) => runCli(argv, { home }) };
}

describe("how long to pause", () => {
  const nowUs = new Date("2026-11-30T20:00:00").getTime() * 1000;
  const local = (text: string) => ({ until: new Date(text).toISOString() });
  test.each([
    ["15m", local("2026-11-30T20:15:00")],
    ["1h", local("2026-11-30T21:00:00")],
    ["1.5 h", local("2026-11-30T21:30:00")],
    ["until 22:30", local("2026-11-30T22:30:00")],
    ["until 14:00", local("2026-12-01T14:00:00")],
    ["until 2026-12-24", local("2026-12-24T00:00:00")],
    ["until-resume", {}],
  ])("%s", (text, expected) => {
    expect(parsePause(text.split(" "), nowUs)).toEqual(expected);
  });

  test.each(["", "soon", "15", "until", "until 5m", "until noon", "-5m"])(
    "%j is refused",
    (text) => {
      expect(() => parsePause(text.split(" "), nowUs)).toThrow(/Cannot read/);
    },
  );
});

test("a digest that is empty says why, beside the output and never in it", async () => {
  const { run } = await serve();
  const silent = { exitCode: 0, out: "" };
  expect(await run("digest", "thanks!")).toEqual({
    ...silent,
    talk: "activityd: nothing that was recorded bears on the turn.\n",
  });
  await run("pause", "5m");
  expect(await run("digest", "what did I do today?")).toEqual({
    ...silent,
    talk: "activityd: recording is paused: nothing is told.\n",
  });
});

describe("pause and resume", () => {
  test("reach the daemon, and status tells the pause", async () => {
    const { run } = await serve();
    expect((await run("pause", "until-resume")).talk).toBe(
      "Paused until you resume: activityd resume.\n",
    );
    expect((await run("status")).out).toContain("PAUSED   until it is resumed");
    expect((await run("now")).out).toMatch(/^- Gaps: paused since \d\d:\d\d$/m);
    expect(await run("resume")).toMatchObject({ talk: "Recording goes on.\n", exitCode: 0 });
  });

  test("without a daemon are there for the next one", async () => {
    const home = createTempHome();
    const paused = await runCli(["pause", "2h"], { home });
    expect(paused.talk).toMatch(
      /^The daemon is not running. When it starts, it is paused until 20/,
    );
    expect((await runCli(["resume"], { home })).talk).toBe(
      "The daemon is not running. When it starts, it records.\n",
    );
    expect(await runCli(["pause", "until", "2020-01-01"], { home })).toMatchObject({
      talk: expect.stringContaining("activityd: The pause would end before it begins.\n"),
      exitCode: 2,
    });
  });

  test("without a daemon, what cannot be kept is not said to be so", async () => {
    const home = createTempHome();
    // A file in the folder's place: not even root can write into it.
    writeFileSync(join(home, "data"), "");
    for (const argv of [["pause", "2h"], ["resume"]]) {
      const run = await runCli(argv, { home });
      expect(run.exitCode).toBe(1);
      expect(run.talk).toMatch(/^activityd: The daemon is not running, and .* cannot be/);
      expect(run.talk).not.toMatch(/Recording is paused|internal/i);
    }
  });
});

describe("forget", () => {
  test("counts, removes and says what was searched", async () => {
    const { run, desktop, clock } = await serve();
    desktop.focus({ title: "Canary-7731" });
    clock.advanceMs(20_000);
    desktop.focus({ title: "other" });
    expect((await run("forget", "--match", "canary-7731", "--dry-run")).out).toMatch(
      /^would forget 1 event, 1 distinct thing, 0 ledger entries, from .*\nnothing was changed/,
    );
    const done = await run("forget", "--match", "canary-7731");
    expect(done.out).toMatch(
      /^forgot 1 event, all there was of 1 thing,.*\nsearched \d+ files \(\d+\.\d MB\) for 1 text of it: found nothing\n$/,
    );
    expect(done.exitCode).toBe(0);
  });

  test("says in one sentence what is wrong", async () => {
    const { run } = await serve();
    expect(await run("forget")).toMatchObject({
      exitCode: 2,
      out: "",
      talk: expect.stringContaining("Give --last 30m"),
    });
    expect((await run("forget", "--last", "0m")).talk).toContain('Cannot read --last "0m"');
    expect((await run("forget", "--by-rules", "--app", "x")).talk).toContain(
      "--by-rules stands alone",
    );
    expect((await run("forget", "--last", "5m", "--to", "2h")).talk).toContain(
      "--last and --from or --to exclude each other.",
    );
    expect((await run("forget", "--last", "yesterday")).talk).toContain(
      'Cannot read --last "yesterday"',
    );
    expect((await run("forget", "--from", "1h", "--to", "2h")).talk).toContain("before it begins");
  });
});

test("the ledger is printed line by line, and no control character reaches the terminal", async () => {
  const { run, desktop, app } = await serve();
  desktop.focus({ title: "draft" });
  await app.context({ form: "exact", client: "evil\u001b[2J" });
  const { out } = await run("ledger");
  expect(out).toContain("evil\ufffd[2J: exact, now by rules");
  expect(out).toContain("  why: Focused: it has the focus\n");
  expect(out).toContain('  | - Focused: Code: "draft"');
  expect((await run("ledger", "--client", "nobody")).talk).toContain("nothing was given");
  expect((await run("ledger", "--limit", "none")).exitCode).toBe(2);
});

describe("doctor", () => {
  test("finds nothing wrong where nothing is, and names what cannot be known", async () => {
    const { run, desktop } = await serve();
    desktop.focus({ app: "chromium", title: "x" });
    const { out, exitCode } = await run("doctor");
    expect(out).toContain("ok      settings: ");
    expect(out).toContain("ok      privacy: no rules of yours; no planted secret came through");
    expect(out).toMatch(/^note {4}chromium: private windows cannot be told from others here/m);
    expect(exitCode).toBe(0);
  });

  test("finds wrong settings, an open folder and a daemon that does not run", async () => {
    const { home, run } = await serve();
    chmodSync(join(home, "data", "activity.db"), 0o644);
    expect((await run("doctor")).out).toMatch(
      /^problem Others on this machine can read .*activity\.db/m,
    );
    const config = '[[privacy.rules]]\naction = "drop"\n';
    const { out, exitCode } = await runCli(["doctor"], { config });
    expect(out).toContain("the rule has no condition");
    expect(out).toContain("note    No daemon answers at");
    expect(exitCode).toBe(1);
  });
});
