/**
 * Which program this is. It promises that a process which runs on after an upgrade works with no code but its own, and
 * says so where it lacks some.
 */
import { ActivityError } from "./errors.ts";

/** The program's version, as package.json has it; a test keeps the two equal. */
export const VERSION = "0.1.0";

/**
 * The command that installs it again, with what is optional. Its file is named: no registry has it, or it may be another's. From
 * version 12 on npm runs the install scripts of those packages alone that are allowed; older ones take no notice.
 */
export const INSTALL = `npm install -g --include=optional --allow-scripts=better-sqlite3,active-win ./activityd-${VERSION}.tgz`;

/** What is thrown in place of what was to be loaded, when the files of the program are not those it began with. */
export function programReplaced(): ActivityError {
  return new ActivityError(
    "program_replaced",
    "activityd was upgraded or removed while this process ran, and what is needed now was not loaded before.",
    "Start it again; the daemon with: activityd service restart, or activityd stop && activityd start --detach",
  );
}

/** Throws `program_replaced` unless whoever asks is this very version. */
export function requireVersion(version: unknown): void {
  if (version !== VERSION) throw programReplaced();
}
