/**
 * The only reader of time. It promises wall time and monotonic time from one place, so that everything
 * else takes time as an argument and any answer can be replayed.
 */

/** A source of time. Wall time may jump; monotonic time never goes back. */
export interface Clock {
  /** Wall time, integer microseconds since 1970 UTC. */
  readonly nowUs: () => number;
  /** Monotonic time in microseconds from an arbitrary start; it may stand still while the machine sleeps. */
  readonly monotonicUs: () => number;
  /** IANA name of the zone in force now, such as "Europe/Berlin". */
  readonly timeZone: () => string;
}

export const systemClock: Clock = {
  // Date has millisecond resolution; two events of one millisecond are told apart by the store, not here.
  nowUs: () => Date.now() * 1000,
  monotonicUs: () => Number(process.hrtime.bigint() / 1000n),
  timeZone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
};
