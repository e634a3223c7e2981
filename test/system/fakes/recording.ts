/** Opens a source and keeps what it says, for tests. */
import type {
  Blindness,
  SampleOf,
  Source,
  SourceContext,
  SourceKind,
  SourceProvider,
  SourceResult,
} from "../../../src/capture/sources/source.ts";
import { systemClock } from "../../../src/clock.ts";
import { silentLog } from "../../../src/log.ts";

export interface Recording<K extends SourceKind> {
  readonly source: Source<K>;
  readonly results: SourceResult<SampleOf[K]>[];
  readonly lost: Blindness[];
  /** The newest value; undefined before the first and when the newest result is blind. */
  readonly latest: () => SampleOf[K] | null | undefined;
}

export function contextWith(env: SourceContext["env"], clock = systemClock): SourceContext {
  return { env, clock, log: silentLog };
}

/** Opens and starts; fails with the reason when the provider rejects. */
export async function record<K extends SourceKind>(
  provider: SourceProvider<K>,
  context: SourceContext,
): Promise<Recording<K>> {
  const opened = await provider.open(context);
  if ("rejected" in opened) throw new Error(`${provider.id}: ${opened.rejected.reason}`);
  const { source } = opened;
  const results: SourceResult<SampleOf[K]>[] = [];
  const lost: Blindness[] = [];
  source.start(
    (result) => results.push(result),
    (why) => lost.push(why),
  );
  return {
    source,
    results,
    lost,
    latest: () => {
      const newest = results.at(-1);
      return newest?.ok === true ? newest.value : undefined;
    },
  };
}
