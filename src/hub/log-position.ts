/** The order of the records of one log, the same for whatever carries them. */
import type { LogPosition } from "./driver.ts";

/** Negative when `a` stands before `b` in a log, 0 when they are the same place. */
export function comparePositions(a: LogPosition, b: LogPosition): number {
  return a.epoch - b.epoch || a.seq - b.seq;
}

/** Whether `next` may stand right after `end`, the newest record of a log; null: the log is empty. */
export function isNextInLog(end: LogPosition | null, next: LogPosition): boolean {
  if (end !== null && next.epoch === end.epoch) return next.seq === end.seq + 1;
  return next.seq === 1 && (end === null || next.epoch > end.epoch);
}
