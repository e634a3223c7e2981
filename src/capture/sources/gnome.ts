/**
 * GNOME Shell: the focused window by our extension, and the idle time by Mutter. It promises that only the
 * shell itself is believed, and that a shell without the extension says what to do.
 */
import path from "node:path";
import type { WindowSample } from "../events.ts";
import { openBusSource, watchForName } from "./dbus-source.ts";
import { readFlag, readNumber, readText } from "./dbus-values.ts";
import { readExecutable } from "./process-executable.ts";
import { createWindowReporter } from "./window-reporter.ts";
import type { Blindness, Rejection, SourceProvider, SourceResult } from "./source.ts";

const SHELL = "org.gnome.Shell";
const FOCUS = {
  name: "org.activityd.Focus",
  path: "/org/activityd/Focus",
  interface: "org.activityd.Focus",
} as const;

/** `kind: "window"`. */
export const gnomeShell: SourceProvider<"window"> = {
  id: "gnome-shell",
  kind: "window",
  open: (context) =>
    openBusSource<"window">("session", context, async ({ bus, report, lose }) => {
      const shell = await bus.nameOwner(SHELL);
      if (shell === null) return { rejected: NO_SHELL };
      // The extension lives in the shell's process: under any other owner the name is an impostor's.
      if ((await bus.nameOwner(FOCUS.name)) !== shell) return { rejected: NO_EXTENSION };
      await bus.onNameOwner(FOCUS.name, (_, owner) => {
        if (owner !== shell) lose(EXTENSION_GONE);
      });
      const read = async (): Promise<SourceResult<WindowSample>> => {
        const reply = await bus.call({
          destination: shell,
          path: FOCUS.path,
          interface: FOCUS.interface,
          member: "Get",
        });
        if (!reply.ok) return { ok: false, ...EXTENSION_SILENT };
        return { ok: true, value: (await parseFocus(reply.body)).sample };
      };
      const reporter = createWindowReporter(context.clock, report);
      let order = Promise.resolve();
      await bus.onSignal(
        { sender: SHELL, path: FOCUS.path, interface: FOCUS.interface, member: "Changed" },
        ({ body }) => {
          order = order.then(async () => {
            const { window, sample } = await parseFocus(body);
            reporter.tell(window, sample);
          });
        },
      );
      const first = await read();
      if (!first.ok) return { rejected: EXTENSION_SILENT };
      return { snapshot: read, close: reporter.close };
    }),
  watchForReturn: (context, onWake) => watchForName("session", context, FOCUS.name, onWake),
};

/** `kind: "input"`: Mutter's own idle time, which needs no extension and no permission. */
export const gnomeIdle: SourceProvider<"input"> = {
  id: "gnome-idle",
  kind: "input",
  open: (context) =>
    openBusSource<"input">("session", context, async ({ bus, lose }) => {
      if ((await bus.nameOwner(MONITOR)) === null) return { rejected: NO_MONITOR };
      const target = {
        destination: MONITOR,
        path: "/org/gnome/Mutter/IdleMonitor/Core",
        interface: MONITOR,
        member: "GetIdletime",
      };
      const read = async (): Promise<SourceResult<{ readonly idleMs: number }>> => {
        const reply = await bus.call(target);
        const idleMs = reply.ok ? readNumber(reply.body[0]) : null;
        return idleMs === null ? { ok: false, ...NO_MONITOR } : { ok: true, value: { idleMs } };
      };
      // It is there: a shell that is busy answers later.
      if (!(await read()).ok) return { rejected: { ...NO_MONITOR, applies: true } };
      await bus.onNameOwner(MONITOR, (_, owner) => {
        if (owner === null) lose(NO_MONITOR);
      });
      return { snapshot: read };
    }),
  watchForReturn: (context, onWake) => watchForName("session", context, MONITOR, onWake),
};

const MONITOR = "org.gnome.Mutter.IdleMonitor";

const NO_SHELL: Blindness = { reason: "GNOME Shell is not on the session bus.", remedy: "" };
const NO_MONITOR: Blindness = { reason: "Mutter does not tell its idle time.", remedy: "" };
const NO_EXTENSION: Rejection = {
  reason:
    "GNOME Shell tells nobody which window has the focus, and the extension of activityd is not running in it.",
  remedy: "Run: activityd gnome install-extension, then log out and in again.",
  applies: true,
};
const EXTENSION_SILENT: Rejection = {
  reason: "The extension of activityd in GNOME Shell does not answer.",
  remedy: "Run: activityd gnome install-extension, then log out and in again.",
  applies: true,
};
const EXTENSION_GONE: Blindness = {
  reason: "The extension of activityd in GNOME Shell was stopped.",
  remedy: "Enable it with: gnome-extensions enable focus@activityd",
};

async function parseFocus(
  body: readonly unknown[],
): Promise<{ readonly window: number; readonly sample: WindowSample | null }> {
  const [focused, title, appId, pidValue, windowId] = body;
  const window = readNumber(windowId) ?? 0;
  if (readFlag(focused) !== true) return { window, sample: null };
  const pid = readNumber(pidValue) || null;
  const executable = await readExecutable(pid);
  const app = readText(appId) || (executable === null ? "unknown" : path.basename(executable));
  return {
    window,
    sample: {
      app,
      title: readText(title),
      url: null,
      pid,
      executable,
      private: null,
      window: String(window),
    },
  };
}
