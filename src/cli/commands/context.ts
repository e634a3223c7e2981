/** The commands that print blocks: `now` and `watch`. */
import { ActivityError } from "../../errors.ts";
import { argumentOf } from "../command-tree.ts";
import type { CliIo, ExitCode } from "../io.ts";
import type { RegisterCommands } from "../program.ts";

export const registerContextCommands: RegisterCommands = (program, io, finish) => {
  program
    .command("now")
    .description("print the real-time block")
    .option("--json", "print the whole answer as JSON")
    .action(async (options: { json?: boolean }) => {
      const { runNow } = await import("./now.ts");
      await finish(runNow(io, options));
    });
  program
    .command("watch")
    .description("print the block again whenever it changes, until interrupted")
    .option("--json", "print one JSON object a line")
    .action((options: { json?: boolean }) => finish(runWatch(io, options)));
  program
    .command("live")
    .description("show what is captured and what the assistant is told, until interrupted")
    .action(() => finish(runLiveView(io)));
  program
    .command("hook")
    .description("print the context for a host that runs a command before each turn")
    .addArgument(argumentOf("<host>", "the host", ["claude-code"]))
    .action(async (host: string) => {
      if (host !== "claude-code") {
        throw new ActivityError(
          "bad_request",
          `There is no hook for "${host}".`,
          "Hosts: claude-code.",
        );
      }
      const { runHook } = await import("./hook.ts");
      await finish(runHook(io));
    });
  program
    .command("prompt-prefix")
    .description("read a turn on stdin and print it with its context in front, for shell pipelines")
    .option("--session <name>", "the conversation whose waiting events are told", "shell")
    .action((options: { session: string }) => finish(runPromptPrefix(io, options.session)));
};

async function runLiveView(io: CliIo): Promise<ExitCode> {
  const [{ connectActivity }, { runLive }, { systemClock }] = await Promise.all([
    import("../../local-api/client.ts"),
    import("../../tui/live.ts"),
    import("../../clock.ts"),
  ]);
  const api = connectActivity({ socketPath: io.paths().socketPath });
  try {
    // https://no-color.org
    const isScreen = io.env["TERM"] !== "dumb";
    const colour = (io.env["NO_COLOR"] ?? "") === "" && isScreen;
    const { stdin: input, stdout: output } = process;
    await runLive(api, systemClock, { input, output, colour, isScreen });
    return 0;
  } finally {
    await api.close();
  }
}

/** An absent or slow daemon costs the context and never the turn, as in the gateway: behind the pipe a model waits for it. */
async function runPromptPrefix(io: CliIo, session: string): Promise<ExitCode> {
  const [{ connectActivity, TURN_TIMEOUT_MS }, { composeTurn }] = await Promise.all([
    import("../../local-api/client.ts"),
    import("../../context/turn.ts"),
  ]);
  const { socketPath } = io.paths();
  const api = connectActivity({ socketPath, answerTimeoutMs: TURN_TIMEOUT_MS });
  process.stdin.setEncoding("utf8");
  let ownerText = "";
  for await (const chunk of process.stdin) ownerText += String(chunk);
  try {
    const { modelText } = await api.composeTurn({ session, ownerText, client: "prompt-prefix" });
    io.out(modelText);
  } catch (thrown) {
    if (!(thrown instanceof ActivityError) || thrown.code === "bad_request") throw thrown;
    const { explainSilence } = await import("../../daemon/silence.ts");
    const { message, hint } = await explainSilence(io.paths(), io.env, thrown);
    io.talk(`activityd: The turn goes without context. ${message} ${hint}`.trim());
    io.out(composeTurn({ events: [], activity: [], ownerText }).composed);
  } finally {
    await api.close();
  }
  return 0;
}

async function runWatch(io: CliIo, options: { readonly json?: boolean }): Promise<ExitCode> {
  const { connectActivity } = await import("../../local-api/client.ts");
  const api = connectActivity({ socketPath: io.paths().socketPath });
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    for await (const { answer } of api.watch({
      signal: interrupt.signal,
      client: "activityd watch",
    })) {
      if (options.json === true) io.out(`${JSON.stringify(answer)}\n`);
      else if (answer.block !== null) io.out(`${answer.block}\n`);
    }
    return 0;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await api.close();
  }
}
