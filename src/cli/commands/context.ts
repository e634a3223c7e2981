/** The commands that print blocks: `now` and `watch`. */
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
};

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
