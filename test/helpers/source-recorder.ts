/** Opens a source as the keeper does and writes down what it tells. */
import { systemClock } from "../../src/clock.ts";
import { silentLog } from "../../src/log.ts";
import type {
  Blindness,
  Rejection,
  SampleOf,
  Source,
  SourceContext,
  SourceKind,
  SourceProvider,
  SourceResult,
} from "../../src/capture/sources/source.ts";
import { until } from "./until.ts";

export function sourceContext(env: Readonly<Record<string, string>>): SourceContext {
  return { env, clock: systemClock, log: silentLog };
}

export interface SourceRecorder<K extends SourceKind> {
  readonly source: Source<K>;
  /** All that was told, oldest first. */
  readonly told: SourceResult<SampleOf[K]>[];
  /** Why it was lost, null while it is not. */
  readonly lost: () => Blindness | null;
  /** Waits until the newest report fits. */
  readonly untilTold: (
    what: string,
    fits: (value: SampleOf[K] | null) => boolean,
  ) => Promise<SampleOf[K] | null>;
}

export async function openRecorded<K extends SourceKind>(
  provider: SourceProvider<K>,
  env: Readonly<Record<string, string>>,
): Promise<SourceRecorder<K>> {
  const opened = await provider.open(sourceContext(env));
  if ("rejected" in opened) throw new Error(`${provider.id}: ${opened.rejected.reason}`);
  const { source } = opened;
  const told: SourceResult<SampleOf[K]>[] = [];
  let lost: Blindness | null = null;
  source.start(
    (result) => told.push(result),
    (why) => {
      lost = why;
    },
  );
  return {
    source,
    told,
    lost: () => lost,
    untilTold: async (what, fits) => {
      const found = await until(what, () => {
        const last = told.at(-1);
        return last?.ok === true && fits(last.value) ? last : null;
      });
      return found.value;
    },
  };
}

export async function rejectionOf<K extends SourceKind>(
  provider: SourceProvider<K>,
  env: Readonly<Record<string, string>>,
): Promise<Rejection> {
  const opened = await provider.open(sourceContext(env));
  if ("rejected" in opened) return opened.rejected;
  opened.source.close();
  throw new Error(`${provider.id} opened although it should not`);
}
