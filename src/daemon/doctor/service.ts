/** The desktop service: whether it is installed, of this version, started at login and left in peace. */
import { existsSync } from "node:fs";
import type { StatusAnswer } from "../../api.ts";
import type { Paths } from "../../paths.ts";
import { planService } from "../service/machine-plan.ts";
import { isMasked, readInstalled } from "../service/service.ts";
import type { ServicePlan } from "../service/plan.ts";
import { note, problem, sound, type Finding } from "./finding.ts";
import type { Machine } from "./machine.ts";

/** Restarts by the manager since it was started: one after a crash is no pattern. */
const MANY_RESTARTS = 3;

const UNITS = ["activityd.socket", "activityd.service"] as const;
const SERVICE_FIELDS = [
  "ActiveState",
  "Result",
  "NRestarts",
  "MainPID",
  "UnitFileState",
  "NeedDaemonReload",
  "DropInPaths",
] as const;

export interface ServiceState {
  readonly plan: ServicePlan;
  /** A service that runs the daemon of these folders. */
  readonly isInstalled: boolean;
  /** The service that is installed is that of another folder: null for the usual places; undefined when it is not. */
  readonly otherHome: string | null | undefined;
}

export function readService(
  paths: Paths,
  machine: Pick<Machine, "env" | "platform">,
): ServiceState {
  const plan = planService(paths, machine.env, machine.platform);
  const isThere = plan.files.some(({ path }) => existsSync(path));
  // One that is masked, or was cut short, says nothing.
  const files = plan.files.filter((file) => (readInstalled(file) ?? "") !== "");
  const home = homeOf(files.map((file) => readInstalled(file)).join("\n"));
  const isOther = home !== homeOf(files.map(({ text }) => text).join("\n"));
  return { plan, isInstalled: isThere && !isOther, otherHome: isOther ? home : undefined };
}

