/**
 * What a desktop tells of its session on the session bus: whether its screen is covered by a locker, and
 * whether an application asks that it stay on. It hides the half dozen interfaces for the two, and promises
 * null where none of them answers.
 *
 * GNOME and Plasma keep inhibitors to themselves: gnome-session hands only those of logout and suspend on to
 * logind, and PowerDevil none.
 */
import type { Bus, BusTarget, SignalMatch } from "./dbus.ts";
import { readFlag, readNumber } from "./dbus-values.ts";

export interface DesktopState {
  /** Whether the screen is covered; null when no locker answers. */
  readonly locked: () => boolean | null;
  readonly idleInhibited: () => boolean | null;
  /** Asks everything again. */
  readonly refresh: () => Promise<void>;
}

/** Follows every locker and every keeper of inhibitors that is or comes on the bus, until the bus is closed. */
export async function followDesktop(bus: Bus, onChange: () => void): Promise<DesktopState> {
  const [lockers, inhibitors] = await Promise.all(
    [LOCKERS, INHIBITORS].map((questions) =>
      Promise.all(questions.map((question) => followQuestion(bus, question, onChange))),
    ),
  );
  return {
    locked: () => anyOf((lockers ?? []).map(({ answer }) => answer())),
    idleInhibited: () => anyOf((inhibitors ?? []).map(({ answer }) => answer())),
    refresh: async () => {
      await Promise.all([...(lockers ?? []), ...(inhibitors ?? [])].map(({ ask }) => ask()));
    },
  };
}

/** True when one says so, false when some do not and none does, null when nobody knows. */
export function anyOf(answers: readonly (boolean | null)[]): boolean | null {
  if (answers.includes(true)) return true;
  return answers.includes(false) ? false : null;
}

/** Something to ask, and the signal after which it is worth asking again. */
interface Question {
  readonly target: BusTarget;
  readonly signature: string;
  readonly args: readonly unknown[];
  readonly read: (answer: unknown) => boolean | null;
  readonly signal: Omit<SignalMatch, "sender">;
}

/** All speak GetActive and ActiveChanged on an interface of their own name. "Active": the screen is covered. */
const LOCKERS: readonly Question[] = [
  ["org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"],
  ["org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"],
  ["org.mate.ScreenSaver", "/"],
  ["org.xfce.ScreenSaver", "/"],
  // Plasma. Others own this name too, some without GetActive: those do not answer.
  ["org.freedesktop.ScreenSaver", "/ScreenSaver"],
].map(([name = "", path = ""]) => ({
  target: { destination: name, path, interface: name, member: "GetActive" },
  signature: "",
  args: [],
  read: readFlag,
  signal: { interface: name, member: "ActiveChanged" },
}));

/** "The session is not to be marked as idle", of the flags of gnome-session. */
const GNOME_IDLE = 8;
/** "The screen is not to be switched off", of the policies of PowerDevil. */
const KDE_CHANGE_SCREEN = 4;

const INHIBITORS: readonly Question[] = [
  {
    target: {
      destination: "org.gnome.SessionManager",
      path: "/org/gnome/SessionManager",
      interface: "org.freedesktop.DBus.Properties",
      member: "Get",
    },
    signature: "ss",
    args: ["org.gnome.SessionManager", "InhibitedActions"],
    read: (answer) => {
      const flags = readNumber(answer);
      return flags === null ? null : (flags & GNOME_IDLE) !== 0;
    },
    signal: {
      path: "/org/gnome/SessionManager",
      interface: "org.freedesktop.DBus.Properties",
      member: "PropertiesChanged",
    },
  },
  {
    target: {
      destination: "org.kde.Solid.PowerManagement",
      path: "/org/kde/Solid/PowerManagement/PolicyAgent",
      interface: "org.kde.Solid.PowerManagement.PolicyAgent",
      member: "HasInhibition",
    },
    signature: "u",
    args: [KDE_CHANGE_SCREEN],
    read: readFlag,
    signal: {
      interface: "org.kde.Solid.PowerManagement.PolicyAgent",
      member: "InhibitionsChanged",
    },
  },
];

interface Followed {
  readonly answer: () => boolean | null;
  readonly ask: () => Promise<void>;
}

async function followQuestion(
  bus: Bus,
  question: Question,
  onChange: () => void,
): Promise<Followed> {
  const { target, signature, args, read } = question;
  let answer: boolean | null = null;
  let asking: Promise<void> | null = null;
  let stale = false;

  const askUntilFresh = async (): Promise<void> => {
    let next: boolean | null;
    do {
      // What changes while the answer is under way may not be in it.
      stale = false;
      const reply = await bus.call(target, signature, args);
      next = reply.ok ? read(reply.body[0]) : null;
    } while (stale);
    asking = null;
    if (next === answer) return;
    answer = next;
    onChange();
  };
  const ask = (): Promise<void> => {
    stale = true;
    asking ??= askUntilFresh();
    return asking;
  };

  await bus.onNameOwner(target.destination, () => void ask());
  await bus.onSignal({ sender: target.destination, ...question.signal }, () => void ask());
  await ask();
  return { answer: () => answer, ask };
}
