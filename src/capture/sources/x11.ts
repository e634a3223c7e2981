/**
 * X11: the focused window by events and the idle time on request, over one connection. It hides window
 * managers, property encodings and closed windows, and promises that a window closed in mid-read is no error.
 */
import path from "node:path";
import type { WindowSample } from "../events.ts";
import type { Rejection, Source, SourceContext, SourceProvider, SourceResult } from "./source.ts";
import {
  FocusChangeMask,
  PropertyChangeMask,
  StructureNotifyMask,
  SubstructureNotifyMask,
  WindowGone,
  type XEvent,
} from "./x11-connection.ts";
import { createX11Leases, type X11Leases, type X11Lease } from "./x11-leases.ts";
import { createCoverWatch } from "./x11-cover.ts";
import { parseDisplay } from "./x11-display.ts";
import { watchFolder } from "./watch-folder.ts";
import { isSameSample, NULL_DEBOUNCE_MS, TITLE_PACE_MS } from "./window-reporter.ts";
import { createWindowReader } from "./x11-window.ts";

const READ_TIMEOUT_MS = 2_000;

/** The providers of window and input; they share one connection per display. */
export function createX11Providers(): {
  readonly window: SourceProvider<"window">;
  readonly input: SourceProvider<"input">;
} {
  const leases = createX11Leases();
  return {
    window: {
      id: "x11",
      kind: "window",
      open: async (context) => {
        const found = await acquireDesktop(leases, context);
        if ("rejected" in found) return found;
        const source = createWindowSource(found.lease, context);
        const first = await source.snapshot();
        if (first.ok) return { source };
        source.close();
        return { rejected: { reason: first.reason, remedy: first.remedy, applies: true } };
      },
      watchForReturn,
    },
    input: {
      id: "x11",
      kind: "input",
      open: async (context) => {
        const found = await acquireDesktop(leases, context);
        if ("rejected" in found) return found;
        const { lease } = found;
        const { idleMs } = lease.connection;
        if (idleMs !== null) return { source: createInputSource(lease, idleMs) };
        lease.release();
        return {
          rejected: {
            reason: "The X server lacks the MIT-SCREEN-SAVER extension, which tells the idle time.",
            remedy: "Start the X server without -extension MIT-SCREEN-SAVER.",
            applies: true,
          },
        };
      },
      watchForReturn,
    },
  };
}

const XWAYLAND: Rejection = {
  reason: "This is a Wayland session: its X display shows only some of the windows.",
  remedy:
    "Nothing to do here: the backend of the Wayland desktop is used instead, where there is one.",
};

/** A lease of the display, unless it is the X side of a Wayland desktop: XWayland is never the desktop. */
async function acquireDesktop(
  leases: X11Leases,
  context: SourceContext,
): ReturnType<X11Leases["acquire"]> {
  const { env } = context;
  const isWayland = (env["WAYLAND_DISPLAY"] ?? "") !== "" || env["XDG_SESSION_TYPE"] === "wayland";
  if (isWayland) return { rejected: XWAYLAND };
  const found = await leases.acquire(context);
  if ("rejected" in found || !found.lease.connection.isXwayland) return found;
  found.lease.release();
  return { rejected: XWAYLAND };
}

/** A server that starts makes its socket anew. */
function watchForReturn(context: SourceContext, onWake: () => void): () => void {
  const socketPath = parseDisplay(context.env["DISPLAY"] ?? "")?.socketPath ?? null;
  if (socketPath === null) return () => {};
  const name = path.basename(socketPath);
  return watchFolder(path.dirname(socketPath), (each) => each === name, onWake);
}

// ---------------------------------------------------------------- input

function createInputSource(lease: X11Lease, idleMs: () => Promise<number>): Source<"input"> {
  let unsubscribe = (): void => {};
  return {
    start: (_onSample, onLost) => {
      unsubscribe = lease.connection.subscribe({ onEvent: () => {}, onLost });
    },
    snapshot: async () => {
      try {
        return { ok: true, value: { idleMs: await inTime(idleMs()) } };
      } catch (error) {
        return unreadable(error);
      }
    },
    close: () => {
      unsubscribe();
      lease.release();
    },
  };
}

// ---------------------------------------------------------------- windows

interface Seen {
  readonly window: number;
  readonly sample: WindowSample;
}

