/**
 * The only file that names the backends. The order of each list is policy; a backend is loaded when its turn
 * to be probed comes, so that what is not used costs no memory.
 */
import { createSessionEnvironment, inPresentSession } from "./session-environment.ts";
import type { SourceKind, SourceProvider } from "./source.ts";

export interface SourceRegistry {
  /** The providers of a kind, the preferred first. */
  readonly providersFor: <K extends SourceKind>(kind: K) => readonly SourceProvider<K>[];
}

/** Makes one set of providers. Window and input share their connections within a set, not across sets. */
export function createSourceRegistry(): SourceRegistry {
  const x11 = once(async () => (await import("./x11.ts")).createX11Providers());
  const session = createSessionEnvironment();
  /** One that finds its desktop by variables, which are others in the next session. */
  const ofSession = <K extends SourceKind>(
    id: string,
    kind: K,
    load: () => Promise<SourceProvider<K>>,
  ): SourceProvider<K> => inPresentSession(lazy(id, kind, load), session);

  const providers: { readonly [K in SourceKind]: readonly SourceProvider<K>[] } = {
    // Wayland desktops come first: under them an X display answers too, but knows only its own clients.
    window: [
      ofSession("sway", "window", async () => (await import("./sway.ts")).sway),
      ofSession("hyprland", "window", async () => (await import("./hyprland.ts")).hyprland),
      lazy("gnome-shell", "window", async () => (await import("./gnome.ts")).gnomeShell),
      lazy("kwin", "window", async () => (await import("./kde.ts")).kwin),
      ofSession("wlroots", "window", async () => (await import("./wlroots.ts")).wlroots),
      ofSession("x11", "window", async () => (await x11()).window),
      ofSession("i3", "window", async () => (await import("./sway.ts")).i3),
      // Polls, starts processes on some platforms and loses titles: only when nothing else sees.
      ofSession("active-win", "window", async () =>
        (await import("./active-win.ts")).createActiveWin(),
      ),
    ],
    input: [
      lazy("gnome-idle", "input", async () => (await import("./gnome.ts")).gnomeIdle),
      lazy("kde-idle", "input", async () => (await import("./kde.ts")).kdeIdle),
      ofSession("wayland-idle", "input", async () =>
        (await import("./wayland-idle.ts")).createWaylandIdle(),
      ),
      ofSession("x11", "input", async () => (await x11()).input),
      lazy("ioreg", "input", async () => (await import("./macos-idle.ts")).createMacosIdle()),
      lazy("last-input-info", "input", async () =>
        (await import("./windows-idle.ts")).createWindowsIdle(),
      ),
      lazy("logind-idle-hint", "input", async () => (await import("./logind.ts")).logindIdle),
    ],
    session: [
      lazy("logind", "session", async () => (await import("./logind.ts")).createLogindSession()),
      lazy(
        "screen-locker",
        "session",
        async () => (await import("./screen-locker.ts")).screenLocker,
      ),
    ],
    system: [
      lazy("system-state", "system", async () => (await import("./system-state.ts")).systemState),
    ],
    media: [lazy("mpris", "media", async () => (await import("./mpris.ts")).mpris)],
    notification: [
      lazy(
        "notifications",
        "notification",
        async () => (await import("./notifications.ts")).notifications,
      ),
    ],
  };
  return { providersFor: (kind) => providers[kind] };
}

/** A recorded session in place of the desktop: nothing else is asked. `speed` 1 is its own timing. */
export function createReplayRegistry(options: {
  readonly file: string;
  readonly speed: number;
}): SourceRegistry {
  const replay = once(async () => (await import("./replay.ts")).createReplay(options));
  return {
    providersFor: (kind) => [lazy("replay", kind, async () => (await replay()).providerOf(kind))],
  };
}

/** A provider whose module is imported at its first use. */
function lazy<K extends SourceKind>(
  id: string,
  kind: K,
  load: () => Promise<SourceProvider<K>>,
): SourceProvider<K> {
  return {
    id,
    kind,
    open: async (context) => (await load()).open(context),
    watchForReturn: (context, onWake) => {
      let stop: (() => void) | null = null;
      let stopped = false;
      load().then(
        (provider) => {
          if (!stopped) stop = provider.watchForReturn?.(context, onWake) ?? null;
        },
        () => {
          // Whoever opens it meets the same failure, and tells it.
        },
      );
      return () => {
        stopped = true;
        stop?.();
      };
    },
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}
