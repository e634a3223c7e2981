/**
 * The clock by which the hub dates what it takes in, against this device's. Only a record that went straight to the
 * hub tells how they stand to each other; one that waited tells how long it waited.
 */
import type { Clock } from "../clock.ts";
import type { CarriedRecord, LogPosition } from "./driver.ts";

export interface HubClock {
  /** A record was sealed, now. */
  readonly sealed: (position: LogPosition) => void;
  /** The hub has all up to a record. Returns whether it is worth a look how the hub dates it, as it is once. */
  readonly acknowledged: (position: LogPosition) => boolean;
  /** The newest record of this device as it came out of the hub. */
  readonly seen: (record: CarriedRecord) => void;
  /** How far ours is ahead, in microseconds and to some seconds; null: not known, or the hub has none. */
  readonly aheadUs: () => number | null;
}

interface Dated extends LogPosition {
  readonly atUs: number;
  readonly steadyUs: number;
}

/** A record was on its way no longer than this. */
const STRAIGHT_US = 10_000_000;

export function createHubClock(clock: Clock): HubClock {
  let newest: Dated | null = null;
  /** The last one that went straight to the hub. */
  let straight: Dated | null = null;
  let aheadUs: number | null = null;
  return {
    sealed: ({ epoch, seq }) => {
      newest = { epoch, seq, atUs: clock.nowUs(), steadyUs: clock.monotonicUs() };
    },
    acknowledged: (position) => {
      if (newest === null || !isAt(newest, position)) return false;
      if (clock.monotonicUs() - newest.steadyUs >= STRAIGHT_US) return false;
      const isFirst = straight === null;
      straight = newest;
      return isFirst;
    },
    seen: (record) => {
      if (record.carriedUs === null || straight === null || !isAt(straight, record)) return;
      aheadUs = straight.atUs - record.carriedUs;
    },
    aheadUs: () => aheadUs,
  };
}

function isAt(a: LogPosition, b: LogPosition): boolean {
  return a.epoch === b.epoch && a.seq === b.seq;
}
