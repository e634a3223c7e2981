/**
 * Where the message buses are. It hides the address syntax and promises one address that can be connected
 * to without starting a program, or none.
 */
import { existsSync } from "node:fs";
import type { Blindness, SourceContext } from "./source.ts";

/** The bus of the owner's desktop session, or the one of the machine. */
export type BusKind = "session" | "system";

/**
 * The address in the form the library understands: one entry, unescaped; null when there is none. It takes no escapes, and its own
 * choice among several entries prints to the console. Entries that would start a program are not used.
 * https://dbus.freedesktop.org/doc/dbus-specification.html#addresses
 */
export function busAddress(which: BusKind, env: SourceContext["env"]): string | null {
  const given = env[which === "session" ? "DBUS_SESSION_BUS_ADDRESS" : "DBUS_SYSTEM_BUS_ADDRESS"];
  if (given !== undefined && given !== "") {
    const entry = given.split(";").find((one) => /^(unix:(path|abstract)=|tcp:)/.test(one));
    return entry === undefined ? null : unescapeAddress(entry);
  }
  if (which === "system") return "unix:path=/var/run/dbus/system_bus_socket";
  const runtimeDirectory = env["XDG_RUNTIME_DIR"] ?? "";
  const socket = `${runtimeDirectory}/bus`;
  return runtimeDirectory !== "" && existsSync(socket) ? `unix:path=${socket}` : null;
}

function unescapeAddress(entry: string): string | null {
  try {
    return decodeURIComponent(entry);
  } catch {
    // Bytes that are no UTF-8: the library could not connect to them either.
    return null;
  }
}

/**
 * The socket of an address when nothing is there, else null. To know it before the library is loaded saves
 * fourteen megabytes on a machine without the bus.
 */
export function missingSocket(address: string): string | null {
  const path = /^unix:path=([^,]*)/.exec(address)?.[1];
  return path === undefined || existsSync(path) ? null : path;
}

/** Why a bus cannot be used, with what the owner can do. `what` completes the sentence. */
export function noBus(which: BusKind, what: string): Blindness {
  const variable = which === "session" ? "DBUS_SESSION_BUS_ADDRESS" : "DBUS_SYSTEM_BUS_ADDRESS";
  return {
    reason: `The ${which} bus is not reachable: ${what}.`,
    remedy:
      which === "session"
        ? `Start activityd inside the desktop session, or set ${variable} for it.`
        : `Start dbus on this machine, or set ${variable}.`,
  };
}
