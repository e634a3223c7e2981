/**
 * What a desktop service consists of, on each platform, as data: files to write and commands to run. Pure. It
 * promises that a dry run shows exactly what an installation does.
 */

export interface ServiceFile {
  readonly path: string;
  readonly text: string;
  /** As Windows writes text, with its mark; else UTF-8. */
  readonly encoding?: "utf16le";
  /**
   * What the manager holds open for as long as this file has this line. Where the file that is there has another
   * one, `release` makes the manager let go, or the new line would not count.
   */
  readonly holds?: { readonly line: string; readonly release: ServiceCommand };
}

/** One command of the platform's service manager. */
export interface ServiceCommand {
  readonly argv: readonly [string, ...string[]];
  /** Whether its failure is of no consequence, such as stopping what does not run. */
  readonly mayFail?: true;
  /** How long it is tried again while it fails, for what the manager has not finished yet. */
  readonly patienceMs?: number;
}

/** How one platform installs, removes and looks after the service. */
export interface ServicePlan {
  /** Name of the mechanism, as `status` and `doctor` call it. */
  readonly mechanism: "systemd" | "autostart" | "launchd" | "task-scheduler";
  readonly files: readonly ServiceFile[];
  /** Files of an installation with other settings or another mechanism: none of them may stay. */
  readonly outdated: readonly string[];
  readonly install: readonly ServiceCommand[];
  readonly uninstall: readonly ServiceCommand[];
  readonly restart: readonly ServiceCommand[];
  /** What ends the daemon for good, so that no request starts it again; empty where a signal does. */
  readonly stop: readonly ServiceCommand[];
  readonly status: readonly ServiceCommand[];
  /** What succeeds where each part of it begins with the login; empty where its files alone see to that. */
  readonly enabled: readonly ServiceCommand[];
  readonly logs: readonly ServiceCommand[];
  /** The file that they print; null where the manager keeps the log. */
  readonly logFile: string | null;
  /** Prints the pid of the daemon that the manager runs, or 0; null where it cannot be asked. */
  readonly mainPid: ServiceCommand | null;
  /** What the owner should know about this mechanism, one sentence each. */
  readonly notes: readonly string[];
}

/** What the plans are made from. */
export interface ServiceFacts {
  readonly nodePath: string;
  /** The command line's main file. */
  readonly mainPath: string;
  readonly homeDirectory: string;
  /** `$XDG_CONFIG_HOME`, or its default. */
  readonly configDirectory: string;
  /** Where systemd's user manager looks for the owner's units. */
  readonly unitDirectory: string;
  /** Where the daemon is to listen; null for the usual place in the login's runtime folder. */
  readonly socketPath: string | null;
  readonly logDirectory: string;
  /** Variables that the service must have as the installer had them, such as `ACTIVITYD_HOME`. */
  readonly variables: Readonly<Record<string, string>>;
  /** The port of ActivityWatch's watchers, while they are served; else null. */
  readonly watcherPort: number | null;
  readonly userId: number;
  readonly userName: string;
  readonly version: string;
}

/**
 * What glibc's malloc(3) is told, so that the daemon in the background gives back what it no longer needs. One arena for
 * all threads, which hardly ever run at once here, is 1 MB less. A threshold that is set stays: else each large buffer
 * that is freed raises it, and megabytes at the top of the heap are kept for a next one. Elsewhere it says nothing.
 */
export const ALLOCATOR_VARIABLES = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_TRIM_THRESHOLD_: "131072",
} as const;

/** Text for an element of XML, as launchd and the Task Scheduler read it. */
export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
