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

export function sourceContext(
  env: Readonly<Record<string, string>>,
  clock = systemClock,
): SourceContext {
  return { env, clock, log: silentLog };
}

export interface SourceRecorder<K extends SourceKind> {
  readonly source: Source<K>;
  /** All that was told, oldest first. */
  readonly told: SourceResult<SampleOf[K]>[];
  /** The newest value; undefined before the first, and while the newest report is blind. */
  readonly latest: () => SampleOf[K] | null | undefined;
  /** Why it was lost, null while it is not. */
  readonly lost: () => Blindness | null;
  /** How often its loss was told. */
  readonly lossCount: () => number;
  /** Waits until the newest report fits. */
  readonly untilTold: (
    what: string,
    fits: (value: SampleOf[K] | null) => boolean,
  ) => Promise<SampleOf[K] | null>;
}

export async function openRecorded<K extends SourceKind>(
  provider: SourceProvider<K>,
  env: Readonly<Record<string, string>>,
  clock = systemClock,
): Promise<SourceRecorder<K>> {
  const opened = await provider.open(sourceContext(env, clock));
  if ("rejected" in opened) throw new Error(`${provider.id}: ${opened.rejected.reason}`);
  const { source } = opened;
  const told: SourceResult<SampleOf[K]>[] = [];
  const losses: Blindness[] = [];
  source.start(
    (result) => told.push(result),
    (why) => losses.push(why),
  );
  return {
    source,
    told,
    latest: () => {
      const last = told.at(-1);
      return last?.ok === true ? last.value : undefined;
    },
    lost: () => losses.at(0) ?? null,
    lossCount: () => losses.length,
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
