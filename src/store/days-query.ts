/**
 * Days and their hours on the owner's wall clock, for a map of weeks and months. It promises that a day of which
 * nothing is known is not taken for a day on which nothing was done.
 */

export interface DaysRequest {
  /** "2026-11-01". */
  readonly fromDay: string;
  /** The last day, included; at most 400 days. */
  readonly toDay: string;
  /** Who asks, for the ledger. */
  readonly client?: string;
}

export interface DayActivity {
  /** "2026-11-01". */
  readonly day: string;
  /** Focused time; null when nothing was recorded that day. */
  readonly activeUs: number | null;
  /** When it began; null when there is none. */
  readonly firstUs: number | null;
  /** Focused time by local hour, 0 to 23; an hour that the clock repeats has both, one that it skips has 0. */
  readonly hours: readonly number[];
  /** How much of the day lies in holes of the record (paused, source lost, not running and so on). */
  readonly gapUs: number;
}

export interface DaysAnswer {
  /** Every day asked for, oldest first. */
  readonly days: readonly DayActivity[];
  /** The zone whose hours these are. */
  readonly timeZone: string;
}
