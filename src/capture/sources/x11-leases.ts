/**
 * Connections to X servers, lent to sources. It promises that several sources of one display share one connection,
 * which the last of them closes, and that a display which cannot be used is told with what to do.
 */
import type { Rejection, SourceContext } from "./source.ts";
import { openConnection, type OpenConnection, type X11Connection } from "./x11-connection.ts";
import { listLocalDisplays, parseDisplay, type DisplayAddress } from "./x11-display.ts";

export interface X11Lease {
  readonly connection: X11Connection;
  /** Gives the connection back; the last to do so closes it. Safe to call twice. */
  readonly release: () => void;
}

export interface X11Leases {
  readonly acquire: (
    context: SourceContext,
  ) => Promise<{ readonly lease: X11Lease } | { readonly rejected: Rejection }>;
}

interface Shared {
  users: number;
  readonly opening: Promise<OpenConnection>;
}

export function createX11Leases(): X11Leases {
  const byDisplay = new Map<string, Shared>();

  async function acquire(context: SourceContext): ReturnType<X11Leases["acquire"]> {
    const display = context.env["DISPLAY"] ?? "";
    const address = parseDisplay(display);
    if (address === null) return { rejected: await explainBadDisplay(display) };

    let shared = byDisplay.get(display);
    if (shared === undefined) {
      const opening = openConnection(display, address, context.env);
      shared = { users: 0, opening };
      byDisplay.set(display, shared);
    }
    const mine = shared;
    const forget = (): void => {
      if (byDisplay.get(display) === mine) byDisplay.delete(display);
    };
    mine.users += 1;
    let connection: OpenConnection;
    try {
      connection = await mine.opening;
    } catch (error) {
      forget();
      return { rejected: toRejection(display, address, error) };
    }
    connection.subscribe({ onEvent: () => {}, onLost: forget });

    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      mine.users -= 1;
      if (mine.users > 0) return;
      forget();
      connection.close();
    };
    return { lease: { connection, release } };
  }

  return { acquire };
}

async function explainBadDisplay(display: string): Promise<Rejection> {
  if (display !== "") {
    return {
      reason: `DISPLAY is "${display}", which names no X display.`,
      remedy: "Set DISPLAY to the display of the session, such as :0.",
      applies: true,
    };
  }
  const there = await listLocalDisplays();
  const hint = there.length === 0 ? "" : ` (X servers are listening on ${there.join(", ")})`;
  return {
    reason: "DISPLAY is not set.",
    remedy: `Start activityd inside the desktop session${hint}; a service learns of it from a terminal there: systemctl --user import-environment DISPLAY XAUTHORITY && activityd service restart`,
  };
}

function toRejection(display: string, address: DisplayAddress, error: unknown): Rejection {
  const code = error instanceof Error && "code" in error ? error.code : null;
  const where = address.socketPath ?? `${address.host} port ${6000 + Number(address.number)}`;
  const why = error instanceof Error ? error.message : String(error);
  if (code === "ENOENT" || code === "ECONNREFUSED") {
    return {
      reason: `No X server answers on display ${display} (${where}).`,
      remedy: "Start the X session, or set DISPLAY to the display that is in use.",
      applies: true,
    };
  }
  return {
    reason: `The X server on display ${display} cannot be used: ${why.trim().replace(/\.$/, "")}.`,
    remedy:
      "Set XAUTHORITY to the Xauthority file of the session, or run activityd as the user who owns the session.",
    applies: true,
  };
}
