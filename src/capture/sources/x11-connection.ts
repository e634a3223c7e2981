/**
 * A connection to an X server: hides npm `x11` and its quirks. It promises that every request is answered or rejected,
 * and that no other way than the one `DISPLAY` names is tried.
 */
import net from "node:net";
import type { GeometryReply, Property, RandR, ScreenSaver, XClient, XEvent } from "x11";
import type { Blindness, SourceContext } from "./source.ts";
import { readCookie, type DisplayAddress } from "./x11-display.ts";

export type { Property, XEvent } from "x11";

/** A window that was closed while it was read. Expected at any time. */
export class WindowGone extends Error {}

const ATOMS = {
  netActiveWindow: "_NET_ACTIVE_WINDOW",
  netSupported: "_NET_SUPPORTED",
  netSupportingWmCheck: "_NET_SUPPORTING_WM_CHECK",
  netWmName: "_NET_WM_NAME",
  netWmPid: "_NET_WM_PID",
  compoundText: "COMPOUND_TEXT",
  string: "STRING",
  utf8String: "UTF8_STRING",
  wmClass: "WM_CLASS",
  wmClientMachine: "WM_CLIENT_MACHINE",
  wmName: "WM_NAME",
  wmState: "WM_STATE",
} as const;

export type AtomName = keyof typeof ATOMS;

/** Event masks of the core protocol, chapter 8 of "X Window System Protocol". */
export const StructureNotifyMask = 0x20000;
export const SubstructureNotifyMask = 0x80000;
export const FocusChangeMask = 0x200000;
export const PropertyChangeMask = 0x400000;

export interface X11Connection {
  /** The display as `DISPLAY` gives it. */
  readonly display: string;
  readonly root: number;
  readonly atoms: Readonly<Record<AtomName, number>>;
  /** The first `maxBytes` of a property, or null when the window does not have it. Throws `WindowGone`. */
  readonly property: (window: number, name: AtomName, maxBytes: number) => Promise<Property | null>;
  /** Chooses the events wanted from a window; none when it is gone. */
  readonly select: (window: number, mask: number) => void;
  /** The window with the keyboard focus: 0 none, 1 whatever is under the pointer. */
  readonly inputFocus: () => Promise<number>;
  /** Throws `WindowGone`. */
  readonly parentOf: (window: number) => Promise<number>;
  /** From the lowest to the topmost. Throws `WindowGone`. */
  readonly childrenOf: (window: number) => Promise<readonly number[]>;
  /** In pixels, within its parent. Throws `WindowGone`. */
  readonly geometry: (window: number) => Promise<Geometry>;
  /** The child of `window` under the pointer, 0 for none. Throws `WindowGone`. */
  readonly childUnderPointer: (window: number) => Promise<number>;
  /** Milliseconds since the last input; null when the server lacks MIT-SCREEN-SAVER. */
  readonly idleMs: (() => Promise<number>) | null;
  /** True when the server is only the X side of a Wayland desktop. */
  readonly isXwayland: boolean;
  readonly subscribe: (listener: X11Listener) => () => void;
}

