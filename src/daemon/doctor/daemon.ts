/** What the running daemon says of itself: problems, notes and what it cannot see. */
import type { StatusAnswer } from "../../api.ts";
import type { SourceStatus } from "../../capture/sources/source.ts";
import { counted } from "../../counted.ts";
import { VERSION } from "../../version.ts";
import { note, problem, sound, type Finding } from "./finding.ts";
import type { Machine } from "./machine.ts";

/** What a daemon needs of the session to see its windows. */
const DISPLAY_VARIABLES = ["DISPLAY", "WAYLAND_DISPLAY"] as const;

export function examineDaemon(
  status: StatusAnswer,
  machine: Machine,
  isService: boolean,
): readonly Finding[] {
  const restart = isService
    ? "activityd service restart"
    : "activityd stop && activityd start --detach";
  const { version, pid, store, sources } = status;
  const events =
    store.eventCount === null
      ? "its record is being recovered"
      : counted(store.eventCount, "event");
  const findings: Finding[] = [
    sound("daemon", `daemon: activityd ${version}, pid ${pid}, ${events}`),
  ];
  if (version !== VERSION) {
    findings.push(
      problem(
        "daemon-version",
        `The daemon is activityd ${version}, this command ${VERSION}.`,
        `Restart the daemon with: ${restart}`,
      ),
    );
  }
  findings.push(...examineDisplay(status, machine, isService, restart));
  findings.push(...sources.flatMap((source) => examineSource(source, machine)));
  // A source that is not seen is told above, with the backend that said so.
  const told = new Set(sources.flatMap(({ why }) => (why === null ? [] : [why.reason])));
  findings.push(
    ...status.problems
      .filter(({ reason }) => ![...told].some((known) => reason.endsWith(known)))
      .map(({ reason, remedy }) => problem("daemon-problem", reason, remedy)),
    ...status.notes.map(({ reason, remedy }) => note("daemon-notes", reason, remedy)),
  );
  if (status.paused !== null) {
    const { untilUs } = status.paused;
    const until =
      untilUs === null ? "it is resumed" : new Date(untilUs / 1000).toLocaleString("sv-SE");
    findings.push(
      note("paused", `Recording is paused until ${until}.`, "End the pause with: activityd resume"),
    );
  }
  const live = sources.filter(({ state }) => state === "live");
  if (live.length > 0) {
    findings.push(
      sound(
        "sources",
        `seen: ${live.map(({ kind, backend }) => `${kind} by ${backend ?? "?"}`).join(", ")}`,
      ),
    );
  }
  return findings;
}

function examineSource(source: SourceStatus, machine: Machine): readonly Finding[] {
  const { kind, state, why } = source;
  if (state !== "blind" && state !== "lost") return [];
  const reason = why?.reason ?? "unknown";
  const remedy = why?.remedy ?? "";
  const isWindow = kind === "window";
  if (isWindow && machine.platform === "darwin") {
    return [
      problem(
        "permission-lost",
        `Windows cannot be seen: ${reason} macOS ties its permissions to ${process.execPath}, and an update of Node.js loses them.`,
        "Open the settings, allow it there, and restart: open 'x-apple.systempreferences:com.apple.preference.security?Privacy_ScreenCapture' && open 'x-apple.systempreferences:com.apple.preference.security?Privacy_Accessibility' && activityd service restart",
      ),
    ];
  }
  if (state === "lost") {
    return [
      problem(
        isWindow ? "window-lost" : "source-lost",
        `${kind} was seen and is no more: ${reason}`,
        remedy,
      ),
    ];
  }
  return [
    isWindow
      ? problem("window-blind", `Windows cannot be seen: ${reason}`, remedy)
      : note("source-blind", `${kind} is not seen here: ${reason}`, remedy),
  ];
}

/** The daemon was started before the desktop, or outside it, and this shell is in it. */
function examineDisplay(
  { pid, sources }: StatusAnswer,
  machine: Machine,
  isService: boolean,
  restart: string,
): readonly Finding[] {
  const isSeen = sources.some(({ kind, state }) => kind === "window" && state !== "blind");
  const theirs = isSeen ? null : machine.environmentOf(pid);
  if (theirs === null) return [];
  const missing = DISPLAY_VARIABLES.filter(
    (name) => (machine.env[name] ?? "") !== "" && (theirs[name] ?? "") === "",
  );
  if (missing.length === 0) return [];
  const names = [...missing, "XAUTHORITY", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP"].filter(
    (name) => (machine.env[name] ?? "") !== "",
  );
  return [
    problem(
      "display-unknown",
      `The daemon does not know the display of this session: ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} set here and not there.`,
      isService
        ? `Hand it on: systemctl --user import-environment ${names.join(" ")} && ${restart}`
        : `Start it from here: ${restart}`,
    ),
  ];
}
