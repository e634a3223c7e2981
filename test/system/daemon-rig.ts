/** A real daemon in a throw-away home, spoken to as its users do: by its command line and by curl. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ActivityApi } from "../../src/api.ts";
import { connectActivity } from "../../src/local-api/client.ts";
import { until } from "../helpers/until.ts";
import type { Processes } from "./processes.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly talk: string;
}

export interface DaemonRig {
  readonly home: string;
  readonly socket: string;
  readonly api: ActivityApi;
  /** Starts the daemon and waits until it answers. */
  readonly start: () => Promise<ChildProcess>;
  /** Runs the command line to its end. */
  readonly run: (args: readonly string[], input?: string) => Promise<CommandResult>;
  readonly curl: (args: readonly string[]) => Promise<CommandResult>;
  readonly close: () => Promise<void>;
}

/** `env` is the session the daemon finds itself in; `config` the text of its settings; `main` the program that is run. */
export function openDaemonRig(
  processes: Processes,
  env: Readonly<Record<string, string>>,
  config = "",
  main = MAIN,
): DaemonRig {
  const home = mkdtempSync(join(tmpdir(), "activityd-system-"));
  const socket = join(home, "run", "activityd.sock");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.toml"), config);
  const full = { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home, ...env };
  const api = connectActivity({ socketPath: socket });
  return {
    home,
    socket,
    api,
    start: async () => {
      const child = processes.start(process.execPath, [main, "start"], { env: full });
      let said = "";
      child.stderr?.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
      await until("the daemon answers", async () => {
        if (child.exitCode !== null) throw new Error(`the daemon ended: ${said}`);
        return api.status().catch(() => null);
      });
      return child;
    },
    run: (args, input) => runToEnd(process.execPath, [main, ...args], full, input),
    curl: (args) =>
      runToEnd("curl", ["--silent", "--show-error", "--unix-socket", socket, ...args], full),
    close: async () => {
      await api.close();
      await processes.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function runToEnd(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = "",
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env });
    let out = "";
    let talk = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      talk += text;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out, talk }));
    // Who ends at once, such as curl without a daemon, takes no input.
    child.stdin.on("error", () => {}).end(input);
  });
}
