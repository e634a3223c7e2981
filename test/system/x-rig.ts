/**
 * A private X server with a window manager for a system test. It takes a free display, ends what it started
 * and can kill and restart the server on the same display.
 */
import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { until } from "../helpers/until.ts";
import { openXTestClient, type XTestClient } from "../helpers/x-client.ts";
import { createProcesses, type Processes } from "./processes.ts";

export type WindowManager = "openbox" | "i3" | "xfwm4";

export interface XRig {
  /** Such as ":7". */
  readonly display: string;
  readonly processes: Processes;
  /** The variables of a session on this display. */
  readonly env: Readonly<Record<string, string>>;
  readonly startWindowManager: (name: WindowManager) => Promise<ChildProcess>;
  readonly openClient: () => Promise<XTestClient>;
  /** Ends the server at once, as a crash does. */
  readonly killServer: () => Promise<void>;
  readonly startServer: () => Promise<void>;
  /** Stops the server from answering without closing its connections, and lets it go on. */
  readonly freezeServer: () => void;
  readonly thawServer: () => void;
  readonly close: () => Promise<void>;
}

/** `authority`: the file of cookies that clients must show one of; without it every local client is let in. */
export async function openXRig(authority: string | null = null): Promise<XRig> {
  const processes = createProcesses();
  // Far above those that servers take which look for a free one from 0 on: it stays free while ours is down.
  let server = await startXvfb(processes, `:${randomInt(1_000, 30_000)}`, authority);
  const { display } = server;
  const socket = `/tmp/.X11-unix/X${display.slice(1)}`;
  const home = mkdtempSync(path.join(tmpdir(), "activityd-x-"));
  const i3Config = path.join(home, "i3.config");
  // Enough for i3 to start without its first-run question; the socket where a session would have it.
  writeFileSync(i3Config, `ipc-socket ${home}/i3/ipc-socket.1\nfocus_follows_mouse no\n`);
  const env = { DISPLAY: display, HOME: home, XDG_RUNTIME_DIR: home, XDG_SESSION_TYPE: "x11" };

  return {
    display,
    processes,
    env,
    startWindowManager: async (name) => {
      const args = name === "xfwm4" ? ["--compositor=off"] : name === "i3" ? ["-c", i3Config] : [];
      // xfwm4 reads its settings over a session bus; a bus that is closed takes what it started with it.
      const bus =
        name === "xfwm4" ? { DBUS_SESSION_BUS_ADDRESS: await startBus(processes, home) } : {};
      const child = processes.start(name, args, { env: { ...env, ...bus } });
      const client = await openXTestClient(socket);
      try {
        await until(`${name} manages the display`, () => client.hasWindowManager());
      } finally {
        client.close();
      }
      return child;
    },
    openClient: () => openXTestClient(socket),
    killServer: async () => processes.stop(server.child, "SIGKILL"),
    startServer: async () => {
      server = await startXvfb(processes, display, authority);
    },
    freezeServer: () => void server.child.kill("SIGSTOP"),
    thawServer: () => void server.child.kill("SIGCONT"),
    close: async () => {
      await processes.close();
      // A killed server leaves it behind.
      if (server.child.signalCode === "SIGKILL")
        rmSync(`/tmp/.X${display.slice(1)}-lock`, { force: true });
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function startBus(processes: Processes, folder: string): Promise<string> {
  const address = `unix:path=${folder}/bus-${Date.now()}`;
  processes.start("dbus-daemon", ["--session", "--nofork", "--nopidfile", `--address=${address}`], {
    // The settings service that it starts outlives it for a moment: it must have nothing to save.
    env: { HOME: folder, XDG_RUNTIME_DIR: folder, XDG_CONFIG_HOME: "/nonexistent" },
  });
  await until("the bus is ready (apt-get install dbus)", () =>
    existsSync(address.slice("unix:path=".length)),
  );
  return address;
}

/** Starts Xvfb on a display and waits until it takes clients. */
async function startXvfb(
  processes: Processes,
  display: string,
  authority: string | null,
): Promise<{ readonly child: ChildProcess; readonly display: string }> {
  const child = processes.start(
    "Xvfb",
    [display].concat(
      authority === null ? [] : ["-auth", authority],
      "-displayfd",
      "3",
      "-screen",
      "0",
      "800x600x24",
      "-nolisten",
      "tcp",
      "-noreset",
    ),
    { withFd3: true },
  );
  const ready = child.stdio[3];
  if (ready === null || ready === undefined || !("read" in ready))
    throw new Error("no pipe to Xvfb");
  let text = "";
  ready.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  let failure: Error | null = null;
  child.once("error", (error) => {
    failure = error;
  });
  await until("Xvfb is ready (apt-get install xvfb)", () => {
    if (failure !== null) throw failure;
    if (child.exitCode !== null) throw new Error(`Xvfb ended: ${said}`);
    return text.includes("\n");
  });
  return { child, display: `:${text.trim()}` };
}
