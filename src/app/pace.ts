/**
 * How work that can wait gives way to whoever asks something, such as taking in what other devices recorded during a long
 * absence. It promises that such work goes on, however often somebody asks.
 */
import type { Clock } from "../clock.ts";

export interface Pace {
  /** Somebody was just answered. */
  readonly answered: () => void;
  /** Resolves when the next few milliseconds are free, as far as can be told. */
  readonly turn: () => Promise<void>;
}

/**
 * While nobody asks, a turn is one of the event loop. Who asks once usually asks again: then there is work only right
 * behind an answer, where the next question is least likely, until nobody has asked for a while.
 */
export function createPace(clock: Pick<Clock, "monotonicUs">): Pace {
  let answeredUs = Number.NEGATIVE_INFINITY;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) setImmediate(resolve);
  };
  return {
    answered: () => {
      answeredUs = clock.monotonicUs();
      wake();
    },
    turn: () =>
      new Promise((resolve) => {
        const sinceUs = clock.monotonicUs() - answeredUs;
        if (sinceUs < BEHIND_ANSWER_US || sinceUs >= QUIET_US) {
          setImmediate(resolve);
          return;
        }
        waiting.push(resolve);
        setTimeout(wake, (QUIET_US - sinceUs) / 1000);
      }),
  };
}

const BEHIND_ANSWER_US = 3_000;
const QUIET_US = 25_000;
