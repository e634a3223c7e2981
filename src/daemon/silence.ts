/**
 * Why no daemon answers, as far as its files say. It promises that nobody is told to start a daemon
 * while one is putting the record right, and loads nothing that only others need.
 */
import { ActivityError } from "../errors.ts";
import type { Paths } from "../paths.ts";
import { isRecovering } from "../store/recovery/under-way.ts";

/** A failure as it is to be told: the same, or, where it comes of a recovery that goes on, that. */
export function explainSilence({ dataDirectory }: Paths, thrown: unknown): unknown {
  if (!(thrown instanceof ActivityError) || !ITS_SIGNS.has(thrown.code)) return thrown;
  if (!isRecovering(dataDirectory, Date.now())) return thrown;
  return new ActivityError(
    thrown.code,
    "The daemon is recovering a damaged record, which can be read when that is done: some minutes for one of years.",
    "Let it, and look again: activityd doctor",
    { cause: thrown },
  );
}

/** Nothing answers, a second daemon is kept out, and who reads without one meets the damage. */
const ITS_SIGNS: ReadonlySet<string> = new Set([
  "daemon_unreachable",
  "socket_in_use",
  "database_damaged",
]);
