/**
 * What a turn says about time, events and topics, before anything recorded is looked at. The reading is a
 * pure function of (turn, now, zone); it never fails, whatever the turn holds.
 */

/** Languages whose grammar is known; "other" for the rest and for turns too short to tell. */
export type TurnLanguage = "en" | "de" | "es" | "fr" | "other";

/**
 * What a turn may ask for. `now`: the page or file in front of the owner. `anchor`: around an event (a call,
 * lunch, sleep). `duration`: time spent. `lastseen`: when something was last open. `window`: what happened in
 * a span of time. `topic`: a project, page or file. `resume`: where the owner was before an interruption.
 * `none`: nothing recorded can help (small talk, general knowledge, tasks that bring their own text).
 */
export const INTENTS = [
  "now",
  "anchor",
  "duration",
  "lastseen",
  "window",
  "topic",
  "resume",
  "none",
] as const;

export type Intent = (typeof INTENTS)[number];

/** Probabilities of the readings; they add up to 1. */
export type IntentScores = Readonly<Record<Intent, number>>;

/** Nothing is given to any of them yet: what a reading that is certain begins with. */
export const NO_INTENT: IntentScores = {
  now: 0,
  anchor: 0,
  duration: 0,
  lastseen: 0,
  window: 0,
  topic: 0,
  resume: 0,
  none: 0,
};

/** One end of a time. */
export type TimeEnd = "first" | "last";

/** A piece of the turn: UTF-16 indexes into the turn as it was given, half-open. */
export interface TurnSpan {
  readonly startIndex: number;
  readonly endIndex: number;
}

/**
 * How a time was worded. `recent`: "earlier", "just now", "lately". `now`: "right now", "at the moment".
 * `period`: a week, weekend, month or year. `relative`: "20 minutes ago", "the last 3 hours". `open`: bounded
 * on one side by the turn ("since Monday", "before 10"), on the other by now or the day.
 */
export type TimeKind =
  | "clock"
  | "range"
  | "part"
  | "day"
  | "period"
  | "relative"
  | "open"
  | "recent"
  | "now";

/** One time expression. Never in the future: `toUs` is at most now (and a moment of grace past `fromUs`). */
export interface TimeMention extends TurnSpan {
  readonly kind: TimeKind;
  /** The words as they stand in the turn. */
  readonly text: string;
  /** Half-open [fromUs, toUs), microseconds since 1970 UTC. */
  readonly fromUs: number;
  readonly toUs: number;
  /** Said beside the time before it: "on Monday and Wednesday" asks about both. */
  readonly joined?: true;
  /** The instant itself where one was named ("at 3", "an hour ago"), else null. */
  readonly pointUs: number | null;
}

export type Side = "before" | "after" | "since" | "until" | "during" | "when";

/** A word that says on which side of an event to look. Those inside a time expression are not listed. */
export interface SideMention extends TurnSpan {
  readonly side: Side;
  /** "right before", "kurz vor", "justo antes de". */
  readonly close: boolean;
}

export type AnchorKind =
  | "call"
  | "lunch"
  | "breakfast"
  | "dinner"
  | "break"
  | "sleep"
  | "away"
  /** "before that", "danach": whatever the turn before was about. */
  | "that";

/** A kind of event that stands in the turn and can be found by its shape in the history. */
export interface AnchorMention extends TurnSpan {
  readonly kind: AnchorKind;
  /** `start`: "went to bed", "stepped away". `end`: "got up", "came back". Null: the event as a whole. */
  readonly edge: "start" | "end" | null;
  /** The side word that governs it, or null when it only stands there. */
  readonly side: SideMention | null;
}

/** A word of the turn that is neither a stop word nor part of a time, side or anchor. */
export interface ContentWord {
  /** As written. */
  readonly text: string;
  /** Lower case without diacritics: "Übersicht" is "ubersicht". */
  readonly folded: string;
  readonly startIndex: number;
  /** True for words that name a medium rather than a matter: "page", "link", "video", "Datei". */
  readonly generic: boolean;
}

export interface TurnReading {
  readonly language: TurnLanguage;
  /** In the order of the turn, not overlapping. */
  readonly times: readonly TimeMention[];
  /** Whether the turn speaks of a time to come and of none that has been: "what's on tomorrow?". */
  readonly ahead: boolean;
  readonly sides: readonly SideMention[];
  readonly anchors: readonly AnchorMention[];
  readonly intents: IntentScores;
  readonly contentWords: readonly ContentWord[];
  /** What the turn wishes to be left out: "except the lease". None of them is a content word. */
  readonly leftOut: readonly ContentWord[];
  /** Whether the turn is a name and nothing else: "ticket 4711", "Akte Hoffmann bitte". */
  readonly isBareName: boolean;
  /** What stands in quotation marks or backticks, without them. */
  readonly quoted: readonly string[];
  /** "The last thing yesterday": one end of the time that is named; null for all of it. */
  readonly end: TimeEnd | null;
  /**
   * True for a turn that only tells something ("I was at my sister's yesterday"), asks for advice ("what should I do
   * tonight?"), hands out a task, takes leave, or asks after the world or the assistant ("what comes after lunch in Spain?").
   */
  readonly needsNoRecord: boolean;
  /** "Did I watch it yesterday?": asks whether the owner did something, and not what they did. */
  readonly asksWhether: boolean;
  /** "What did the council decide on Friday?": asks what others did, or what went on elsewhere. */
  readonly asksOfOthers: boolean;
  /** "and what about …", "und davor?": the turn leans on the one before. */
  readonly followUp: boolean;
  /** How it would lean on one, also where nothing but a time or "tell me more" says so; null: it stands for itself. */
  readonly leaning: Leaning | null;
}

/**
 * What a turn takes from the one before. `and`: whatever it does not say itself; `time` where it names one, `bare` where that is all
 * it says. `more`: all of it. `asks`: what that was
 * about, to ask when it was or how long. `beside`: when that was, to ask what came before or after. `day`: the day of that. `part`: its
 * time, to ask how much of it something had.
 */
export type Leaning =
  | { readonly how: "and" | "time" | "bare" | "more" | "day" | "part" }
  | { readonly how: "asks"; readonly intent: "lastseen" | "duration" }
  | { readonly how: "beside"; readonly side: "before" | "after" };
