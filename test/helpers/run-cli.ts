/** Runs a command line in this process, in a home of its own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tellFailure, type CliIo } from "../../src/cli/io.ts";
import { explainSilence } from "../../src/daemon/silence.ts";
import { runProgram, withOwnEnvironment } from "../../src/cli/program.ts";
import { resolvePaths } from "../../src/paths.ts";
import { createTempHome } from "./temp-home.ts";

export interface CliRun {
  /** Data, as it went to stdout. */
  readonly out: string;
  /** Talk, as it went to stderr. */
  readonly talk: string;
  readonly exitCode: number;
}

/** Runs `argv` in `home`, whose config is written first when one is given. */
export async function runCli(
  argv: readonly string[],
  {
    home = createTempHome(),
    config,
    env: extra = {},
  }: {
    readonly home?: string;
    readonly config?: string;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<CliRun> {
  mkdirSync(home, { recursive: true });
  if (config !== undefined) writeFileSync(join(home, "config.toml"), config);
  const env = { PATH: process.env["PATH"] ?? "", ...extra, ACTIVITYD_HOME: home };
  let out = "";
  let talk = "";
  const terminal: CliIo = {
    env,
    out: (text) => {
      out += text;
    },
    talk: (line) => {
      talk += `${line}\n`;
    },
    isTerminal: false,
    paths: () => resolvePaths(env),
  };
  const io = withOwnEnvironment(terminal);
  let exitCode: number;
  try {
    exitCode = await runProgram(argv, io);
  } catch (thrown) {
    exitCode = tellFailure(io, await explainSilence(io.paths(), io.env, thrown));
  }
  return { out, talk, exitCode };
}
