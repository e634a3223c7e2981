/** What a command says that no daemon answers. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
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
  expect(explainSilence(paths, database)).toMatchObject({
    code: "database_damaged",
    hint: "Let it, and look again: activityd doctor",
  });
  const other = new ActivityError("bad_request", "Nothing says what.");
  expect(explainSilence(paths, other)).toBe(other);
  // What a recovery left that was killed writes no more.
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(file, hourAgo, hourAgo);
  expect((await runCli(["status"], { home })).talk).toContain("activityd start --detach");
});
