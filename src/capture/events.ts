/**
 * What is captured: samples as sources give them, facts as the privacy gate lets them through, events as
 * the store keeps them, and the arithmetic of spans. Pure: no clock, no file, no text cleaning.
 *
 * Wall times are integer microseconds since 1970 UTC, durations integer microseconds; spans are half open.
 */

declare const storable: unique symbol;

/**
 * Text that passed the privacy gate. Only `capture/privacy.ts` makes one from a raw string, so that a raw
 * title cannot reach the store, a log or an answer.
 */
export type StorableText = string & { readonly [storable]: true };

// ---------------------------------------------------------------- samples: raw, from strangers

/** The window that has the focus, as its backend reports it. */
export interface WindowSample {
  /** Name of the application: window class, app id or executable name. */
  readonly app: string;
  /** The raw title; null when the backend cannot read it (which is not the same as an empty title). */
  readonly title: string | null;
  /** The full address of the page in it, where the backend knows it. */
  readonly url: string | null;
  /** Process id on this machine; null when unknown or when the window belongs to another machine. */
  readonly pid: number | null;
  /** Path of the executable behind `pid`, null when unknown. */
  readonly executable: string | null;
  /** True when the window is known to be a private-browsing one, null when that cannot be known. */
  readonly private: boolean | null;
  /** Which window of the desktop it is, where the backend can tell: another window is no change of a title. */
  readonly window?: string;
}

/** How long the input devices have been still. */
export interface InputSample {
  readonly idleMs: number;
}

/** Whether the session is usable at all; null: this source cannot tell. */
export interface SessionSample {
  /** True also while another user's session has the screen: its owner cannot be at this one. */
  readonly locked: boolean | null;
  /** True from the announcement of a suspend until the resume. */
  readonly asleep: boolean | null;
  /** True while an application asks that the screen stay on (a film, a call): being still is then not being away. */
  readonly idleInhibited: boolean | null;
}

/** State of the machine; null fields are unknown. */
export interface SystemSample {
  readonly power: "ac" | "battery" | null;
  /** 0–100. */
  readonly batteryPercent: number | null;
  readonly online: boolean | null;
  /** 0–1 over all cores. */
  readonly cpuLoad: number | null;
  /** 0–1 of the physical memory. */
  readonly memoryUsed: number | null;
  readonly displayCount: number | null;
}

/** What a media player says of itself. */
export interface MediaSample {
  readonly player: string;
  readonly title: string | null;
  readonly artist: string | null;
  readonly playing: boolean;
}

/** A desktop notification as it was sent. The body is not part of it. */
export interface NotificationSample {
  readonly app: string;
  readonly summary: string;
}

/** The file that an editor extension says is being worked on. */
export interface EditorSample {
  readonly app: string;
  readonly file: string;
  readonly project: string | null;
  readonly branch: string | null;
  readonly language: string | null;
}

/** The tab that a browser extension says is in front. */
export interface TabSample {
  readonly app: string;
  readonly title: string | null;
  readonly url: string | null;
  readonly audible: boolean | null;
  /** True in a private window; null when the browser does not say. */
  readonly private: boolean | null;
}

// ---------------------------------------------------------------- facts: gated, what an event is about

/** A focused window. `place` is host and path of the page, without query, fragment or user info. */
export interface WindowFacts {
  readonly kind: "window";
  readonly app: StorableText;
  /** Null when it was unreadable or withheld by a privacy rule. */
  readonly title: StorableText | null;
  readonly place: StorableText | null;
}

/** The owner was away from the input devices; `passive`: away, but media played or idling was inhibited. */
export interface IdleFacts {
  readonly kind: "idle";
  readonly state: "away" | "passive";
}

export interface LockFacts {
  readonly kind: "lock";
}

export interface SleepFacts {
  readonly kind: "sleep";
}

export interface SystemFacts extends SystemSample {
  readonly kind: "system";
}

export interface MediaFacts {
  readonly kind: "media";
  readonly player: StorableText;
  readonly title: StorableText | null;
  readonly artist: StorableText | null;
  readonly playing: boolean;
}

export interface NotificationFacts {
  readonly kind: "notification";
  readonly app: StorableText;
  readonly summary: StorableText;
}

/** Why a stretch of time has no window events. */
export type GapReason = "paused" | "source-lost" | "filtered" | "stalled" | "not-running";

/** A named hole in the record: silence must never look like idleness. */
export interface GapFacts {
  readonly kind: "gap";
  readonly reason: GapReason;
}

export interface EditorFacts {
  readonly kind: "editor";
  readonly app: StorableText;
  readonly file: StorableText;
  readonly project: StorableText | null;
  readonly branch: StorableText | null;
  readonly language: StorableText | null;
}

export interface TabFacts {
  readonly kind: "tab";
  readonly app: StorableText;
  readonly title: StorableText | null;
  readonly place: StorableText | null;
  readonly audible: boolean | null;
}

export type EventFacts =
  | WindowFacts
  | IdleFacts
  | LockFacts
  | SleepFacts
  | SystemFacts
  | MediaFacts
  | NotificationFacts
  | GapFacts
  | EditorFacts
  | TabFacts;

