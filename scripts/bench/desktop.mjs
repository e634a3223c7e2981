// @ts-check
/**
 * What the benches of capture share: a private X server or sway with windows whose focus and titles can be
 * moved, a daemon in a throw-away home on it, and the CPU time of a process to the nanosecond.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import x11 from "x11";
import { ALLOCATOR_VARIABLES } from "../../dist/daemon/service/plan.js";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const ORDINARY_ID = 65_534;

/** Things to end, the last started first. */
export function createCleanup() {
  /** @type {(() => void)[]} */
  const undo = [];
  return {
    /** @param {() => void} work */
    add: (work) => void undo.push(work),
    run: () => {
      for (const work of undo.splice(0).reverse()) work();
    },
  };
}

/**
 * @typedef {ReturnType<typeof createCleanup>} Cleanup
 * @typedef {{
 *   env: Record<string, string>,
 *   open: (title: string) => Promise<number>,
 *   focus: (window: number) => void,
 *   rename: (window: number, title: string) => void,
 *   onFocus: (listener: (window: number) => void) => void,
 * }} Desktop
 */

/** @param {string} what @param {() => unknown} look */
export async function until(what, look, timeoutMs = 10_000) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await sleep(5);
  }
}

/** @param {number} ms */
export function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Xvfb on a free display with openbox, and a client of it. @param {Cleanup} cleanup @returns {Promise<Desktop>} */
export async function openXDesktop(cleanup) {
  const server = spawn(
    "Xvfb",
    ["-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp"],
    {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    },
  );
  cleanup.add(() => server.kill());
  let text = "";
  server.stdio[3]?.on("data", (/** @type {Buffer} */ chunk) => {
    text += chunk.toString();
  });
  await until("Xvfb is ready", () => text.includes("\n"));
  const number = text.trim();
  const env = { PATH: process.env["PATH"] ?? "", DISPLAY: `:${number}`, XDG_SESSION_TYPE: "x11" };
  const manager = spawn("openbox", [], { env: { ...env, HOME: tmpdir() }, stdio: "ignore" });
  cleanup.add(() => manager.kill());

  const stream = net.createConnection(`/tmp/.X11-unix/X${number}`);
  cleanup.add(() => stream.destroy());
  const options = {
    display: `:${number}`,
    stream,
    auth: { name: "", data: "" },
    disableBigRequests: true,
  };
  /** @type {{ client: any, screen: readonly { root: number }[] }} */
  const setup = await new Promise((resolve, reject) => {
    const raw = /** @type {any} */ (x11).createClient(
      options,
      (/** @type {unknown} */ error, /** @type {any} */ display) =>
        error ? reject(error) : resolve(display),
    );
    raw.on("error", () => {});
  });
  const { client } = setup;
  const root = setup.screen[0]?.root ?? 0;
  /** @param {string} name @returns {Promise<number>} */
  const atom = (name) =>
    new Promise((resolve) => {
      client.InternAtom(
        false,
        name,
        (/** @type {unknown} */ _error, /** @type {number} */ value) => {
          resolve(value);
          return true;
        },
      );
    });
  const active = await atom("_NET_ACTIVE_WINDOW");
  const [netWmName, utf8, wmState, hints] = await Promise.all(
    ["_NET_WM_NAME", "UTF8_STRING", "WM_STATE", "WM_HINTS"].map(atom),
  );
  /** @param {number} window @param {number} name @returns {Promise<any>} */
  const property = (window, name) =>
    new Promise((resolve) => {
      client.GetProperty(
        0,
        window,
        name,
        0,
        0,
        4,
        (/** @type {unknown} */ error, /** @type {any} */ value) => {
          resolve(error ? null : value);
          return true;
        },
      );
    });
  client.ChangeWindowAttributes(root, { eventMask: 0x400000 }, () => true);
  await until(
    "openbox is ready",
    async () => (await property(root, await atom("_NET_SUPPORTING_WM_CHECK")))?.type,
  );

  /** @param {number} window @param {string} title */
  const rename = (window, title) =>
    void client.ChangeProperty(0, window, netWmName, utf8, 8, Buffer.from(title));
  return {
    env,
    open: async (title) => {
      const window = client.AllocID();
      client.CreateWindow(window, root, 0, 0, 300, 200, 0, 0, 1, 0, {});
      client.ChangeProperty(
        0,
        window,
        await atom("WM_CLASS"),
        31,
        8,
        Buffer.from("bench\0Bench\0"),
      );
      const input = Buffer.alloc(36);
      input.writeUInt32LE(1, 0);
      input.writeUInt32LE(1, 4);
      client.ChangeProperty(0, window, hints, hints, 32, input);
      rename(window, title);
      await until("the window is managed", async () => {
        client.MapWindow(window);
        return (await property(window, wmState ?? 0))?.type;
      });
      return window;
    },
    focus: (window) => client.SendClientMessage(root, window, active, 32, [2, 0, 0, 0, 0]),
    rename,
    onFocus: (listener) =>
      client.on("event", (/** @type {any} */ event) => {
        if (event.name !== "PropertyNotify" || event.atom !== active) return;
        void property(root, active).then((value) => {
          if (value?.data.length >= 4) listener(value.data.readUInt32LE());
        });
      }),
  };
}

