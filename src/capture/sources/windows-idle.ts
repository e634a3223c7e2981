/**
 * Idle time on Windows from GetLastInputInfo, called through the optional package `koffi`. Written to its
 * documentation, not run.
 *
 * https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-getlastinputinfo
 */
import type { SourceProvider } from "./source.ts";
import { INSTALL } from "../../version.ts";

/** Both in milliseconds since the start of the system, as 32 bits that wrap after 49.7 days. */
export interface InputTicks {
  readonly lastInput: number;
  readonly now: number;
}

/** `load` gives a function that asks Windows, or rejects where it cannot be had. */
export function createWindowsIdle(
  platform: NodeJS.Platform = process.platform,
  load: () => Promise<() => InputTicks | null> = loadUser32,
): SourceProvider<"input"> {
  return {
    id: "last-input-info",
    kind: "input",
    open: async () => {
      if (platform !== "win32") {
        return { rejected: { reason: "GetLastInputInfo is of Windows only.", remedy: "" } };
      }
      let readTicks: () => InputTicks | null;
      try {
        readTicks = await load();
      } catch {
        return {
          rejected: {
            reason: "The optional package koffi, which reaches GetLastInputInfo, is not installed.",
            remedy: `Install activityd again with what is optional: ${INSTALL}`,
            applies: true,
          },
        };
      }
      return {
        source: {
          start: () => {},
          snapshot: async () => {
            const ticks = readTicks();
            return ticks === null
              ? { ok: false, reason: "Windows tells no last input for this session.", remedy: "" }
              : { ok: true, value: { idleMs: (ticks.now - ticks.lastInput) >>> 0 } };
          },
          close: () => {},
        },
      };
    },
  };
}

async function loadUser32(): Promise<() => InputTicks | null> {
  const { default: koffi } = await import("koffi");
  const user32 = koffi.load("user32.dll");
  const kernel32 = koffi.load("kernel32.dll");
  const info = koffi.struct("LASTINPUTINFO", { cbSize: "uint32", dwTime: "uint32" });
  const getLastInputInfo = user32.func("__stdcall", "GetLastInputInfo", "int", [
    koffi.inout(koffi.pointer(info)),
  ]);
  const getTickCount = kernel32.func("__stdcall", "GetTickCount", "uint32", []);
  return () => {
    const answer = { cbSize: koffi.sizeof(info), dwTime: 0 };
    if (getLastInputInfo(answer) === 0) return null;
    return { lastInput: answer.dwTime, now: Number(getTickCount()) };
  };
}
