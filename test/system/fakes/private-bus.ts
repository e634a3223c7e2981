/** A message bus of a test's own: a real dbus-daemon in a temporary directory. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PrivateBus {
  readonly address: string;
  /** An environment in which this is the session bus and the system bus, and nothing else is set. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the daemon as a crash does. */
  readonly kill: () => Promise<void>;
  /** Starts it again at the same address. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openPrivateBus(
  options: {
    readonly refuseMonitors?: boolean;
    /** Lets programs of other users on the bus: desktops run as an ordinary user beside tests run by root. */
    readonly everyone?: boolean;
  } = {},
): Promise<PrivateBus> {
  const directory = mkdtempSync(join(tmpdir(), "activityd-bus-"));
  const address = `unix:path=${directory}/bus`;
  const config = join(directory, "bus.conf");
  writeFileSync(config, busConfig(address, options));
  if (options.everyone === true) chmodSync(directory, 0o755);
  let daemon = await startDaemon(config);
  const kill = async (): Promise<void> => {
    if (daemon.exitCode !== null || daemon.signalCode !== null) return;
    const gone = once(daemon, "exit");
    daemon.kill("SIGKILL");
    await gone;
  };
  return {
    address,
    env: { DBUS_SESSION_BUS_ADDRESS: address, DBUS_SYSTEM_BUS_ADDRESS: address },
    kill,
    restart: async () => {
      await kill();
      daemon = await startDaemon(config);
    },
    close: async () => {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startDaemon(config: string): Promise<ChildProcess> {
  const daemon = spawn(
    "dbus-daemon",
    [`--config-file=${config}`, "--nofork", "--nopidfile", "--print-address=1"],
    // Its warnings about limits of the machine would drown the test's own output.
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  // The address is printed once the socket listens; without the program 'error' comes instead.
  await Promise.race([
    once(daemon.stdout, "data"),
    once(daemon, "error").then(([error]) => Promise.reject(error)),
    once(daemon, "exit").then(([code]) =>
      Promise.reject(new Error(`dbus-daemon ended with ${String(code)}`)),
    ),
  ]);
  return daemon;
}

function busConfig(
  address: string,
  options: { readonly refuseMonitors?: boolean; readonly everyone?: boolean },
): string {
  const refusal =
    options.refuseMonitors === true
      ? '<deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Monitoring"/>'
      : "";
  const users = options.everyone === true ? '<allow user="*"/>' : "";
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>${address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>${users}${refusal}
  </policy>
</busconfig>
`;
}
