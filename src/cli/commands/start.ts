/**
 * `activityd start`: the daemon in this process. It hides how V8 is told to be small and promises that the
 * daemon is loaded only after that.
 */
import { fstatSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { readCompiledCode, writeCompiledCode } from "../compiled-code.ts";
import type { CliIo, ExitCode } from "../io.ts";

/** By then a start has learned what was recorded, of which much is garbage at once and little later. */
const LEARNED_MS = 10_000;

/**
 * What a daemon needs of Node for its first answer. Node brings compiled code for its own modules, which V8 refuses once
 * it has other flags than those it was compiled under: then each takes three times as long.
 */
const NEEDED_AT_ONCE = [
  "node:cluster",
  "node:crypto",
  "node:http",
  "node:timers/promises",
] as const;

/** Runs the daemon until a signal ends it. Throws what keeps it from starting. */
export async function runStart(io: CliIo): Promise<ExitCode> {
  for (const name of NEEDED_AT_ONCE) process.getBuiltinModule(name);
  // A daemon that people forget is there: V8 trades a little speed for some 10 MB. Set before the modules are
  // loaded, because loading them is what the heap grows for.
  setFlagsFromString("--optimize-for-size");
  // Of a young generation of 1 MB several threads collect no faster than one, which they take longer to wake.
  setFlagsFromString("--no-parallel-scavenge");
  // What is busy while modules load is never busy again, and the compiler that would optimise it leaves 7 MB of
  // working memory behind for good. What answers requests is optimised as usual.
  setFlagsFromString("--no-opt");
  // Machine code of the first stage is never given up again: 1.5 MB after a start, and more each hour, for what is
  // asked a few times a minute. What is busy goes from the interpreter to optimised code.
  setFlagsFromString("--no-sparkplug");
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
      setTimeout(collectEarlier, LEARNED_MS).unref();
      io.talk(line);
    },
    logToStderr: io.isTerminal || isJournal(io.env["JOURNAL_STREAM"]),
  });
  setTimeout(endHanging, HANGING_MS).unref();
  return 0;
}

const HANGING_MS = 2_500;

/**
 * All is closed. What the system does not let go of, such as a read in a folder that does not answer, would keep the
 * process for as long as it hangs: an exit waits for the thread it is on, and a signal does not. To a service manager it
 * is the one that ends a daemon.
 */
function endHanging(): void {
  process.removeAllListeners("SIGTERM");
  process.kill(process.pid, "SIGTERM");
}

/**
 * Whether stderr is the very stream that leads to the journal. The variable alone says that of the program which started
 * this one, such as of a terminal in which a daemon is put into the background.
 *
 * @see `$JOURNAL_STREAM` in systemd.exec(5)
 */
function isJournal(stream: string | undefined): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(2, { bigint: true });
  return stream === `${dev}:${ino}`;
}

/**
 * V8 collects when 8 MB came on top of what lived, however small it was told to be, and a daemon that is asked seldom
 * carries them for hours. From now on it begins at a quarter of that, at leisure, and at 40 % in any case.
 */
function collectEarlier(): void {
  setFlagsFromString("--incremental-marking-soft-trigger=25");
  setFlagsFromString("--incremental-marking-hard-trigger=40");
}
