/**
 * `activityd exec`: runs a command as if it had been called by itself, and lets a session hear of its end. It
 * promises the command its own terminal, input, signals and exit code, with or without a daemon.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { describeExec, type ExecOutcome } from "../../auto-reply/reply/exec-event.ts";
import { ActivityError, shortenValues, toErrorEnvelope } from "../../errors.ts";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo } from "../io.ts";

/** How much of the end of the output is kept, in UTF-16 code units. */
const KEPT_CHARS = 16_000;

/** Runs `command` to its end and returns its exit code; a command that a signal ended, ends this process too. */
export async function runExec(
  io: CliIo,
  session: string,
  command: readonly string[],
): Promise<number> {
  if (command[0] === "") {
    // As of a shell's variable that is not set.
    throw new ActivityError(
      "bad_request",
      "The name of the command is empty.",
      "Say what to run: activityd exec --session S -- make test",
    );
  }
  const startedMs = performance.now();
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY && process.stderr.isTTY;
  const run = hasTerminal && hasScript() ? runInTerminal : runInStreams;
  const { outcome, output } = await run(command);
  const text = describeExec({
    command,
    outcome,
    durationMs: performance.now() - startedMs,
    output,
  });
  await note(io, session, text);
  return leaveAs(io, command, outcome);
}

interface Ended {
  readonly outcome: ExecOutcome;
  readonly output: string | null;
}

/**
 * The command on this process's own streams. One that is a terminal is handed down as it is and cannot be
 * read along; every other is passed on and its end is kept.
 */
async function runInStreams(command: readonly string[]): Promise<Ended> {
  let child: ChildProcess;
  try {
    child = spawnInStreams(command);
  } catch (thrown) {
    // What the system does not take at all, such as a name that is too long.
    if (!(thrown instanceof Error && "syscall" in thrown && "code" in thrown)) throw thrown;
    return { outcome: { kind: "not-started", reason: String(thrown.code) }, output: null };
  }
  const tail = createTail();
  passOn(child.stdout, process.stdout, tail.add);
  passOn(child.stderr, process.stderr, tail.add);
  const outcome = await ended(child);
  return { outcome, output: child.stdout === null && child.stderr === null ? null : tail.text() };
}

/**
 * The command in a terminal of its own, which `script` of util-linux puts between it and ours: colours, cursor,
 * keys and window size are as without it, and what is written can be read. Only Ctrl-Z has no effect: there is
 * no shell in that terminal to come back to.
 */
async function runInTerminal(command: readonly string[]): Promise<Ended> {
  const directory = mkdtempSync(join(tmpdir(), "activityd-exec-"));
  const log = join(directory, "output");
  try {
    // `script` hands the line to $SHELL, whose quoting nobody knows; the command gets its own value back.
    const { SHELL } = process.env;
    const shell = SHELL === undefined ? "unset SHELL" : `export SHELL=${quote(SHELL)}`;
    const line = `${shell}; exec ${command.map(quote).join(" ")}`;
    const child = spawn("script", ["-q", "-e", "-f", "-c", line, log], {
      stdio: "inherit",
      env: { ...process.env, SHELL: "/bin/sh" },
    });
    const outcome = await ended(child);
    const text = readFileSync(log, "utf8").replace(/^Script started on .*\n/, "");
    return { outcome: fromShell(outcome), output: text.replace(/\nScript done on .*\n?$/, "") };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A shell tells the end by a signal as 128 and its number. */
function fromShell(outcome: ExecOutcome): ExecOutcome {
  if (outcome.kind !== "exited" || outcome.code <= 128) return outcome;
  const signal = signalOf(outcome.code - 128);
  return signal === null ? outcome : { kind: "killed", signal };
}

function hasScript(): boolean {
  if (process.platform !== "linux") return false;
  const { stdout } = spawnSync("script", ["--version"], { encoding: "utf8" });
  return typeof stdout === "string" && stdout.includes("util-linux");
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function spawnInStreams([file = "", ...args]: readonly string[]): ChildProcess {
  return spawn(file, args, {
    stdio: [
      "inherit",
      process.stdout.isTTY ? "inherit" : "pipe",
      process.stderr.isTTY ? "inherit" : "pipe",
    ],
  });
}

/** Waits for the end. Signals meant for the command reach it, and do not end this process before it. */
function ended(child: ChildProcess): Promise<ExecOutcome> {
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  // The keys of a terminal go to the command as well as to this process: sending it on would double it.
  const interrupt = (signal: NodeJS.Signals): void => {
    if (!process.stdin.isTTY) child.kill(signal);
  };
  const handlers = [
    ["SIGTERM", forward],
    ["SIGHUP", forward],
    ["SIGUSR1", forward],
    ["SIGUSR2", forward],
    ["SIGINT", interrupt],
    ["SIGQUIT", interrupt],
  ] as const;
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return new Promise<ExecOutcome>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      resolve({ kind: "not-started", reason: error.code ?? error.message });
    });
    // "close" waits until the last of the output was read.
    child.once("close", (code, signal) => {
      resolve(signal === null ? { kind: "exited", code: code ?? 1 } : { kind: "killed", signal });
    });
  }).finally(() => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  });
}

function passOn(
  from: Readable | null,
  to: Writable,
  keep: (chunk: Buffer, isLast: boolean) => void,
): void {
  if (from === null) return;
  // A reader that closes early ends the command as it would without us: by the pipe it writes to.
  to.removeAllListeners("error");
  to.on("error", () => from.destroy());
  from.on("data", keep);
  from.pipe(to, { end: false });
}

/** The end of a text that comes in chunks. */
function createTail(): { readonly add: (chunk: Buffer) => void; readonly text: () => string } {
  const decoder = new StringDecoder("utf8");
  let kept = "";
  return {
    add: (chunk) => {
      kept += decoder.write(chunk);
      if (kept.length > 2 * KEPT_CHARS) kept = kept.slice(-KEPT_CHARS);
    },
    text: () => kept.slice(-KEPT_CHARS),
  };
}

/** A daemon that is not there is no fault of the command: it is told, and nothing else. */
async function note(io: CliIo, session: string, text: string): Promise<void> {
  try {
    const key = `exec:${randomUUID()}`;
    await askDaemon(io, (api) => api.enqueueEvent({ session, text, key }));
  } catch (thrown) {
    const { explainSilence } = await import("../../daemon/silence.ts");
    const { error } = toErrorEnvelope(await explainSilence(io.paths(), io.env, thrown));
    io.talk(`activityd: session ${session} will not hear of this command: ${error.message}`);
    if (error.hint !== "") io.talk(`  ${error.hint}`);
  }
}

const WHY_NOT: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it is no program that this user may run",
  ENAMETOOLONG: "its name is too long",
  E2BIG: "its arguments are longer than the system takes",
};

function leaveAs(io: CliIo, [file = ""]: readonly string[], outcome: ExecOutcome): number {
  switch (outcome.kind) {
    case "exited":
      return outcome.code;
    case "killed": {
      const number = constants.signals[outcome.signal as NodeJS.Signals] ?? 0;
      // The shell should see what it would have seen. Where the signal does not end us, the number tells it.
      process.kill(process.pid, number);
      return 128 + number;
    }
    default:
      io.talk(
        shortenValues(
          `activityd: cannot start ${file}: ${WHY_NOT[outcome.reason] ?? outcome.reason}`,
        ),
      );
      return outcome.reason === "ENOENT" ? 127 : 126;
  }
}

function signalOf(number: number): string | null {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] ?? null;
}
