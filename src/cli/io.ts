/**
 * What a command may touch of the terminal. It promises that data goes to stdout, messages to stderr, and that a
 * failure ends in one sentence, a hint and an exit code that scripts can rely on.
 */
import { isatty } from "node:tty";
import { ActivityError, toErrorEnvelope } from "../errors.ts";
import { resolvePaths, type Paths } from "../paths.ts";
import type { Parts } from "./parts.ts";

/** How settings that a command changed come into force. */
export const RESTART =
  "from the next start: activityd service restart, or without the service: activityd stop && activityd start --detach";

/** 0 done · 1 failed · 2 the command line or its input is wrong · 3 the daemon cannot be reached. */
export type ExitCode = 0 | 1 | 2 | 3;

/** What the process ends with: our own code, or that of a command which was run for the caller. */
export type AnyExitCode = number;

export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Data: stdout, as it is. */
  readonly out: (text: string) => void;
  /** Talk: stderr, one line. */
  readonly talk: (line: string) => void;
  /** Whether stdout is a terminal, so that a picture makes sense. */
  readonly isTerminal: boolean;
  readonly paths: () => Paths;
  /** Of the packed program alone. */
  readonly parts?: Parts;
}

export function processIo(): CliIo {
  return {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    talk: (line) => {
      hearClosedTalk();
      process.stderr.write(`${line}\n`);
    },
    // Asked so, it makes no stream of it.
    isTerminal: isatty(1),
    paths: () => resolvePaths(process.env),
  };
}

/** A listener to the talk that went away, such as the shell that put a daemon into the background, is no failure. */
export function hearClosedTalk(): void {
  // Threads have listeners of theirs on it, which pass a failure on.
  if (!process.stderr.listeners("error").includes(ignore)) process.stderr.on("error", ignore);
}

function ignore(): void {
  // There is nobody to tell.
}

/** Tells a failure: message, hint, and with `ACTIVITYD_VERBOSE` the stack. Returns the exit code that belongs to it. */
export function tellFailure(io: CliIo, thrown: unknown): ExitCode {
  const { error } = toErrorEnvelope(thrown);
  io.talk(`activityd: ${error.message}`);
  if (error.hint !== "") io.talk(`  ${error.hint}`);
  if (io.env["ACTIVITYD_VERBOSE"] !== undefined && thrown instanceof Error)
    io.talk(thrown.stack ?? "");
  return thrown instanceof ActivityError ? exitCodeOf(thrown) : 1;
}

function exitCodeOf(error: ActivityError): ExitCode {
  switch (error.code) {
    case "daemon_unreachable":
      return 3;
    case "bad_request":
    case "body_too_large":
    case "config_invalid":
    case "rule_invalid":
      return 2;
    default:
      return 1;
  }
}
