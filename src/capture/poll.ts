/**
 * A source that is asked. It promises one question at a time, and that an answer counts for nothing once the source
 * has told something newer by itself.
 */
import { reasonForLog, type Log } from "../log.ts";
import type { SampleOf, SourceKind, SourceResult } from "./sources/source.ts";

export interface Poll<K extends SourceKind> {
  /** Whom to ask from now on; null: nobody. */
  readonly use: (source: (() => Promise<SourceResult<SampleOf[K]>>) | null) => void;
  /** Asks, unless an answer is still awaited: a slow backend is not asked twice. */
  readonly ask: () => void;
  /** The source told something by itself. */
  readonly outdate: () => void;
}

export function createPoll<K extends SourceKind>(
  kind: K,
  take: (result: SourceResult<SampleOf[K]>) => void,
  log: Log,
): Poll<K> {
  let source: (() => Promise<SourceResult<SampleOf[K]>>) | null = null;
  let isAsking = false;
  let isOutdated = false;

  async function answer(asked: () => Promise<SourceResult<SampleOf[K]>>): Promise<void> {
    isAsking = true;
    isOutdated = false;
    try {
      const result = await asked();
      if (!isOutdated && source === asked) take(result);
    } catch (thrown) {
      log.warn("a source failed to answer", { kind, reason: reasonForLog(thrown) });
    } finally {
      isAsking = false;
    }
  }

  return {
    use: (next) => {
      source = next;
    },
    ask: () => {
      if (source !== null && !isAsking) void answer(source);
    },
    outdate: () => {
      isOutdated = true;
    },
  };
}
