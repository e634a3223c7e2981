/**
 * Plays a recorded session back in place of the desktop, with its timing or faster. All kinds run on one
 * clock that starts with the first of them; after the last line everything stays as it was.
 */
import { whyRefused } from "../../errors.ts";
import { readFile } from "node:fs/promises";
import type { Clock } from "../../clock.ts";
import { parseRecorded, type RecordedLine } from "./recorded.ts";
import type { SampleOf, Source, SourceKind, SourceProvider, SourceResult } from "./source.ts";

/** Longer waits make Node fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface Replay {
  readonly providerOf: <K extends SourceKind>(kind: K) => SourceProvider<K>;
}

/** `speed` 1 is the recorded timing, 10 is ten times as fast. The file is read when the first source opens. */
export function createReplay(options: { readonly file: string; readonly speed: number }): Replay {
  const { file, speed } = options;
  let reading: ReturnType<typeof read> | null = null;
  let startedUs: number | null = null;

  async function read(): Promise<ReturnType<typeof parseRecorded>> {
    try {
      return parseRecorded(await readFile(file, "utf8"));
    } catch (error) {
      return { problem: whyRefused(error) };
    }
  }

  return {
    providerOf: <K extends SourceKind>(kind: K): SourceProvider<K> => ({
      id: "replay",
      kind,
      open: async ({ clock }) => {
        const session = await (reading ??= read());
        if ("problem" in session) {
          return {
            rejected: {
              reason: `The session ${file} cannot be played: ${session.problem}.`,
              remedy: "Give a file that activityd recorded.",
              applies: true,
            },
          };
        }
        const lines = session.lines.filter((line) => line.kind === kind);
        if (lines.length === 0) {
          return { rejected: { reason: `The session ${file} tells no ${kind}.`, remedy: "" } };
        }
        startedUs ??= clock.monotonicUs();
        return { source: createSource<K>(lines, clock, startedUs, speed) };
      },
    }),
  };
}

function createSource<K extends SourceKind>(
  lines: readonly RecordedLine[],
  clock: Clock,
  startedUs: number,
  speed: number,
): Source<K> {
  let next = 0;
  let timer: NodeJS.Timeout | null = null;
  let present: SourceResult<SampleOf[K]> = {
    ok: false,
    reason: "The session has not told anything yet.",
    remedy: "",
  };
  let emit: (result: SourceResult<SampleOf[K]>) => void = () => {};

  /** Tells what is due and waits for the rest. */
  function play(): void {
    timer = null;
    const playedMs = ((clock.monotonicUs() - startedUs) / 1000) * speed;
    for (; (lines[next]?.atMs ?? Infinity) <= playedMs; next += 1) {
      // Lines were chosen by their kind, which fixes the type of their samples.
      present = lines[next]?.result as SourceResult<SampleOf[K]>;
      emit(present);
    }
    const line = lines[next];
    if (line === undefined) return;
    timer = setTimeout(play, Math.min(MAX_TIMER_MS, Math.max(1, (line.atMs - playedMs) / speed)));
  }

  return {
    start: (onSample) => {
      emit = onSample;
      play();
    },
    snapshot: () => Promise.resolve(present),
    close: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      emit = () => {};
    },
  };
}
