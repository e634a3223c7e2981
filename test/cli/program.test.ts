import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CliIo } from "../../src/cli/io.ts";
import { runProgram, withOwnEnvironment } from "../../src/cli/program.ts";
import { resolvePaths } from "../../src/paths.ts";
import { failureOf } from "../contract/activity-api.ts";
import { runCli } from "../helpers/run-cli.ts";
import { createTempHome } from "../helpers/temp-home.ts";

describe("an option whose value is empty, as that of a variable that is not set", () => {
  test.each([
    [["hub", "create", "--folder", ""], "--folder"],
    [["--home", "", "status"], "--home"],
    [["hub", "create", "--server", "nats://127.0.0.1:1", ""], "--server"],
    [["exec", "--session", "", "--", "true"], "--session"],
    [["forget", "--app="], "--app"],
  ])("%j is refused", async (argv, option) => {
    const home = createTempHome();
    const env = { ACTIVITYD_HOME: home };
    const io: CliIo = {
      env,
      out: () => {},
      talk: () => {},
      isTerminal: false,
      paths: () => resolvePaths(env),
    };
    const error = await failureOf(runProgram(argv, withOwnEnvironment(io)));
    expect(error).toMatchObject({ code: "bad_request", message: `${option} is empty.` });
    expect(existsSync(join(home, "config.toml"))).toBe(false);
  });
});

describe("a command line that does not fit", () => {
  test.each([
    [
      ["nwo"],
      "unknown command 'nwo'",
      "Did you mean now?",
      "List the commands with: activityd --help",
    ],
    [
      ["pause"],
      "missing required argument 'when'",
      "Usage: activityd pause [options] <when...>. More with: activityd pause --help",
    ],
    [
      ["config", "edti"],
      "unknown command 'edti'",
      "Did you mean edit?",
      "Usage: activityd config [options] [command]. More with: activityd config --help",
    ],
    [
      ["mcp", "install", "--list"],
      "unknown option '--list'",
      "Usage: activityd mcp install [options] <host>. More with: activityd mcp install --help",
    ],
  ])("%j is told as every failure is, and how the command goes", async (argv, what, ...hints) => {
    const { exitCode, out, talk } = await runCli(argv);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    expect(talk.trimEnd().split("\n")).toEqual([
      `activityd: ${what}`,
      ...hints.flat().map((hint) => `  ${hint}`),
    ]);
  });
});

test.each([
  ["gateway", "--upstream", "127.0.0.1:11434"],
  ["gateway", "--upstream", "ftp://127.0.0.1/v1"],
  ["chat", "--base-url", "localhost"],
])("an address that is none is refused before anything is asked: %s %s %s", async (...argv) => {
  const { exitCode, out, talk } = await runCli(argv);
  expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
  expect(talk).toContain(`"${argv[2]}" is no http or https address.`);
});

describe("a command to be run that cannot be started", () => {
  test.each([
    ["", 2, "The name of the command is empty."],
    ["x".repeat(100_000), 126, "its name is too long"],
    ["no\u001B[31mred", 127, "cannot start no\uFFFD[31mred: there is no such program"],
  ])("is told in one sentence", async (name, exitCode, sentence) => {
    const run = await runCli(["exec", "--session", "s", "--", name]);
    expect(run.exitCode).toBe(exitCode);
    expect(run.talk).toContain(sentence);
    expect(run.talk.length).toBeLessThan(2_000);
  });
});
