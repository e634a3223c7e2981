/**
 * The table of commands. It hides the option parser and promises that each command is one file, loaded when
 * it is called.
 */
import { Command, CommanderError } from "commander";
import { ActivityError, shortenValues } from "../errors.ts";
import { resolvePaths } from "../paths.ts";
import type { AnyExitCode, CliIo } from "./io.ts";
import { VERSION } from "../version.ts";
import { registerActivityWatchCommands } from "./commands/activitywatch.ts";
import { registerChatCommand } from "./commands/chat.ts";
import { registerClientsCommands } from "./commands/clients.ts";
import { registerCompletionCommand } from "./commands/completion.ts";
import { registerConfigCommands } from "./commands/config.ts";
import { registerContextCommands } from "./commands/context.ts";
import { registerDigestCommand } from "./commands/digest.ts";
import { registerDaemonCommands } from "./commands/daemon.ts";
import { registerDoctorCommand } from "./commands/doctor.ts";
import { registerEventsCommand } from "./commands/events.ts";
import { registerGatewayCommands } from "./commands/gateway.ts";
import { registerGnomeCommands } from "./commands/gnome.ts";
import { registerHubCommands } from "./commands/hub.ts";
import { registerImportCommand } from "./commands/import.ts";
import { registerOpenCommand } from "./commands/open.ts";
import { registerOwnerCommands } from "./commands/owner.ts";
import { registerMcpCommands } from "./commands/mcp.ts";
import { registerPrivacyCommands } from "./commands/privacy.ts";
import { registerServiceCommands } from "./commands/service.ts";
import { registerSessionCommands } from "./commands/session.ts";
import { registerSearchCommand } from "./commands/search.ts";
import { registerStoreCommands } from "./commands/store.ts";

/** Registers commands of one theme. `finish` takes the exit code of the command that ran. */
export type RegisterCommands = (program: Command, io: CliIo, finish: Finish) => void;

/** Runs a command's work and keeps its exit code for the process. */
export type Finish = (work: Promise<AnyExitCode>) => Promise<void>;

const THEMES: readonly RegisterCommands[] = [
  registerDaemonCommands,
  registerDoctorCommand,
  registerConfigCommands,
  registerContextCommands,
  registerChatCommand,
  registerDigestCommand,
  registerEventsCommand,
  registerActivityWatchCommands,
  registerGatewayCommands,
  registerGnomeCommands,
  registerHubCommands,
  registerImportCommand,
  registerOpenCommand,
  registerOwnerCommands,
  registerClientsCommands,
  registerMcpCommands,
  registerPrivacyCommands,
  registerServiceCommands,
  registerSessionCommands,
  registerSearchCommand,
  registerStoreCommands,
  registerCompletionCommand,
];

/** Under which heading a command stands in `--help`; the others stand with the daemon. */
const GROUPS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    "Ask it:": "now watch live digest events search open",
    "Give it to an assistant:": "gateway hook prompt-prefix mcp chat speak exec event strip",
    "Your switches:": "pause resume forget ledger clients privacy",
    "The record, and other devices:": "hub import export backup restore encrypt activitywatch",
  }).flatMap(([group, names]) => names.split(" ").map((name) => [name, group])),
);

/** What a command touches whose line has a say in its environment. */
export interface OwnCliIo extends CliIo {
  readonly env: Record<string, string | undefined>;
}

/** The same terminal, with an environment that the options of a command line may change, and the places of that. */
export function withOwnEnvironment(io: CliIo): OwnCliIo {
  const env = { ...io.env };
  return { ...io, env, paths: () => resolvePaths(env) };
}

/**
 * Runs one command line, and lets its options count in `io`. Throws `ActivityError` for what went wrong in a command; usage
 * errors end with 2.
 */
export async function runProgram(argv: readonly string[], io: OwnCliIo): Promise<AnyExitCode> {
  let exitCode: AnyExitCode = 0;
  const { env } = io;
  const program = createProgram(io, async (work) => {
    exitCode = await work;
  });
  program.hook("preAction", (_, command) => {
    refuseEmpty(program);
    refuseEmpty(command);
    const { home, verbose } = program.opts<{ home?: string; verbose?: true }>();
    if (home !== undefined) env["ACTIVITYD_HOME"] = home;
    if (verbose === true) env["ACTIVITYD_VERBOSE"] = "1";
  });
  try {
    // The parser's own help command goes no deeper than one word.
    const isDeepHelp = argv[0] === "help" && argv.length > 2;
    const words = isDeepHelp ? [...argv.slice(1), "--help"] : argv;
    await program.parseAsync(words, { from: "user" });
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    throw thrown;
  }
  return exitCode;
}

/** An empty value is that of a shell's variable that is not set, and a folder of that name would be the one one stands in. */
function refuseEmpty(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== "cli" || MAY_BE_EMPTY.has(name)) continue;
    const value: unknown = command.getOptionValue(name);
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!values.includes("")) continue;
    throw new ActivityError(
      "bad_request",
      `${option.long ?? option.flags} is empty.`,
      "Say what it is to be, or leave it out.",
    );
  }
}

/** What a privacy rule puts in place of a text may be nothing. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(["replacement"]);

/** The whole command line as an object, for running and for comparing its help with the docs. */
export function createProgram(io: CliIo, finish: Finish): Command {
  const program = new Command("activityd")
    .description("Tells a personal assistant what its owner is doing, over a local socket.")
    .version(VERSION, "-V, --version", "print the version")
    .option("--home <folder>", "keep everything under this folder instead of the usual places")
    .option("--verbose", "show the stack of an unexpected error")
    .commandsGroup("The daemon:")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: (text) => io.talk(text.trimEnd()),
      outputError: (text, write) => write(inOurWords(text)),
    });
  for (const register of THEMES) register(program, io, finish);
  hintAtUsage(program);
  // Only now: the groups of commands have a help of their own, which belongs under none of these headings.
  program.helpCommand(true);
  for (const command of program.commands) {
    const group = GROUPS[command.name()];
    if (group !== undefined) command.helpGroup(group);
  }
  return program;
}

/** The parser's complaints look like those of the commands: who speaks, then what to do, on a line of its own. */
function inOurWords(complaint: string): string {
  return shortenValues(complaint)
    .replace(/^error: /, "activityd: ")
    .replace(/^\((Did you mean .*)\)$/m, "  $1");
}

/** A command that was typed wrongly is shown as it is typed; who got no further than the program, where they stand. */
function hintAtUsage(command: Command): void {
  const usage = command.createHelp().commandUsage(command);
  const [name = ""] = usage.split(/ (?=[[<])/);
  command.showHelpAfterError(
    command.parent === null
      ? `  List the commands with: ${name} --help`
      : `  Usage: ${usage}. More with: ${name} --help`,
  );
  for (const below of command.commands) hintAtUsage(below);
}
