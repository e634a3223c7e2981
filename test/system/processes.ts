/** Processes a system test starts. `close()` ends exactly these, by their id, and waits until they are gone. */
import { spawn, type ChildProcess } from "node:child_process";

export interface Processes {
  /** Starts a program; `stdio[3]` is a pipe when `withFd3` is given, its output when `withOutput` is. */
  readonly start: (
    command: string,
    args: readonly string[],
    options?: {
      readonly env?: Readonly<Record<string, string>>;
      readonly withFd3?: boolean;
      readonly withOutput?: boolean;
      readonly uid?: number;
      readonly gid?: number;
      readonly cwd?: string;
    },
  ) => ChildProcess;
  readonly stop: (child: ChildProcess, signal?: NodeJS.Signals) => Promise<void>;
  readonly close: () => Promise<void>;
}

export function createProcesses(): Processes {
  const running = new Set<ChildProcess>();

  async function stop(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
    });
    child.kill(signal);
    const timer = setTimeout(() => child.kill("SIGKILL"), 3_000);
    await ended;
    clearTimeout(timer);
  }

  return {
    start: (command, args, options = {}) => {
      const child = spawn(command, args, {
        // Nothing of the session that runs the tests may leak into what they start.
        env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...options.env },
        stdio: [
          "ignore",
          options.withOutput === true ? "pipe" : "ignore",
          "pipe",
          options.withFd3 === true ? "pipe" : "ignore",
        ],
        ...(options.uid === undefined ? {} : { uid: options.uid }),
        ...(options.gid === undefined ? {} : { gid: options.gid }),
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      });
      running.add(child);
      child.once("exit", () => running.delete(child));
      child.once("error", () => running.delete(child));
      child.stderr?.resume();
      return child;
    },
    stop,
    close: async () => {
      // The last started first: clients before their server.
      for (const child of [...running].reverse()) await stop(child);
    },
  };
}
