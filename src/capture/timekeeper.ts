/**
 * The wall clock and the steady one, looked at together. It hides suspends, clocks that are put right and clocks
 * that are lost, and promises a time to record with that never runs ahead of what the steady clock allows for
 * unless a jump is told with it.
 */
import type { Clock } from "../clock.ts";

/** A wall clock this far ahead of the steady one slept; a look this late was stalled. */
const SLEEP_GAP_US = 30_000_000;
/** Clocks drift apart by less; more is a step. */
const STEP_US = 1_000_000;
/** Farther back is no correction but a lost clock, unless the clock leapt ahead before. */
export const LONGEST_STEP_BACK_US = 36 * 3_600_000_000;
/** A record that ends so long ago ended with the process. */
const PAUSE_US = 5_000_000;

/** What the clocks say since the last look. */
export interface Look {
  /** The wall clock's time, where it can be believed. */
  readonly nowUs: number;
  /** The clock was ahead by so much until now, by the time of `wasUs`; null: it was not set back. */
  readonly setBack: { readonly byUs: number; readonly wasUs: number } | null;
  /**
   * Time of which nothing is known, up to `nowUs`. `stalled`: this process did not run. `sleep`: the machine did not.
   * `step`: the clock was put forward, or a nap so short that nobody tells it.
   */
  readonly jump: { readonly kind: "stalled" | "sleep" | "step"; readonly fromUs: number } | null;
}

export interface Timekeeper {
  /**
   * Has to be asked before every sample and every tick: after a suspend it is chance which of them comes first, and
   * none may credit the night to a window.
   */
  readonly look: () => Look;
  /** Monotonic time of the last look. */
  readonly lastLookUs: () => number;
  /**
   * How the clocks of now fit a record that ends at `endUs`: it ended a while ago, it was written under a clock that
   * was ahead, or both are one. Where the present clock is lost, time goes on from the record's end. `didLeap`: the
   * record itself shows that its newest part was written after a leap from before now.
   */
  readonly meet: (
    endUs: number,
    nowUs: number,
    didLeap: boolean,
  ) => { readonly kind: "paused" } | { readonly kind: "ahead"; readonly byUs: number } | null;
  /** Takes the wall clock at its word again where time went on ahead of it; gives by how much it did, in microseconds. */
  readonly believe: () => number;
}

export function createTimekeeper(clock: Clock): Timekeeper {
  let lastWallUs = clock.nowUs();
  let lastSteadyUs = clock.monotonicUs();
  /**
   * The time before the first leap ahead that was farther than any step: a clock that comes back to after it may have
   * been wrong since then, where one that is lost falls to before everything.
   */
  let leaptFromUs = Number.POSITIVE_INFINITY;

  function look(): Look {
    const steadyUs = clock.monotonicUs();
    const sinceSteadyUs = steadyUs - lastSteadyUs;
    const expectedUs = lastWallUs + sinceSteadyUs;
    lastSteadyUs = steadyUs;
    // A clock that fell to 1970 says nothing: time goes on by the steady clock until it is put right.
    const toldUs = clock.nowUs();
    const isLost = toldUs < Math.min(expectedUs, leaptFromUs) - LONGEST_STEP_BACK_US;
    const nowUs = isLost ? expectedUs : toldUs;
    const byUs = expectedUs - nowUs;
    const setBack = byUs > STEP_US ? { byUs, wasUs: lastWallUs } : null;
    const fromUs = setBack === null ? lastWallUs : lastWallUs - byUs;
    lastWallUs = nowUs;
    noteLeap(fromUs + sinceSteadyUs, nowUs);
    return { nowUs, setBack, jump: jumpOf(fromUs, sinceSteadyUs, nowUs) };
  }

  function noteLeap(fromUs: number, toUs: number): void {
    if (toUs - fromUs > LONGEST_STEP_BACK_US) leaptFromUs = Math.min(leaptFromUs, fromUs);
  }

  return {
    look,
    lastLookUs: () => lastSteadyUs,
    believe: () => {
      const aheadUs = Math.max(0, look().nowUs - clock.nowUs());
      lastWallUs -= aheadUs;
      return aheadUs;
    },
    meet: (endUs, nowUs, didLeap) => {
      const byUs = endUs - nowUs;
      noteLeap(endUs, nowUs);
      if (byUs > LONGEST_STEP_BACK_US && !didLeap) lastWallUs = endUs;
      else if (byUs > STEP_US) return { kind: "ahead", byUs };
      else if (isPause(endUs, nowUs)) return { kind: "paused" };
      return null;
    },
  };
}

/** Whether so long was nothing seen between the end of the record and a start that it is to be said. */
export function isPause(endUs: number, startUs: number): boolean {
  return startUs - endUs > PAUSE_US;
}

function jumpOf(fromUs: number, sinceSteadyUs: number, nowUs: number): Look["jump"] {
  if (sinceSteadyUs > SLEEP_GAP_US) return { kind: "stalled", fromUs };
  // What went on since the last look went on for as long as the steady clock says; the jump alone is unknown.
  const jumpFromUs = fromUs + sinceSteadyUs;
  if (nowUs - jumpFromUs > SLEEP_GAP_US) return { kind: "sleep", fromUs: jumpFromUs };
  return nowUs - jumpFromUs > STEP_US ? { kind: "step", fromUs: jumpFromUs } : null;
}