export interface Geometry {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface X11Listener {
  readonly onEvent: (event: XEvent) => void;
  /** At most once, when the server or the way to it is gone. */
  readonly onLost: (why: Blindness) => void;
}

const CONNECT_TIMEOUT_MS = 3_000;

/** `X11Connection` as its owner has it. */
export interface OpenConnection extends X11Connection {
  readonly close: () => void;
}

/** Connects to the server at `address`; throws what the socket throws, or an error that says why it was refused. */
export async function openConnection(
  display: string,
  address: DisplayAddress,
  env: SourceContext["env"],
): Promise<OpenConnection> {
  const [{ default: x11 }, auth] = await Promise.all([import("x11"), readCookie(address, env)]);
  // Our own socket: the library would try TCP on localhost when the Unix socket is missing.
  const stream =
    address.socketPath === null
      ? net.createConnection(6000 + Number(address.number), address.host)
      : net.createConnection(address.socketPath);
  stream.setNoDelay(true);

  const listeners = new Set<X11Listener>();
  const pending = new Set<(error: Error) => void>();
  let gone: Blindness | null = null;

  function lose(reason: string): void {
    if (gone !== null) return;
    gone = { reason, remedy: "Nothing to do: it is used again when it returns." };
    stream.destroy();
    for (const reject of pending) reject(new Error(reason));
    pending.clear();
    for (const listener of listeners) listener.onLost(gone);
    listeners.clear();
  }

  const { client, root } = await new Promise<{ client: XClient; root: number }>(
    (resolve, reject) => {
      const timer = setTimeout(() => {
        fail(new Error(`it did not answer within ${CONNECT_TIMEOUT_MS / 1000} s`));
      }, CONNECT_TIMEOUT_MS);
      const fail = (error: Error): void => {
        clearTimeout(timer);
        stream.destroy();
        reject(error);
      };
      const raw = x11.createClient(
        {
          display,
          stream,
          auth,
          disableBigRequests: true,
          // What is asked together goes out together: a look at a window is one write instead of five.
          bufferRequests: { flushOnReply: false },
        },
        (error, setup) => {
          const screen = setup?.screen[0];
          if (error instanceof Error || screen === undefined) {
            fail(error instanceof Error ? error : new Error("it has no screen"));
            return;
          }
          clearTimeout(timer);
          resolve({ client: setup.client, root: screen.root });
        },
      );
      // A refused set-up comes as an error event, after which the callback never fires. Once connected,
      // errors with a number answer a request on a window that is gone: nothing to act on.
      raw.on("error", (error: Error) => {
        if (!("error" in error)) {
          fail(error);
          lose(`The X server on display ${display} went away.`);
        }
      });
    },
  );

  // A dying server shows itself as an error of the stream, as its end, or as both.
  stream.on("close", () => lose(`The X server on display ${display} went away.`));
  client.on("end", () => lose(`The X server on display ${display} went away.`));
  client.on("event", (event: XEvent) => {
    for (const listener of listeners) listener.onEvent(event);
  });
  // The library keeps one table of atoms for all connections, but each server numbers them anew.
  client.atoms = {};

  /** A request as a promise; an error of the server means that the window it named is gone. */
  function ask<T>(
    send: (reply: (error: Error | null | undefined, value: T) => boolean) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (gone !== null) {
        reject(new Error(gone.reason));
        return;
      }
      pending.add(reject);
      send((error, value) => {
        pending.delete(reject);
        if (error instanceof Error) reject(new WindowGone(error.message));
        else resolve(value);
        return true;
      });
    });
  }

  try {
    const atoms = await internAtoms((name) =>
      ask((reply) => client.InternAtom(false, name, reply)),
    );
    const saver = await requireScreenSaver(client, ask);
    const isXwayland = await detectXwayland(client, root, ask);
    return {
      display,
      root,
      atoms,
      property: async (window, name, maxBytes) => {
        const words = Math.ceil(maxBytes / 4);
        const found = await ask<Property>((reply) =>
          client.GetProperty(0, window, atoms[name], 0, 0, words, reply),
        );
        return found.type === 0 ? null : found;
      },
      select: (window, mask) => {
        if (gone === null) client.ChangeWindowAttributes(window, { eventMask: mask }, () => true);
      },
      inputFocus: async () =>
        (await ask<{ readonly focus: number }>((reply) => client.GetInputFocus(reply))).focus,
      parentOf: async (window) =>
        (await ask<{ readonly parent: number }>((reply) => client.QueryTree(window, reply))).parent,
      childrenOf: async (window) =>
        (
          await ask<{ readonly children: readonly number[] }>((reply) =>
            client.QueryTree(window, reply),
          )
        ).children,
      geometry: async (window) => {
        const found = await ask<GeometryReply>((reply) => client.GetGeometry(window, reply));
        return { x: found.xPos, y: found.yPos, width: found.width, height: found.height };
      },
      childUnderPointer: async (window) =>
        (await ask<{ readonly child: number }>((reply) => client.QueryPointer(window, reply)))
          .child,
      idleMs:
        saver === null
          ? null
          : async () =>
              (await ask<{ readonly idle: number }>((reply) => saver.QueryInfo(root, reply))).idle,
      isXwayland,
      subscribe: (listener) => {
        if (gone !== null) listener.onLost(gone);
        else listeners.add(listener);
        return () => listeners.delete(listener);
      },
      close: () => {
        listeners.clear();
        lose("The connection was closed.");
      },
    };
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

type Ask = <T>(
  send: (reply: (error: Error | null | undefined, value: T) => boolean) => void,
) => Promise<T>;

async function internAtoms(
  intern: (name: string) => Promise<number>,
): Promise<Record<AtomName, number>> {
  const [
    netActiveWindow,
    netSupported,
    netSupportingWmCheck,
    netWmName,
    netWmPid,
    compoundText,
    string,
    utf8String,
    wmClass,
    wmClientMachine,
    wmName,
    wmState,
  ] = await Promise.all([
    intern(ATOMS.netActiveWindow),
    intern(ATOMS.netSupported),
    intern(ATOMS.netSupportingWmCheck),
    intern(ATOMS.netWmName),
    intern(ATOMS.netWmPid),
    intern(ATOMS.compoundText),
    intern(ATOMS.string),
    intern(ATOMS.utf8String),
    intern(ATOMS.wmClass),
    intern(ATOMS.wmClientMachine),
    intern(ATOMS.wmName),
    intern(ATOMS.wmState),
  ]);
  return {
    netActiveWindow,
    netSupported,
    netSupportingWmCheck,
    netWmName,
    netWmPid,
    compoundText,
    string,
    utf8String,
    wmClass,
    wmClientMachine,
    wmName,
    wmState,
  };
}

async function hasExtension(client: XClient, name: string, ask: Ask): Promise<boolean> {
  const { present } = await ask<{ readonly present: number }>((reply) =>
    client.QueryExtension(name, reply),
  );
  return present !== 0;
}

async function requireScreenSaver(client: XClient, ask: Ask): Promise<ScreenSaver | null> {
  if (!(await hasExtension(client, "MIT-SCREEN-SAVER", ask))) return null;
  return ask<ScreenSaver>((reply) => client.require("screen-saver", reply));
}

/**
 * Xwayland announces itself by an extension since 23.1; before that only the names of its outputs tell.
 * The variables of the session are no proof: a service may run without them.
 */
async function detectXwayland(client: XClient, root: number, ask: Ask): Promise<boolean> {
  if (await hasExtension(client, "XWAYLAND", ask)) return true;
  if (!(await hasExtension(client, "RANDR", ask))) return false;
  const randr = await ask<RandR>((reply) => client.require("randr", reply));
  const { outputs } = await ask<{ readonly outputs: readonly number[] }>((reply) =>
    randr.GetScreenResourcesCurrent(root, reply),
  );
  const names = await Promise.all(
    outputs.map(async (output) => {
      const { name } = await ask<{ readonly name: string | Buffer }>((reply) =>
        randr.GetOutputInfo(output, 0, reply),
      );
      return String(name);
    }),
  );
  return names.some((name) => name.startsWith("XWAYLAND"));
}
