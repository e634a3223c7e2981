/** The service files of each platform, compared as whole texts: they are what is installed. */
import { describe, expect, it } from "vitest";
import { planAutostart } from "../../src/daemon/service/autostart.ts";
import { planLaunchd } from "../../src/daemon/service/launchd.ts";
import type { ServiceFacts } from "../../src/daemon/service/plan.ts";
import { planSystemd } from "../../src/daemon/service/systemd.ts";
import { planTaskScheduler } from "../../src/daemon/service/task-scheduler.ts";

const FACTS: ServiceFacts = {
  nodePath: "/opt/node 20/bin/node",
  mainPath: "/opt/activityd/dist/cli/main.js",
  homeDirectory: "/home/koi",
  configDirectory: "/home/koi/.config",
  unitDirectory: "/home/koi/.config/systemd/user",
  socketPath: null,
  logDirectory: "/home/koi/.local/state/activityd",
  variables: { ACTIVITYD_HOME: '/home/koi/50% "own" $HOME' },
  watcherPort: null,
  userId: 1000,
  userName: "koi",
  version: "1.2.3",
};

describe("on systemd", () => {
  const plan = planSystemd(FACTS);

  it("a socket that only its owner can open stands from login on", () => {
    expect(plan.files[0]?.path).toBe("/home/koi/.config/systemd/user/activityd.socket");
    expect(plan.files[0]?.text).toBe(`[Unit]
Description=Local API of activityd

[Socket]
ListenStream=%t/activityd/activityd.sock
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
`);
  });

  it("the socket is where the command line looks for it, also under a folder of the owner's choice", () => {
    const elsewhere = planSystemd({ ...FACTS, socketPath: "/home/koi/my 50% folder/run/a.sock" });
    expect(elsewhere.files[0]?.text).toContain(
      "\nListenStream=/home/koi/my 50%% folder/run/a.sock\n",
    );
  });

  it("a program whose path has quotes, which the manager does not take, is found by env", () => {
    const odd = planSystemd({ ...FACTS, nodePath: `/opt/koi's $1 \\ 100%/node` });
    expect(odd.files[1]?.text).toContain(
      `\nExecStart=/usr/bin/env "/opt/koi's $$1 \\\\ 100%%/node" "/opt/activityd`,
    );
    const dear = planSystemd({ ...FACTS, nodePath: "/opt/$1/node" });
    expect(dear.files[1]?.text).toContain(`\nExecStart="/opt/$1/node" "/opt/activityd`);
  });

  it("what was given up before is forgotten, or a restart would be refused for a minute", () => {
    for (const commands of [plan.install, plan.restart]) {
      const words = commands.map(({ argv }) => argv.slice(2).join(" "));
      const forgotten = words.indexOf("reset-failed activityd.service activityd.socket");
      expect(forgotten).toBeGreaterThanOrEqual(0);
      expect(words.indexOf("restart activityd.service")).toBeGreaterThan(forgotten);
    }
  });

  it("the daemon is watched, restarted and hardened, and no word of a path is special in the unit", () => {
    expect(plan.files[1]?.text).toBe(`# Written by activityd 1.2.3
[Unit]
Description=Device activity for the personal assistant
Requires=activityd.socket
After=activityd.socket
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=all
ExecStart="/opt/node 20/bin/node" "/opt/activityd/dist/cli/main.js" start
Environment=MALLOC_ARENA_MAX=1
Environment=MALLOC_TRIM_THRESHOLD_=131072
Environment="ACTIVITYD_HOME=/home/koi/50%% \\"own\\" $HOME"
Restart=on-failure
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
`);
  });

  it("a unit of the graphical session restarts it where the display is known", () => {
    expect(plan.files[2]?.text).toBe(`[Unit]
Description=Tell activityd that the desktop is there
After=graphical-session.target
PartOf=graphical-session.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=systemctl --user restart activityd.service

[Install]
WantedBy=graphical-session.target
`);
  });
});

