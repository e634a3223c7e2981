/**
 * KDE Plasma: the focused window by a script that KWin runs and that calls back over D-Bus, and the idle
 * time where Plasma tells it (under X11). It promises that the script is taken out again on close, and that
 * only KWin itself is believed.
 *
 * Plasma 5.27 and 6.
 */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { WindowSample } from "../events.ts";
import type { Bus, BusMessage } from "./dbus.ts";
import { openBusSource, watchForName } from "./dbus-source.ts";
import { readFlag, readNumber, readText } from "./dbus-values.ts";
import { KWIN_SINK, renderKwinScript } from "./kde-script.ts";
import { readExecutable } from "./process-executable.ts";
import { createWindowReporter, type WindowReporter } from "./window-reporter.ts";
import type {
  Blindness,
  Rejection,
  SourceContext,
  SourceProvider,
  SourceResult,
} from "./source.ts";

const KWIN = "org.kde.KWin";
const SCRIPTING = {
  destination: KWIN,
  path: "/Scripting",
  interface: "org.kde.kwin.Scripting",
} as const;
/** One name for all runs, so that a script left behind by a killed daemon is replaced. */
const SCRIPT_NAME = "activityd-focus";
/** How long a script may take to make its first call. */
const FIRST_CALL_WITHIN_MS = 2_000;

/** `kind: "window"`. */
export const kwin: SourceProvider<"window"> = {
  id: "kwin",
  kind: "window",
  open: (context) =>
    openBusSource<"window">("session", context, async ({ bus, report, lose }) => {
      const owner = await bus.nameOwner(KWIN);
      if (owner === null) return { rejected: NO_KWIN };
      const reporter = createWindowReporter(context.clock, report);
      const focus = createFocus(reporter);
      bus.onCall(KWIN_SINK, (call) => {
        if (call.sender === owner) focus.called(call);
      });
      await bus.onNameOwner(KWIN, (_, next) => {
        if (next !== owner) lose(KWIN_GONE);
      });
      const refused = await runScript(bus, context, focus.first);
      if (refused !== null) {
        reporter.close();
        return { rejected: refused };
      }
      return {
        snapshot: async () => {
          // The script reports by itself; all there is to ask is whether it still runs.
          const target = { ...SCRIPTING, member: "isScriptLoaded" };
          const loaded = await bus.call(target, "s", [SCRIPT_NAME]);
          if (!loaded.ok || readFlag(loaded.body[0]) !== true) {
            lose(SCRIPT_GONE);
            return { ok: false, ...SCRIPT_GONE };
          }
          return focus.latest();
        },
        close: () => {
          reporter.close();
          bus.send({ ...SCRIPTING, member: "unloadScript" }, "s", [SCRIPT_NAME]);
        },
      };
    }),
  watchForReturn: (context, onWake) => watchForName("session", context, KWIN, onWake),
};

/**
 * `kind: "input"`, in milliseconds as Plasma gives them. Other desktops that own this name count in seconds
 * or not at all, so it is asked only beside KWin. Plasma under Wayland refuses it.
 */
export const kdeIdle: SourceProvider<"input"> = {
  id: "kde-idle",
  kind: "input",
  open: (context) =>
    openBusSource<"input">("session", context, async ({ bus, lose }) => {
      if ((await bus.nameOwner(KWIN)) === null) return { rejected: NO_KWIN };
      const target = {
        destination: "org.freedesktop.ScreenSaver",
        path: "/ScreenSaver",
        interface: "org.freedesktop.ScreenSaver",
        member: "GetSessionIdleTime",
      };
      const read = async (): Promise<SourceResult<{ readonly idleMs: number }>> => {
        const reply = await bus.call(target);
        const idleMs = reply.ok ? readNumber(reply.body[0]) : null;
        return idleMs === null ? { ok: false, ...NO_KDE_IDLE } : { ok: true, value: { idleMs } };
      };
      if (!(await read()).ok) return { rejected: NO_KDE_IDLE };
      await bus.onNameOwner(KWIN, (_, owner) => {
        if (owner === null) lose(KWIN_GONE);
      });
      return { snapshot: read };
    }),
  watchForReturn: (context, onWake) => watchForName("session", context, KWIN, onWake),
};

