/** The commands around a session's turns: `exec`, `event` and `strip`. */
import { ActivityError } from "../../errors.ts";
import { askDaemon } from "../ask-daemon.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerSessionCommands: RegisterCommands = (program, io, finish) => {
  program
    .command("exec")
    .description("run a command after -- and let a session hear how it ended")
    .requiredOption("--session <id>", "the session that hears of it with its next turn")
    .argument("<command...>", "the command and its arguments, after --")
    .action(async (command: string[], { session }: { session: string }) => {
      const { runExec } = await import("./exec.ts");
      await finish(runExec(io, session, command));
    });
  program
    .command("event")
    .description("tell a session something with its next turn")
    .requiredOption("--session <id>", "the session that hears of it")
    .option(
      "--key <key>",
      "what it reports: while an event of that key waits, this one is left out",
    )
    .argument("<text>", "what happened; - reads it from stdin")
    .action((text: string, options: EventOptions) => finish(runEvent(io, text, options)));
  program
    .command("strip")
    .description("read a composed turn on stdin and print what the owner wrote")
    .action(() => finish(runStrip(io)));
};

interface EventOptions {
  readonly session: string;
  readonly key?: string;
}

async function runEvent(io: CliIo, text: string, options: EventOptions): Promise<ExitCode> {
  const { session, key } = options;
  const event = {
    session,
    text: text === "-" ? (await readInput()).trimEnd() : text,
    ...(key === undefined ? {} : { key }),
  };
  const { outcome } = await askDaemon(io, (api) => api.enqueueEvent(event));
  io.talk(
    outcome === "queued"
      ? `activityd: session ${session} hears of it with its next turn.`
      : `activityd: session ${session} is to hear of it already.`,
  );
  return 0;
}

/** Needs no daemon: the contract is in the program. */
async function runStrip(io: CliIo): Promise<ExitCode> {
  const { stripLeadingSystemContext } = await import("../../tui/tui-formatters.ts");
  io.out(stripLeadingSystemContext(await readInput()));
  return 0;
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new ActivityError(
      "bad_request",
      "The input is not UTF-8.",
      "Convert it, with iconv for one.",
      {
        cause,
      },
    );
  }
}