describe("on systemd, with ActivityWatch's watchers", () => {
  const plan = planSystemd({ ...FACTS, watcherPort: 5600 });

  it("the manager holds their port over restarts, and hands it to the daemon by name", () => {
    expect(plan.files[3]?.path).toBe(
      "/home/koi/.config/systemd/user/activityd-activitywatch.socket",
    );
    expect(plan.files[3]?.text).toBe(`[Unit]
Description=Port of ActivityWatch's watchers, for activityd

[Socket]
ListenStream=127.0.0.1:5600
FileDescriptorName=activitywatch
Service=activityd.service

[Install]
WantedBy=sockets.target
`);
  });

  it("the port is opened with the daemon, since it cannot be handed to one that runs", () => {
    const unit = plan.files[1]?.text;
    expect(unit).toContain(
      "\nWants=activityd-activitywatch.socket\nAfter=activityd-activitywatch.socket\n",
    );
    const words = plan.install.map(({ argv }) => argv.slice(2).join(" "));
    expect(words.at(-1)).toBe("restart activityd.service");
    expect(words.filter((word) => word.startsWith("start ") || word.startsWith("stop "))).toEqual(
      [],
    );
  });

  it("whoever stops the daemon stops what would start it again", () => {
    expect(plan.stop.map(({ argv }) => argv.slice(2).join(" "))).toEqual([
      "stop activityd-activitywatch.socket activityd.socket activityd.service",
    ]);
  });

  it("the port and its unit are given back when they are not served any more", () => {
    const without = planSystemd(FACTS);
    const words = without.install.map(({ argv }) => argv.slice(2).join(" "));
    expect(words).toContain("disable --now activityd-activitywatch.socket");
    expect(without.files).toHaveLength(3);
    expect(without.outdated).toContain(
      "/home/koi/.config/systemd/user/activityd-activitywatch.socket",
    );
  });
});

describe("without systemd", () => {
  it("the desktop's autostart runs it", () => {
    expect(planAutostart({ ...FACTS, variables: {} }).files).toEqual([
      {
        path: "/home/koi/.config/autostart/activityd.desktop",
        text: `[Desktop Entry]
Type=Application
Name=activityd
Comment=Device activity for the personal assistant
Exec="env" "/opt/node 20/bin/node" "/opt/activityd/dist/cli/main.js" "start" "--detach"
NoDisplay=true
X-GNOME-Autostart-enabled=true
`,
      },
    ]);
  });
});

describe("on macOS", () => {
  it("a LaunchAgent of the graphical login runs it", () => {
    expect(
      planLaunchd({ ...FACTS, variables: { ACTIVITYD_HOME: "/Users/koi/<a> & b" } }).files,
    ).toEqual([
      {
        path: "/home/koi/Library/LaunchAgents/org.activityd.activityd.plist",
        text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>org.activityd.activityd</string>
  <key>ProgramArguments</key>
  <array>
    <string>/opt/node 20/bin/node</string>
    <string>/opt/activityd/dist/cli/main.js</string>
    <string>start</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>ACTIVITYD_HOME</key>
    <string>/Users/koi/&lt;a&gt; &amp; b</string>
  </dict>
  <key>RunAtLoad</key>
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
`,
      },
    ]);
  });
});

describe("on macOS, installing again", () => {
  it("what is being taken away is waited for, and what was switched off is switched on", () => {
    const { install } = planLaunchd(FACTS);
    expect(install.map(({ argv }) => argv[1])).toEqual(["bootout", "enable", "bootstrap"]);
    expect(install.at(-1)?.patienceMs).toBe(15_000);
  });
});

describe("on Windows", () => {
  it("a logon task runs it, also on battery, and again when it fails", () => {
    const [file] = planTaskScheduler({ ...FACTS, variables: {} }).files;
    expect(file?.encoding).toBe("utf16le");
    expect(file?.text).toBe(`<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.4" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Device activity for the personal assistant</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>koi</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="owner">
      <UserId>koi</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="owner">
    <Exec>
      <Command>/opt/node 20/bin/node</Command>
      <Arguments>"/opt/activityd/dist/cli/main.js" start</Arguments>
    </Exec>
  </Actions>
</Task>
`);
  });

  it("a folder of the owner's choice and odd names are told as they are", () => {
    const odd = {
      ...FACTS,
      nodePath: "C:\\<a> & b\\node.exe",
      variables: { ACTIVITYD_HOME: "D:\\é & ü" },
    };
    const text = planTaskScheduler(odd).files[0]?.text;
    expect(text).toContain("<Command>C:\\&lt;a&gt; &amp; b\\node.exe</Command>");
    expect(text).toContain(
      '<Arguments>"/opt/activityd/dist/cli/main.js" --home "D:\\é &amp; ü" start</Arguments>',
    );
  });
});
