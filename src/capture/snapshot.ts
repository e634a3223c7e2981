/**
 * Gathers what a renderer of the real-time block may look at, live or as of an instant of the past. It
 * promises that both come about the same way, so that any block can be made again.
 */
import { localTime } from "../context/plain-text.ts";
import type { EventStore } from "../store/events.ts";
import type { Elsewhere } from "./elsewhere.ts";
import type {
  ActivityEvent,
  EventKind,
  GapEvent,
  IdleEvent,
  InputSummary,
  Snapshot,
  SystemEvent,
  WindowEvent,
} from "./events.ts";
import { running, upToNow } from "./present-events.ts";
import type { Present } from "./sampler.ts";

/** How far back `recent`, `gaps` and `lastIdle` look. */
const LOOK_BACK_US = 12 * 3_600_000_000;
/** The same window again within this long is one stretch, as if it had not been left. */
const BRIDGE_US = 90_000_000;
const RECENT_STRETCHES = 8;
const MAX_WINDOW_EVENTS = 200;
const MAX_SYSTEM_AGE_US = 60_000_000;

export interface SnapshotOptions {
  readonly store: EventStore;
  /** What the sampler knows now; null to answer from the record alone, as of `nowUs`. */
  readonly present: Present | null;
  readonly nowUs: number;
  readonly timeZone: string;
  /** Lower-case names of applications that are the assistant itself. */
  readonly assistantApps: readonly string[];
  /** The record of the owner's other devices. */
  readonly elsewhere: Elsewhere;
}

export function readSnapshot(options: SnapshotOptions): Snapshot {
  const { store, present, nowUs, timeZone, assistantApps } = options;
  const fromUs = nowUs - LOOK_BACK_US;
  const kinds = [
    "window",
    "idle",
    "lock",
    "sleep",
    "gap",
    "media",
    "editor",
    "system",
  ] as const satisfies EventKind[];
  const recovering = store.recovering();
  // One microsecond more: what began this very instant is what is asked for.
  const stored =
    recovering === null || present === null
      ? store.between(fromUs, nowUs + 1, { kinds, limit: MAX_WINDOW_EVENTS }).events
      : running(present, nowUs);
  const events = upToNow(stored, present, nowUs);
  // A window that is seen before it is known that nobody is there was looked at for no time.
  const windows = events
    .filter((event) => event.kind === "window")
    .filter(({ startUs, endUs }) => endUs > startUs || endUs === nowUs);
  const stretches = mergeStretches(
    windows.filter(({ app }) => !assistantApps.includes(app.toLowerCase())),
    events.filter(isGap),
  );
  const last = windows.at(-1);
  const isOpen =
    present === null
      ? last?.endUs === nowUs
      : present.window !== null && present.window !== "unknown";
  const [newest, ...older] = stretches;
  // The assistant has the focus while it is asked: what the owner looked at is the last other window.
  const isAssistantFocused =
    isOpen && last !== undefined && assistantApps.includes(last.app.toLowerCase());
  const isShown = newest !== undefined && (isOpen || isAssistantFocused);
  const unknown = present?.window === "unknown";
  return {
    nowUs,
    timeZone,
    focused: unknown ? "unknown" : isShown ? newest : null,
    recent: (isShown && !unknown ? older : stretches).slice(0, RECENT_STRETCHES),
    input: summariseInput(options, events),
    system: readSystem(options),
    locked: present === null ? null : present.locked,
    media: events.filter((event) => event.kind === "media").filter(({ endUs }) => endUs === nowUs),
    editing:
      events.filter((event) => event.kind === "editor").findLast(({ endUs }) => endUs === nowUs) ??
      null,
    gaps: events.filter(isGap),
    blind: present === null ? null : present.blind,
    elsewhere: recovering === null ? options.elsewhere.read(nowUs, present === null) : [],
    unknownBeforeUs: recovering === null ? null : recovering.sinceUs,
  };
}

/** What may be told while the owner has paused recording: that it is paused, and nothing of before. */
export function pausedSnapshot(sinceUs: number, nowUs: number, timeZone: string): Snapshot {
  const span = {
    startUs: Math.min(sinceUs, nowUs),
    endUs: nowUs,
    utcOffsetMinutes: localTime(timeZone).offsetMinutes(sinceUs),
    timeZone,
  };
  return {
    nowUs,
    timeZone,
    focused: null,
    recent: [],
    input: { state: "unknown", sinceUs: null, lastIdle: null, activeToday: null },
    system: null,
    locked: null,
    media: [],
    editing: null,
    gaps: [{ id: sinceUs, kind: "gap", reason: "paused", ...span }],
    blind: null,
    elsewhere: [],
    unknownBeforeUs: null,
  };
}

/**
 * Merges events of one window with short interruptions between them. Newest first. A gap is no interruption:
 * what the owner kept from the record must not be told as time at the window.
 */
function mergeStretches(
  windows: readonly WindowEvent[],
  gaps: readonly GapEvent[],
): readonly WindowEvent[] {
  const isApart = (before: WindowEvent, after: WindowEvent): boolean =>
    gaps.some(({ startUs, endUs }) => startUs < after.startUs && endUs > before.endUs);
  const stretches: WindowEvent[] = [];
  for (const event of windows) {
    const index = stretches.findLastIndex((stretch) => isSameWindow(stretch, event));
    const same = stretches[index];
    if (same !== undefined && event.startUs - same.endUs <= BRIDGE_US && !isApart(same, event)) {
      // What lay between was shorter than the bridge; it stays in the list in its own right.
      stretches.splice(index, 1);
      stretches.push({ ...same, endUs: event.endUs });
    } else {
      stretches.push(event);
    }
  }
  return stretches.reverse();
}

function isSameWindow(a: WindowEvent, b: WindowEvent): boolean {
  return a.app === b.app && a.title === b.title && a.place === b.place;
}

function isGap(event: ActivityEvent): event is GapEvent {
  return event.kind === "gap" || event.kind === "lock" || event.kind === "sleep";
}

function summariseInput(options: SnapshotOptions, events: readonly ActivityEvent[]): InputSummary {
  const { store, present, nowUs, timeZone } = options;
  const idles = events.filter((event): event is IdleEvent => event.kind === "idle");
  const running = idles.find(({ endUs }) => endUs === nowUs);
  const closed = idles.filter(({ endUs }) => endUs < nowUs);
  return {
    state: present === null ? (running?.state ?? "active") : present.presence,
    sinceUs: present === null ? (running?.startUs ?? null) : present.presenceSinceUs,
    lastIdle: closed.at(-1) ?? null,
    activeToday:
      store.recovering() === null ? store.activeOn(localTime(timeZone).isoDay(nowUs)) : null,
  };
}

/** The state of the machine, unless it is so old that it would be told as current when it is not. */
function readSystem({ store, present, nowUs }: SnapshotOptions): SystemEvent | null {
  const last =
    store.recovering() === null || present === null
      ? store.latest("system", 1, nowUs + 1)
      : running(present, nowUs).filter(({ kind }) => kind === "system");
  if (last.length === 0) return null;
  const event = upToNow(last, present, nowUs).findLast((each) => each.kind === "system");
  return event !== undefined && nowUs - event.endUs <= MAX_SYSTEM_AGE_US ? event : null;
}
