/**
 * A client of the Wayland wire protocol, reduced to what backends need: binding globals, requests with
 * numbers, objects and texts, and events without file descriptors. It promises that a protocol error or the
 * end of the compositor is told once.
 *
 * https://wayland.freedesktop.org/docs/html/ch04.html
 */
import { readdir, stat } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import type { Blindness, Rejection, SourceContext } from "./source.ts";
import { watchFolder } from "./watch-folder.ts";

/** Arguments of an event, read in the order of the protocol's description. */
export interface WaylandReader {
  readonly uint: () => number;
  readonly text: () => string;
  /** An array of 32-bit numbers. */
  readonly numbers: () => readonly number[];
}

export type WaylandHandler = (opcode: number, args: WaylandReader) => void;

/** A request's argument: a number (uint, object or new id) or a text. */
export type WaylandArgument = number | string;

export interface WaylandConnection {
  /** The version offered of a global, 0 when it is not there. */
  readonly versionOf: (interfaceName: string) => number;
  /** Binds a global that is there, at a version both know, and hears its events. */
  readonly bind: (interfaceName: string, version: number, onEvent: WaylandHandler) => number;
  /** An id for an object that a request creates. The compositor wants ids in order: use it before the next. */
  readonly newId: (onEvent: WaylandHandler) => number;
  /** Hears the events of an object that the compositor created. */
  readonly adopt: (id: number, onEvent: WaylandHandler) => void;
  readonly forget: (id: number) => void;
  readonly request: (object: number, opcode: number, ...args: readonly WaylandArgument[]) => void;
  /** Resolves when the compositor has answered everything asked before; rejects when it is gone. */
  readonly roundTrip: () => Promise<void>;
  /** At most one listener; called at once when it is gone already. */
  readonly onLost: (listener: (why: Blindness) => void) => void;
  readonly close: () => void;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** Ids from here on are the compositor's. */
const FIRST_SERVER_ID = 0xff00_0000;
const DISPLAY = { id: 1, sync: 0, getRegistry: 1, error: 0, deleteId: 1 } as const;
const REGISTRY = { bind: 0, global: 0, globalRemove: 1 } as const;

/** Connects to the compositor of the session: the one the variable names first, then the newest. */
export async function openWayland(
  context: SourceContext,
): Promise<{ readonly connection: WaylandConnection } | { readonly rejected: Rejection }> {
  const candidates = await findSockets(context.env);
  const [first] = candidates;
  if (first === undefined) {
    return {
      rejected: {
        reason:
          "No Wayland compositor is running: WAYLAND_DISPLAY is not set and no socket was found.",
        remedy: "",
      },
    };
  }
  for (const socketPath of candidates) {
    try {
      return { connection: await connect(socketPath) };
    } catch {
      // Nobody there, or no compositor: the next one is tried.
    }
  }
  return {
    rejected: {
      reason: `No Wayland compositor answers on ${first}.`,
      remedy:
        "Start activityd inside the desktop session; a service learns of it from a terminal there: systemctl --user import-environment WAYLAND_DISPLAY && activityd service restart",
      applies: (context.env["WAYLAND_DISPLAY"] ?? "") !== "",
    },
  };
}

const isSocketName = (name: string): boolean => /^wayland-\d+$/.test(name);

/** Wakes the caller when a compositor's socket appears in the runtime folder. */
export function watchForWayland(context: SourceContext, onWake: () => void): () => void {
  const runtime = context.env["XDG_RUNTIME_DIR"] ?? "";
  return runtime === "" ? () => {} : watchFolder(runtime, isSocketName, onWake);
}

async function findSockets(env: SourceContext["env"]): Promise<readonly string[]> {
  const runtime = env["XDG_RUNTIME_DIR"] ?? "";
  const named = env["WAYLAND_DISPLAY"] ?? "";
  const found: { readonly path: string; readonly changedMs: number }[] = [];
  if (runtime !== "") {
    try {
      for (const name of await readdir(runtime)) {
        if (!isSocketName(name)) continue;
        const socketPath = path.join(runtime, name);
        found.push({ path: socketPath, changedMs: (await stat(socketPath)).mtimeMs });
      }
    } catch {
      // No folder, or a compositor just took its socket away: what was found is tried.
    }
  }
  found.sort((a, b) => b.changedMs - a.changedMs);
  const first = named === "" ? [] : [path.resolve(runtime, named)];
  return [...new Set([...first, ...found.map((each) => each.path)])];
}

// ---------------------------------------------------------------- one connection

async function connect(socketPath: string): Promise<WaylandConnection> {
  const socket = net.createConnection(socketPath);
  const handlers = new Map<number, WaylandHandler>();
  const globals = new Map<string, { readonly name: number; readonly version: number }>();
  const waiting = new Set<(error: Error) => void>();
  const freeIds: number[] = [];
  let nextId = 2;
  let gone: Blindness | null = null;
  let listener: ((why: Blindness) => void) | null = null;

  function lose(reason: string): void {
    if (gone !== null) return;
    gone = { reason, remedy: "It is used again when it returns." };
    socket.destroy();
    for (const reject of waiting) reject(new Error(reason));
    waiting.clear();
    listener?.(gone);
  }

  function newId(onEvent: WaylandHandler): number {
    const id = freeIds.pop() ?? nextId++;
    handlers.set(id, onEvent);
    return id;
  }

  function request(object: number, opcode: number, ...args: readonly WaylandArgument[]): void {
    if (gone === null) socket.write(encode(object, opcode, args));
  }

  function roundTrip(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (gone !== null) {
        reject(new Error(gone.reason));
        return;
      }
      waiting.add(reject);
      const id = newId(() => {
        waiting.delete(reject);
        resolve();
      });
      request(DISPLAY.id, DISPLAY.sync, id);
    });
  }

  handlers.set(DISPLAY.id, (opcode, args) => {
    if (opcode === DISPLAY.error) {
      args.uint();
      args.uint();
      lose(`The Wayland compositor broke the connection off: ${args.text()}.`);
    } else if (opcode === DISPLAY.deleteId) {
      const id = args.uint();
      handlers.delete(id);
      if (id < FIRST_SERVER_ID) freeIds.push(id);
    }
  });
  const feed = createSplitter((object, opcode, args) => handlers.get(object)?.(opcode, args));
  socket.on("data", (chunk) => {
    if (gone === null && !feed(chunk)) lose("The Wayland compositor does not follow the protocol.");
  });
  socket.on("error", () => lose("The Wayland compositor went away."));
  socket.on("close", () => lose("The Wayland compositor went away."));

  const registry = newId((opcode, args) => {
    const name = args.uint();
    if (opcode === REGISTRY.global) {
      const interfaceName = args.text();
      // Of several seats or screens the first is as good as any.
      if (!globals.has(interfaceName)) globals.set(interfaceName, { name, version: args.uint() });
    } else if (opcode === REGISTRY.globalRemove) {
      for (const [key, global] of globals) if (global.name === name) globals.delete(key);
    }
  });
  request(DISPLAY.id, DISPLAY.getRegistry, registry);
  const timer = setTimeout(
    () => lose("The Wayland compositor does not answer."),
    CONNECT_TIMEOUT_MS,
  );
  try {
    await roundTrip();
  } finally {
    clearTimeout(timer);
  }

  return {
    versionOf: (interfaceName) => globals.get(interfaceName)?.version ?? 0,
    bind: (interfaceName, version, onEvent) => {
      const global = globals.get(interfaceName);
      if (global === undefined) throw new Error(`The compositor has no ${interfaceName}.`);
      const id = newId(onEvent);
      // The new id of `bind` is untyped, so its interface and version travel with it.
      const usable = Math.min(version, global.version);
      request(registry, REGISTRY.bind, global.name, interfaceName, usable, id);
      return id;
    },
    newId,
    adopt: (id, onEvent) => void handlers.set(id, onEvent),
    forget: (id) => void handlers.delete(id),
    request,
    roundTrip,
    onLost: (next) => {
      if (gone === null) listener = next;
      else next(gone);
    },
    close: () => {
      listener = null;
      lose("The connection was closed.");
    },
  };
}

