/**
 * Desktop notifications, heard by monitoring the session bus: which application sent one and its summary.
 * It promises that the body leaves this file in no form. Only for owners who asked for it.
 *
 * https://specifications.freedesktop.org/notification-spec/latest/
 * https://dbus.freedesktop.org/doc/dbus-specification.html#bus-messages-become-monitor
 */
import type { NotificationSample } from "../events.ts";
import type { BusMessage } from "./dbus.ts";
import { openBusSource } from "./dbus-source.ts";
import { readDictionary, readNumber, readText } from "./dbus-values.ts";
import type { SourceProvider } from "./source.ts";

const FREEDESKTOP = "org.freedesktop.Notifications";
/** What GTK applications and the sandbox portal of GNOME use instead. */
const GTK = "org.gtk.Notifications";

/** How many of the last notifications are remembered to recognise updates that say nothing new. */
const REMEMBERED = 64;

/** `kind: "notification"`. A snapshot is always null: what was sent is told once. */
export const notifications: SourceProvider<"notification"> = {
  id: "notifications",
  kind: "notification",
  open: (context) =>
    openBusSource<"notification">("session", context, async ({ bus, report }) => {
      const isNews = createNewsFilter();
      const reply = await bus.monitor(
        [
          `type='method_call',interface='${FREEDESKTOP}',member='Notify'`,
          `type='method_call',interface='${GTK}',member='AddNotification'`,
        ],
        (message) => {
          const heard = message.type === "call" ? parseNotification(message) : null;
          if (heard !== null && isNews(heard)) report({ ok: true, value: heard.sample });
        },
      );
      if (!reply.ok) {
        return {
          rejected: {
            reason: `The session bus refuses to be monitored (${reply.error}).`,
            remedy:
              "Its policy must allow org.freedesktop.DBus.Monitoring for this user; without it notifications stay unseen.",
            applies: true,
          },
        };
      }
      return { snapshot: () => Promise.resolve({ ok: true, value: null }) };
    }),
};

interface HeardNotification {
  readonly sample: NotificationSample;
  /** It takes the place of one that is still shown. */
  readonly replaces: boolean;
}

/** Null for what is no notification to a person: malformed calls, and the bars that show the volume. */
function parseNotification({
  interface: iface,
  member,
  body,
}: BusMessage): HeardNotification | null {
  if (iface === FREEDESKTOP && member === "Notify") {
    const [app, replacesId, , summary, , , hints] = body;
    if (readDictionary(hints)?.has("x-canonical-private-synchronous")) return null;
    return heard(readText(app), readText(summary), readNumber(replacesId) !== 0);
  }
  if (iface === GTK && member === "AddNotification") {
    const [app, , notification] = body;
    // The same id may be sent again with the same title, so each counts as a possible update.
    return heard(readText(app), readText(readDictionary(notification)?.get("title")), true);
  }
  return null;
}

function heard(
  app: string | null,
  summary: string | null,
  replaces: boolean,
): HeardNotification | null {
  if (summary === null || summary.trim() === "") return null;
  return { sample: { app: app ?? "", summary }, replaces };
}

/**
 * Recognises updates (a download at 41 %, then at 42 %) whose application and summary were told already:
 * without the body they would be the same event again and again.
 */
function createNewsFilter(): (notification: HeardNotification) => boolean {
  const told = new Set<string>();
  return ({ sample, replaces }) => {
    const key = JSON.stringify([sample.app, sample.summary]);
    const known = told.delete(key);
    told.add(key);
    for (const oldest of told) {
      if (told.size <= REMEMBERED) break;
      told.delete(oldest);
    }
    return !(known && replaces);
  };
}
