/** A small X client for tests: makes windows with exact property bytes and moves the focus as a pager does. */
import net from "node:net";
import os from "node:os";
import x11, { type XClient } from "x11";
import { until } from "./until.ts";

export interface XTestClient {
  readonly root: number;
  readonly atom: (name: string) => Promise<number>;
  /** A mapped top-level window. `hostName` and `pid` as an application would set them, null to leave out. */
  readonly open: (options: {
    readonly title: string;
    readonly app?: string;
    readonly pid?: number | null;
    readonly hostName?: string | null;
    /** As large as the screen, and left alone by the window manager, as screen lockers are. */
    readonly covers?: boolean;
  }) => Promise<number>;
  readonly unmap: (window: number) => Promise<void>;
  readonly lower: (window: number) => Promise<void>;
  /** Sets both names, as toolkits do, byte for byte. */
  readonly setTitle: (window: number, title: string | Buffer) => Promise<void>;
  readonly setText: (
    window: number,
    property: string,
    type: string,
    bytes: Buffer | null,
  ) => Promise<void>;
  readonly setNumbers: (
    window: number,
    property: string,
    type: string,
    values: readonly number[],
  ) => Promise<void>;
  /** Asks the window manager to activate the window (EWMH `_NET_ACTIVE_WINDOW` from a pager). */
  readonly activate: (window: number) => Promise<void>;
  /** Sets the keyboard focus directly, for servers without a window manager. */
  readonly focus: (window: number) => Promise<void>;
  readonly destroy: (window: number) => Promise<void>;
  /** Whether a window manager announces itself as EWMH wants. */
  readonly hasWindowManager: () => Promise<boolean>;
  readonly close: () => void;
}

/** Connects to the server behind a Unix socket path or a port of this machine. */
export async function openXTestClient(where: string | number): Promise<XTestClient> {
  const stream =
    typeof where === "string"
      ? net.createConnection(where)
      : net.createConnection(where, "127.0.0.1");
  // Small requests must not wait for each other on TCP.
  stream.setNoDelay(true);
  const { client, root } = await new Promise<{ client: XClient; root: number }>(
    (resolve, reject) => {
      const raw = x11.createClient(
        { display: ":0", stream, auth: { name: "", data: "" }, disableBigRequests: true },
        (error, setup) => {
          const screen = setup?.screen[0];
          if (error instanceof Error || screen === undefined)
            reject(error ?? new Error("no screen"));
          else resolve({ client: setup.client, root: screen.root });
        },
      );
      // A request on a window that is gone, or the end of the server: tests see the effect they wait for.
      raw.on("error", reject);
    },
  );
  client.atoms = {};

  const atom = (name: string): Promise<number> =>
    new Promise((resolve) => {
      client.InternAtom(false, name, (_error, value) => {
        resolve(value);
        return true;
      });
    });
  /** Resolves when the server has done all that was asked before. */
  const sync = (): Promise<void> =>
    new Promise((resolve) => {
      client.GetInputFocus(() => {
        resolve();
        return true;
      });
    });

  const setText: XTestClient["setText"] = async (window, property, type, bytes) => {
    const [name, kind] = await Promise.all([atom(property), atom(type)]);
    if (bytes === null) client.DeleteProperty(window, name);
    else client.ChangeProperty(0, window, name, kind, 8, bytes);
    await sync();
  };
  const setNumbers: XTestClient["setNumbers"] = async (window, property, type, values) => {
    const [name, kind] = await Promise.all([atom(property), atom(type)]);
    const data = Buffer.alloc(values.length * 4);
    for (const [index, value] of values.entries()) data.writeUInt32LE(value, index * 4);
    client.ChangeProperty(0, window, name, kind, 32, data);
    await sync();
  };
  const setTitle: XTestClient["setTitle"] = async (window, title) => {
    const bytes = Buffer.from(title);
    const [netWmName, wmName, utf8] = await Promise.all([
      atom("_NET_WM_NAME"),
      atom("WM_NAME"),
      atom("UTF8_STRING"),
    ]);
    client.ChangeProperty(0, window, wmName, utf8, 8, bytes);
    client.ChangeProperty(0, window, netWmName, utf8, 8, bytes);
    await sync();
  };

  const readNumber = (window: number, name: number): Promise<number> =>
    new Promise((resolve) => {
      client.GetProperty(0, window, name, 0, 0, 1, (error, found) => {
        resolve(error instanceof Error || found.data.length < 4 ? 0 : found.data.readUInt32LE());
        return true;
      });
    });

  const hasProperty = async (window: number, property: string): Promise<boolean> => {
    const name = await atom(property);
    return new Promise((resolve) => {
      client.GetProperty(0, window, name, 0, 0, 0, (error, found) => {
        resolve(!(error instanceof Error) && found.type !== 0);
        return true;
      });
    });
  };

  return {
    root,
    atom,
    setTitle,
    setText,
    setNumbers,
    open: async ({
      title,
      app = "Fixture",
      pid = process.pid,
      hostName = os.hostname(),
      covers = false,
    }) => {
      const window = client.AllocID();
      const [x, y, width, height] = covers ? [0, 0, 4000, 4000] : [10, 10, 300, 200];
      client.CreateWindow(window, root, x, y, width, height, 0, 0, 1, 0, {
        backgroundPixel: 0xffffff,
        overrideRedirect: covers ? 1 : 0,
      });
      await setText(window, "WM_CLASS", "STRING", Buffer.from(`${app.toLowerCase()}\0${app}\0`));
      if (hostName !== null) {
        await setText(window, "WM_CLIENT_MACHINE", "STRING", Buffer.from(hostName));
      }
      if (pid !== null) await setNumbers(window, "_NET_WM_PID", "CARDINAL", [pid]);
      await setTitle(window, title);
      // InputHint set to true: without it some managers never give the window the focus.
      await setNumbers(window, "WM_HINTS", "WM_HINTS", [1, 1, 0, 0, 0, 0, 0, 0, 0]);
      client.MapWindow(window);
      await sync();
      return window;
    },
    activate: async (window) => {
      // A request to map that reaches a window manager in its start-up may be dropped: ask again.
      await until("the window is managed", () => {
        client.MapWindow(window);
        return hasProperty(window, "WM_STATE");
      });
      // Source indication 2: a pager, whose wish no focus-stealing prevention refuses.
      const name = await atom("_NET_ACTIVE_WINDOW");
      let sentAtMs = Number.NEGATIVE_INFINITY;
      await until("the window is active", async () => {
        // A manager that has just started may not hear the first request.
        if (performance.now() - sentAtMs > 300) {
          client.SendClientMessage(root, window, name, 32, [2, 0, 0, 0, 0]);
          sentAtMs = performance.now();
        }
        return (await readNumber(root, name)) === window;
      });
    },
    focus: async (window) => {
      client.SetInputFocus(window, 1);
      await sync();
    },
    unmap: async (window) => {
      client.UnmapWindow(window);
      await sync();
    },
    lower: async (window) => {
      client.LowerWindow(window);
      await sync();
    },
    destroy: async (window) => {
      client.DestroyWindow(window);
      await sync();
    },
    hasWindowManager: () => hasProperty(root, "_NET_SUPPORTING_WM_CHECK"),
    close: () => stream.destroy(),
  };
}
