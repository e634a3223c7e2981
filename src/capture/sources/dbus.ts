/**
 * A connection to a message bus, reduced to what the backends need: call, listen to signals, answer one
 * call, watch a name, monitor. It hides the D-Bus library (the only file that names it, loaded on first
 * use) and promises that nothing here throws or rejects, that each wait has an end, and that the loss of
 * the bus is told exactly once.
 *
 * Values arrive without variants: dictionaries are `Map`s, 64-bit integers are numbers where they fit.
 */
import type { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import type * as DbusLibrary from "@jellybrick/dbus-next";
import { type BusKind, busAddress, missingSocket, noBus } from "./dbus-address.ts";
import { toPlainList, type VariantClass } from "./dbus-values.ts";
import { createWatches, DAEMON } from "./dbus-watches.ts";
import type { Blindness, SourceContext } from "./source.ts";

/** Who is called. */
export interface BusTarget {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
}

/** What came back. `error` is the D-Bus error name, or "timed out" or "disconnected". */
export type BusReply =
  | { readonly ok: true; readonly body: readonly unknown[] }
  | { readonly ok: false; readonly error: string; readonly message: string };

/** A signal, a call to us or, while monitoring, a call between others. */
export interface BusMessage {
  readonly type: "call" | "return" | "error" | "signal";
  /** Unique name of the connection that sent it, such as ":1.42". */
  readonly sender: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly body: readonly unknown[];
}

/** Which signals to hear. */
export interface SignalMatch {
  /**
   * Only signals of the present owner of this name. Anyone may send anyone a signal, so a source that
   * trusts what it hears names whom it listens to.
   */
  readonly sender?: string;
  readonly path?: string;
  readonly interface: string;
  readonly member: string;
}

/** An open connection. After the loss or `close` calls answer "disconnected" and listeners stay silent. */
export interface Bus {
  /** Our own unique name, to which others may send calls. */
  readonly uniqueName: string;
  /** A program that is not running is not started by it. */
  readonly call: (
    target: BusTarget,
    signature?: string,
    body?: readonly unknown[],
  ) => Promise<BusReply>;
  /** Sends a call and wants no answer: for farewells. */
  readonly send: (target: BusTarget, signature?: string, body?: readonly unknown[]) => void;
  /** Resolves to a function that ends it, once the bus delivers. */
  readonly onSignal: (
    match: SignalMatch,
    listener: (signal: BusMessage) => void,
  ) => Promise<() => void>;
  /** Answers calls of this method with an empty reply. */
  readonly onCall: (
    method: Omit<BusTarget, "destination">,
    listener: (call: BusMessage) => void,
  ) => void;
  /** The unique name of the owner; null when nobody owns it. */
  readonly nameOwner: (name: string) => Promise<string | null>;
  /** Tells each change of the owner of a name, or of every name below `name.` with `namespace`. */
  readonly onNameOwner: (
    name: string,
    listener: (name: string, owner: string | null) => void,
    options?: { readonly namespace: boolean },
  ) => Promise<() => void>;
  /** Turns this connection into a monitor: it hears what matches and may send nothing any more. */
  readonly monitor: (
    rules: readonly string[],
    listener: (message: BusMessage) => void,
  ) => Promise<BusReply>;
  /** Flushes what was sent and lets go. Safe to call twice. */
  readonly close: () => void;
}

/** How long the other side may take to answer before it counts as absent. */
const ANSWER_WITHIN_MS = 2_000;

/**
 * Connects to the session or the system bus that the environment names. `onLost` is called at most once,
 * and only after this resolved to a bus that was not closed.
 */
export async function openBus(
  which: BusKind,
  env: SourceContext["env"],
  onLost: (why: Blindness) => void,
): Promise<{ readonly bus: Bus } | { readonly rejected: Blindness }> {
  const address = busAddress(which, env);
  if (address === null) return { rejected: noBus(which, "its address is not known") };
  const missing = missingSocket(address);
  if (missing !== null) return { rejected: noBus(which, `nothing listens on ${missing}`) };
  const library = await import("@jellybrick/dbus-next");
  const raw = library.sessionBus({ busAddress: address });
  const connection = connectionOf(raw);
  const state: BusState = { lost: null, waiting: new Set(), listeners: new Set() };

  const lose = (what: string, told: boolean): void => {
    if (state.lost !== null) return;
    state.lost = noBus(which, what);
    state.listeners.clear();
    for (const giveUp of state.waiting) giveUp();
    state.waiting.clear();
    // Flush first: a farewell may still be under way.
    const stream = connection.stream();
    stream?.end(() => stream.destroy());
    if (told) onLost(state.lost);
  };

  // These listeners stay for good: an 'error' event without one would end the process.
  let connected = false;
  connection.errors.on("error", (error: unknown) => lose(errorText(error), connected));
  connection.ends.on("end", () => lose("it closed the connection", connected));
  raw.on("message", (message) => {
    const received = toBusMessage(message, library.Variant);
    // A listener that throws is a fault of ours; as a loss it is shown by status and tried again.
    try {
      for (const listener of state.listeners) listener(received);
    } catch (error) {
      lose(`a listener failed: ${errorText(error)}`, connected);
    }
  });
  await waitForConnect(raw, state);
  if (state.lost === null && raw.name === null) lose("it did not answer", false);
  if (state.lost !== null) return { rejected: state.lost };
  connected = true;
  return { bus: createBus(raw, raw.name ?? "", library, state, lose) };
}

interface BusState {
  lost: Blindness | null;
  /** What to do with each open wait when the bus is lost. */
  readonly waiting: Set<() => void>;
  readonly listeners: Set<(message: BusMessage) => void>;
}

function createBus(
  raw: DbusLibrary.MessageBus,
  uniqueName: string,
  library: typeof DbusLibrary,
  state: BusState,
  lose: (what: string, told: boolean) => void,
): Bus {
  const methods = new Map<string, (call: BusMessage) => void>();
  let monitoring = false;
  const messageFor = (
    target: BusTarget,
    signature: string,
    body: readonly unknown[],
    flags: number,
  ): DbusLibrary.Message => new library.Message({ ...target, signature, body: [...body], flags });

  raw.addMethodHandler((message: DbusLibrary.Message): boolean => {
    // The daemon drops a monitor that sends anything, and the library would answer "unknown method".
    if (monitoring) return true;
    const listener = methods.get(methodKey(message));
    if (listener === undefined) return false;
    try {
      listener(toBusMessage(message, library.Variant));
    } catch (error) {
      // Left to the library, the caller would be sent our stack.
      lose(`a listener failed: ${errorText(error)}`, true);
      return true;
    }
    if ((message.flags & library.MessageFlag.NO_REPLY_EXPECTED) === 0) {
      raw.send(library.Message.newMethodReturn(message));
    }
    return true;
  });

  const call: Bus["call"] = (target, signature = "", body = []) =>
    new Promise((resolve) => {
      const disconnected = { ok: false, error: "disconnected", message: "" } as const;
      if (state.lost !== null || monitoring) return resolve(disconnected);
      const settle = (reply: BusReply): void => {
        clearTimeout(timer);
        state.waiting.delete(giveUp);
        resolve(reply);
      };
      const giveUp = (): void => settle(disconnected);
      const timer = setTimeout(
        () => settle({ ok: false, error: "timed out", message: `after ${ANSWER_WITHIN_MS} ms` }),
        ANSWER_WITHIN_MS,
      );
      state.waiting.add(giveUp);
      // Inside a promise, because the library throws when the stream is closed or a name is malformed.
      const asked = Promise.resolve().then(() =>
        raw.call(messageFor(target, signature, body, library.MessageFlag.NO_AUTO_START)),
      );
      asked.then(
        (reply) => settle({ ok: true, body: toPlainList(reply?.body ?? [], library.Variant) }),
        (error: unknown) => settle({ ok: false, ...errorParts(error) }),
      );
      return undefined;
    });

  const send: Bus["send"] = (target, signature = "", body = []) => {
    if (state.lost !== null || monitoring) return;
    try {
      raw.send(messageFor(target, signature, body, library.MessageFlag.NO_REPLY_EXPECTED));
    } catch (error) {
      // The stream is gone and its end is not yet told.
      lose(errorText(error), true);
    }
  };

  return {
    uniqueName,
    call,
    send,
    ...createWatches({ call, send, listeners: state.listeners }),
    onCall: (method, listener) => {
      methods.set(methodKey(method), listener);
    },
    monitor: async (rules, listener) => {
      const target = { ...DAEMON, interface: "org.freedesktop.DBus.Monitoring" };
      const reply = await call({ ...target, member: "BecomeMonitor" }, "asu", [[...rules], 0]);
      if (reply.ok) {
        monitoring = true;
        state.listeners.add(listener);
      }
      return reply;
    },
    close: () => lose("it was closed", false),
  };
}

function waitForConnect(raw: DbusLibrary.MessageBus, state: BusState): Promise<void> {
  return new Promise((resolve) => {
    if (state.lost !== null) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      state.waiting.delete(done);
      resolve();
    };
    const timer = setTimeout(done, ANSWER_WITHIN_MS);
    state.waiting.add(done);
    raw.once("connect", done);
    return undefined;
  });
}

