import { expect, onTestFinished, test } from "vitest";
import { createActivityApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { serveActivityApi } from "../../src/local-api/server.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { createFakeDesktop } from "../helpers/fake-desktop.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTempHome } from "../helpers/temp-home.ts";

test("a program that is refused stays refused after a restart, until it is allowed again", async () => {
  const home = createTempHome();
  const daemon = await startDaemon(home);
  await daemon.app.context({ form: "exact", client: "evil\u001b[2J/1.0" });
  const listed = await runCli(["clients"], { home });
  expect(listed.out).toMatch(/^evil\ufffd\[2J: last \d{4}-\d\d-\d\d \d\d:\d\d, once\n$/);
  const revoked = await runCli(["clients", "revoke", "tool"], { home });
  expect(revoked.talk).toBe(
    "activityd: tool gets nothing any more; allow it again with: activityd clients allow 'tool'\n" +
      "activityd: no program of that name was given anything so far.\n",
  );
  await daemon.stop();

  const again = await startDaemon(home);
  const { out } = await runCli(["clients"], { home });
  expect(out.split("\n")[1]).toMatch(/^tool: refused since .{16}, was given nothing that is kept$/);
  await expect(again.app.context({ form: "exact", client: "tool/3" })).rejects.toMatchObject({
    code: "client_revoked",
  });
  const { talk } = await runCli(["clients", "allow", "tool"], { home });
  expect(talk).toBe("activityd: tool is answered again.\n");
  await again.app.context({ form: "exact", client: "tool/3" });
  const json = await runCli(["clients", "--json"], { home });
  expect(JSON.parse(json.out).clients).toMatchObject([
    { client: "evil\u001b[2J" },
    { client: "tool", access: "allowed", times: 1 },
  ]);
});

async function startDaemon(home: string) {
  const env = { ACTIVITYD_HOME: home };
  const paths = resolvePaths(env);
  const clock = createFakeClock("2026-11-27T16:12:00Z", "Europe/Berlin");
  const { registry } = createFakeDesktop();
  const config = parseConfig("", "config.toml");
  const app = createActivityApp({ config, paths, env, clock, log: silentLog, registry });
  const at = { socketPath: paths.socketPath };
  const server = await serveActivityApi({ api: app, at, log: silentLog, version: "0" });
  const stop = async (): Promise<void> => {
    await server.close();
    await app.close();
  };
  onTestFinished(stop);
  return { app, stop };
}
