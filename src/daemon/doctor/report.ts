/**
 * The examination as a text for a bug tracker. It promises that nothing in it was recorded and nothing names the
 * owner: facts of the program and the machine, ids and numbers, and no sentence that could carry anything else.
 */
import { readFileSync } from "node:fs";
import { release } from "node:os";
import type { SourceStatus } from "../../capture/sources/source.ts";
import { listChangedKeys } from "../../config.ts";
import type { Paths } from "../../paths.ts";
import { VERSION } from "../../version.ts";
import type { Examination } from "./examine.ts";
import type { Machine } from "./machine.ts";

/** Variables of the desktop whose values name programs and protocols, never the owner. */
const TOLD_VARIABLES = ["XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "DESKTOP_SESSION"] as const;
/** Variables of which it matters whether they are set. */
const NAMED_VARIABLES = [
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "SWAYSOCK",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "SSH_CONNECTION",
  "ACTIVITYD_HOME",
  "ACTIVITYD_SOCKET",
] as const;

/** Markdown. */
export function renderReport(paths: Paths, machine: Machine, examination: Examination): string {
  const { findings, status, mechanism, isServiceInstalled } = examination;
  const { env } = machine;
  const told = TOLD_VARIABLES.map((name) => `${name}=${wordOf(env[name])}`);
  const set = NAMED_VARIABLES.filter((name) => (env[name] ?? "") !== "");
  const lines = [
    "### activityd doctor --report",
    "",
    `- activityd ${VERSION}, Node.js ${machine.nodeVersion}, SQLite ${machine.sqliteVersion()}`,
    `- ${machine.platform} ${process.arch}, kernel ${wordOf(release())}, ${distribution()}`,
    `- session: ${told.join(", ")}; set: ${set.join(", ") || "none"}`,
    `- service: ${isServiceInstalled ? "installed" : "not installed"} (${mechanism})`,
    `- settings that differ from the defaults: ${changedKeys(paths, machine)}`,
  ];
  if (status === null) lines.push("- daemon: none answers");
  else {
    const { store } = status;
    lines.push(
      `- daemon: activityd ${wordOf(status.version)}, up ${Math.round((status.nowUs - status.startedUs) / 1e6)} s, health ${status.health}, ${status.problems.length} problems, ${status.paused === null ? "recording" : "paused"}`,
      `- store: ${store.eventCount ?? "?"} events, ${store.sizeBytes} bytes, ${store.writable ? "writable" : "not writable"}`,
    );
  }
  lines.push("", "| finding | |", "|---|---|");
  for (const { state, id } of findings) lines.push(`| ${state} | ${id} |`);
  if (status !== null) {
    lines.push("", "| source | state | by | passed over |", "|---|---|---|---|");
    for (const source of status.sources) lines.push(rowOf(source));
  }
  return `${lines.join("\n")}\n`;
}

function rowOf({ kind, state, backend, rejected }: SourceStatus): string {
  const passedOver = rejected.map((each) => wordOf(each.backend)).join(", ");
  return `| ${wordOf(kind)} | ${wordOf(state)} | ${backend === null ? "" : wordOf(backend)} | ${passedOver} |`;
}

/** Names and versions as programs write them; whatever else stands there is only said to be there. */
function wordOf(text: string | undefined): string {
  if (text === undefined || text === "") return "unset";
  return /^[A-Za-z0-9][A-Za-z0-9._:+-]{0,40}$/.test(text) ? text : "(other)";
}

/** The names of the keys alone: values are rules, applications and addresses. */
function changedKeys({ configFile }: Paths, machine: Machine): string {
  try {
    return listChangedKeys(configFile, machine.env).join(", ") || "none";
  } catch {
    // Told by the finding settings-invalid.
    return "not readable";
  }
}

/** @see os-release(5) */
function distribution(): string {
  try {
    const text = readFileSync("/etc/os-release", "utf8");
    const valueOf = (name: string) =>
      wordOf(new RegExp(`^${name}="?([^"\n]*)"?$`, "m").exec(text)?.[1]);
    return `${valueOf("ID")} ${valueOf("VERSION_ID")}`;
  } catch {
    // No Linux, or none that says so.
    return "distribution unknown";
  }
}