/** sway without a screen, as an ordinary user, with terminals. @param {Cleanup} cleanup @returns {Promise<Desktop>} */
export async function openSwayDesktop(cleanup) {
  const home = mkdtempSync(join(tmpdir(), "activityd-bench-sway-"));
  cleanup.add(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const runtime = join(home, "run");
  mkdirSync(runtime, { mode: 0o700 });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const folder of [home, runtime]) chownSync(folder, ORDINARY_ID, ORDINARY_ID);
  const ids = isRoot ? { uid: ORDINARY_ID, gid: ORDINARY_ID } : {};
  writeFileSync(join(home, "config"), "xwayland disable\nfocus_follows_mouse no\n");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    LANG: "C.UTF-8",
    XDG_RUNTIME_DIR: runtime,
    WAYLAND_DISPLAY: "wayland-1",
    XDG_SESSION_TYPE: "wayland",
  };
  const { WAYLAND_DISPLAY: _ours, ...before } = env;
  const server = spawn("sway", ["-c", join(home, "config")], {
    ...ids,
    cwd: home,
    stdio: "ignore",
    env: {
      ...before,
      WLR_BACKENDS: "headless",
      WLR_LIBINPUT_NO_DEVICES: "1",
      WLR_RENDERER: "pixman",
    },
  });
  cleanup.add(() => server.kill());
  const socketPath = join(
    runtime,
    `sway-ipc.${isRoot ? ORDINARY_ID : process.getuid?.()}.${server.pid}.sock`,
  );
  await until(
    "sway is ready",
    () => existsSync(socketPath) && existsSync(join(runtime, "wayland-1")),
  );
  const swaymsg = (/** @type {string[]} */ ...args) =>
    spawnSync("swaymsg", ["-s", socketPath, ...args], { encoding: "utf8" }).stdout;

  /** @param {number} type @param {string} payload */
  const frame = (type, payload) => {
    const header = Buffer.alloc(14);
    header.write("i3-ipc");
    header.writeUInt32LE(Buffer.byteLength(payload), 6);
    header.writeUInt32LE(type, 10);
    return Buffer.concat([header, Buffer.from(payload)]);
  };
  const commands = net.createConnection(socketPath);
  const events = net.createConnection(socketPath);
  cleanup.add(() => {
    commands.destroy();
    events.destroy();
  });
  commands.resume();
  events.write(frame(2, '["window"]'));
  return {
    env,
    open: async (title) => {
      const child = spawn("foot", ["--log-no-syslog", "-T", title, "sleep", "3600"], {
        ...ids,
        cwd: home,
        env,
        stdio: "ignore",
      });
      cleanup.add(() => child.kill());
      await until("the terminal is on screen", () =>
        swaymsg("-t", "get_tree").includes(`"pid": ${child.pid}`),
      );
      return child.pid ?? 0;
    },
    focus: (window) => void commands.write(frame(0, `[pid=${window}] focus`)),
    rename: () => {
      throw new Error("not needed");
    },
    onFocus: (listener) => {
      let held = Buffer.alloc(0);
      events.on("data", (chunk) => {
        held = Buffer.concat([held, chunk]);
        while (held.length >= 14 && held.length >= 14 + held.readUInt32LE(6)) {
          const payload = JSON.parse(held.toString("utf8", 14, 14 + held.readUInt32LE(6)));
          held = held.subarray(14 + held.readUInt32LE(6));
          if (payload.change === "focus") listener(payload.container.pid);
        }
      });
    },
  };
}

/** A daemon on a desktop, as `start --detach` and the service run it. @param {Cleanup} cleanup @param {Record<string, string>} env */
export async function startDaemon(cleanup, env) {
  const home = mkdtempSync(join(tmpdir(), "activityd-bench-"));
  cleanup.add(() => rmSync(home, { recursive: true, force: true }));
  const child = spawn(process.execPath, [MAIN, "start"], {
    env: { ...env, HOME: home, ACTIVITYD_HOME: home, ...ALLOCATOR_VARIABLES },
    stdio: "ignore",
  });
  cleanup.add(() => child.kill());
  const { connectActivity } = await import("../../dist/local-api/client.js");
  const api = connectActivity({ socketPath: join(home, "run", "activityd.sock") });
  cleanup.add(() => void api.close());
  await until("windows are seen", async () => {
    const status = await api.status().catch(() => null);
    return status?.sources.some(({ kind, state }) => kind === "window" && state === "live");
  });
  return { pid: child.pid ?? 0, api, home };
}

/** CPU time of all threads of a process in nanoseconds, see proc_pid_schedstat(5). @param {number} pid */
export function cpuNs(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
    const [running = "0"] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ");
    return sum + Number(running);
  }, 0);
}

/** @param {readonly number[]} values @param {number} share 0–1 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
