/** A clock that stands still until a test moves it. */
import type { Clock } from "../../src/clock.ts";

export interface FakeClock extends Clock {
  /** Lets time pass on both clocks. */
  readonly advanceMs: (ms: number) => void;
  /** Moves the wall clock alone, as NTP or a person does. */
  readonly jumpWallMs: (ms: number) => void;
  readonly setTimeZone: (timeZone: string) => void;
}

export function createFakeClock(startIso: string, timeZone = "UTC"): FakeClock {
  let wallUs = Date.parse(startIso) * 1000;
  let steadyUs = 0;
  let zone = timeZone;
  return {
    nowUs: () => wallUs,
    monotonicUs: () => steadyUs,
    timeZone: () => zone,
    advanceMs: (ms) => {
      wallUs += ms * 1000;
      steadyUs += ms * 1000;
    },
    jumpWallMs: (ms) => {
      wallUs += ms * 1000;
    },
    setTimeZone: (next) => {
      zone = next;
    },
  };
}
