/**
 * What goes on around the owner's work: what plays, and how the machine is. It hides which player counts, what the owner
 * had forgotten while it played, and that load and memory never stand still; it promises facts that change seldom.
 */
import type { MediaFacts, MediaSample, SystemFacts, SystemSample } from "./events.ts";
import type { PrivacyGate } from "./privacy.ts";
import type { SourceResult } from "./sources/source.ts";
import type { Forgotten } from "./window-sight.ts";

export interface Surroundings {
  readonly takeMedia: (result: SourceResult<readonly MediaSample[]>, nowUs: number) => void;
  /** True when it is worth a row. */
  readonly takeSystem: (result: SourceResult<SystemSample>) => boolean;
  /** What plays now, or first when nothing is known, and is meant, is not told any more until something else plays. */
  readonly forget: (isForgotten: Forgotten) => void;
  /** Whether anything plays, also what may not be recorded. */
  readonly isPlaying: () => boolean;
  readonly media: () => MediaFacts | null;
  readonly system: () => SystemFacts | null;
}

export function createSurroundings(gate: PrivacyGate): Surroundings {
  let isPlaying = false;
  let media: MediaFacts | null = null;
  let forgotten: Forgotten = null;
  let isKnown = false;
  /** What was forgotten while no source said what plays. */
  let unjudged: Forgotten = null;
  let system: SystemFacts | null = null;
  return {
    takeMedia: (result, nowUs) => {
      const player = result.ok ? result.value?.find((sample) => sample.playing) : undefined;
      isPlaying = player !== undefined;
      const gated = player === undefined ? null : gate.media(player, nowUs);
      media = gated?.verdict === "store" ? gated.facts : null;
      isKnown = result.ok;
      if (isKnown) {
        if (media !== null && unjudged?.(media) === true) forgotten = unjudged;
        unjudged = null;
      }
      if (media !== null && forgotten?.(media) !== true) forgotten = null;
    },
    takeSystem: (result) => {
      if (!result.ok || result.value === null) return false;
      const next: SystemFacts = { kind: "system", ...result.value };
      if (system !== null && !isWorthRecording(system, next)) return false;
      system = next;
      return true;
    },
    forget: (isForgotten) => {
      forgotten = media !== null && isForgotten?.(media) === true ? isForgotten : null;
      if (!isKnown) unjudged = isForgotten;
    },
    isPlaying: () => isPlaying,
    media: () => (forgotten === null ? media : null),
    system: () => system,
  };
}

/** Only what a person would call a change. */
function isWorthRecording(old: SystemFacts, next: SystemFacts): boolean {
  return (
    old.power !== next.power ||
    old.online !== next.online ||
    old.displayCount !== next.displayCount ||
    differs(old.batteryPercent, next.batteryPercent, 5) ||
    differs(old.cpuLoad, next.cpuLoad, 0.25) ||
    differs(old.memoryUsed, next.memoryUsed, 0.1)
  );
}

function differs(a: number | null, b: number | null, atLeast: number): boolean {
  return a === null || b === null ? a !== b : Math.abs(a - b) >= atLeast;
}
