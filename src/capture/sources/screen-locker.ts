/**
 * The lock as the desktop's own screen locker tells it, for machines without logind. It promises nothing
 * about sleep: that stays unknown.
 */
import type { SessionSample } from "../events.ts";
import { followDesktop } from "./dbus-desktop.ts";
import { openBusSource } from "./dbus-source.ts";
import type { Blindness, SourceProvider } from "./source.ts";

/** `kind: "session"`. */
export const screenLocker: SourceProvider<"session"> = {
  id: "screen-locker",
  kind: "session",
  open: (context) =>
    openBusSource<"session">("session", context, async ({ bus, report, lose }) => {
      const sample = (): SessionSample => ({
        locked: desktop.locked(),
        asleep: null,
        idleInhibited: desktop.idleInhibited(),
      });
      let begun = false;
      const desktop = await followDesktop(bus, () => {
        if (!begun) return;
        if (desktop.locked() === null) lose(NO_LOCKER);
        else report({ ok: true, value: sample() });
      });
      begun = true;
      if (desktop.locked() === null) return { rejected: NO_LOCKER };
      report({ ok: true, value: sample() });
      return {
        snapshot: async () => {
          await desktop.refresh();
          return { ok: true, value: sample() };
        },
      };
    }),
};

const NO_LOCKER: Blindness = {
  reason: "No screen locker answers on the session bus.",
  remedy: "",
};
