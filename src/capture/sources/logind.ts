/**
 * Lock, sleep and user switch from logind (systemd or elogind), and its idle hint as a coarse stand-in for
 * idle time. It promises that a lock nobody confirms does not last, and that a hint nobody maintains is
 * "unknown", not "active".
 *
 * https://www.freedesktop.org/software/systemd/man/latest/org.freedesktop.login1.html
 */
import type { SessionSample } from "../events.ts";
import { type Bus, openBus } from "./dbus.ts";
import { anyOf, followDesktop } from "./dbus-desktop.ts";
import { type BusSession, openBusSource, watchForName } from "./dbus-source.ts";
import { readDictionary, readFlag, readNumber, readText, readTexts } from "./dbus-values.ts";
import type { Blindness, SourceContext, SourceProvider } from "./source.ts";

const LOGIN1 = "org.freedesktop.login1";
const MANAGER = { path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager" };
const SESSION = "org.freedesktop.login1.Session";
const PROPERTIES = "org.freedesktop.DBus.Properties";

/**
 * The Lock signal is only a request. Most desktops answer it by setting LockedHint; a locker that does not
 * also never says when it let its owner in again, so an unconfirmed lock must end by itself.
 */
const CONFIRM_LOCK_WITHIN_MS = 10_000;

/** `kind: "session"`. The time to confirm a lock can be shortened for tests. */
export function createLogindSession(
  confirmLockWithinMs = CONFIRM_LOCK_WITHIN_MS,
): SourceProvider<"session"> {
  return {
    id: "logind",
    kind: "session",
    open: (context) =>
      openBusSource<"session">("system", context, async (session) => {
        const { bus, report, lose } = session;
        const path = await findSession(bus, context.env);
        const tracker = createTracker(report, confirmLockWithinMs);
        // Subscribed before it is read, so that no change falls between.
        await followMachine(bus, tracker);
        if (path !== null) await followSession(session, path, tracker);
        await loseWithLogind(bus, lose);
        const desktop = await openDesktop(context, tracker);
        const read = async (): Promise<boolean> => {
          const before = tracker.changes();
          const manager = await readProperties(bus, MANAGER.path, MANAGER.interface);
          if (manager === null) return false;
          const properties = path === null ? null : await readProperties(bus, path, SESSION);
          // A signal that arrived beside the answers is newer than they are.
          if (tracker.changes() !== before) return read();
          tracker.readMachine(manager);
          if (properties !== null) tracker.readSession(properties);
          return true;
        };
        const close = (): void => {
          tracker.close();
          desktop?.close();
        };
        if (!(await read())) {
          const isThere = (await bus.nameOwner(LOGIN1)) !== null;
          close();
          return { rejected: isThere ? { ...NO_LOGIND, applies: true } : NO_LOGIND };
        }
        return {
          snapshot: async () =>
            (await read()) ? { ok: true, value: tracker.sample() } : { ok: false, ...NO_LOGIND },
          close,
        };
      }),
    watchForReturn: (context, onWake) => watchForName("system", context, LOGIN1, onWake),
  };
}

/**
 * `kind: "input"`, for where nothing better answers. While the desktop says "not idle" the idle time is
 * told as 0; how long its owner must be still before it says "idle" is the desktop's own setting.
 */
export const logindIdle: SourceProvider<"input"> = {
  id: "logind-idle-hint",
  kind: "input",
  open: (context) =>
    openBusSource<"input">("system", context, async ({ bus, report, lose }) => {
      const path = await findSession(bus, context.env);
      if (path === null) return { rejected: NO_IDLE_SESSION };
      const read = async () => {
        const idle = parseIdle(await readProperties(bus, path, SESSION));
        return idle === null
          ? ({ ok: false, ...NO_IDLE_HINT } as const)
          : ({ ok: true, value: { idleMs: idleMsOf(idle, context) } } as const);
      };
      const first = await read();
      if (!first.ok) return { rejected: NO_IDLE_HINT };
      await onChanges(bus, path, SESSION, (changed) => {
        if (changed.has("IdleHint")) void read().then(report);
      });
      await loseWithLogind(bus, lose);
      return { snapshot: read };
    }),
};

const NO_LOGIND: Blindness = {
  reason: "logind does not answer on the system bus.",
  remedy: "Lock and sleep are told by systemd-logind or elogind; install and start one of them.",
};
const SESSION_ENDED: Blindness = { reason: "The login session ended.", remedy: "" };
const NO_IDLE_SESSION: Blindness = {
  reason: "logind knows no session of this user, so it has no idle hint.",
  remedy: "",
};
const NO_IDLE_HINT: Blindness = {
  reason: "The desktop has never told logind whether it is idle.",
  remedy: "",
};

interface Tracker {
  readonly readMachine: (properties: ReadonlyMap<string, unknown>) => void;
  readonly readSession: (properties: ReadonlyMap<string, unknown>) => void;
  readonly setAsleep: (asleep: boolean | null) => void;
  /** What the desktop says of the lock and of inhibitors. */
  readonly setDesktop: (locked: boolean | null, idleInhibited: boolean | null) => void;
  readonly lockAsked: () => void;
  readonly unlocked: () => void;
  readonly sample: () => SessionSample;
  /** How many changes were reported. */
  readonly changes: () => number;
  readonly close: () => void;
}

/** Puts what the bus tells together and reports each change of the whole once. */
function createTracker(
  report: BusSession<"session">["report"],
  confirmLockWithinMs: number,
): Tracker {
  let asleep: boolean | null = null;
  let idleInhibited: boolean | null = null;
  // Both stay null for a daemon outside any login session: sleep is known, the lock is not.
  let active: boolean | null = null;
  let lockedHint: boolean | null = null;
  let desktop: { readonly locked: boolean | null; readonly idleInhibited: boolean | null } = {
    locked: null,
    idleInhibited: null,
  };
  let lockAsked = false;
  let giveUpLock: NodeJS.Timeout | undefined;
  let told = "";
  let changes = 0;

  const sample = (): SessionSample => ({
    // A session that was switched away from is out of its owner's reach, as a locked one is.
    locked: lockAsked || active === false ? true : anyOf([lockedHint, desktop.locked]),
    asleep,
    idleInhibited: anyOf([idleInhibited, desktop.idleInhibited]),
  });
  const tell = (): void => {
    const value = sample();
    const text = JSON.stringify(value);
    if (text === told) return;
    told = text;
    changes += 1;
    report({ ok: true, value });
  };
  const setLockAsked = (asked: boolean): void => {
    clearTimeout(giveUpLock);
    lockAsked = asked;
    if (!asked) return;
    giveUpLock = setTimeout(() => {
      lockAsked = false;
      tell();
    }, confirmLockWithinMs);
  };
  return {
    sample,
    readMachine: (properties) => {
      if (properties.has("PreparingForSleep"))
        asleep = readFlag(properties.get("PreparingForSleep"));
      if (properties.has("BlockInhibited")) {
        idleInhibited = parseIdleInhibited(properties.get("BlockInhibited"));
      }
      tell();
    },
    readSession: (properties) => {
      if (properties.has("Active")) active = readFlag(properties.get("Active"));
      if (properties.has("LockedHint")) {
        const hint = readFlag(properties.get("LockedHint"));
        // A change of the hint is the desktop's own word on the lock that was asked for.
        if (hint !== lockedHint) setLockAsked(false);
        lockedHint = hint;
      }
      tell();
    },
    setAsleep: (now) => {
      asleep = now;
      tell();
    },
    setDesktop: (locked, inhibited) => {
      // The desktop's own word on a lock that was asked for.
      if (locked !== desktop.locked) setLockAsked(false);
      desktop = { locked, idleInhibited: inhibited };
      tell();
    },
    lockAsked: () => {
      setLockAsked(true);
      tell();
    },
    unlocked: () => {
      setLockAsked(false);
      // The hint follows, or it is not maintained; either way the owner is back.
      lockedHint = false;
      tell();
    },
    changes: () => changes,
    close: () => clearTimeout(giveUpLock),
  };
}

/** What the desktop tells beside logind, where there is a session bus; null where there is none. */
async function openDesktop(context: SourceContext, tracker: Tracker): Promise<Bus | null> {
  // A desktop that leaves the bus is told by each of its names; the bus itself leaves with the session.
  const opened = await openBus("session", context.env, () => tracker.setDesktop(null, null));
  if ("rejected" in opened) return null;
  const tell = (): void => tracker.setDesktop(desktop.locked(), desktop.idleInhibited());
  let begun = false;
  const desktop = await followDesktop(opened.bus, () => {
    if (begun) tell();
  });
  begun = true;
  tell();
  return opened.bus;
}

async function followMachine(bus: Bus, tracker: Tracker): Promise<void> {
  const manager = { sender: LOGIN1, ...MANAGER };
  await bus.onSignal({ ...manager, member: "PrepareForSleep" }, ({ body: [begins] }) =>
    tracker.setAsleep(readFlag(begins)),
  );
  await onChanges(bus, MANAGER.path, MANAGER.interface, tracker.readMachine);
}

async function followSession(
  { bus, lose }: BusSession<"session">,
  path: string,
  tracker: Tracker,
): Promise<void> {
  const session = { sender: LOGIN1, path, interface: SESSION };
  await bus.onSignal({ ...session, member: "Lock" }, tracker.lockAsked);
  await bus.onSignal({ ...session, member: "Unlock" }, tracker.unlocked);
  await onChanges(bus, path, SESSION, tracker.readSession);
  const removed = { sender: LOGIN1, ...MANAGER, member: "SessionRemoved" };
  await bus.onSignal(removed, ({ body: [, gone] }) => {
    if (gone === path) lose(SESSION_ENDED);
  });
}

async function loseWithLogind(bus: Bus, lose: (why: Blindness) => void): Promise<void> {
  await bus.onNameOwner(LOGIN1, (_, owner) => {
    if (owner === null) lose(NO_LOGIND);
  });
}

/** BlockInhibited is a list of what is inhibited, such as "sleep:idle". */
function parseIdleInhibited(value: unknown): boolean | null {
  const list = readText(value);
  return list === null ? null : list.split(":").includes("idle");
}

interface IdleHint {
  readonly idle: boolean;
  /** When the hint last changed, wall time. */
  readonly sinceUs: number;
}

/** Null when the desktop never set the hint: then "not idle" says nothing. */
function parseIdle(properties: ReadonlyMap<string, unknown> | null): IdleHint | null {
  const idle = readFlag(properties?.get("IdleHint"));
  const sinceUs = readNumber(properties?.get("IdleSinceHint"));
  return idle === null || sinceUs === null || sinceUs === 0 ? null : { idle, sinceUs };
}

function idleMsOf({ idle, sinceUs }: IdleHint, { clock }: SourceContext): number {
  return idle ? Math.max(0, Math.floor((clock.nowUs() - sinceUs) / 1000)) : 0;
}

/**
 * The object path of the session whose screen the owner uses; null when there is none. A daemon under
 * `systemd --user` belongs to no session itself: "auto" then gives the user's display session, and on older
 * systems the user object names it.
 */
async function findSession(bus: Bus, env: SourceContext["env"]): Promise<string | null> {
  const manager = { destination: LOGIN1, ...MANAGER };
  for (const id of [env["XDG_SESSION_ID"], "auto"]) {
    if (id === undefined || id === "") continue;
    const reply = await bus.call({ ...manager, member: "GetSession" }, "s", [id]);
    const path = reply.ok ? readText(reply.body[0]) : null;
    // "auto" is an alias: signals come from the object's own path.
    if (path !== null) return (await ownPath(bus, path)) ?? path;
  }
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  const reply = await bus.call({ ...manager, member: "GetUser" }, "u", [uid]);
  const userPath = reply.ok ? readText(reply.body[0]) : null;
  if (userPath === null) return null;
  const user = await readProperties(bus, userPath, "org.freedesktop.login1.User");
  const display: unknown = user?.get("Display");
  const path = Array.isArray(display) ? readText(display[1]) : null;
  return path === null || path === "/" ? null : path;
}

/** The path of a session by its id, which differs from the aliases `self` and `auto`. */
async function ownPath(bus: Bus, path: string): Promise<string | null> {
  const id = readText((await readProperties(bus, path, SESSION))?.get("Id"));
  if (id === null) return null;
  const target = { destination: LOGIN1, ...MANAGER, member: "GetSession" };
  const reply = await bus.call(target, "s", [id]);
  return reply.ok ? readText(reply.body[0]) : null;
}

async function readProperties(
  bus: Bus,
  path: string,
  iface: string,
): Promise<ReadonlyMap<string, unknown> | null> {
  const target = { destination: LOGIN1, path, interface: PROPERTIES, member: "GetAll" };
  const reply = await bus.call(target, "s", [iface]);
  return reply.ok ? readDictionary(reply.body[0]) : null;
}

/** Changed properties with their values; those that were only invalidated are read again. */
function onChanges(
  bus: Bus,
  path: string,
  iface: string,
  listener: (changed: ReadonlyMap<string, unknown>) => void,
): Promise<() => void> {
  const match = { sender: LOGIN1, path, interface: PROPERTIES, member: "PropertiesChanged" };
  return bus.onSignal(match, ({ body: [changedInterface, changed, invalidated] }) => {
    if (changedInterface !== iface) return;
    listener(readDictionary(changed) ?? new Map());
    if (readTexts(invalidated)?.length) {
      void readProperties(bus, path, iface).then((all) => all !== null && listener(all));
    }
  });
}
