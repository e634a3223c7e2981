/**
 * The lock as the desktop's own screen locker tells it, for machines without logind. It promises nothing
 * about sleep: that stays unknown.
 */
import type { SessionSample } from "../events.ts";
import { openBusSource, watchForName } from "./dbus-source.ts";
import { readFlag } from "./dbus-values.ts";
import type { Blindness, SourceProvider, SourceResult } from "./source.ts";

/** All speak GetActive and ActiveChanged(b) on an interface of their own name. "Active": the screen is covered. */
const LOCKERS = {
  gnome: { name: "org.gnome.ScreenSaver", path: "/org/gnome/ScreenSaver" },
  cinnamon: { name: "org.cinnamon.ScreenSaver", path: "/org/cinnamon/ScreenSaver" },
  mate: { name: "org.mate.ScreenSaver", path: "/" },
  xfce: { name: "org.xfce.ScreenSaver", path: "/" },
  // Plasma. Others own this name too, some without GetActive: those are passed over.
  freedesktop: { name: "org.freedesktop.ScreenSaver", path: "/ScreenSaver" },
} as const;

/** `kind: "session"`, for the locker of this desktop. */
export function createScreensaver(desktop: keyof typeof LOCKERS): SourceProvider<"session"> {
  const { name, path } = LOCKERS[desktop];
  const absent: Blindness = { reason: `${name} is not on the session bus.`, remedy: "" };
  return {
    id: `${desktop}-screensaver`,
    kind: "session",
    open: (context) =>
      openBusSource<"session">("session", context, async ({ bus, report, lose }) => {
        const target = { destination: name, path, interface: name, member: "GetActive" };
        const read = async (): Promise<SourceResult<SessionSample>> => {
          const reply = await bus.call(target);
          const locked = reply.ok ? readFlag(reply.body[0]) : null;
          return locked === null ? { ok: false, ...absent } : { ok: true, value: sampleOf(locked) };
        };
        await bus.onSignal(
          { sender: name, interface: name, member: "ActiveChanged" },
          ({ body: [active] }) => report({ ok: true, value: sampleOf(readFlag(active)) }),
        );
        const first = await read();
        if (!first.ok) return { rejected: absent };
        await bus.onNameOwner(name, (_, owner) => {
          if (owner === null) lose(absent);
        });
        return { snapshot: read };
      }),
    watchForReturn: (context, onWake) => watchForName("session", context, name, onWake),
  };
}

function sampleOf(locked: boolean | null): SessionSample {
  return { locked, asleep: null, idleInhibited: null };
}