// ---------------------------------------------------------------- the wire

/** Everything is in the byte order of the machine. */
const isLittleEndian = os.endianness() === "LE";
const HEADER_BYTES = 8;

function readUint(bytes: Buffer, at: number): number {
  return isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
}

function uint(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  if (isLittleEndian) bytes.writeUInt32LE(value);
  else bytes.writeUInt32BE(value);
  return bytes;
}

/** A text is its length with the final zero, the bytes, the zero, and padding to four. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = bytes.length + 1;
  const padded = Buffer.alloc((length + 3) & ~3);
  bytes.copy(padded);
  return Buffer.concat([uint(length), padded]);
}

function encode(object: number, opcode: number, args: readonly WaylandArgument[]): Buffer {
  const body = args.map((arg) => (typeof arg === "number" ? uint(arg) : text(arg)));
  const size = body.reduce((sum, part) => sum + part.length, HEADER_BYTES);
  return Buffer.concat([uint(object), uint(size * 0x1_0000 + opcode), ...body]);
}

/** Cuts a stream into events, however it is chunked. Answers false when the stream is no Wayland. */
function createSplitter(
  onEvent: (object: number, opcode: number, args: WaylandReader) => void,
): (chunk: Buffer) => boolean {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length >= HEADER_BYTES) {
      const word = readUint(held, 4);
      const size = word >>> 16;
      if (size < HEADER_BYTES || size % 4 !== 0) return false;
      if (held.length < size) return true;
      const object = readUint(held, 0);
      const body = held.subarray(HEADER_BYTES, size);
      held = held.subarray(size);
      try {
        onEvent(object, word & 0xffff, createReader(body));
      } catch (error) {
        // An event shorter than its description says.
        if (error instanceof RangeError) return false;
        throw error;
      }
    }
    return true;
  };
}

function createReader(body: Buffer): WaylandReader {
  let at = 0;
  const nextUint = (): number => {
    const value = readUint(body, at);
    at += 4;
    return value;
  };
  const nextBytes = (): Buffer => {
    const length = nextUint();
    if (at + length > body.length) throw new RangeError("the event ends inside its argument");
    const bytes = body.subarray(at, at + length);
    at += (length + 3) & ~3;
    return bytes;
  };
  return {
    uint: nextUint,
    text: () => nextBytes().toString("utf8").replace(/\0$/, ""),
    numbers: () => {
      const bytes = nextBytes();
      return Array.from({ length: bytes.length >> 2 }, (_, index) => readUint(bytes, index * 4));
    },
  };
}
