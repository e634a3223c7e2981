/**
 * Compositors built on wlroots (labwc, river, Wayfire, Hyprland, sway, …): the focused window through
 * wlr-foreign-toplevel-management. The protocol tells title and application, not the process.
 *
 * https://gitlab.freedesktop.org/wlroots/wlr-protocols, wlr-foreign-toplevel-management-unstable-v1.xml
 */
import type { WindowSample } from "../events.ts";
import type { Source, SourceContext, SourceProvider } from "./source.ts";
import { openWayland, watchForWayland, type WaylandConnection } from "./wayland.ts";
import { createWindowReporter, type WindowReporter } from "./window-reporter.ts";

const MANAGER = "zwlr_foreign_toplevel_manager_v1";
const VERSION = 3;
/** Events of the manager and of a handle, by their place in the description. */
const TOPLEVEL = 0;
const FINISHED = 1;
const TITLE = 0;
const APP_ID = 1;
const STATE = 4;
const DONE = 5;
const CLOSED = 6;
const DESTROY_REQUEST = 7;
/** The entry of the state array that means focus. */
const ACTIVATED = 2;

export const wlroots: SourceProvider<"window"> = {
  id: "wlroots",
  kind: "window",
  open: async (context) => {
    const opened = await openWayland(context);
    if ("rejected" in opened) return opened;
    const { connection } = opened;
    if (connection.versionOf(MANAGER) === 0) {
      connection.close();
      return {
        rejected: {
          reason: "The Wayland compositor tells no program which window has the focus.",
          remedy:
            "Nothing helps but another compositor: GNOME (with the extension of activityd), KDE Plasma, sway, Hyprland and those built on wlroots are known to work.",
          applies: true,
        },
      };
    }
    const source = createSource(connection, context);
    try {
      // Twice: the first answer brings the windows, the second what they say of themselves.
      await connection.roundTrip();
      await connection.roundTrip();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { rejected: { reason: why, remedy: "", applies: true } };
    }
    return { source };
  },
  watchForReturn: watchForWayland,
};

interface Toplevel {
  title: string;
  app: string;
  isActivated: boolean;
  /** Grows with every activation, so that of several the newest counts. */
  activation: number;
}

function createSource(connection: WaylandConnection, context: SourceContext): Source<"window"> {
  const toplevels = new Map<number, Toplevel>();
  let activations = 0;
  let reporter: WindowReporter | null = null;
  let finished = false;

  connection.bind(MANAGER, VERSION, (opcode, args) => {
    if (opcode === TOPLEVEL) follow(args.uint());
    else if (opcode === FINISHED) finished = true;
  });

  /** What changes of a window is complete only with `done`. */
  function follow(id: number): void {
    const toplevel: Toplevel = { title: "", app: "", isActivated: false, activation: 0 };
    connection.adopt(id, (opcode, args) => {
      if (opcode === TITLE) toplevel.title = args.text();
      else if (opcode === APP_ID) toplevel.app = args.text();
      else if (opcode === STATE) {
        const isActivated = args.numbers().includes(ACTIVATED);
        if (isActivated && !toplevel.isActivated) toplevel.activation = ++activations;
        toplevel.isActivated = isActivated;
      } else if (opcode === DONE) {
        toplevels.set(id, toplevel);
        tell();
      } else if (opcode === CLOSED) {
        toplevels.delete(id);
        connection.forget(id);
        connection.request(id, DESTROY_REQUEST);
        tell();
      }
    });
  }

  function focused(): { readonly key: number; readonly sample: WindowSample } | null {
    let best: [number, Toplevel] | null = null;
    for (const entry of toplevels) {
      if (!entry[1].isActivated) continue;
      if (best === null || entry[1].activation > best[1].activation) best = entry;
    }
    if (best === null) return null;
    const [key, { app, title }] = best;
    return {
      key,
      sample: {
        app: app || "unknown",
        title,
        url: null,
        pid: null,
        executable: null,
        private: null,
        window: String(key),
      },
    };
  }

  function tell(): void {
    const now = focused();
    reporter?.tell(now?.key ?? 0, now?.sample ?? null);
  }

  return {
    start: (onSample, onLost) => {
      reporter = createWindowReporter(context.clock, onSample);
      connection.onLost((why) => {
        reporter?.close();
        onLost(why);
      });
      tell();
    },
    snapshot: async () => {
      try {
        await connection.roundTrip();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { ok: false, reason: why, remedy: "" };
      }
      if (finished) {
        return {
          ok: false,
          reason: "The compositor stopped telling about its windows.",
          remedy: "",
        };
      }
      return { ok: true, value: focused()?.sample ?? null };
    },
    close: () => {
      reporter?.close();
      connection.close();
    },
  };
}
