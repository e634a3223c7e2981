/**
 * sway without a screen, run as an ordinary user (it refuses root), with terminals whose titles are set by
 * escape sequences, and X clients through XWayland.
 */
import { spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { appendFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { until } from "../helpers/until.ts";
import { openXTestClient, type XTestClient } from "../helpers/x-client.ts";
import type { RigWindow } from "../contract/window-source.ts";
import { createProcesses, type Processes } from "./processes.ts";

/** "nobody" of every Linux; used only when the tests run as root. */
const ORDINARY_ID = 65_534;

/**
 * Connects to an X server (a hello of 12 bytes), switches its access control off (SetAccessControl, opcode 111), says
 * so, and stays: the server would reset when its last client leaves. One that ends meanwhile is begun anew by sway at
 * the next connection, so one that was dropped connects again.
 */
const ADMIT_EVERYONE = `
  const enter = () => {
    const socket = require("node:net").connect(process.argv[1]);
    socket.on("error", () => {});
    socket.once("close", () => setTimeout(enter, 50));
    socket.write(Buffer.from([0x6c, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    socket.once("data", () => socket.write(Buffer.from([111, 0, 1, 0]), () => console.log("in")));
    socket.resume();
  };
  enter();
`;

export interface SwayRig {
  readonly processes: Processes;
  /** Variables of the session as a program started before sway would see them: without SWAYSOCK. */
  readonly env: Readonly<Record<string, string>>;
  readonly runtimeFolder: string;
  readonly ipcSocket: () => string;
  /** The X display that sway offers, such as ":1". */
  readonly xDisplay: () => string;
  /** A client of that display. */
  readonly openXClient: () => Promise<XTestClient>;
  readonly openTerminal: (title: string) => Promise<RigWindow>;
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Without `xwayland` there is no X display, and one process less that can hold on to things. */
export async function openSwayRig(options: { readonly xwayland: boolean }): Promise<SwayRig> {
  const home = mkdtempSync(path.join(tmpdir(), "activityd-sway-"));
  const runtimeFolder = path.join(home, "run");
  mkdirSync(runtimeFolder, { mode: 0o700 });
  const isRoot = process.getuid?.() === 0;
  if (isRoot)
    for (const folder of [home, runtimeFolder]) chownSync(folder, ORDINARY_ID, ORDINARY_ID);
  const ids = isRoot ? { uid: ORDINARY_ID, gid: ORDINARY_ID } : {};
  const configFile = path.join(home, "config");
  const displayFile = path.join(home, "display");
  writeFileSync(
    configFile,
    `xwayland ${options.xwayland ? "enable" : "disable"}\nfocus_follows_mouse no\nexec echo $WAYLAND_DISPLAY $DISPLAY > ${displayFile}\n`,
  );
  const processes = createProcesses();
  const session = {
    HOME: home,
    LANG: "C.UTF-8",
    XDG_RUNTIME_DIR: runtimeFolder,
    XDG_SESSION_TYPE: "wayland",
  };
  let server: ChildProcess;
  let windowCount = 0;

  // A sway that was killed leaves its socket behind, so the name is made from the process.
  const ipcSocket = (): string =>
    path.join(
      runtimeFolder,
      `sway-ipc.${isRoot ? ORDINARY_ID : process.getuid?.()}.${server.pid}.sock`,
    );
  const displays = (): readonly string[] => readFileSync(displayFile, "utf8").trim().split(" ");
  const xDisplay = (): string => displays()[1] ?? "";
  // A process that outlives a killed sway can hold the old name for a while.
  const waylandDisplay = (): string => displays()[0] ?? "";
  const message = (...args: readonly string[]): string =>
    spawnSync("swaymsg", ["-s", ipcSocket(), ...args], { encoding: "utf8" }).stdout;

  const start = async (): Promise<void> => {
    rmSync(displayFile, { force: true });
    server = processes.start("sway", ["-c", configFile], {
      ...ids,
      cwd: home,
      env: {
        ...session,
        WLR_BACKENDS: "headless",
        WLR_LIBINPUT_NO_DEVICES: "1",
        WLR_RENDERER: "pixman",
      },
    });
    await until("sway is ready (apt-get install sway)", () => {
      if (server.exitCode !== null) throw new Error(`sway ended with ${server.exitCode}`);
      return existsSync(displayFile) && waylandDisplay() !== "";
    });
  };
  await start();

  return {
    processes,
    env: { ...session, WAYLAND_DISPLAY: waylandDisplay() },
    runtimeFolder,
    ipcSocket,
    xDisplay,
    openXClient: async () => {
      const socketPath = `/tmp/.X11-unix/X${xDisplay().slice(1)}`;
      // XWayland lets in only the user who runs it, so that user opens it to the test.
      const usher = processes.start(process.execPath, ["-e", ADMIT_EVERYONE, socketPath], {
        ...ids,
        cwd: home,
        withOutput: true,
      });
      // A server that refuses its first client may end for want of another: nobody else asks before the usher is in.
      if (usher.stdout !== null) await once(usher.stdout, "data");
      return until("the X display lets the test in", () =>
        openXTestClient(socketPath).catch(() => null),
      );
    },
    openTerminal: async (title) => {
      windowCount += 1;
      // What is appended to this file is written to the terminal: text and escape sequences.
      const screen = path.join(home, `screen-${windowCount}`);
      writeFileSync(screen, "");
      if (isRoot) chownSync(screen, ORDINARY_ID, ORDINARY_ID);
      const child = processes.start(
        "foot",
        ["--log-no-syslog", "-T", title, "tail", "-f", "-s", "0.01", screen],
        { ...ids, cwd: home, env: { ...session, WAYLAND_DISPLAY: waylandDisplay() } },
      );
      const pid = child.pid ?? null;
      await until("the terminal is on screen (apt-get install foot)", () => {
        if (child.exitCode !== null) throw new Error(`foot ended with ${child.exitCode}`);
        return message("-t", "get_tree").includes(`"pid": ${pid}`);
      });
      return {
        app: "foot",
        pid,
        focus: async () => void message(`[pid=${pid}] focus`),
        rename: (next) => appendFile(screen, `\u001b]2;${next}\u0007`),
        close: () => processes.stop(child),
      };
    },
    kill: async () => {
      await processes.stop(server, "SIGKILL");
      await endOrphans(runtimeFolder);
    },
    restart: start,
    close: async () => {
      await processes.close();
      await endOrphans(runtimeFolder);
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Ends what a killed sway left of its session: one that starts XWayland waits for it in a child, and when it is killed
 * meanwhile, that child and XWayland wait for each other for ever.
 */
async function endOrphans(runtimeFolder: string): Promise<void> {
  const endIfOrphan = (pid: string): boolean => {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      if (!variables.includes(`XDG_RUNTIME_DIR=${runtimeFolder}`)) return false;
      if (!/^(?:sway|Xwayland)\n$/.test(readFileSync(`/proc/${pid}/comm`, "utf8"))) return false;
      process.kill(Number(pid), "SIGKILL");
      return true;
    } catch {
      // It ended since it was listed, or is another user's.
      return false;
    }
  };
  await until("nothing of the session is left", () => {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.filter(endIfOrphan).length === 0;
  });
}
