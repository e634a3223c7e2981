/**
 * Why no daemon answers, as far as its files say, and what starts one here. It promises that nobody is told to start a daemon
 * while one is putting the record right, or one by hand beside the service, and loads nothing that only others need.
 */
import { ActivityError } from "../errors.ts";
import type { Environment } from "./doctor/machine.ts";
import type { Paths } from "../paths.ts";
import { isRecovering } from "../store/recovery/under-way.ts";

/**
 * A failure as it is to be told: the same; where it comes of a recovery that goes on, that; where it comes of a service that
 * does not run, with what starts that.
 */
export async function explainSilence<T>(
  paths: Paths,
  env: Environment,
  thrown: T,
): Promise<T | ActivityError> {
  if (!(thrown instanceof ActivityError)) return thrown;
  if (ITS_SIGNS.has(thrown.code) && isRecovering(paths.dataDirectory, Date.now())) {
    return new ActivityError(
      thrown.code,
      "The daemon is recovering a damaged record, which can be read when that is done: some minutes for one of years.",
      "Let it, and look again: activityd doctor",
      { cause: thrown },
    );
  }
  if (!thrown.hint.includes(BY_HAND) || !(await isServiceInstalled(paths, env))) return thrown;
  const hint = thrown.hint.replace(BY_HAND, BY_SERVICE);
  return new ActivityError(thrown.code, thrown.message, hint, { cause: thrown.cause });
}

/** What starts a daemon. A client does not know which of them: to look for a service takes its time. */
const BY_HAND = "activityd start --detach";
const BY_SERVICE = "activityd service restart";

async function isServiceInstalled(paths: Paths, env: Environment): Promise<boolean> {
  // Not with this file: most failures need no look at the machine.
  const { readService } = await import("./doctor/service.ts");
  try {
    return readService(paths, { env, platform: process.platform }).isInstalled;
  } catch {
    // Where the service's files cannot be looked for, the failure that is told stays the one that it was.
    return false;
  }
}

/** Nothing answers, a second daemon is kept out, and who reads without one meets the damage. */
const ITS_SIGNS: ReadonlySet<string> = new Set([
  "daemon_unreachable",
  "socket_in_use",
  "database_damaged",
]);
