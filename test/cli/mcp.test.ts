import { expect, test } from "vitest";
import type { CliIo } from "../../src/cli/io.ts";
import { runProgram, withOwnEnvironment } from "../../src/cli/program.ts";
import { resolvePaths } from "../../src/paths.ts";
import { createTempHome } from "../helpers/temp-home.ts";

/** What would be written for a host, by a command line with this environment. */
async function plannedFor(env: Readonly<Record<string, string>>): Promise<string> {
  let out = "";
  const io: CliIo = {
    env: { HOME: createTempHome(), ...env },
    out: (text) => (out += text),
    talk: () => {},
    isTerminal: false,
    paths: () => resolvePaths(env),
  };
  expect(await runProgram(["mcp", "install", "cursor", "--dry-run"], withOwnEnvironment(io))).toBe(
    0,
  );
  return out;
}

test.each([
  [
    { XDG_RUNTIME_DIR: "/run/user/7" },
    '"ACTIVITYD_SOCKET": "/run/user/7/activityd/activityd.sock"',
  ],
  [{ ACTIVITYD_SOCKET: "/x/a.sock" }, '"ACTIVITYD_SOCKET": "/x/a.sock"'],
  [{ ACTIVITYD_HOME: "trial" }, `"ACTIVITYD_HOME": "${process.cwd()}/trial"`],
])("with %j a host that hands on none of it finds the daemon all the same", async (env, told) => {
  expect(await plannedFor(env)).toContain(told);
});

test("a host is told nothing that it does not need", async () => {
  expect(await plannedFor({ ACTIVITYD_HOME: "/trial" })).not.toContain("ACTIVITYD_SOCKET");
  expect(await plannedFor({})).not.toContain('"env"');
});