/** Facts as a file or another device tells them: texts that have met no privacy gate here. */
export type RawFacts =
  | {
      readonly kind: "window";
      readonly app: string;
      readonly title: string | null;
      readonly place: string | null;
    }
  | ({ readonly kind: "tab" } & Omit<TabSample, "url" | "private"> & {
        readonly place: string | null;
      })
  | ({ readonly kind: "editor" } & EditorSample)
  | ({ readonly kind: "media" } & MediaSample)
  | ({ readonly kind: "notification" } & NotificationSample)
  | IdleFacts
  | GapFacts
  | SystemFacts
  | LockFacts
  | SleepFacts;

export type EventKind = EventFacts["kind"];

export const EVENT_KINDS = [
  "window",
  "idle",
  "lock",
  "sleep",
  "system",
  "media",
  "notification",
  "gap",
  "editor",
  "tab",
] as const satisfies readonly EventKind[];

// ---------------------------------------------------------------- events: facts with a span

/** When something was so, and what the wall clock on the owner's desk said then. */
export interface EventSpan {
  readonly startUs: number;
  readonly endUs: number;
  /** Offset of local time from UTC at the start, in minutes (east positive). */
  readonly utcOffsetMinutes: number;
  /** IANA zone in force at the start. */
  readonly timeZone: string;
}

/** One stored event. `id` equals the start of its row in microseconds and is unique in a store. */
export type ActivityEvent = EventSpan & { readonly id: number } & EventFacts;

export type WindowEvent = Extract<ActivityEvent, { kind: "window" }>;
export type GapEvent = Extract<ActivityEvent, { kind: "gap" | "lock" | "sleep" }>;
export type IdleEvent = Extract<ActivityEvent, { kind: "idle" }>;
export type SystemEvent = Extract<ActivityEvent, { kind: "system" }>;
export type EditorEvent = Extract<ActivityEvent, { kind: "editor" }>;
export type MediaEvent = Extract<ActivityEvent, { kind: "media" }>;

/** Everything a renderer of the real-time block may look at. */
export interface Snapshot {
  readonly nowUs: number;
  /** IANA zone in which times are told. */
  readonly timeZone: string;
  /**
   * The focused window that is not the assistant itself. `null`: nothing is focused. `"unknown"`: no source
   * can tell, see `blind`.
   */
  readonly focused: WindowEvent | null | "unknown";
  /** Earlier windows, newest first, each a merged stretch. */
  readonly recent: readonly WindowEvent[];
  readonly input: InputSummary;
  readonly system: SystemEvent | null;
  /** Whether the session is locked; null: unknown. */
  readonly locked: boolean | null;
  readonly media: readonly MediaEvent[];
  /** What an editor's plugin says is worked on; null when none does. */
  readonly editing: EditorEvent | null;
  /** Gaps, locks and sleeps of the last hours, oldest first; an open one ends at `nowUs`. */
  readonly gaps: readonly GapEvent[];
  /** Why windows cannot be seen, and what to do; null when they can. */
  readonly blind: { readonly reason: string; readonly remedy: string } | null;
  /** What was looked at last on other devices of the owner, the newest first; those of the last half hour. */
  readonly elsewhere: readonly ElsewhereActivity[];
  /** While the record is being recovered: what was before this is not known. Null: all that was recorded is. */
  readonly unknownBeforeUs: number | null;
}

/** The last window of another device, as far as this one has heard. */
export interface ElsewhereActivity {
  /** As the device calls itself. */
  readonly device: string;
  readonly kind: "desktop" | "laptop" | "phone" | "server" | "tablet" | null;
  /** With the times of the device's own clock. */
  readonly event: WindowEvent;
  /** When it was last known to be looked at, by this device's clock; null while the clocks cannot be compared. */
  readonly lastUs: number | null;
  /** Whether it is looked at as far as anybody can know: it went on a minute or two ago. */
  readonly isNow: boolean;
}

/** What is known of the owner's presence. */
export interface InputSummary {
  readonly state: "active" | "away" | "passive" | "unknown";
  /** When the present state began; null when unknown. */
  readonly sinceUs: number | null;
  readonly lastIdle: IdleEvent | null;
  /** Active time since local midnight, and when it began; null when nothing was recorded today. */
  readonly activeToday: { readonly activeUs: number; readonly firstUs: number } | null;
}

// ---------------------------------------------------------------- arithmetic

/** Whether two facts say the same, so that their events may be one. */
export function isSameFacts(a: EventFacts, b: EventFacts): boolean {
  return a.kind === b.kind && factsKey(a) === factsKey(b);
}

/** A text that is equal exactly when the facts are: field order does not matter. */
function factsKey(facts: EventFacts): string {
  return JSON.stringify(Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The part of a span inside `[fromUs, toUs)`, or null when they do not meet. */
export function clipSpan<S extends { readonly startUs: number; readonly endUs: number }>(
  span: S,
  fromUs: number,
  toUs: number,
): S | null {
  const startUs = Math.max(span.startUs, fromUs);
  const endUs = Math.min(span.endUs, toUs);
  return endUs > startUs ? { ...span, startUs, endUs } : null;
}
