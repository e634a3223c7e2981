/** The way to the daemon: the socket, and who is or is not behind it. */
import { lstatSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import type { ActivityApi, StatusAnswer } from "../../api.ts";
import { setTimeout } from "node:timers/promises";
import { ActivityError, shellWord, toErrorEnvelope } from "../../errors.ts";
import { connectActivity } from "../../local-api/client.ts";
import type { Paths } from "../../paths.ts";
import { findInstanceHolder } from "../../store/lock.ts";
import { isRecovering } from "../../store/recovery/under-way.ts";
import { note, problem, sound, type Finding, type FindingId } from "./finding.ts";
import type { Machine } from "./machine.ts";
import { examineSocketFolder } from "./socket-folder.ts";

export interface SocketExamination {
  /** What the daemon says of itself; null when none answers. */
  readonly status: StatusAnswer | null;
  readonly findings: readonly Finding[];
}

/** While these stand, that nobody answers says nothing of the daemon. */
const UNASKABLE: readonly string[] = [
  "runtime-folder-unset",
  "socket-folder-closed",
  "socket-folder-no-folder",
  "socket-folder-unmade",
  "socket-path-too-long",
] satisfies readonly FindingId[];

const ASK_AGAIN_MS = 100;
const SETTLED_AFTER_US = 5_000_000;
/** A start takes less, unless it recovers a damaged record. */
const STARTING_MS = 60_000;

/** `isService`: a service is installed, so that starting the daemon is the manager's business. */
export async function examineSocket(
  paths: Paths,
  machine: Machine,
  isService: boolean,
): Promise<SocketExamination> {
  const { socketPath } = paths;
  const folder = [...examineSocketFolder(socketPath, machine), ...examineLogin(paths, machine)];
  const api = connectActivity({ socketPath, answerTimeoutMs: machine.patienceMs });
  try {
    const status = await askPatiently(api, paths, machine);
    return { status, findings: [...folder, ...compare(status, paths)] };
  } catch (thrown) {
    // Who looks in the wrong place, or may not look, finds nothing that could be said of it.
    if (folder.some(({ id }) => UNASKABLE.includes(id))) return { status: null, findings: folder };
    return { status: null, findings: [...folder, await explainSilence(thrown, paths, isService)] };
  } finally {
    await api.close();
  }
}

/**
 * What the daemon says of itself. One that is just starting has not looked at anything yet, and neither that one nor
 * one that is ending has a socket: both are given their time.
 */
async function askPatiently(
  api: ActivityApi,
  { dataDirectory }: Paths,
  { patienceMs }: Machine,
): Promise<StatusAnswer> {
  const deadlineMs = Date.now() + patienceMs;
  for (;;) {
    try {
      const status = await api.status();
      if (!isSettling(status) || Date.now() >= deadlineMs) return status;
    } catch (thrown) {
      const isAway = thrown instanceof ActivityError && thrown.code === "daemon_unreachable";
      if (!isAway || Date.now() >= deadlineMs || findInstanceHolder(dataDirectory) === null)
        throw thrown;
    }
    await setTimeout(ASK_AGAIN_MS);
  }
}

/** A source that was looked for is seen, or something was passed over. */
function isSettling({ nowUs, startedUs, sources }: StatusAnswer): boolean {
  const isYoung = nowUs - startedUs < SETTLED_AFTER_US;
  return (
    isYoung && sources.some(({ state, rejected }) => state === "blind" && rejected.length === 0)
  );
}

/** A shell that is not the login's: without its variable (`su`, cron), or of root in the owner's stead (`sudo`). */
function examineLogin({ socketPath }: Paths, machine: Machine): readonly Finding[] {
  const { uid, env } = machine;
  const byWhom = env["SUDO_USER"] ?? "";
  if (uid === 0 && byWhom !== "" && byWhom !== "root") {
    return [
      note(
        "run-with-sudo",
        `With sudo this looks at the daemon, the settings and the service of root, not at those of ${byWhom}.`,
        "Call it without sudo: activityd doctor",
      ),
    ];
  }
  if (machine.platform !== "linux" || uid === null) return [];
  const isGiven = ["XDG_RUNTIME_DIR", "ACTIVITYD_HOME", "ACTIVITYD_SOCKET"].some(
    (name) => (env[name] ?? "") !== "",
  );
  const runtime = machine.runtimeFolder(uid);
  const other = join(runtime, "activityd", "activityd.sock");
  if (isGiven || other === socketPath || !isThere(other)) return [];
  return [
    problem(
      "runtime-folder-unset",
      `XDG_RUNTIME_DIR is not set in this shell, so that it looks for the daemon at ${socketPath}; there is one at ${other}.`,
      `Set it: export XDG_RUNTIME_DIR=${shellWord(runtime)}`,
    ),
  ];
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether the daemon that answers is the one that this command line means. */
function compare(status: StatusAnswer, { dataDirectory }: Paths): readonly Finding[] {
  const findings: Finding[] = [sound("socket", `socket: ${status.socket}`)];
  if (dirname(status.store.path) !== dataDirectory) {
    findings.push(
      problem(
        "daemon-elsewhere",
        `The daemon that answers keeps its record in ${dirname(status.store.path)}, and this command means ${dataDirectory}.`,
        `Start one for this folder: activityd stop && activityd start --detach; or leave ACTIVITYD_HOME and --home as the daemon has them.`,
      ),
    );
  }
  const holder = findInstanceHolder(dataDirectory);
  if (holder !== null && holder.pid !== null && holder.pid !== status.pid)
    findings.push(
      secondDaemon(
        holder.pid,
        dataDirectory,
        status.socket,
        `kill ${holder.pid}; activityd stop; activityd start --detach`,
      ),
    );
  return findings;
}

function secondDaemon(
  pid: number | null,
  dataDirectory: string,
  socketPath: string,
  mend: string,
): Finding {
  const who = pid === null ? "Another activityd" : `Another activityd (pid ${pid})`;
  return problem(
    "second-daemon",
    `${who} holds ${dataDirectory} and does not answer on ${socketPath}: no daemon can start for this socket.`,
    pid === null
      ? "Find it with: pgrep -af 'activityd|cli/main.js start', and end it"
      : `End it with: ${mend}`,
  );
}

async function explainSilence(thrown: unknown, paths: Paths, isService: boolean): Promise<Finding> {
  const start = isService ? "activityd service restart" : "activityd start --detach";
  const { socketPath, dataDirectory } = paths;
  const { message, hint } = toErrorEnvelope(thrown).error;
  const code = thrown instanceof ActivityError ? thrown.code : "internal";
  const holder = findInstanceHolder(dataDirectory);
  if (holder !== null) {
    const who = `A daemon${holder.pid === null ? "" : ` (pid ${holder.pid})`}`;
    if (isRecovering(dataDirectory, Date.now())) {
      return note(
        "daemon-starting",
        `${who} is recovering a damaged record, and answers when it is done: some minutes for one of years.`,
        "Let it, and look again: activityd doctor",
      );
    }
    if (holder.sinceMs !== null && Date.now() - holder.sinceMs < STARTING_MS) {
      return note(
        "daemon-starting",
        `${who} is starting, and does not answer yet.`,
        "Give it a minute, and look again: activityd doctor",
      );
    }
  }
  if (code === "timed_out") {
    const pid = holder?.pid ?? null;
    return problem(
      "daemon-silent",
      `A daemon${pid === null ? "" : ` (pid ${pid})`} accepts requests at ${socketPath} and answers none.`,
      pid === null
        ? `Start it again: ${start}`
        : `End it and start it again: kill -9 ${pid}; ${start}`,
    );
  }
  if (code !== "daemon_unreachable") return problem("socket-foreign", message, hint);
  if (holder !== null) {
    // Both end whoever holds the record, and wait until it has ended.
    const again = isService ? start : `activityd stop && ${start}`;
    return secondDaemon(holder.pid, dataDirectory, socketPath, again);
  }
  const stat = lstatSync(socketPath, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isSocket()) {
    return problem(
      "socket-foreign",
      `Where the socket should be is something else: ${socketPath}`,
      `Move it away: mv ${shellWord(socketPath)} ${shellWord(`${socketPath}.away`)} && ${start}`,
    );
  }
  if (stat !== undefined && (await isDead(socketPath))) {
    return problem(
      "socket-dead",
      `A socket is left at ${socketPath} and nobody listens on it: the daemon was killed.`,
      `Start it again, which replaces the socket: ${start}`,
    );
  }
  // A daemon that was stopped, such as for a repair, is nothing wrong.
  return note("daemon-stopped", message, `Start it with: ${start}`);
}

function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}
