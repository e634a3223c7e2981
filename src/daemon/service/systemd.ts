/** The service as systemd user units: a socket that queues requests over restarts, and a watched daemon. */
import { join } from "node:path";
import { ACTIVITYWATCH_SOCKET } from "../../local-api/socket.ts";
import { ALLOCATOR_VARIABLES, type ServiceFacts, type ServicePlan } from "./plan.ts";

const SOCKET = "activityd.socket";
const SERVICE = "activityd.service";
const DESKTOP = "activityd-desktop.service";
const WATCHERS = "activityd-activitywatch.socket";

/**
 * Three units, and a fourth for the port of ActivityWatch's watchers while they are served: the manager keeps it
 * open, so that what they send during a restart waits instead of being refused. The socket is there from login on. The daemon starts with it or with the first request, and a
 * small unit of the graphical session restarts it there, because only then the manager knows the display.
 *
 * The hardening is what was tried to work for Node in a *user* manager: `MemoryDenyWriteExecute` kills its
 * compiler, `ProtectHome` and its like are silently ignored without `PrivateUsers`, and `StateDirectory` lands
 * in another folder with each generation of systemd, so that the data path stays our own business.
 *
 * @see systemd.exec(5), systemd.service(5), systemd.socket(5)
 */
export function planSystemd(facts: ServiceFacts): ServicePlan {
  const { watcherPort } = facts;
  const folder = join(facts.configDirectory, "systemd", "user");
  const systemctl = (...args: readonly string[]): [string, ...string[]] => [
    "systemctl",
    "--user",
    ...args,
  ];
  return {
    mechanism: "systemd",
    files: [
      { path: join(folder, SOCKET), text: socketUnit() },
      { path: join(folder, SERVICE), text: serviceUnit(facts) },
      { path: join(folder, DESKTOP), text: desktopUnit() },
      ...(watcherPort === null
        ? []
        : [{ path: join(folder, WATCHERS), text: watchersUnit(watcherPort) }]),
    ],
    install: [
      { argv: systemctl("daemon-reload") },
      { argv: systemctl("enable", SOCKET, SERVICE, DESKTOP) },
      { argv: systemctl("start", SOCKET) },
      // A socket cannot be handed to a service that runs already.
      ...(watcherPort === null
        ? [{ argv: systemctl("disable", "--now", WATCHERS), mayFail: true } as const]
        : [
            { argv: systemctl("stop", SERVICE), mayFail: true } as const,
            { argv: systemctl("enable", WATCHERS) },
            { argv: systemctl("start", WATCHERS) },
          ]),
      { argv: systemctl("restart", SERVICE) },
    ],
    uninstall: [
      { argv: systemctl("disable", "--now", DESKTOP, SERVICE, SOCKET), mayFail: true },
      { argv: systemctl("disable", "--now", WATCHERS), mayFail: true },
      { argv: systemctl("reset-failed", SERVICE), mayFail: true },
      { argv: systemctl("daemon-reload"), mayFail: true },
    ],
    restart: [{ argv: systemctl("restart", SERVICE) }],
    status: [{ argv: systemctl("--no-pager", "status", SOCKET, SERVICE) }],
    logs: [{ argv: ["journalctl", "--user", "--no-pager", "-n", "200", "-u", SERVICE] }],
    notes: [
      "The service runs while you are logged in. To keep it answering when you are not: loginctl enable-linger",
    ],
  };
}

function socketUnit(): string {
  return `[Unit]
Description=Local API of activityd

[Socket]
ListenStream=%t/activityd/activityd.sock
SocketMode=0600
DirectoryMode=0700

[Install]
WantedBy=sockets.target
`;
}

function watchersUnit(port: number): string {
  return `[Unit]
Description=Port of ActivityWatch's watchers, for activityd

[Socket]
ListenStream=127.0.0.1:${port}
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
  return `# Written by activityd ${facts.version}
[Unit]
Description=Device activity for the personal assistant
Requires=${SOCKET}
After=${SOCKET}
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStart=${quote(facts.nodePath)} ${quote(facts.mainPath)} start
${allocator}${variables}Restart=on-failure
RestartSec=1
TimeoutStartSec=30
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
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6

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

/** One word of a unit file: `%` and `$` are special there, and so are quotes and backslashes. */
function quote(word: string): string {
  return `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;
}
