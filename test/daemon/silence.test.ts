/** What a command says that no daemon answers. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { planService } from "../../src/daemon/service/machine-plan.ts";
import { explainSilence } from "../../src/daemon/silence.ts";
import { ActivityError } from "../../src/errors.ts";
import { resolvePaths } from "../../src/paths.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTempHome } from "../helpers/temp-home.ts";

it("a record that is being recovered is waited for, and no daemon is to be started", async () => {
  const home = createTempHome();
  mkdirSync(join(home, "data"));
  const file = join(home, "data", "activity.db.recovering");
  writeFileSync(file, "");
  const status = await runCli(["status"], { home });
  expect(status.exitCode).toBe(3);
  expect(status.talk).toContain("The daemon is recovering a damaged record");
  expect(status.talk).not.toContain("activityd start");
  writeFileSync(join(home, "data", "activity.db"), "");
  const exported = await runCli(["export"], { home });
  expect(exported.talk).toContain("is being recovered");
  expect(exported.out).toBe("");
  const database = new ActivityError(
    "database_damaged",
    "It is malformed.",
    "activityd doctor --repair",
  );
  const paths = resolvePaths({ ACTIVITYD_HOME: home });
  expect(await explainSilence(paths, {}, database)).toMatchObject({
    code: "database_damaged",
    hint: "Let it, and look again: activityd doctor",
  });
  const other = new ActivityError("bad_request", "Nothing says what.");
  expect(await explainSilence(paths, {}, other)).toBe(other);
  // What a recovery left that was killed writes no more.
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(file, hourAgo, hourAgo);
  expect((await runCli(["status"], { home })).talk).toContain("activityd start --detach");
});

it("the options of the command line say whose record is looked at, and how much is told", async () => {
  const other = createTempHome();
  mkdirSync(join(other, "data"));
  writeFileSync(join(other, "data", "activity.db.recovering"), "");
  const status = await runCli(["--home", other, "--verbose", "status"]);
  expect(status.talk).toContain("The daemon is recovering a damaged record");
  expect(status.talk).toContain("\n    at ");
});

describe("where a service is installed", () => {
  it.each(["now", "status", "search retry", "exec --session s -- true"])(
    "«%s» without a daemon names what starts the service",
    async (line) => {
      const { home, env } = installed();
      const { talk } = await runCli(line.split(" "), { home, env });
      expect(talk).toContain("activityd service restart");
      expect(talk).not.toContain("--detach");
    },
  );

  it("a log that was not written yet is told with its place", async () => {
    const { home, env } = installed();
    const { talk, exitCode } = await runCli(["service", "logs"], { home, env });
    expect({ talk, exitCode }).toEqual({
      talk: `activityd: There is no log at ${join(home, "log", "activityd.log")}: no daemon has run in the background yet.\n  See how it stands with: activityd doctor\n`,
      exitCode: 1,
    });
  });

  it("that is another folder's, a daemon of this one is started by hand", async () => {
    const { env } = installed();
    const { talk } = await runCli(["status"], { env });
    expect(talk).toContain("Start it with: activityd start --detach\n");
  });

  /** A home with the files of its service, where there is no systemd. */
  function installed() {
    const home = createTempHome();
    const env = { XDG_CONFIG_HOME: join(home, "config"), XDG_RUNTIME_DIR: join(home, "login") };
    const own = { ...env, ACTIVITYD_HOME: home };
    for (const { path, text } of planService(resolvePaths(own), own, "linux").files) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    return { home, env };
  }
});
