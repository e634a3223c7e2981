/**
 * What the daemon tells its service manager: that it is ready, that it is alive, that it stops. It hides how a
 * datagram leaves Node and promises to be silent and free where no manager listens.
 */
import { spawn } from "node:child_process";
import { loadKoffi } from "../local-api/koffi.ts";
import type { Log } from "../log.ts";

/** @see sd_notify(3) */
export interface ServiceManager {
  readonly ready: () => void;
  readonly stopping: () => void;
  /** A sign of life; the caller gives it only after its own health was seen. */
  readonly alive: () => void;
  /** How often `alive` must come at least, in milliseconds; null when nobody counts. */
  readonly watchdogMs: number | null;
  /** How words reach the manager, for `doctor`. */
  readonly way: "libsystemd" | "systemd-notify" | "none";
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Finds the manager of this process, if it has one that wants to hear. */
export function findServiceManager(env: Environment, log: Log): ServiceManager {
  const socket = env["NOTIFY_SOCKET"];
  if (socket === undefined || socket === "") {
    return { ready: nothing, stopping: nothing, alive: nothing, watchdogMs: null, way: "none" };
  }
  const library = loadLibrary(log);
  const send = library ?? spawnNotify;
  return {
    ready: () => send("READY=1"),
    stopping: () => send("STOPPING=1"),
    alive: () => send("WATCHDOG=1"),
    watchdogMs: watchdogInterval(env, process.pid),
    way: library === null ? "systemd-notify" : "libsystemd",
  };
}

/** Half of what the manager allows, as sd_watchdog_enabled(3) advises; null when this process is not watched. */
export function watchdogInterval(env: Environment, pid: number): number | null {
  const us = Number(env["WATCHDOG_USEC"]);
  const watched = env["WATCHDOG_PID"];
  if (!Number.isFinite(us) || us <= 0 || (watched !== undefined && watched !== String(pid)))
    return null;
  return us / 2000;
}

/** libsystemd's own function, through koffi. Null when either is not there. */
function loadLibrary(log: Log): ((state: string) => void) | null {
  try {
    const notify: unknown = loadKoffi()
      .load("libsystemd.so.0")
      .func("int sd_notify(int unset, const char *state)");
    if (typeof notify !== "function") return null;
    return (state) => void Reflect.apply(notify, null, [0, state]);
  } catch (error) {
    log.info("koffi or libsystemd is absent; the service manager is told by systemd-notify", {
      reason: error instanceof Error ? error.message : String(error),
    });
    return null;
  }
}

/** A process for each word: right for the first and the last, dear for the signs of life between. */
function spawnNotify(state: string): void {
  const child = spawn("systemd-notify", [`--pid=${process.pid}`, state], { stdio: "ignore" });
  child.on("error", nothing);
  child.unref();
}

function nothing(): void {
  // No manager wants to hear.
}
