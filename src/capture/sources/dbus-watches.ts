/**
 * What is heard on a message bus by rule: signals, and who owns a name. It hides the match rules of the bus's daemon, and
 * promises that a listener hears only what it asked for, from whom it asked for.
 *
 * @see https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-routing-match-rules
 */
import type { Bus, BusMessage } from "./dbus.ts";

/** The bus's daemon itself. */
export const DAEMON = {
  destination: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
} as const;

export type Watches = Pick<Bus, "nameOwner" | "onNameOwner" | "onSignal">;

/** `listeners` are given every message that comes. */
export function createWatches({
  call,
  send,
  listeners,
}: Pick<Bus, "call" | "send"> & {
  readonly listeners: Set<(message: BusMessage) => void>;
}): Watches {
  const listen = async (
    rule: string,
    listener: (message: BusMessage) => void,
  ): Promise<() => void> => {
    listeners.add(listener);
    await call({ ...DAEMON, member: "AddMatch" }, "s", [rule]);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      listeners.delete(listener);
      send({ ...DAEMON, member: "RemoveMatch" }, "s", [rule]);
    };
  };

  const nameOwner: Watches["nameOwner"] = async (name) => {
    const reply = await call({ ...DAEMON, member: "GetNameOwner" }, "s", [name]);
    const owner = reply.ok ? reply.body[0] : null;
    return typeof owner === "string" ? owner : null;
  };

  const onNameOwner: Watches["onNameOwner"] = (name, listener, options) => {
    const namespace = options?.namespace ?? false;
    const rule = matchRule({
      type: "signal",
      sender: DAEMON.destination,
      interface: DAEMON.interface,
      member: "NameOwnerChanged",
      [namespace ? "arg0namespace" : "arg0"]: name,
    });
    return listen(rule, (message) => {
      // Only the daemon itself can send under this name.
      if (message.sender !== DAEMON.destination || message.member !== "NameOwnerChanged") return;
      const [changed, , owner] = message.body;
      if (typeof changed !== "string" || typeof owner !== "string") return;
      if (changed !== name && !(namespace && changed.startsWith(`${name}.`))) return;
      listener(changed, owner === "" ? null : owner);
    });
  };

  const onSignal: Watches["onSignal"] = async (match, listener) => {
    const { sender } = match;
    let owner: string | null = null;
    const stopOwner =
      sender === undefined
        ? () => {}
        : await onNameOwner(sender, (_, next) => {
            owner = next;
          });
    if (sender !== undefined) owner = await nameOwner(sender);
    const stopSignal = await listen(matchRule({ type: "signal", ...match }), (message) => {
      if (message.type !== "signal" || message.member !== match.member) return;
      if (message.interface !== match.interface) return;
      if (match.path !== undefined && message.path !== match.path) return;
      if (sender !== undefined && message.sender !== owner && message.sender !== sender) return;
      listener(message);
    });
    return () => {
      stopOwner();
      stopSignal();
    };
  };

  return { nameOwner, onNameOwner, onSignal };
}

function matchRule(parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts)
    .map(([key, value]) => `${key}='${value.replaceAll("'", "'\\''")}'`)
    .join(",");
}
