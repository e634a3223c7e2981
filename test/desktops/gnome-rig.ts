/**
 * GNOME Shell without a screen, with our extension installed by the command that owners use, and a second
 * one of the test's own that focuses windows by their process.
 */
import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gnomeShell } from "../../src/capture/sources/gnome.ts";
import { until } from "../helpers/until.ts";
import type { DesktopRig } from "./desktop-rig.ts";
import { type DesktopSession, openDesktopSession } from "./desktop-session.ts";

const DISPLAY = "wl-gnome";
const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
/** Settings in a file of the session's home instead of a service. */
const SETTINGS = { GSETTINGS_BACKEND: "keyfile", NO_AT_BRIDGE: "1" };

/** Takes the overview away, in which no window has the focus, and focuses windows by their process. */
const RIG_EXTENSION = `
const { Gio, GLib } = imports.gi;
const Main = imports.ui.main;
const XML = '<node><interface name="org.test.Rig">' +
  '<method name="Pids"><arg type="s" direction="out"/></method>' +
  '<method name="Focus"><arg type="u" direction="in"/></method>' +
  '<method name="Lock"/></interface></node>';
const windows = () => global.get_window_actors().map((actor) => actor.meta_window);
const rig = {
  Pids: () => windows().map((window) => window.get_pid()).join(" "),
  Focus: (pid) => windows().find((window) => window.get_pid() === pid).activate(global.get_current_time()),
};
function init() {
  return {
    enable() {
      const ready = () => {
        Main.overview.hide();
        // Held on to: what is collected as garbage is exported no more.
        rig.exported = Gio.DBusExportedObject.wrapJSObject(XML, rig);
        rig.exported.export(Gio.DBus.session, "/rig");
        Gio.bus_own_name_on_connection(Gio.DBus.session, "org.test.Rig", 0, null, null);
      };
      if (Main.layoutManager._startingUp) Main.layoutManager.connect("startup-complete", ready);
      else ready();
    },
    disable() {},
  };
}
`;

export async function openGnomeRig(
  options: { readonly installExtension?: boolean } = {},
): Promise<DesktopRig> {
  const session = await openDesktopSession(DISPLAY);
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = session.start(
      "gnome-shell",
      [
        "--headless",
        "--wayland",
        "--no-x11",
        "--wayland-display",
        DISPLAY,
        "--virtual-monitor",
        "1280x800",
      ],
      SETTINGS,
    );
    await until(
      "GNOME Shell is up",
      () => {
        if (server.exitCode !== null) throw new Error(`GNOME Shell ended with ${server.exitCode}`);
        return session.nameOwner("org.test.Rig");
      },
      30_000,
    );
  };
  const ask = async (member: string, signature = "", ...args: unknown[]): Promise<unknown> => {
    const [answer] = await session.service.call(
      "org.test.Rig",
      "/rig",
      "org.test.Rig",
      member,
      signature,
      args,
    );
    return answer;
  };
  try {
    if (options.installExtension ?? true) await installExtension(session);
    await enableRig(session);
    await start();
  } catch (error) {
    await session.close();
    throw error;
  }
  return {
    session,
    provider: gnomeShell,
    env: session.env,
    open: async (title) => {
      const window = session.openWindow(title);
      await until("the window is on screen", async () =>
        String(await ask("Pids"))
          .split(" ")
          .includes(String(window.pid)),
      );
      return {
        ...window,
        app: "fixture",
        focus: async () => void (await ask("Focus", "u", window.pid)),
      };
    },
    kill: () => session.processes.stop(server, "SIGKILL"),
    restart: start,
    close: session.close,
  };
}

/** As an owner does it, and twice, as owners do. */
async function installExtension(session: DesktopSession): Promise<void> {
  for (const _ of ["first", "again"]) {
    await runToEnd(session, process.execPath, [MAIN, "gnome", "install-extension"]);
  }
}

async function enableRig(session: DesktopSession): Promise<void> {
  const folder = ".local/share/gnome-shell/extensions/rig@test";
  mkdirSync(path.join(session.home, folder), { recursive: true });
  const metadata = { uuid: "rig@test", name: "rig", description: "rig", "shell-version": ["43"] };
  session.write(`${folder}/metadata.json`, JSON.stringify(metadata));
  session.write(`${folder}/extension.js`, RIG_EXTENSION);
  await runToEnd(session, "sh", [
    "-c",
    `list=$(gsettings get org.gnome.shell enabled-extensions)
     case "$list" in *"'focus@activityd'"*) list="['focus@activityd', 'rig@test']" ;; *) list="['rig@test']" ;; esac
     gsettings set org.gnome.shell enabled-extensions "$list"`,
  ]);
}

async function runToEnd(
  session: DesktopSession,
  command: string,
  args: readonly string[],
): Promise<void> {
  const child = session.start(command, args, SETTINGS);
  await until(`${args.join(" ")} ends`, () => child.exitCode !== null);
  if (child.exitCode !== 0) throw new Error(`${args.join(" ")} ended with ${child.exitCode}`);
}
