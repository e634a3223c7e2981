import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import fc from "fast-check";
import { sway } from "../../../src/capture/sources/sway.ts";
import { openRecorded, rejectionOf, sourceContext } from "../../helpers/source-recorder.ts";
import { startUnixServer, type UnixServer } from "../../helpers/unix-server.ts";
import { until } from "../../helpers/until.ts";

const WINDOW_EVENT = 0x8000_0003;
const WORKSPACE_EVENT = 0x8000_0000;

/** A message as sway-ipc(7) frames it. Written for little-endian machines, as all CI machines are. */
function frame(type: number, payload: unknown): Buffer {
  const body = Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
  const header = Buffer.alloc(14);
  header.write("i3-ipc");
  header.writeUInt32LE(body.length, 6);
  header.writeUInt32LE(type >>> 0, 10);
  return Buffer.concat([header, body]);
}

function container(id: number, name: string | null, focused: boolean): object {
  return {
    id,
    name,
    focused,
    app_id: "foot",
    pid: 4_194_304,
    window_properties: undefined,
    nodes: [],
  };
}

let server: UnixServer;
let peers: Socket[];
let tree: unknown;
/** How an answer reaches the wire. */
let write: (socket: Socket, bytes: Buffer) => void;

beforeEach(async () => {
  peers = [];
  tree = { id: 1, focused: false, nodes: [] };
  write = (socket, bytes) => void socket.write(bytes);
  server = await startUnixServer("sway-ipc.1000.1.sock", (socket) => {
    peers.push(socket);
    let held = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 14 && held.length >= 14 + held.readUInt32LE(6)) {
        const type = held.readUInt32LE(10);
        held = held.subarray(14 + held.readUInt32LE(6));
        write(socket, frame(type, type === 2 ? { success: true } : tree));
      }
    });
  });
});

afterEach(async () => {
  await server.close();
});

const env = (): Record<string, string> => ({ SWAYSOCK: server.socketPath });

function send(type: number, payload: unknown): void {
  for (const peer of peers) write(peer, frame(type, payload));
}

test("focus and title of the focused window are told from their events", async () => {
  const { source, told, untilTold } = await openRecorded(sway, env());
  await untilTold("nothing", (value) => value === null);
  send(WINDOW_EVENT, { change: "new", container: container(5, null, false) });
  send(WINDOW_EVENT, { change: "title", container: container(5, "other", false) });
  send(WINDOW_EVENT, { change: "focus", container: container(6, "mine", true) });
  await untilTold("the focus", (value) => value?.title === "mine");
  send(WINDOW_EVENT, { change: "title", container: container(6, "mine too", true) });
  await untilTold("the title", (value) => value?.title === "mine too");
  expect(told.map((result) => result.ok && (result.value?.title ?? null))).toEqual([
    null,
    "mine",
    "mine too",
  ]);
  source.close();
});

test("an empty workspace that gets the focus is nothing focused", async () => {
  tree = { id: 1, focused: false, nodes: [container(6, "mine", true)] };
  const { source, untilTold } = await openRecorded(sway, env());
  await untilTold("the window", (value) => value?.title === "mine");
  tree = {
    id: 1,
    focused: false,
    nodes: [{ id: 9, type: "workspace", name: "2", focused: true, nodes: [] }],
  };
  send(WORKSPACE_EVENT, { change: "focus", current: { id: 9, focus: [] } });
  expect(await untilTold("a change", (value) => value?.title !== "mine")).toBeNull();
  source.close();
});

test("what lies above all windows takes the focus without an event, and a look at the tree tells it", async () => {
  tree = { id: 1, focused: false, nodes: [container(6, "mine", true)] };
  const { source, untilTold } = await openRecorded(sway, env());
  await untilTold("the window", (value) => value?.title === "mine");
  // A locker or a launcher: nothing in the tree has the focus.
  tree = { id: 1, focused: false, nodes: [container(6, "mine", false)] };
  expect(await source.snapshot()).toEqual({ ok: true, value: null });
  await untilTold("nothing", (value) => value === null);
  // sway tells the window that gets it back before it has it.
  tree = { id: 1, focused: false, nodes: [container(6, "mine again", true)] };
  send(WINDOW_EVENT, { change: "focus", container: container(6, "mine again", false) });
  await untilTold("the window again", (value) => value?.title === "mine again");
  tree = { id: 1, focused: false, nodes: [container(6, "mine again", false)] };
  await source.snapshot();
  await untilTold("nothing again", (value) => value === null);
  tree = { id: 1, focused: false, nodes: [container(6, "mine at last", true)] };
  await source.snapshot();
  await untilTold("the window at last", (value) => value?.title === "mine at last");
  source.close();
});

test("a floating window deep in the tree is found", async () => {
  const floating = {
    id: 3,
    focused: false,
    nodes: [],
    floating_nodes: [container(6, "deep", true)],
  };
  tree = { id: 1, focused: false, nodes: [{ id: 2, focused: false, nodes: [floating] }] };
  const { source } = await openRecorded(sway, env());
  expect(await source.snapshot()).toMatchObject({
    ok: true,
    value: { title: "deep", app: "foot" },
  });
  source.close();
});

test("messages are understood however the stream is cut", async () => {
  const title = 'a=b "q" \\ 漢字 👩‍💻';
  tree = { id: 1, focused: false, nodes: [container(6, title, true)] };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), async (sizes) => {
      write = (socket, bytes) => {
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          socket.write(bytes.subarray(at, at + size));
          at += size;
        }
      };
      const { source } = await openRecorded(sway, env());
      expect(await source.snapshot()).toMatchObject({ ok: true, value: { title } });
      source.close();
    }),
    { numRuns: 20 },
  );
});

describe("a peer that is not sway", () => {
  test.each([
    ["speaks another protocol", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
    ["announces an absurd length", Buffer.from("i3-ipc\xff\xff\xff\x7f\x02\x00\x00\x00", "latin1")],
    ["answers without JSON", frame(2, "not json")],
    ["refuses the subscription", frame(2, { success: false })],
  ])("that %s is passed over", async (_name, answer) => {
    write = (socket) => void socket.write(answer);
    expect((await rejectionOf(sway, env())).reason).toContain("No sway answers");
  });

  test("that breaks the protocol later is lost, not believed", async () => {
    const { source, lost } = await openRecorded(sway, env());
    for (const peer of peers) peer.write("garbage that is no header at all");
    await until("the loss", lost);
    expect((await source.snapshot()).ok).toBe(false);
    source.close();
  });
});

test("without a socket and without a variable nothing applies to this machine", async () => {
  const rejection = await rejectionOf(sway, {});
  expect(rejection.applies ?? false).toBe(false);
  expect(rejection.reason).toContain("SWAYSOCK is not set");
});

test("a variable that names a dead socket applies, and says what to do", async () => {
  await server.stop();
  expect(await rejectionOf(sway, env())).toMatchObject({
    reason: `No sway answers on ${server.socketPath}.`,
    applies: true,
  });
});

test("a socket that appears in the runtime folder wakes the one who waits", async () => {
  await server.stop();
  let woken = false;
  const stop = sway.watchForReturn?.(sourceContext({ XDG_RUNTIME_DIR: server.folder }), () => {
    woken = true;
  });
  const next = await startUnixServer("sway-ipc.1000.2.sock", () => {}, server.folder);
  await until("the wake", () => woken);
  stop?.();
  await next.stop();
  expect(woken).toBe(true);
});
