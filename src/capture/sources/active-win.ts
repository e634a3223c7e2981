/**
 * The focused window by polling npm `active-win`: for macOS and Windows, and the last resort on X11. It
 * promises never to say "nothing focused", because the package answers the same for that as for its own
 * failures, and never to repeat an error of the package, because those quote titles.
 */
import path from "node:path";
import type { WindowSample } from "../events.ts";
import type { Rejection, Source, SourceContext, SourceProvider, SourceResult } from "./source.ts";
import { isSameSample } from "./window-reporter.ts";
import { INSTALL } from "../../version.ts";

const POLL_MS = 2_000;

/** The part of the package's answer that is used. */
export interface ActiveWindow {
  readonly id: number;
  readonly title: string | null;
  readonly url?: string;
  readonly owner: { readonly name: string; readonly processId: number; readonly path?: string };
}

/** The package's function; it is optional and may be absent. */
export type ActiveWinFunction = () => Promise<ActiveWindow | null | undefined>;

/** Everything from outside is given, so that the package can be stood in for. */
export function createActiveWin(
  platform: NodeJS.Platform = process.platform,
  load: () => Promise<ActiveWinFunction> = loadPackage,
): SourceProvider<"window"> {
  return {
    id: "active-win",
    kind: "window",
    open: async (context) => {
      const unfit = unfitReason(platform, context);
      if (unfit !== null) return { rejected: unfit };
      let ask: ActiveWinFunction;
      try {
        ask = await load();
      } catch {
        return {
          rejected: {
            reason: "The optional package active-win is not installed, or not for this platform.",
            remedy: `Install activityd again with what is optional: ${INSTALL}`,
            applies: platform === "darwin" || platform === "win32",
          },
        };
      }
      const first = await read(ask, platform);
      if (first.ok) return { source: createSource(ask, platform) };
      return {
        rejected: { reason: first.reason, remedy: first.remedy, applies: platform !== "linux" },
      };
    },
  };
}

/** On Linux the package reads the X display of this process; under Wayland that is not the desktop. */
function unfitReason(platform: NodeJS.Platform, context: SourceContext): Rejection | null {
  if (platform === "darwin" || platform === "win32") return null;
  if (platform !== "linux") {
    return { reason: `active-win does not know the platform ${platform}.`, remedy: "" };
  }
  const { env } = context;
  if ((env["WAYLAND_DISPLAY"] ?? "") !== "" || env["XDG_SESSION_TYPE"] === "wayland") {
    return { reason: "active-win sees only X clients, and this is a Wayland session.", remedy: "" };
  }
  return (env["DISPLAY"] ?? "") === ""
    ? { reason: "active-win needs an X display, and DISPLAY is not set.", remedy: "" }
    : null;
}

async function loadPackage(): Promise<ActiveWinFunction> {
  const { default: activeWindow } = await import("active-win");
  return () => activeWindow();
}

function createSource(ask: ActiveWinFunction, platform: NodeJS.Platform): Source<"window"> {
  let timer: NodeJS.Timeout | null = null;
  let told: SourceResult<WindowSample> | null = null;
  let closed = false;
  let asking = false;

  async function poll(onSample: (result: SourceResult<WindowSample>) => void): Promise<void> {
    if (asking) return;
    asking = true;
    const result = await read(ask, platform);
    asking = false;
    if (closed || (told !== null && isSameResult(told, result))) return;
    told = result;
    onSample(result);
  }

  return {
    start: (onSample) => {
      void poll(onSample);
      timer = setInterval(() => void poll(onSample), POLL_MS);
    },
    snapshot: () => read(ask, platform),
    close: () => {
      closed = true;
      if (timer !== null) clearInterval(timer);
    },
  };
}

function isSameResult(a: SourceResult<WindowSample>, b: SourceResult<WindowSample>): boolean {
  if (!a.ok || !b.ok) return !a.ok && !b.ok && a.reason === b.reason;
  if (a.value === null || b.value === null) return a.value === b.value;
  return a.value.window === b.value.window && isSameSample(a.value, b.value);
}

/** Never rejects. */
async function read(
  ask: ActiveWinFunction,
  platform: NodeJS.Platform,
): Promise<SourceResult<WindowSample>> {
  let window: ActiveWindow | null | undefined;
  try {
    window = await ask();
  } catch {
    // What it throws quotes the title it could not read, so only its place is told.
    return { ok: false, ...UNREADABLE[platform === "darwin" ? "darwin" : "other"] };
  }
  if (window === null || window === undefined) {
    return {
      ok: false,
      reason:
        "active-win names no window, and does not say whether that is because none has the focus.",
      remedy: platform === "linux" ? "It needs xprop and xwininfo: apt-get install x11-utils" : "",
    };
  }
  const { name, processId, path: executable } = window.owner;
  return {
    ok: true,
    value: {
      app: name || (executable === undefined ? "unknown" : path.basename(executable)),
      // Without permission it gives an empty title, which it also gives for none.
      title: window.title === null || window.title === "" ? null : window.title,
      url: window.url ?? null,
      pid: processId > 0 ? processId : null,
      executable: executable ?? null,
      private: null,
      window: String(window.id),
    },
  };
}

const UNREADABLE = {
  darwin: {
    reason: "active-win may not read the windows of this Mac, or could not read the one in front.",
    remedy:
      "Allow Screen Recording and Accessibility for the program that starts activityd, in System Settings > Privacy & Security.",
  },
  other: {
    reason:
      "active-win cannot read the window in front: titles with =, line breaks or nothing in them are beyond it.",
    remedy: "",
  },
} as const;
