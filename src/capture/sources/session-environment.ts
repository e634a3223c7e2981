/**
 * Where the desktop session is that runs now. A daemon that was started before it, or in the one before, has the
 * variables of its own start; the user's service manager is told each session's. It promises that those of the start are
 * tried first, and that nothing but what a session named itself is tried.
 */
import { readTexts } from "./dbus-values.ts";
import type { Rejection, SourceContext, SourceKind, SourceProvider } from "./source.ts";

type Environment = SourceContext["env"];

/** What desktops hand on (`dbus-update-activation-environment --systemd`, `systemctl --user import-environment`). */
const SESSION_VARIABLES = [
  "DISPLAY",
  "HYPRLAND_INSTANCE_SIGNATURE",
  "I3SOCK",
  "SWAYSOCK",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "XDG_CURRENT_DESKTOP",
  "XDG_SESSION_TYPE",
] as const;

/** All kinds of sources that are sought at a time ask once. */
const HOLDS_US = 5_000_000;

export interface SessionEnvironment {
  /**
   * The environment of the context with the variables of the session that the service manager knows; null when it
   * knows of none, or of the same.
   */
  readonly read: (context: SourceContext) => Promise<Environment | null>;
  /** What `read` gave last. */
  readonly latest: () => Environment | null;
}

export function createSessionEnvironment(): SessionEnvironment {
  let latest: Environment | null = null;
  let askedUs = Number.NEGATIVE_INFINITY;
  let asking: Promise<Environment | null> | null = null;
  return {
    read: (context) => {
      const nowUs = context.clock.monotonicUs();
      if (asking !== null && nowUs - askedUs < HOLDS_US) return asking;
      askedUs = nowUs;
      asking = askManager(context.env).then((named) => {
        latest = named === null ? null : differing(context.env, named);
        return latest;
      });
      return asking;
    },
    latest: () => latest,
  };
}

/** A backend that is tried in the session of the daemon's start first, and then in the one that is known now. */
export function inPresentSession<K extends SourceKind>(
  provider: SourceProvider<K>,
  session: SessionEnvironment,
): SourceProvider<K> {
  let isFirst = true;
  return {
    id: provider.id,
    kind: provider.kind,
    open: async (context) => {
      const own = await provider.open(context);
      // Most are right at once: who knows a display asks nobody before all backends had their turn.
      const isEnough = "source" in own || (isFirst && namesDisplay(context.env));
      isFirst = false;
      if (isEnough) return own;
      const env = await session.read(context);
      if (env === null) return own;
      const present = await provider.open({ ...context, env });
      return "source" in present ? present : { rejected: better(own.rejected, present.rejected) };
    },
    watchForReturn: (context, onWake) => {
      const env = session.latest();
      const stops = [context, ...(env === null ? [] : [{ ...context, env }])].map((each) =>
        provider.watchForReturn?.(each, onWake),
      );
      return () => {
        for (const stop of stops) stop?.();
      };
    },
  };
}

/** What is said of the session that runs now is of more use, unless only the other shows signs of the backend. */
function better(own: Rejection, present: Rejection): Rejection {
  return own.applies === true && present.applies !== true ? own : present;
}

function namesDisplay(env: Environment): boolean {
  return (env["DISPLAY"] ?? "") !== "" || (env["WAYLAND_DISPLAY"] ?? "") !== "";
}

/** `NAME=value` of each variable that the manager gives to what it starts (org.freedesktop.systemd1(5)). */
async function askManager(env: Environment): Promise<ReadonlyMap<string, string> | null> {
  // Mostly nobody asks: what speaks to buses is loaded by who does.
  const { openBus } = await import("./dbus.ts");
  const opened = await openBus("session", env, () => {});
  if ("rejected" in opened) return null;
  const reply = await opened.bus.call(
    {
      destination: "org.freedesktop.systemd1",
      path: "/org/freedesktop/systemd1",
      interface: "org.freedesktop.DBus.Properties",
      member: "Get",
    },
    "ss",
    ["org.freedesktop.systemd1.Manager", "Environment"],
  );
  opened.bus.close();
  const entries = reply.ok ? readTexts(reply.body[0]) : null;
  if (entries === null) return null;
  return new Map(
    entries.map((entry) => {
      const at = entry.indexOf("=");
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}

function differing(env: Environment, named: ReadonlyMap<string, string>): Environment | null {
  const present: Record<string, string | undefined> = { ...env };
  // All of them: a session that does not name one has none.
  for (const name of SESSION_VARIABLES) present[name] = named.get(name);
  const isSame = SESSION_VARIABLES.every((name) => (env[name] ?? "") === (present[name] ?? ""));
  return isSame || !namesDisplay(present) ? null : present;
}
