/** How a thread of long work leaves the processor to what somebody waits for. */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";

/** A third of the share of a thread of usual priority, where both want a processor. */
export const NICENESS = 5;

/**
 * Lowers the priority of the thread that calls it, for good. Linux alone has priorities of threads; elsewhere
 * nothing happens.
 */
export function standBack(): void {
  try {
    // proc(5): "<pid>/task/<tid>"; setpriority(2) takes the number of a thread for that of a process.
    setPriority(Number(basename(readlinkSync("/proc/thread-self"))), NICENESS);
  } catch {
    // No such file, or a limit on it: the work is done at the usual priority.
  }
}
