/**
 * Whether the owner is at the machine. It hides that stillness is noticed late and counts from the last input, and promises
 * a moment for every change that no later word takes back.
 */
import type { InputSample } from "./events.ts";
import type { SourceResult } from "./sources/source.ts";

/** Somebody who comes back is noticed so soon. */
export const INPUT_POLL_MS = 5_000;

/** `passive`: the input devices rest, but something is played or keeps the screen on. */
export type PresenceState = "active" | "away" | "passive" | "unknown";

export interface Presence {
  /** Takes what the input devices say. Null: nothing changed. */
  readonly take: (
    result: SourceResult<InputSample>,
    /** Whether something is played, or keeps the screen on. */
    isWatched: boolean,
    nowUs: number,
  ) => PresenceChange | null;
  readonly state: () => PresenceState;
  /** Since when; null: nothing was heard yet. */
  readonly sinceUs: () => number | null;
  /** The clock was ahead by so much. */
  readonly moveBack: (byUs: number) => void;
}

export interface PresenceChange {
  /** In the past: away begins with the last input, and so does being back. */
  readonly atUs: number;
  readonly isTurnedAway: boolean;
}

export function createPresence(idleAfterMs: number): Presence {
  let state: PresenceState = "unknown";
  let sinceUs: number | null = null;

  const change = (next: PresenceState, fromUs: number, nowUs: number): PresenceChange | null => {
    if (state === next) return null;
    const isTurnedAway = next === "away" || next === "passive";
    // Only stillness reaches back; a return cannot be earlier than the last poll that found nobody.
    const atUs = isTurnedAway ? fromUs : Math.max(fromUs, nowUs - INPUT_POLL_MS * 1000);
    state = next;
    sinceUs = atUs;
    return { atUs, isTurnedAway };
  };

  return {
    take: (result, isWatched, nowUs) => {
      if (!result.ok || result.value === null) return change("unknown", nowUs, nowUs);
      const lastInputUs = nowUs - result.value.idleMs * 1000;
      if (result.value.idleMs < idleAfterMs) return change("active", lastInputUs, nowUs);
      return change(isWatched ? "passive" : "away", lastInputUs, nowUs);
    },
    state: () => state,
    sinceUs: () => sinceUs,
    moveBack: (byUs) => {
      if (sinceUs !== null) sinceUs -= byUs;
    },
  };
}
