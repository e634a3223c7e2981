/**
 * State of the machine: memory, load, power and network. It promises to start no process: of the library
 * `systeminformation` only the calls are used that read files on Linux. The kernel's own files are read at once: they
 * lie in memory, and to have another thread read them costs many times the reading.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import os from "node:os";
import type { SystemSample } from "../events.ts";
import type { SourceProvider } from "./source.ts";

export const systemState: SourceProvider<"system"> = {
  id: "system-state",
  kind: "system",
  open: async () => {
    const { default: readBattery } = await import("systeminformation/lib/battery.js");
    let times = cpuTimes();

    async function read(): Promise<SystemSample> {
      const [memoryUsed, battery] = await Promise.all([readMemoryUsed(), readBattery()]);
      // Its `currentLoad()` runs `cat` at every call on Linux, so the load is our own difference.
      const before = times;
      times = cpuTimes();
      const totalMs = times.totalMs - before.totalMs;
      const busyMs = times.busyMs - before.busyMs;
      return {
        // A machine without a battery has nothing to tell about its power.
        power: battery.hasBattery ? (battery.acConnected ? "ac" : "battery") : null,
        batteryPercent: battery.hasBattery ? battery.percent : null,
        online: isOnline(),
        cpuLoad: totalMs > 0 ? Math.min(1, Math.max(0, busyMs / totalMs)) : null,
        memoryUsed,
        displayCount: countDisplays(),
      };
    }

    return {
      source: {
        start: () => {},
        snapshot: async () => {
          try {
            return { ok: true, value: await read() };
          } catch (error) {
            const why = error instanceof Error ? error.message : String(error);
            return {
              ok: false,
              reason: `The state of the machine cannot be read: ${why}`,
              remedy: "",
            };
          }
        },
        close: () => {},
      },
    };
  },
};

/**
 * On Linux Node tells what the library would (`MemAvailable`, since libuv 1.45), for a quarter of its readings of
 * `/proc/meminfo`; elsewhere what Node calls free leaves out what caches would give back.
 */
async function readMemoryUsed(): Promise<number | null> {
  if (process.platform === "linux") return 1 - os.freemem() / os.totalmem();
  const { default: memoryPart } = await import("systeminformation/lib/memory.js");
  const { total, available } = await memoryPart.mem();
  return total > 0 ? 1 - available / total : null;
}

/** In units that stand for the same time in both fields. Linux has one line for it, Node reads two files more for each processor. */
function cpuTimes(): { readonly busyMs: number; readonly totalMs: number } {
  return process.platform === "linux" ? cpuTimesOfLinux() : cpuTimesOfNode();
}

const STAT_LINE_BYTES = 512;

/** `cpu user nice system idle iowait irq softirq steal guest guest_nice`, in ticks of 10 ms; see proc_stat(5). */
function cpuTimesOfLinux(): { readonly busyMs: number; readonly totalMs: number } {
  const line = Buffer.alloc(STAT_LINE_BYTES);
  const file = openSync("/proc/stat", "r");
  try {
    readSync(file, line);
  } finally {
    closeSync(file);
  }
  const [text = ""] = line.toString("latin1").split("\n", 1);
  const [user = 0, nice = 0, system = 0, idle = 0, , irq = 0] = text
    .split(/ +/)
    .slice(1)
    .map(Number);
  const busyMs = 10 * (user + nice + system + irq);
  return { busyMs, totalMs: busyMs + 10 * idle };
}

function cpuTimesOfNode(): { readonly busyMs: number; readonly totalMs: number } {
  let busyMs = 0;
  let totalMs = 0;
  for (const { times } of os.cpus()) {
    const busy = times.user + times.nice + times.sys + times.irq;
    busyMs += busy;
    totalMs += busy + times.idle;
  }
  return { busyMs, totalMs };
}

/** `RTF_UP` of linux/route.h. */
const ROUTE_UP = 0x1;

/**
 * Whether there is a way out of this machine. On Linux a default route decides: an address alone also stands
 * on the bridges of containers and virtual machines. Null when neither can be read.
 */
function isOnline(): boolean | null {
  if (process.platform !== "linux") {
    return Object.values(os.networkInterfaces()).some((addresses) =>
      addresses?.some((address) => !address.internal),
    );
  }
  const [v4, v6] = [readLines("/proc/net/route"), readLines("/proc/net/ipv6_route")];
  if (v4 === null && v6 === null) return null;
  return (v4 ?? []).some(isDefaultRoute4) || (v6 ?? []).some(isDefaultRoute6);
}

/** `Iface Destination Gateway Flags … Mask …`, hexadecimal; see proc_net(5). */
function isDefaultRoute4(line: string): boolean {
  const [, destination, , flags, , , , mask] = line.split("\t");
  return (
    destination === "00000000" &&
    mask?.trim() === "00000000" &&
    (Number.parseInt(flags ?? "0", 16) & ROUTE_UP) !== 0
  );
}

/** `destination prefix source prefix hop metric refs uses flags device`; `lo` holds a null route. */
function isDefaultRoute6(line: string): boolean {
  const [destination, prefix, , , , , , , flags, device] = line.trim().split(/\s+/);
  return (
    destination === "0".repeat(32) &&
    prefix === "00" &&
    device !== "lo" &&
    (Number.parseInt(flags ?? "0", 16) & ROUTE_UP) !== 0
  );
}

/** Connectors of the kernel's graphics drivers with a display on them; null when there are no connectors. */
function countDisplays(): number | null {
  let names: readonly string[];
  try {
    names = readdirSync("/sys/class/drm");
  } catch {
    // No graphics driver, or no Linux.
    return null;
  }
  const states = names
    .filter((name) => /^card\d+-/.test(name))
    .map((name) => readLines(`/sys/class/drm/${name}/status`));
  if (states.length === 0) return null;
  return states.filter((lines) => lines?.[0] === "connected").length;
}

function readLines(path: string): readonly string[] | null {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    // No such protocol on this machine: that is an answer too.
    return null;
  }
}
