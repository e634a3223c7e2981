import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createActivityApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { VERSION } from "../../src/version.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createFakeDesktop } from "../helpers/fake-desktop.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTempHome } from "../helpers/temp-home.ts";

const CANARY = "canary7731";

/** A daemon that has seen windows of a name that must not get out. */
async function serveSomethingSecret(): Promise<string> {
  const home = createTempHome();
  const env = { ACTIVITYD_HOME: home };
  const paths = resolvePaths(env);
  const desktop = createFakeDesktop();
  const clock = createFakeClock(new Date().toISOString());
  const app = createActivityApp({
    config: parseConfig("", "config.toml"),
    paths,
    env,
    clock,
    log: silentLog,
    registry: desktop.registry,
  });
  const at = { socketPath: paths.socketPath };
  const server = await serveActivityApi({ api: app, at, log: silentLog, version: VERSION });
  onTestFinished(async () => {
    await server.close();
    await app.close();
  });
  await app.start();
  desktop.focus({ app: CANARY, title: `${CANARY} — x`, url: `https://${CANARY}.example/` });
  clock.advanceMs(60_000);
  desktop.focus({ app: "chromium", title: CANARY });
  return home;
}

test("doctor --report tells versions, findings and sources, and nothing that was recorded or names the owner", async () => {
  const home = await serveSomethingSecret();
  const config = `[capture]\nassistant_apps = ["${CANARY}"]\n`;
  const { out } = await runCli(["doctor", "--report"], { home, config });
  expect(out).toContain(`activityd ${VERSION}, Node.js ${process.versions.node}`);
  expect(out).toContain("- settings that differ from the defaults: capture.assistant_apps");
  expect(out).toContain("| window | live | fake |");
  expect(out).toMatch(/^\| ok \| database \|$/m);
  // Told by doctor itself, and not here: which browsers were seen.
  expect((await runCli(["doctor"], { home })).out).toContain("chromium");
  expect(out).not.toContain("chromium");
  for (const secret of [CANARY, home, userInfo().homedir]) {
    expect(out).not.toContain(secret);
  }
});

test("doctor --json prints one finding a line, each with its id", async () => {
  const { out, exitCode } = await runCli(["doctor", "--json"], { config: "nonsense = 1\n" });
  const findings: readonly { id: string; state: string; what: string; remedy: string }[] = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(findings.find(({ state }) => state === "problem")).toMatchObject({
    id: "settings-invalid",
    what: expect.stringContaining("nonsense: there is no such key"),
    remedy: expect.stringContaining("start again"),
  });
  for (const finding of findings)
    expect(Object.keys(finding).sort()).toEqual(["id", "remedy", "state", "what"]);
  expect(exitCode).toBe(1);
});

test("doctor calls no settings valid that are not there", async () => {
  const home = createTempHome();
  const file = join(home, "config.toml");
  expect((await runCli(["doctor"], { home })).out).toContain(
    `settings: there is no ${file}, and the defaults hold\n`,
  );
  expect((await runCli(["doctor"], { home, config: "" })).out).toContain(
    `settings: ${file} is valid\n`,
  );
});
