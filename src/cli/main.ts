/**
 * The command line. It hides how commands are found and promises that the commands which stand in front of
 * every turn of an assistant, and the daemon that stays, start without loading the rest.
 */
import { hearClosedTalk, processIo, tellFailure, type CliIo, type AnyExitCode } from "./io.ts";
import { ActivityError, whyRefused } from "../errors.ts";
import { programReplaced } from "../version.ts";
import type { Parts } from "./parts.ts";

/** Runs the command line of this process and sets what it ends with. `parts` is absent where single files run. */
export async function main(argv: readonly string[], parts?: Parts): Promise<void> {
  parts?.whenReplaced(programReplaced);
  const io = { ...processIo(), ...(parts === undefined ? {} : { parts }) };
  process.exitCode = await run(argv, io);
}

async function run(argv: readonly string[], given: CliIo): Promise<AnyExitCode> {
  let io = given;
  try {
    if (argv.length === 1 && argv[0] === "start") {
      const { runStart } = await import("./commands/start.ts");
      return await runStart(io);
    }
    // The daemon does without: it writes nothing to stdout, and both streams take their time to be made.
    hearClosedStreams(io);
    if (argv.length === 1 && argv[0] === "now") {
      const { runNow } = await import("./commands/now.ts");
      return await runNow(io);
    }
    if (argv.length === 2 && argv[0] === "hook" && argv[1] === "claude-code") {
      const { runHook } = await import("./commands/hook.ts");
      return await runHook(io);
    }
    const { runProgram, withOwnEnvironment } = await import("./program.ts");
    const own = withOwnEnvironment(io);
    // What fails is told as `--home` and `--verbose` have it.
    io = own;
    return await runProgram(argv, own);
  } catch (thrown) {
    const { explainSilence } = await import("../daemon/silence.ts");
    return tellFailure(io, await explainSilence(io.paths(), io.env, thrown));
  }
}

function hearClosedStreams(io: CliIo): void {
  // A reader that closes early (`activityd events | head`) is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    // A terminal that was closed is told by SIGHUP; what is still to be kept is kept.
    if (error.code === "EIO") return;
    // Such as a disk that filled up under `activityd export > file`: half a file must not pass for a whole one.
    process.exit(tellFailure(io, cutOff(error)));
  });
  hearClosedTalk();
}

/** Whoever reads the output later would take its beginning for the whole. */
function cutOff(cause: Error): ActivityError {
  return new ActivityError(
    "internal",
    `The output could not be written to its end: ${whyRefused(cause)}.`,
    "Do not use what is there of it. See what is wrong where it goes, and run the command again.",
    { cause },
  );
}
