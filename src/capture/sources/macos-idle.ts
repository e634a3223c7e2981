/**
 * Idle time on macOS from `ioreg`, which starts a process at every question; there is no way without one
 * or a native module. Written to its documentation, not run.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { InputSample } from "../events.ts";
import type { SourceProvider, SourceResult } from "./source.ts";

const TIMEOUT_MS = 3_000;

/** `readIoreg` gives what `ioreg -c IOHIDSystem` prints. */
export function createMacosIdle(
  platform: NodeJS.Platform = process.platform,
  readIoreg: () => Promise<string> = runIoreg,
): SourceProvider<"input"> {
  const snapshot = async (): Promise<SourceResult<InputSample>> => {
    let text: string;
    try {
      text = await readIoreg();
    } catch {
      return {
        ok: false,
        reason: "ioreg, which tells the idle time, could not be run.",
        remedy: "",
      };
    }
    // Nanoseconds since the last input of any device.
    const idleNs = /"HIDIdleTime"\s*=\s*(\d+)/.exec(text)?.[1];
    return idleNs === undefined
      ? { ok: false, reason: "ioreg tells no idle time (HIDIdleTime).", remedy: "" }
      : { ok: true, value: { idleMs: Math.floor(Number(idleNs) / 1e6) } };
  };
  return {
    id: "ioreg",
    kind: "input",
    open: async () => {
      if (platform !== "darwin") {
        return { rejected: { reason: "ioreg is of macOS only.", remedy: "" } };
      }
      const first = await snapshot();
      return first.ok
        ? { source: { start: () => {}, snapshot, close: () => {} } }
        : { rejected: { reason: first.reason, remedy: first.remedy, applies: true } };
    },
  };
}

async function runIoreg(): Promise<string> {
  const { stdout } = await promisify(execFile)(
    "/usr/sbin/ioreg",
    ["-c", "IOHIDSystem", "-d", "4"],
    {
      timeout: TIMEOUT_MS,
      maxBuffer: 16 * 1024 * 1024,
    },
  );
  return stdout;
}