const NO_KWIN: Blindness = { reason: "KWin is not on the session bus.", remedy: "" };
const KWIN_GONE: Blindness = { reason: "KWin left the session bus.", remedy: "" };
const SCRIPT_GONE: Blindness = {
  reason: "KWin no longer runs the script of activityd.",
  remedy: "",
};
const SILENT_SCRIPT: Rejection = {
  reason: "KWin loaded the script of activityd, but it did not report.",
  remedy: "See what KWin says about it: journalctl --user -b | grep -i kwin_scripting",
  applies: true,
};
const NO_KDE_IDLE: Blindness = {
  reason: "Plasma does not tell the idle time in this session.",
  remedy: "",
};

interface Focus {
  readonly called: (call: BusMessage) => void;
  /** False when nothing was reported in time. */
  readonly first: () => Promise<boolean>;
  readonly latest: () => SourceResult<WindowSample>;
}

/** Turns the calls of the script into samples, in their order. */
function createFocus(reporter: WindowReporter): Focus {
  let latest: { readonly sample: WindowSample | null } | null = null;
  let wake: (() => void) | null = null;
  let order = Promise.resolve();
  return {
    called: ({ body }) => {
      order = order.then(async () => {
        const { window, sample } = await parseActive(body);
        latest = { sample };
        wake?.();
        reporter.tell(window, sample);
      });
    },
    first: () =>
      new Promise((resolve) => {
        if (latest !== null) return resolve(true);
        const timer = setTimeout(() => resolve(false), FIRST_CALL_WITHIN_MS);
        wake = () => {
          clearTimeout(timer);
          resolve(true);
        };
        return undefined;
      }),
    latest: () =>
      latest === null
        ? { ok: false, reason: SILENT_SCRIPT.reason, remedy: SILENT_SCRIPT.remedy }
        : { ok: true, value: latest.sample },
  };
}

async function parseActive(
  body: readonly unknown[],
): Promise<{ readonly window: string; readonly sample: WindowSample | null }> {
  const [focused, caption, className, pidValue, windowId] = body;
  const window = readText(windowId) ?? "";
  if (readFlag(focused) !== true) return { window, sample: null };
  const pidNumber = readNumber(pidValue);
  const pid = pidNumber !== null && pidNumber > 0 ? pidNumber : null;
  const executable = await readExecutable(pid);
  const app = readText(className) || (executable === null ? "unknown" : path.basename(executable));
  const title = readText(caption);
  return { window, sample: { app, title, url: null, pid, executable, private: null, window } };
}

/** Loads the script and waits until it reported once. Null when it did. */
async function runScript(
  bus: Bus,
  { env }: SourceContext,
  first: () => Promise<boolean>,
): Promise<Rejection | null> {
  const directory = await mkdtemp(path.join(env["XDG_RUNTIME_DIR"] || tmpdir(), "activityd-kwin-"));
  try {
    const file = path.join(directory, "focus.js");
    await writeFile(file, renderKwinScript(bus.uniqueName));
    // Nothing in it is secret, and KWin may be another user than we are.
    await chmod(directory, 0o755);
    await chmod(file, 0o644);
    await bus.call({ ...SCRIPTING, member: "unloadScript" }, "s", [SCRIPT_NAME]);
    const loaded = await bus.call({ ...SCRIPTING, member: "loadScript" }, "ss", [
      file,
      SCRIPT_NAME,
    ]);
    if (!loaded.ok) return refusal(loaded.error);
    // Runs all that is loaded and does not run yet. Not the script's own object: its path is made of the number
    // of scripts, so after another was unloaded two can share one, and it differs between Plasma 5 and 6.
    const started = await bus.call({ ...SCRIPTING, member: "start" });
    if (!started.ok) return refusal(started.error);
    // KWin reads the file after it answered, so it stays until the script spoke.
    return (await first()) ? null : SILENT_SCRIPT;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function refusal(why: string): Rejection {
  return { reason: `KWin refuses to run a script (${why}).`, remedy: "", applies: true };
}
