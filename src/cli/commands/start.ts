/**
 * `activityd start`: the daemon in this process. It hides how V8 is told to be small and promises that the
 * daemon is loaded only after that.
 */
import { setFlagsFromString } from "node:v8";
import { readCompiledCode, writeCompiledCode } from "../compiled-code.ts";
import type { CliIo, ExitCode } from "../io.ts";

/** Runs the daemon until a signal ends it. Throws what keeps it from starting. */
export async function runStart(io: CliIo): Promise<ExitCode> {
  // A daemon that people forget is there: V8 trades a little speed for some 10 MB. Set before the modules are
  // loaded, because loading them is what the heap grows for.
  setFlagsFromString("--optimize-for-size");
  // Of a young generation of 1 MB several threads collect no faster than one, which they take longer to wake.
  setFlagsFromString("--no-parallel-scavenge");
  // What is busy while modules load is never busy again, and the compiler that would optimise it leaves 7 MB of
  // working memory behind for good. What answers requests is optimised as usual.
  setFlagsFromString("--no-opt");
  const paths = io.paths();
  const compiled = io.parts?.compileWith(readCompiledCode(paths.cacheDirectory));
  const { runDaemon } = await import("../../daemon/run.ts");
  await runDaemon(paths, io.env, {
    onReady: (line) => {
      // Under the flags that the next start will compile with.
      const fresh = compiled?.();
      if (fresh !== undefined && fresh !== null) writeCompiledCode(paths.cacheDirectory, fresh);
      setFlagsFromString("--opt");
      // While modules load, all that is young stays, and a young generation that grows copies less of it. Answers
      // are small and soon forgotten: under load it would grow by another 13 MB.
      setFlagsFromString("--semi-space-growth-factor=1");
      io.talk(line);
    },
    logToStderr: io.isTerminal || io.env["JOURNAL_STREAM"] !== undefined,
  });
  return 0;
}
