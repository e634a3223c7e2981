/** The Wayland client against a compositor of a few lines, whose wire format is written here once more. */
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import fc from "fast-check";
import { createWaylandIdle } from "../../../src/capture/sources/wayland-idle.ts";
import { wlroots } from "../../../src/capture/sources/wlroots.ts";
import { openRecorded, rejectionOf } from "../../helpers/source-recorder.ts";
import { startUnixServer, type UnixServer } from "../../helpers/unix-server.ts";
import { until } from "../../helpers/until.ts";

type Argument = number | string | readonly number[];

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([u32(bytes.length), bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

function event(object: number, opcode: number, ...args: readonly Argument[]): Buffer {
  const body = Buffer.concat(
    args.map((arg) => {
      if (typeof arg === "number") return u32(arg);
      if (typeof arg === "string") return padded(Buffer.from(`${arg}\0`));
      return padded(Buffer.concat(arg.map(u32)));
    }),
  );
  return Buffer.concat([u32(object), u32(((body.length + 8) << 16) | opcode), body]);
}

interface FakeCompositor {
  readonly globals: string[];
  /** Ids the client gave to what it bound, by interface. */
  readonly bound: Map<string, number>;
  /** Requests on other objects than the display and the registry. */
  readonly requests: { readonly object: number; readonly opcode: number; readonly args: Buffer }[];
  /** Sends when something of this interface is bound. */
  onBind: (interfaceName: string, id: number) => void;
  readonly send: (bytes: Buffer) => void;
  /** How bytes reach the wire. */
  write: (socket: Socket, bytes: Buffer) => void;
}

let server: UnixServer;
let compositor: FakeCompositor;

beforeEach(async () => {
  let peer: Socket | null = null;
  compositor = {
    globals: ["wl_seat", "zwlr_foreign_toplevel_manager_v1", "ext_idle_notifier_v1"],
    bound: new Map(),
    requests: [],
    onBind: () => {},
    send: (bytes) => {
      if (peer !== null) compositor.write(peer, bytes);
    },
    write: (socket, bytes) => void socket.write(bytes),
  };
  server = await startUnixServer("wayland-1", (socket) => {
    peer = socket;
    let held = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 8 && held.length >= held.readUInt32LE(4) >>> 16) {
        const size = held.readUInt32LE(4) >>> 16;
        answer(held.readUInt32LE(0), held.readUInt32LE(4) & 0xffff, held.subarray(8, size));
        held = held.subarray(size);
      }
    });
  });
});

let registry = 0;

function answer(object: number, opcode: number, args: Buffer): void {
  if (object === 1 && opcode === 0) {
    const callback = args.readUInt32LE(0);
    compositor.send(event(callback, 0, 7));
    compositor.send(event(1, 1, callback));
  } else if (object === 1) {
    registry = args.readUInt32LE(0);
    compositor.globals.forEach((name, index) =>
      compositor.send(event(registry, 0, index + 1, name, 2)),
    );
  } else if (object === registry) {
    const name = compositor.globals[args.readUInt32LE(0) - 1] ?? "";
    const id = args.readUInt32LE(args.length - 4);
    compositor.bound.set(name, id);
    compositor.onBind(name, id);
  } else {
    compositor.requests.push({ object, opcode, args: Buffer.from(args) });
  }
}

afterEach(async () => {
  await server.close();
});

const env = (): Record<string, string> => ({
  WAYLAND_DISPLAY: "wayland-1",
  XDG_RUNTIME_DIR: server.folder,
});

const FIRST = 0xff00_0000;
const SECOND = 0xff00_0001;

/** A window as wlr-foreign-toplevel-management tells it. */
function showWindow(id: number, title: string, states: readonly number[]): void {
  const manager = compositor.bound.get("zwlr_foreign_toplevel_manager_v1") ?? 0;
  compositor.send(
    Buffer.concat([
      event(manager, 0, id),
      event(id, 0, title),
      event(id, 1, "foot"),
      event(id, 4, states),
      event(id, 5),
    ]),
  );
}

