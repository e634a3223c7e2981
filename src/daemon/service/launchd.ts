/** The service as a macOS LaunchAgent. Written to Apple's documentation; not run on a Mac. */
import { join } from "node:path";
import { escapeXml, type ServiceFacts, type ServicePlan } from "./plan.ts";

const LABEL = "org.activityd.activityd";

/** @see launchd.plist(5), launchctl(1) */
export function planLaunchd(facts: ServiceFacts): ServicePlan {
  const path = join(facts.homeDirectory, "Library", "LaunchAgents", `${LABEL}.plist`);
  const domain = `gui/${facts.userId}`;
  const logFile = join(facts.logDirectory, "activityd.log");
  return {
    mechanism: "launchd",
    files: [{ path, text: propertyList(facts) }],
    outdated: [],
    install: [
      { argv: ["launchctl", "bootout", `${domain}/${LABEL}`], mayFail: true },
      // What `launchctl disable` once said stays with the login, also where the file is gone.
      { argv: ["launchctl", "enable", `${domain}/${LABEL}`], mayFail: true },
      // bootout returns before it is done; for some five seconds the label is refused with «5: Input/output error».
      { argv: ["launchctl", "bootstrap", domain, path], patienceMs: 15_000 },
    ],
    uninstall: [{ argv: ["launchctl", "bootout", `${domain}/${LABEL}`], mayFail: true }],
    restart: [{ argv: ["launchctl", "kickstart", "-k", `${domain}/${LABEL}`] }],
    stop: [],
    status: [{ argv: ["launchctl", "print", `${domain}/${LABEL}`] }],
    enabled: [],
    logs: [{ argv: ["tail", "-n", "200", logFile] }],
    logFile,
    mainPid: null,
    notes: [
      `macOS ties its permissions to ${facts.nodePath}: after Node.js moved, grant Screen Recording and Accessibility again.`,
    ],
  };
}

function propertyList(facts: ServiceFacts): string {
  const variables = Object.entries(facts.variables)
    .map(
      ([name, value]) =>
        `    <key>${escapeXml(name)}</key>\n    <string>${escapeXml(value)}</string>\n`,
    )
    .join("");
  const environment =
    variables === "" ? "" : `  <key>EnvironmentVariables</key>\n  <dict>\n${variables}  </dict>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>${escapeXml(facts.nodePath)}</string>
    <string>${escapeXml(facts.mainPath)}</string>
    <string>start</string>
  </array>
${environment}  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>LimitLoadToSessionType</key>
  <string>Aqua</string>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`;
}
