/** `activityd mcp`: the tools for hosts of the Model Context Protocol. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../clock.ts";
import { ActivityError } from "../../errors.ts";
import type { McpHost } from "../../mcp/install.ts";
import { resolvePaths } from "../../paths.ts";
import { VERSION } from "../../version.ts";
import { argumentOf } from "../command-tree.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

interface ServeFlags {
  readonly http?: true;
  readonly port: string;
  readonly json?: true;
}

const FOR_HOSTS =
  "activityd: this waits for a host of the Model Context Protocol, which starts it by itself. Leave it with Ctrl+C, and write it into a host's settings with: activityd mcp install HOST";

const HOSTS: readonly McpHost[] = ["claude-desktop", "claude-code", "cursor", "vscode"];

export const registerMcpCommands: RegisterCommands = (program, io, finish) => {
  const mcp = program
    .command("mcp")
    .description("serve the Model Context Protocol over stdin and stdout, until the host ends it")
    .option("--http", "serve it over HTTP on 127.0.0.1 instead")
    .option("--port <number>", "the port for --http (0: any that is free)", "7118")
    .option("--json", "print address and token of --http as JSON")
    .action((flags: ServeFlags) => finish(runServer(io, flags)));
  mcp
    .command("install")
    .description("write the server into the settings of a host")
    .addArgument(argumentOf("<host>", "the host", HOSTS))
    .option("--dry-run", "print what would change")
    .action((host: string, flags: { dryRun?: true }) =>
      finish(runInstall(io, host, flags.dryRun === true)),
    );
};

async function runServer(io: CliIo, flags: ServeFlags): Promise<ExitCode> {
  const [{ serveMcpHttp, serveMcpStdio }, { connectActivity }] = await Promise.all([
    import("../../mcp/serve.ts"),
    import("../../local-api/client.ts"),
  ]);
  const api = connectActivity({ socketPath: io.paths().socketPath, onVersionSkew: io.talk });
  const options = { api, clock: systemClock, version: VERSION };
  if (flags.http !== true) {
    // Who typed it by hand would look at a terminal that says nothing.
    if (isatty(0)) io.talk(FOR_HOSTS);
    await serveMcpStdio(options);
    await api.close();
    return 0;
  }
  const { readOrMakeToken } = await import("../../gateway/access.ts");
  const token = readOrMakeToken(join(io.paths().dataDirectory, "mcp-token"));
  const port = Number(flags.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new ActivityError(
      "bad_request",
      `Cannot listen on port "${flags.port}".`,
      "Give a number from 0 to 65535.",
    );
  }
  const server = await serveMcpHttp({ ...options, port, token });
  const { address } = server;
  io.out(
    flags.json === true
      ? `${JSON.stringify({ address, token })}\n`
      : `${address}\nAuthorization: Bearer ${token}\n`,
  );
  await new Promise<void>((resolve) => {
    process.once("SIGINT", resolve).once("SIGTERM", resolve);
  });
  await server.close();
  await api.close();
  return 0;
}

async function runInstall(io: CliIo, name: string, dryRun: boolean): Promise<ExitCode> {
  const { applyMcpInstall, MCP_HOSTS, planMcpInstall } = await import("../../mcp/install.ts");
  const host = MCP_HOSTS.find((known) => known === name);
  if (host === undefined) {
    throw new ActivityError(
      "bad_request",
      `There is no host "${name}".`,
      `Hosts: ${MCP_HOSTS.join(", ")}.`,
    );
  }
  const home = io.env["HOME"] ?? homedir();
  const change = planMcpInstall(
    host,
    {
      command: process.execPath,
      args: [fileURLToPath(new URL("../main.js", import.meta.url)), "mcp"],
      env: environmentOf(io),
    },
    {
      home,
      configDirectory: io.env["XDG_CONFIG_HOME"] || join(home, ".config"),
      platform: process.platform,
    },
  );
  if (change.before === change.after) {
    io.talk(`activityd: it stands in ${change.file} already.`);
    return 0;
  }
  if (dryRun) {
    io.out(renderChange(change.file, change.before ?? "", change.after));
    return 0;
  }
  const backup = applyMcpInstall(change);
  io.talk(
    `activityd: written to ${change.file}${backup === null ? "" : `; as it was: ${backup}`}. Restart ${host}.`,
  );
  return 0;
}

/**
 * What the server has to be told. Hosts hand on little of their environment, as a rule neither XDG_RUNTIME_DIR nor
 * ours, and start it in any folder.
 */
function environmentOf(io: CliIo): Readonly<Record<string, string>> {
  const home = io.env["ACTIVITYD_HOME"] ?? "";
  const { socketPath } = io.paths();
  const unaided = resolvePaths({ ACTIVITYD_HOME: home }).socketPath;
  return {
    ...(home === "" ? {} : { ACTIVITYD_HOME: resolve(home) }),
    ...(socketPath === unaided ? {} : { ACTIVITYD_SOCKET: socketPath }),
  };
}

/** The lines that go and come, between what stays at both ends. */
function renderChange(file: string, before: string, after: string): string {
  const old = before === "" ? [] : before.trimEnd().split("\n");
  const next = after.trimEnd().split("\n");
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < next.length - head &&
    old.at(-1 - tail) === next.at(-1 - tail)
  )
    tail += 1;
  const lines = [
    ...old.slice(Math.max(0, head - 2), head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...next.slice(head, next.length - tail).map((line) => `+${line}`),
    ...old.slice(old.length - tail, old.length - tail + 2).map((line) => ` ${line}`),
  ];
  return `--- ${file}\n+++ ${file}\n${lines.join("\n")}\n`;
}