describe("wlroots", () => {
  test("the activated window is told, and a change only when it is done", async () => {
    compositor.onBind = (name) => {
      if (name !== "zwlr_foreign_toplevel_manager_v1") return;
      showWindow(FIRST, "one", [2]);
      showWindow(SECOND, "two", [0]);
    };
    const { source, told, untilTold } = await openRecorded(wlroots, env());
    expect(await untilTold("one", (value) => value?.title === "one")).toEqual({
      app: "foot",
      title: "one",
      url: null,
      pid: null,
      executable: null,
      private: null,
      window: String(FIRST),
    });
    compositor.send(Buffer.concat([event(SECOND, 4, [2]), event(SECOND, 0, "two!")]));
    await source.snapshot();
    expect(told).toHaveLength(1);
    compositor.send(Buffer.concat([event(SECOND, 5), event(FIRST, 4, []), event(FIRST, 5)]));
    await untilTold("two", (value) => value?.title === "two!");
    compositor.send(event(SECOND, 6));
    expect(await untilTold("a change", (value) => value?.title !== "two!")).toBeNull();
    source.close();
  });

  test("events are understood however the stream is cut", async () => {
    const title = 'a=b "q" \\ 漢字 👩‍💻';
    compositor.onBind = (name) => {
      if (name === "zwlr_foreign_toplevel_manager_v1") showWindow(FIRST, title, [0, 2]);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        async (sizes) => {
          compositor.write = (socket, bytes) => {
            for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
              const size = sizes[turn % sizes.length] ?? 1;
              socket.write(bytes.subarray(at, at + size));
              at += size;
            }
          };
          const { source } = await openRecorded(wlroots, env());
          expect(await source.snapshot()).toMatchObject({ ok: true, value: { title } });
          source.close();
        },
      ),
      { numRuns: 20 },
    );
  });

  test("a compositor without the protocol is passed over as one that applies, with what would help", async () => {
    compositor.globals.splice(1, 1);
    const rejection = await rejectionOf(wlroots, env());
    expect(rejection).toMatchObject({
      reason: "The Wayland compositor tells no program which window has the focus.",
      applies: true,
    });
    expect(rejection.remedy).toContain("sway");
  });

  test("a protocol error is the end of the source", async () => {
    const { source, lost } = await openRecorded(wlroots, env());
    compositor.send(event(1, 0, 3, 1, "invalid object 3"));
    await until("the loss", lost);
    expect(lost()?.reason).toContain("invalid object 3");
    expect((await source.snapshot()).ok).toBe(false);
    source.close();
  });

  test.each([
    ["is no Wayland", Buffer.from("HTTP/1.1 400 Bad Request\r\n")],
    ["has an impossible size", Buffer.concat([u32(2), u32(4 << 16)])],
    ["ends inside its argument", Buffer.concat([u32(2), u32(20 << 16), u32(1), u32(900), u32(0)])],
  ])("an answer that %s is no compositor", async (_name, bytes) => {
    compositor.write = (socket) => void socket.write(bytes);
    expect((await rejectionOf(wlroots, env())).reason).toContain("No Wayland compositor answers");
  });

  test("without a runtime folder and a variable nothing applies to this machine", async () => {
    const rejection = await rejectionOf(wlroots, {});
    expect(rejection.applies ?? false).toBe(false);
    expect(rejection.reason).toContain("WAYLAND_DISPLAY is not set");
  });
});

describe("idle time", () => {
  const stillMs = 60;

  /** The id of the notification object and what was asked of it. */
  async function notificationRequest(): Promise<{
    object: number;
    opcode: number;
    args: number[];
  }> {
    const request = await until("the request", () => compositor.requests.at(-1));
    const args = [0, 4, 8].map((at) => request.args.readUInt32LE(at));
    return { object: request.object, opcode: request.opcode, args };
  }

  test("input alone is asked for where the compositor can tell it", async () => {
    const { source } = await openRecorded(createWaylandIdle(stillMs), env());
    const { object, opcode, args } = await notificationRequest();
    expect([object, opcode]).toEqual([compositor.bound.get("ext_idle_notifier_v1"), 2]);
    expect(args.slice(1)).toEqual([stillMs, compositor.bound.get("wl_seat")]);
    source.close();
  });

  test("the older protocol of KDE is used where there is no other", async () => {
    compositor.globals.splice(2, 1, "org_kde_kwin_idle");
    const { source } = await openRecorded(createWaylandIdle(stillMs), env());
    const { object, opcode, args } = await notificationRequest();
    expect([object, opcode]).toEqual([compositor.bound.get("org_kde_kwin_idle"), 0]);
    expect(args.slice(1)).toEqual([compositor.bound.get("wl_seat"), stillMs]);
    source.close();
  });

  test("stillness is counted from the last input, and input ends it", async () => {
    const { source, untilTold } = await openRecorded(createWaylandIdle(stillMs), env());
    // Not heard of yet: no failure for which a watchdog would begin the source anew.
    expect(await source.snapshot()).toEqual({ ok: true, value: null });
    const [notification = 0] = (await notificationRequest()).args;
    compositor.send(event(notification, 0));
    const idle = await untilTold("stillness", (value) => (value?.idleMs ?? 0) > 0);
    expect(idle?.idleMs).toBeGreaterThanOrEqual(stillMs);
    await until("it grows", async () => {
      const result = await source.snapshot();
      return result.ok && (result.value?.idleMs ?? 0) > stillMs + 20;
    });
    compositor.send(event(notification, 1));
    expect(await untilTold("input", (value) => value?.idleMs === 0)).toEqual({ idleMs: 0 });
    source.close();
  });

  test("no news is input only when news could have come", async () => {
    const { source } = await openRecorded(createWaylandIdle(1), env());
    const idleMs = async () => {
      const result = await source.snapshot();
      return result.ok ? (result.value?.idleMs ?? null) : "failed";
    };
    expect(await idleMs()).toBeNull();
    await until("long enough without news", async () => (await idleMs()) === 0);
    source.close();
  });

  test("a compositor without any idle protocol is passed over", async () => {
    compositor.globals.splice(2, 1);
    expect((await rejectionOf(createWaylandIdle(), env())).reason).toContain("ext-idle-notify");
  });
});
