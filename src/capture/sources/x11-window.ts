/**
 * What X11 says about windows: which has the focus and what its properties mean. It hides window managers
 * (also their absence) and the encodings of text.
 */
import os from "node:os";
import path from "node:path";
import type { WindowSample } from "../events.ts";
import { createExecutableReader } from "./process-executable.ts";
import {
  StructureNotifyMask,
  WindowGone,
  type AtomName,
  type Property,
  type X11Connection,
} from "./x11-connection.ts";

/** Longer titles are cut; the rest of the program keeps less. */
const MAX_TITLE_BYTES = 4_096;

export interface WindowReader {
  /** 0: nothing has the focus. `viaFocus`: found without a window manager's word, so watch its focus. */
  readonly focusedWindow: () => Promise<{ readonly window: number; readonly viaFocus: boolean }>;
  /**
   * Null for a window found by its focus that belongs to no application, such as one of the window manager's
   * own. Throws `WindowGone`.
   */
  readonly sample: (window: number, viaFocus: boolean) => Promise<WindowSample | null>;
  readonly isManagerWindow: (window: number) => boolean;
  /** The window manager may have changed: look for it again. */
  readonly forgetManager: () => void;
}

export function createWindowReader(connection: X11Connection): WindowReader {
  const { root, atoms } = connection;
  const hostName = os.hostname().toLowerCase();
  /** The check window of an EWMH window manager; null: there is none; undefined: not looked for yet. */
  let manager: number | null | undefined;
  const executableOf = createExecutableReader();

  /**
   * EWMH "_NET_SUPPORTING_WM_CHECK": the property names a window that bears the same property naming
   * itself; one left behind by a dead window manager does not.
   */
  async function findManager(): Promise<number | null> {
    const check = toNumber(await connection.property(root, "netSupportingWmCheck", 4));
    if (check === 0) return null;
    try {
      connection.select(check, StructureNotifyMask);
      const itself = toNumber(await connection.property(check, "netSupportingWmCheck", 4));
      const supported = await connection.property(root, "netSupported", 4096);
      const names = supported === null ? [] : toNumbers(supported);
      return itself === check && names.includes(atoms.netActiveWindow) ? check : null;
    } catch (error) {
      if (error instanceof WindowGone) return null;
      throw error;
    }
  }

  /** Without a manager: the window with the keyboard focus, or the one under the pointer that gets the keys. */
  async function focusedByServer(): Promise<number> {
    const focus = await connection.inputFocus();
    if (focus === 0 || focus === root) return 0;
    if (focus === 1) return descendToClient(root);
    return (await climbToClient(focus)) ?? focus;
  }

  async function climbToClient(from: number): Promise<number | null> {
    for (let window = from; window !== 0 && window !== root;) {
      if (await isClient(window)) return window;
      window = await connection.parentOf(window);
    }
    return null;
  }

  async function descendToClient(from: number): Promise<number> {
    for (let window = from; ;) {
      window = await connection.childUnderPointer(window);
      if (window === 0 || (await isClient(window))) return window;
    }
  }

  /** ICCCM 4.1: WM_CLASS is set by applications, WM_STATE on their windows by the manager. */
  async function isClient(window: number): Promise<boolean> {
    const [name, state] = await Promise.all([
      connection.property(window, "wmClass", 4),
      connection.property(window, "wmState", 4),
    ]);
    return name !== null || state !== null;
  }

  return {
    isManagerWindow: (window) => window === manager,
    forgetManager: () => {
      manager = undefined;
    },
    focusedWindow: async () => {
      if (manager === undefined) manager = await findManager();
      if (manager !== null) {
        return {
          window: toNumber(await connection.property(root, "netActiveWindow", 4)),
          viaFocus: false,
        };
      }
      try {
        return { window: await focusedByServer(), viaFocus: true };
      } catch (error) {
        if (error instanceof WindowGone) return { window: 0, viaFocus: true };
        throw error;
      }
    },
    sample: async (window, viaFocus) => {
      const [netName, name, className, machine, pidProperty] = await Promise.all([
        connection.property(window, "netWmName", MAX_TITLE_BYTES),
        connection.property(window, "wmName", MAX_TITLE_BYTES),
        connection.property(window, "wmClass", 512),
        connection.property(window, "wmClientMachine", 256),
        connection.property(window, "netWmPid", 4),
      ]);
      if (viaFocus && className === null && !(await isClient(window))) return null;
      const title = netName ?? name;
      const pid = isThisHost(toLatin1(machine), hostName) ? toNumber(pidProperty) || null : null;
      const executable = await executableOf(pid, window);
      return {
        app: toAppName(className) ?? (executable === null ? "unknown" : path.basename(executable)),
        title: title === null ? "" : decodeText(title, atoms),
        url: null,
        pid,
        executable,
        private: null,
        window: String(window),
      };
    },
  };
}

/** A process id means something only on the machine it is from. EWMH wants WM_CLIENT_MACHINE beside it. */
function isThisHost(machine: string, hostName: string): boolean {
  const [label] = machine.toLowerCase().split(".");
  return machine !== "" && label === hostName.split(".")[0];
}

/** WM_CLASS is "instance\0class\0"; the class names the application, see ICCCM 4.1.2.5. */
function toAppName(property: Property | null): string | null {
  if (property === null) return null;
  const [instance = "", className = ""] = decodeString(property.data).split("\0");
  return className || instance || null;
}

function toLatin1(property: Property | null): string {
  return property === null ? "" : property.data.toString("latin1").replace(/\0+$/, "");
}

function toNumbers(property: Property): readonly number[] {
  if (property.format !== 32) return [];
  return Array.from({ length: property.data.length >> 2 }, (_, index) =>
    property.data.readUInt32LE(index * 4),
  );
}

function toNumber(property: Property | null): number {
  return property === null ? 0 : (toNumbers(property)[0] ?? 0);
}

/**
 * The text of a title, or null when its encoding is one that cannot be read here. A cut at the limit falls
 * between two characters.
 */
function decodeText(property: Property, atoms: Readonly<Record<AtomName, number>>): string | null {
  if (property.format !== 8) return null;
  const text =
    property.type === atoms.compoundText
      ? decodeCompoundText(property.data)
      : property.type === atoms.utf8String
        ? decodeUtf8(property.data)
        : decodeString(property.data);
  return text === null ? null : text.replace(/\0+$/, "");
}

/** Streaming leaves out a character that was cut at the end; what is invalid inside becomes U+FFFD. */
function decodeUtf8(bytes: Buffer): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}

/**
 * STRING is Latin-1 by ICCCM 2.7.1, yet many programs put UTF-8 into it; text in Latin-1 is hardly ever
 * valid UTF-8 by chance.
 */
function decodeString(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: true,
    });
  } catch {
    return bytes.toString("latin1");
  }
}

/**
 * Compound text as far as it is plain: the default sets (ASCII and Latin-1) and the stretches in UTF-8
 * between `ESC % G` and `ESC % @`. Null when it switches to any other set.
 */
function decodeCompoundText(bytes: Buffer): string | null {
  const parts = bytes.toString("latin1").split("\u001b");
  let text = parts[0] ?? "";
  for (const part of parts.slice(1)) {
    if (part.startsWith("%G")) text += decodeUtf8(Buffer.from(part.slice(2), "latin1"));
    else if (/^(%@|\(B|-A)/.test(part)) text += part.slice(2);
    else return null;
  }
  return text;
}
