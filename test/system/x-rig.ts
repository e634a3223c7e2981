/**
 * A private X server with a window manager for a system test. It takes a free display, ends what it started
 * and can kill and restart the server on the same display.
 */
import type { ChildProcess } from "node:child_process";
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

export async function openXRig(): Promise<XRig> {
  const processes = createProcesses();
  let server = await startXvfb(processes, null);
  const { display } = server;
  const socket = `/tmp/.X11-unix/X${display.slice(1)}`;
  const env = { DISPLAY: display, HOME: "/tmp", XDG_SESSION_TYPE: "x11" };

  return {
    display,
    processes,
    env,
    startWindowManager: async (name) => {
      const args =
        name === "xfwm4" ? ["--compositor=off"] : name === "i3" ? ["-c", "/dev/null"] : [];
      const child = processes.start(name, args, { env });
      const client = await openXTestClient(socket);
      try {
        await until(`${name} manages the display`, () => client.hasWindowManager());
      } finally {
        client.close();
      }
      return child;
    },
    openClient: () => openXTestClient(socket),
    killServer: () => processes.stop(server.child, "SIGKILL"),
    startServer: async () => {
      server = await startXvfb(processes, display);
    },
    freezeServer: () => void server.child.kill("SIGSTOP"),
    thawServer: () => void server.child.kill("SIGCONT"),
    close: () => processes.close(),
  };
}

/** Starts Xvfb on a free display, or on the one given, and waits until it takes clients. */
async function startXvfb(
  processes: Processes,
  display: string | null,
): Promise<{ readonly child: ChildProcess; readonly display: string }> {
  const child = processes.start(
    "Xvfb",
    (display === null ? [] : [display]).concat(
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
  let failure: Error | null = null;
  child.once("error", (error) => {
    failure = error;
  });
  await until("Xvfb is ready (apt-get install xvfb)", () => {
    if (failure !== null) throw failure;
    return text.includes("\n");
  });
  return { child, display: `:${text.trim()}` };
}