function methodKey(method: Omit<BusTarget, "destination">): string {
  return `${method.path} ${method.interface} ${method.member}`;
}

const MESSAGE_TYPES = ["call", "return", "error", "signal"] as const;

function toBusMessage(message: DbusLibrary.Message, Variant: VariantClass): BusMessage {
  return {
    type: MESSAGE_TYPES[message.type - 1] ?? "error",
    sender: message.sender ?? "",
    path: message.path ?? "",
    interface: message.interface ?? "",
    member: message.member ?? "",
    body: toPlainList(message.body, Variant),
  };
}

function errorParts(error: unknown): { readonly error: string; readonly message: string } {
  const name =
    typeof error === "object" && error !== null && "type" in error ? String(error.type) : "failed";
  return { error: name, message: errorText(error) };
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface RawConnection {
  readonly errors: EventEmitter;
  readonly ends: EventEmitter;
  readonly stream: () => Duplex | undefined;
}

/**
 * The connection under the library's bus, which alone tells that the other side hung up. The one cast of
 * this boundary: neither the field nor the 'error' event is in the library's types. Its version is pinned,
 * and without the field no bus would open in any test.
 */
function connectionOf(raw: DbusLibrary.MessageBus): RawConnection {
  const bus = raw as unknown as EventEmitter & {
    readonly _connection: EventEmitter & { readonly stream?: Duplex };
  };
  const { _connection: connection } = bus;
  return { errors: bus, ends: connection, stream: () => connection.stream };
}