/** The folder that a unit, an autostart entry or a property list gives the daemon, as it is written there; or null. */
function homeOf(text: string): string | null {
  return /ACTIVITYD_HOME(?:=|<\/key>\s*<string>)([^"<\n]*)/.exec(text)?.[1] ?? null;
}

/** `status`: what the daemon that answers says of itself, if one does. */
export function examineService(
  { plan, isInstalled, otherHome }: ServiceState,
  machine: Machine,
  status: StatusAnswer | null,
): readonly Finding[] {
  if (otherHome !== undefined) {
    return [
      note(
        "service-elsewhere",
        `The desktop service runs the daemon of ${otherHome ?? "the usual places"}, which is not the one that this command means.`,
        otherHome === null ? "Look at that one with: env -u ACTIVITYD_HOME activityd doctor" : "",
      ),
    ];
  }
  if (!isInstalled) {
    return [
      note(
        "service-absent",
        "activityd is not installed as a desktop service: it does not start with your login and nothing restarts it.",
        "Install it with: activityd service install",
      ),
    ];
  }
  const masked = plan.files.map(({ path }) => path).filter((path) => isMasked(path));
  if (masked.length > 0) {
    return [
      problem(
        "service-masked",
        `The service was masked, so that systemd never starts it: ${masked.join(", ")}.`,
        "Take the mask away and start it: activityd service install",
      ),
    ];
  }
  const findings = examineFiles(plan);
  if (plan.mechanism === "systemd") findings.push(...examineUnits(machine, status));
  return findings.some(({ state }) => state === "problem")
    ? findings
    : [sound("service", `service: installed with ${plan.mechanism}`), ...findings];
}

/** Whether the manager keeps the port of ActivityWatch's watchers open for the daemon. */
export function holdsWatcherPort({ plan, isInstalled }: ServiceState, machine: Machine): boolean {
  if (!isInstalled || plan.mechanism !== "systemd") return false;
  const socket = show(machine, "activityd-activitywatch.socket", ["ActiveState"]);
  return socket?.["ActiveState"] === "active";
}

/** The files as they are beside what this version would write. */
function examineFiles(plan: ServicePlan): Finding[] {
  const stale = plan.files.filter((file) => readInstalled(file) !== file.text);
  const [first] = stale;
  if (first === undefined) return [];
  const ours = new Set(plan.files.flatMap(({ text }) => programsOf(text)));
  const gone = stale
    .flatMap((file) => programsOf(readInstalled(file) ?? ""))
    .find((program) => !ours.has(program) && !existsSync(program));
  if (gone !== undefined) {
    return [
      problem(
        "service-program-missing",
        `The service starts ${gone}, which is not there: Node.js or activityd was moved or updated.`,
        "Write it anew: activityd service install",
      ),
    ];
  }
  return [
    problem(
      "service-stale",
      `The service is not as this version of activityd writes it: ${stale.map(({ path }) => path).join(", ")}.`,
      "Write it anew: activityd service install (see what changes with --dry-run)",
    ),
  ];
}

/** The programs and scripts that a unit, an autostart entry or a property list names by their whole path. */
function programsOf(text: string): readonly string[] {
  const lines = text.split("\n").filter((line) => /^(Exec|ExecStart)=|<string>\//.test(line));
  return lines.flatMap((line) =>
    [...line.matchAll(/"(\/(?:[^"\\]|\\.)+)"|<string>(\/[^<]+)<\/string>/g)].map(
      ([, quoted = "", element]) =>
        element?.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&") ??
        quoted
          .replaceAll(/\\+(.)/g, "$1")
          .replaceAll("%%", "%")
          .replaceAll("$$", "$"),
    ),
  );
}

function examineUnits(machine: Machine, status: StatusAnswer | null): readonly Finding[] {
  const service = show(machine, "activityd.service", SERVICE_FIELDS);
  const socket = show(machine, "activityd.socket", ["ActiveState", "UnitFileState"]);
  if (service === null || socket === null) return [];
  const findings: Finding[] = [];
  if (service["NeedDaemonReload"] === "yes") {
    findings.push(
      problem(
        "service-not-reloaded",
        "The service's files changed and systemd has not read them again.",
        "Let it: systemctl --user daemon-reload && activityd service restart",
      ),
    );
  }
  if (service["UnitFileState"] !== "enabled" || socket["UnitFileState"] !== "enabled") {
    findings.push(
      problem(
        "service-not-enabled",
        "The service is installed and does not start with your login.",
        `Let it: systemctl --user enable ${UNITS.join(" ")} activityd-desktop.service`,
      ),
    );
  }
  // Distributions have some for every service.
  const dropIns = (service["DropInPaths"] ?? "")
    .split(" ")
    .filter((path) => path.includes("/activityd.service.d/"));
  if (dropIns.length > 0) {
    findings.push(
      note(
        "service-drop-ins",
        `Files of yours change the service: ${dropIns.join(", ")}`,
        "See what they change with: systemctl --user cat activityd.service",
      ),
    );
  }
  findings.push(...examineRun(machine, service, socket["ActiveState"] ?? "", status));
  findings.push(...examineLinger(machine));
  return findings;
}

type Properties = Readonly<Record<string, string>>;

/** What the manager says of a unit; null when it says nothing. */
function show(machine: Machine, unit: string, fields: readonly string[]): Properties | null {
  const out = machine.run("systemctl", ["--user", "show", unit, `--property=${fields.join(",")}`]);
  if (out === null) return null;
  return Object.fromEntries(
    out.split("\n").flatMap((line) => {
      const at = line.indexOf("=");
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

function examineRun(
  machine: Machine,
  service: Properties,
  socketState: string,
  status: StatusAnswer | null,
): readonly Finding[] {
  const restarts = Number(service["NRestarts"] ?? "0");
  const mainPid = Number(service["MainPID"] ?? "0");
  if (service["ActiveState"] === "failed") return [explainFailure(machine, service, restarts)];
  if (status !== null && status.pid !== mainPid) {
    return [
      note(
        "daemon-beside-service",
        `The daemon that answers (pid ${status.pid}) was started by hand, beside the service: nothing watches it.`,
        "Let the service run it: activityd service restart",
      ),
    ];
  }
  if (socketState !== "active") {
    return [
      note(
        "service-stopped",
        "The service is installed and stopped: nothing is recorded until the next login.",
        "Start it with: activityd service restart",
      ),
    ];
  }
  if (restarts < MANY_RESTARTS) return [];
  return [
    note(
      "service-restarts",
      `systemd started the daemon again ${restarts} times since it was started.${lastWords(machine)}`,
      "Read why with: activityd service logs",
    ),
  ];
}

/** A unit that systemd gave up: what ended it, and what it said last. */
function explainFailure(machine: Machine, service: Properties, restarts: number): Finding {
  const again =
    "Read all of it with: activityd service logs; mend the cause, then: activityd service restart";
  if (service["Result"] === "watchdog") {
    return problem(
      "service-watchdog",
      `systemd ended the daemon because it gave no sign of life: capture or the database stood still.${lastWords(machine)}`,
      again,
    );
  }
  if (restarts > 0 || service["Result"] === "start-limit-hit") {
    return problem(
      "service-crash-loop",
      `The daemon ended again and again (${restarts} restarts), and systemd gave it up.${lastWords(machine)}`,
      again,
    );
  }
  return problem(
    "service-failed",
    `The service failed (${service["Result"] ?? "unknown"}).${lastWords(machine)}`,
    again,
  );
}

/** The last line of talk of the daemon itself, which is what ended it more often than not. */
function lastWords(machine: Machine): string {
  const out = machine.run("journalctl", [
    "--user",
    "--no-pager",
    "--output=cat",
    "--lines=40",
    "--unit=activityd.service",
  ]);
  const said = (out ?? "").split("\n").findLast((line) => line.startsWith("activityd: "));
  return said === undefined ? "" : ` Its last words: ${said.slice("activityd: ".length)}`;
}

/** Who sits before the screen is logged in while there is something to see; whoever comes by ssh is not. */
function examineLinger(machine: Machine): readonly Finding[] {
  const { env, uid } = machine;
  const isRemote = (env["SSH_CONNECTION"] ?? "") !== "" || env["XDG_SESSION_TYPE"] === "tty";
  if (!isRemote || uid === null) return [];
  const linger = machine.run("loginctl", [
    "show-user",
    String(uid),
    "--property=Linger",
    "--value",
  ]);
  if (linger === null || linger.trim() === "yes") return [];
  return [
    note(
      "service-linger",
      "The service ends with your last login: between logins nobody is answered.",
      "Keep it: loginctl enable-linger",
    ),
  ];
}
