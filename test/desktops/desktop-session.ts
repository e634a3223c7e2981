/**
 * The surroundings of a desktop under test: a home and a runtime folder of an ordinary user, a message bus,
 * and windows of known titles. Compositors refuse to run as root, so they get another user there.
 */
import { chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { ChildProcess } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { openPrivateBus } from "../system/fakes/private-bus.ts";
import { type BusService, openBusService } from "../system/fakes/bus-service.ts";
import { createProcesses, type Processes } from "../system/processes.ts";

/** "nobody" of every Linux; used only when the tests run as root. */
const ORDINARY_ID = 65_534;

export interface DesktopSession {
  readonly home: string;
  /** Of a program in the session, such as the daemon. */
  readonly env: Readonly<Record<string, string>>;
  readonly processes: Processes;
  /** A connection of the test's own. */
  readonly service: BusService;
  /** Starts a program of the session as its user. */
  readonly start: (
    command: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => ChildProcess;
  /** Writes a file that the session's user may read. */
  readonly write: (name: string, content: string) => string;
  /** Opens a window on the Wayland display. */
  readonly openWindow: (title: string) => FixtureWindow;
  readonly nameOwner: (name: string) => Promise<string | null>;
  readonly close: () => Promise<void>;
}

export interface FixtureWindow {
  readonly pid: number;
  readonly rename: (title: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openDesktopSession(waylandDisplay: string): Promise<DesktopSession> {
  const bus = await openPrivateBus({ everyone: true });
  const service = await openBusService(bus.address);
  const processes = createProcesses();
  const home = mkdtempSync(path.join(tmpdir(), "activityd-desktop-"));
  const runtime = path.join(home, "run");
  mkdirSync(runtime, { mode: 0o700 });
  const isRoot = process.getuid?.() === 0;
  const ids = isRoot ? { uid: ORDINARY_ID, gid: ORDINARY_ID } : {};
  const own = (file: string): void => {
    if (isRoot) chownSync(file, ORDINARY_ID, ORDINARY_ID);
  };
  for (const folder of [home, runtime]) own(folder);
  const env = {
    HOME: home,
    LANG: "C.UTF-8",
    XDG_RUNTIME_DIR: runtime,
    XDG_SESSION_TYPE: "wayland",
    WAYLAND_DISPLAY: waylandDisplay,
    ...bus.env,
  };
  let fileCount = 0;

  const start: DesktopSession["start"] = (command, args, more = {}) =>
    processes.start(command, args, { ...ids, cwd: home, env: { ...env, ...more } });
  const write = (name: string, content: string): string => {
    const file = path.join(home, name);
    // Whole or not at all: a window reads its title at any time.
    writeFileSync(`${file}.new`, content);
    own(`${file}.new`);
    renameSync(`${file}.new`, file);
    return file;
  };
  return {
    home,
    env,
    processes,
    service,
    start,
    write,
    openWindow: (title) => {
      const name = `title-${(fileCount += 1)}`;
      const file = write(name, title);
      const script = fileURLToPath(new URL("fixture-window.js", import.meta.url));
      const child = start("gjs", [script, file], {
        GDK_BACKEND: "wayland",
        GSETTINGS_BACKEND: "memory",
        NO_AT_BRIDGE: "1",
      });
      if (child.pid === undefined) throw new Error("gjs does not start (apt-get install gjs)");
      return {
        pid: child.pid,
        rename: async (next) => void write(name, next),
        close: () => processes.stop(child),
      };
    },
    nameOwner: async (name) => {
      try {
        const [owner] = await service.call(
          "org.freedesktop.DBus",
          "/org/freedesktop/DBus",
          "org.freedesktop.DBus",
          "GetNameOwner",
          "s",
          [name],
        );
        return typeof owner === "string" ? owner : null;
      } catch {
        // NameHasNoOwner, which is what is asked.
        return null;
      }
    },
    close: async () => {
      await processes.close();
      service.close();
      await bus.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
