/** The service as an XDG autostart entry: for desktops without systemd. Nothing restarts it when it fails. */
import { join } from "node:path";
import type { ServiceFacts, ServicePlan } from "./plan.ts";

/** @see https://specifications.freedesktop.org/autostart-spec/latest/ */
export function planAutostart(facts: ServiceFacts): ServicePlan {
  const start = [facts.nodePath, facts.mainPath, "start", "--detach"] as const;
  const environment = Object.entries(facts.variables).map(([name, value]) => `${name}=${value}`);
  // Desktops look for the first word before they take `%%` for what it is.
  const argv: [string, ...string[]] = ["env", ...environment, ...start];
  const control = (command: string): [string, ...string[]] => [
    facts.nodePath,
    facts.mainPath,
    command,
  ];
  const logFile = join(facts.logDirectory, "activityd.log");
  return {
    mechanism: "autostart",
    files: [
      {
        path: autostartPath(facts),
        text: `[Desktop Entry]
Type=Application
Name=activityd
Comment=Device activity for the personal assistant
Exec=${argv.map(quote).join(" ")}
NoDisplay=true
X-GNOME-Autostart-enabled=true
`,
      },
    ],
    outdated: [],
    install: [{ argv }],
    uninstall: [{ argv: control("stop"), mayFail: true }],
    restart: [{ argv: control("stop") }, { argv }],
    stop: [],
    status: [{ argv: control("status") }],
    enabled: [],
    logs: [{ argv: ["tail", "-n", "200", logFile] }],
    logFile,
    mainPid: null,
    notes: [
      "There is no systemd here: the daemon starts with the desktop and nothing restarts it when it fails.",
    ],
  };
}

export function autostartPath({ configDirectory }: ServiceFacts): string {
  return join(configDirectory, "autostart", "activityd.desktop");
}

/** A word of an Exec line: quoted, with the characters that are special inside quotes escaped, and `%` doubled. */
function quote(word: string): string {
  return `"${word
    .replace(/["`$\\]/g, "\\$&")
    .replaceAll("\\", "\\\\")
    .replaceAll("%", "%%")}"`;
}
