/**
 * Turns what a compositor says event by event into what the sampler wants to hear. It promises one report
 * per change, no "nothing focused" for a moment between two windows, and at most one title a second.
 */
import type { Clock } from "../../clock.ts";
import type { WindowSample } from "../events.ts";
import type { SourceResult } from "./source.ts";

/** Compositors name no window for a moment between two activations. */
export const NULL_DEBOUNCE_MS = 250;
/** The first change of a title is told at once, the following ones once in this time. */
export const TITLE_PACE_MS = 1_000;

export interface WindowReporter {
  /** What has the focus now: a window by its identity in the desktop, or null for nothing. */
  readonly tell: (key: number | string, sample: WindowSample | null) => void;
  /** Ends all waiting: nothing is reported afterwards. */
  readonly close: () => void;
}

export function createWindowReporter(
  clock: Clock,
  emit: (result: SourceResult<WindowSample>) => void,
): WindowReporter {
  let told: { readonly key: number | string; readonly sample: WindowSample } | null | undefined;
  let waiting: WindowSample | null = null;
  let titleToldUs = Number.NEGATIVE_INFINITY;
  let titleTimer: NodeJS.Timeout | null = null;
  let nullTimer: NodeJS.Timeout | null = null;
  let closed = false;

  function report(next: typeof told): void {
    told = next;
    emit({ ok: true, value: next?.sample ?? null });
  }

  function cancelTitle(): void {
    if (titleTimer !== null) clearTimeout(titleTimer);
    titleTimer = null;
    waiting = null;
  }

  function cancelNull(): void {
    if (nullTimer !== null) clearTimeout(nullTimer);
    nullTimer = null;
  }

  function tellNothing(): void {
    if (told === null) return;
    if (told === undefined) {
      report(null);
      return;
    }
    nullTimer ??= setTimeout(() => {
      nullTimer = null;
      cancelTitle();
      report(null);
    }, NULL_DEBOUNCE_MS);
  }

  function tellSame(key: number | string, sample: WindowSample): void {
    const nowUs = clock.monotonicUs();
    const waitMs = TITLE_PACE_MS - (nowUs - titleToldUs) / 1000;
    if (waitMs <= 0) {
      titleToldUs = nowUs;
      report({ key, sample });
      return;
    }
    waiting = sample;
    titleTimer ??= setTimeout(() => {
      const last = waiting;
      cancelTitle();
      if (last === null) return;
      titleToldUs = clock.monotonicUs();
      report({ key, sample: last });
    }, waitMs);
  }

  return {
    tell: (key, sample) => {
      if (closed) return;
      if (sample === null) {
        tellNothing();
        return;
      }
      cancelNull();
      if (told === undefined || told === null || told.key !== key) {
        cancelTitle();
        titleToldUs = Number.NEGATIVE_INFINITY;
        report({ key, sample });
      } else if (isSameSample(told.sample, sample)) {
        // It came back to what was told before the wait was over.
        cancelTitle();
      } else {
        tellSame(key, sample);
      }
    },
    close: () => {
      closed = true;
      cancelTitle();
      cancelNull();
    },
  };
}

export function isSameSample(a: WindowSample, b: WindowSample): boolean {
  return (
    a.app === b.app &&
    a.title === b.title &&
    a.url === b.url &&
    a.pid === b.pid &&
    a.executable === b.executable &&
    a.private === b.private
  );
}