function createWindowSource(lease: X11Lease, context: SourceContext): Source<"window"> {
  const { connection } = lease;
  const { root, atoms } = connection;
  const reader = createWindowReader(connection);
  const covers = createCoverWatch(connection);

  let emit: ((result: SourceResult<WindowSample>) => void) | null = null;
  let unsubscribe = (): void => {};
  let closed = false;
  /** The window whose events are wanted, and which of them. */
  let watched = { window: 0, mask: 0 };
  /** What was told last; undefined before the first time. */
  let told: Seen | null | undefined;
  let titleToldUs = Number.NEGATIVE_INFINITY;
  let titleTimer: NodeJS.Timeout | null = null;
  let nullTimer: NodeJS.Timeout | null = null;
  let reading: Promise<void> | null = null;
  let readAgain = false;

  function watchWindow(window: number, mask: number): void {
    if (watched.window === window && watched.mask === mask) return;
    if (watched.window !== 0 && watched.window !== window) connection.select(watched.window, 0);
    if (window !== 0) connection.select(window, mask);
    watched = { window, mask };
  }

  /** The focused window, watched from before it is read, so that no change falls between. */
  async function readFocused(): Promise<Seen | null> {
    const { window, viaFocus } = await reader.focusedWindow();
    const wanted = StructureNotifyMask | (viaFocus ? FocusChangeMask : 0);
    const isPaced = titleTimer !== null && window === watched.window;
    watchWindow(window, isPaced ? wanted : wanted | PropertyChangeMask);
    if (window === 0 || window === root) return null;
    try {
      const shown = (await covers.above(window)) || window;
      const sample = await reader.sample(shown, viaFocus);
      return sample === null ? null : { window: shown, sample };
    } catch (error) {
      if (error instanceof WindowGone) return null;
      throw error;
    }
  }

  /** Reads and tells; what changes meanwhile makes one more round. */
  function refresh(): void {
    if (closed) return;
    if (reading !== null) {
      readAgain = true;
      return;
    }
    reading = readFocused()
      .then(tell, () => {
        // The connection broke or the window closed: the one is told by onLost, the other by its event.
      })
      .finally(() => {
        reading = null;
        if (!readAgain) return;
        readAgain = false;
        refresh();
      });
  }

  function tell(seen: Seen | null): void {
    if (closed) return;
    if (seen === null) {
      if (told === null) return;
      if (told !== undefined) {
        nullTimer ??= setTimeout(confirmNothing, NULL_DEBOUNCE_MS);
        return;
      }
    } else {
      stopTimer(nullTimer);
      nullTimer = null;
      if (told === undefined || told === null || told.window !== seen.window) endTitlePace();
      else if (isSameSample(told.sample, seen.sample)) return;
      else titleToldUs = context.clock.monotonicUs();
    }
    told = seen;
    emit?.({ ok: true, value: seen?.sample ?? null });
  }

  function confirmNothing(): void {
    nullTimer = null;
    void readFocused().then(
      (seen) => {
        if (seen !== null) tell(seen);
        else if (!closed && told !== null) {
          told = null;
          emit?.({ ok: true, value: null });
        }
      },
      () => {
        // Broken connection: onLost tells.
      },
    );
  }

  /** After a change that was told at once, the window is not listened to until the pace allows the next. */
  function onTitleChanged(): void {
    if (titleTimer !== null) return;
    const nowUs = context.clock.monotonicUs();
    const waitMs = TITLE_PACE_MS - (nowUs - titleToldUs) / 1000;
    if (waitMs <= 0) {
      // Counted from here on: changes that arrive during the read belong to the next round.
      titleToldUs = nowUs;
      refresh();
      return;
    }
    watchWindow(watched.window, watched.mask & ~PropertyChangeMask);
    titleTimer = setTimeout(() => {
      titleTimer = null;
      refresh();
    }, waitMs);
  }

  function endTitlePace(): void {
    stopTimer(titleTimer);
    titleTimer = null;
    titleToldUs = Number.NEGATIVE_INFINITY;
  }

  function onEvent(event: XEvent): void {
    if (event.name === "PropertyNotify" && event.wid === root) {
      if (event.atom === atoms.netActiveWindow) refresh();
      else if (isManagerAtom(event.atom)) {
        reader.forgetManager();
        refresh();
      }
    } else if (event.name === "PropertyNotify" && event.wid === watched.window) {
      if (event.atom === atoms.netWmName || event.atom === atoms.wmName) onTitleChanged();
      else if (event.atom === atoms.wmClass) refresh();
    } else if (event.name === "FocusIn" || event.name === "FocusOut") {
      refresh();
    } else if (event.name === "DestroyNotify" || event.name === "UnmapNotify") {
      const isManager = event.name === "DestroyNotify" && reader.isManagerWindow(event.wid);
      if (isManager) reader.forgetManager();
      if (isManager || event.wid === watched.window) refresh();
    }
    void covers.take(event).then((isNews) => isNews && refresh());
  }

  function isManagerAtom(atom: number | undefined): boolean {
    return atom === atoms.netSupportingWmCheck || atom === atoms.netSupported;
  }

  connection.select(root, PropertyChangeMask | FocusChangeMask | SubstructureNotifyMask);

  return {
    start: (onSample, onLost) => {
      emit = onSample;
      told = undefined;
      unsubscribe = connection.subscribe({ onEvent, onLost });
      refresh();
    },
    snapshot: async () => {
      try {
        let seen = await inTime(readFocused());
        if (seen === null && told !== null && told !== undefined) {
          await pause(NULL_DEBOUNCE_MS);
          seen = await inTime(readFocused());
        }
        return { ok: true, value: seen?.sample ?? null };
      } catch (error) {
        return unreadable(error);
      }
    },
    close: () => {
      if (closed) return;
      closed = true;
      emit = null;
      unsubscribe();
      stopTimer(titleTimer);
      stopTimer(nullTimer);
      // Others may go on using the connection: they do not want the events of this source.
      watchWindow(0, 0);
      connection.select(root, 0);
      lease.release();
    },
  };
}

// ---------------------------------------------------------------- waiting

function unreadable(error: unknown): SourceResult<never> {
  const why = error instanceof Error ? error.message : String(error);
  return { ok: false, reason: why, remedy: "" };
}

/** Rejects when the server does not answer: a stopped server keeps its connections and says nothing. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`The X server did not answer within ${READ_TIMEOUT_MS / 1000} s.`));
    }, READ_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function stopTimer(timer: NodeJS.Timeout | null): void {
  if (timer !== null) clearTimeout(timer);
}
