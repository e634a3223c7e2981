/** The service as systemd user units: a socket that queues requests over restarts, and a watched daemon. */
import { join } from "node:path";
import { ACTIVITYWATCH_SOCKET } from "../../local-api/socket.ts";
import { autostartPath } from "./autostart.ts";
import {
  ALLOCATOR_VARIABLES,
  type ServiceCommand,
  type ServiceFacts,
  type ServicePlan,
} from "./plan.ts";

const SOCKET = "activityd.socket";
const SERVICE = "activityd.service";
const DESKTOP = "activityd-desktop.service";
const WATCHERS = "activityd-activitywatch.socket";

/**
 * Three units, and a fourth for the port of ActivityWatch's watchers while they are served: the manager keeps it
 * open, so that what they send during a restart waits instead of being refused. The socket is there from login on.
 * The daemon starts with it or with the first request, and a small unit of the graphical session restarts it there,
 * because only then the manager knows the display.
 *
 * The hardening is what was tried to work for Node in a *user* manager: `MemoryDenyWriteExecute` kills its
 * compiler, `ProtectHome` and its like are silently ignored without `PrivateUsers`, and `StateDirectory` lands
 * in another folder with each generation of systemd, so that the data path stays our own business. Where koffi is
 * absent, `systemd-notify` speaks for the daemon, which the manager only hears with `NotifyAccess=all`. A start that
 * recovers a damaged record of years takes minutes; cut short, it would begin anew for ever.
 *
 * @see systemd.exec(5), systemd.service(5), systemd.socket(5)
 */
export function planSystemd(facts: ServiceFacts): ServicePlan {
  const { watcherPort } = facts;
  const folder = facts.unitDirectory;
  const systemctl = (...args: readonly string[]): [string, ...string[]] => [
    "systemctl",
    "--user",
    ...args,
  ];
  // A unit that was given up is not started again for a minute, whatever was mended meanwhile.
  const forgetFailures: ServiceCommand = {
    argv: systemctl("reset-failed", SERVICE, SOCKET),
    mayFail: true,
  };
  return {
    mechanism: "systemd",
    files: [
      {
        path: join(folder, SOCKET),
        text: socketUnit(facts),
        holds: {
          line: listenStream(facts),
          release: { argv: systemctl("stop", SOCKET, SERVICE), mayFail: true },
        },
      },
      { path: join(folder, SERVICE), text: serviceUnit(facts) },
      { path: join(folder, DESKTOP), text: desktopUnit() },
      ...(watcherPort === null
        ? []
        : [
            {
              path: join(folder, WATCHERS),
              text: watchersUnit(watcherPort),
              holds: {
                line: watchersStream(watcherPort),
                release: { argv: systemctl("stop", WATCHERS), mayFail: true },
              } as const,
            },
          ]),
    ],
    outdated: [
      ...(watcherPort === null ? [join(folder, WATCHERS)] : []),
      // Of an installation from a shell, or in a time, without systemd: both would start a daemon.
      autostartPath(facts),
    ],
    install: [
      { argv: systemctl("daemon-reload") },
      forgetFailures,
      ...(watcherPort === null
        ? [{ argv: systemctl("disable", "--now", WATCHERS), mayFail: true } as const]
        : []),
      {
        argv: systemctl(
          "enable",
          SOCKET,
          SERVICE,
          DESKTOP,
          ...(watcherPort === null ? [] : [WATCHERS]),
        ),
      },
      { argv: systemctl("restart", SERVICE) },
    ],
    uninstall: [
      { argv: systemctl("disable", "--now", DESKTOP, SERVICE, SOCKET), mayFail: true },
      { argv: systemctl("disable", "--now", WATCHERS), mayFail: true },
      forgetFailures,
      { argv: systemctl("daemon-reload"), mayFail: true },
    ],
    restart: [forgetFailures, { argv: systemctl("restart", SERVICE) }],
    stop: [{ argv: systemctl("stop", WATCHERS, SOCKET, SERVICE), mayFail: true }],
    status: [{ argv: systemctl("--no-pager", "status", SOCKET, SERVICE) }],
    // One by one: of several, one that is enabled is enough for it.
    enabled: [SOCKET, SERVICE, DESKTOP, ...(watcherPort === null ? [] : [WATCHERS])].map(
      (unit): ServiceCommand => ({ argv: systemctl("is-enabled", unit) }),
    ),
    logs: [{ argv: ["journalctl", "--user", "--no-pager", "-n", "200", "-u", SERVICE] }],
    logFile: null,
    mainPid: { argv: systemctl("show", "--property=MainPID", "--value", SERVICE) },
    notes: [
      "The service runs while you are logged in. To keep it answering when you are not: loginctl enable-linger",
    ],
  };
}

function listenStream({ socketPath }: ServiceFacts): string {
  const path = socketPath?.replaceAll("%", "%%") ?? "%t/activityd/activityd.sock";
  return `ListenStream=${path}`;
}

function socketUnit(facts: ServiceFacts): string {
  return `[Unit]
Description=Local API of activityd

[Socket]
${listenStream(facts)}
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
`;
}

function watchersStream(port: number): string {
  return `ListenStream=127.0.0.1:${port}`;
}

function watchersUnit(port: number): string {
  return `[Unit]
Description=Port of ActivityWatch's watchers, for activityd

[Socket]
${watchersStream(port)}
FileDescriptorName=${ACTIVITYWATCH_SOCKET}
Service=${SERVICE}

[Install]
WantedBy=sockets.target
`;
}

function serviceUnit(facts: ServiceFacts): string {
  const allocator = Object.entries(ALLOCATOR_VARIABLES)
    .map(([name, value]) => `Environment=${name}=${value}\n`)
    .join("");
  const variables = Object.entries(facts.variables)
    .map(([name, value]) => `Environment=${quote(`${name}=${value}`)}\n`)
    .join("");
  // Opened with the service, or not at all: a socket cannot be handed to a daemon that runs already.
  const watchers = facts.watcherPort === null ? "" : `Wants=${WATCHERS}\nAfter=${WATCHERS}\n`;
  return `# Written by activityd ${facts.version}
[Unit]
Description=Device activity for the personal assistant
Requires=${SOCKET}
After=${SOCKET}
${watchers}StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=all
ExecStart=${quoteProgram(facts.nodePath)} ${quoteArgument(facts.mainPath)} start
${allocator}${variables}Restart=on-failure
RestartSec=1
TimeoutStartSec=1h
TimeoutStopSec=10
WatchdogSec=30
RuntimeDirectory=activityd
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=yes
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictNamespaces=yes
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

[Install]
WantedBy=default.target
`;
}

function desktopUnit(): string {
  return `[Unit]
Description=Tell activityd that the desktop is there
After=graphical-session.target
PartOf=graphical-session.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=systemctl --user restart ${SERVICE}

[Install]
WantedBy=graphical-session.target
`;
}

/** One word of a unit file: `%` is special there, and so are quotes and backslashes. */
function quote(word: string): string {
  return `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("%", "%%")}"`;
}

/** A word after the program of `ExecStart`, where variables are put in too. */
function quoteArgument(word: string): string {
  return quote(word).replaceAll("$", "$$$$");
}

/** The program of `ExecStart`: no variable is put in there, and no quote or backslash is let in. */
function quoteProgram(path: string): string {
  return /["'\\]/.test(path) ? `/usr/bin/env ${quoteArgument(path)}` : quote(path);
}
