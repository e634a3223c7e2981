/**
 * The IPC protocol that i3 introduced and sway speaks: hides framing and the order of answers. Answers come
 * in the order of their requests; events come between them.
 *
 * https://i3wm.org/docs/ipc.html, sway-ipc(7)
 */
import net from "node:net";
import os from "node:os";

const MAGIC = "i3-ipc";
const HEADER_BYTES = MAGIC.length + 8;
const EVENT_BIT = 0x8000_0000;
/** A tree of a thousand windows is about one megabyte; more than this is no answer but a fault. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const SUBSCRIBE = 2;
const GET_TREE = 4;
const EVENT_NAMES: Readonly<Record<number, "workspace" | "window" | "shutdown">> = {
  0: "workspace",
  3: "window",
  6: "shutdown",
};

export interface I3Listener {
  /** `payload` is as the peer sent it: parse before use. */
  readonly onEvent: (name: "workspace" | "window" | "shutdown", payload: unknown) => void;
  /** At most once. */
  readonly onClose: (reason: string) => void;
}

export interface I3Connection {
  readonly subscribe: (events: readonly string[]) => Promise<unknown>;
  readonly getTree: () => Promise<unknown>;
  readonly close: () => void;
}

/** Connects to a socket; rejects when nobody answers there. */
export async function connectI3(path: string, listener: I3Listener): Promise<I3Connection> {
  const socket = net.createConnection(path);
  const waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  let closed = false;

  function end(reason: string, isOurs = false): void {
    if (closed) return;
    closed = true;
    socket.destroy();
    for (const { reject } of waiting.splice(0)) reject(new Error(reason));
    if (!isOurs) listener.onClose(reason);
  }

  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.on("error", (error) => end(error.message));
  socket.on("close", () => end("the connection was closed"));

  const split = createSplitter((type, body) => {
    let payload: unknown;
    try {
      payload = JSON.parse(body);
    } catch {
      end("an answer was not JSON");
      return;
    }
    if (type >= EVENT_BIT) {
      const name = EVENT_NAMES[type - EVENT_BIT];
      if (name !== undefined) listener.onEvent(name, payload);
    } else {
      waiting.shift()?.resolve(payload);
    }
  });
  socket.on("data", (chunk) => {
    if (!closed && !split(chunk)) end("the answers do not follow the protocol");
  });

  function request(type: number, payload: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (closed) {
        reject(new Error("the connection was closed"));
        return;
      }
      waiting.push({ resolve, reject });
      socket.write(encode(type, payload));
    });
  }

  return {
    subscribe: (events) => request(SUBSCRIBE, JSON.stringify(events)),
    getTree: () => request(GET_TREE, ""),
    close: () => end("closed", true),
  };
}

/** Lengths and types are in the byte order of the machine. */
const isLittleEndian = os.endianness() === "LE";

function encode(type: number, payload: string): Buffer {
  const body = Buffer.from(payload);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, "latin1");
  if (isLittleEndian) {
    header.writeUInt32LE(body.length, MAGIC.length);
    header.writeUInt32LE(type, MAGIC.length + 4);
  } else {
    header.writeUInt32BE(body.length, MAGIC.length);
    header.writeUInt32BE(type, MAGIC.length + 4);
  }
  return Buffer.concat([header, body]);
}

/** Cuts a stream into messages, however it is chunked. Answers false when the stream is not this protocol. */
function createSplitter(
  onMessage: (type: number, body: string) => void,
): (chunk: Buffer) => boolean {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length >= HEADER_BYTES) {
      if (held.toString("latin1", 0, MAGIC.length) !== MAGIC) return false;
      const at = MAGIC.length;
      const length = isLittleEndian ? held.readUInt32LE(at) : held.readUInt32BE(at);
      const type = isLittleEndian ? held.readUInt32LE(at + 4) : held.readUInt32BE(at + 4);
      if (length > MAX_MESSAGE_BYTES) return false;
      const end = HEADER_BYTES + length;
      if (held.length < end) return true;
      const body = held.toString("utf8", HEADER_BYTES, end);
      held = held.subarray(end);
      onMessage(type, body);
    }
    return true;
  };
}
