/**
 * What every face speaks: the operations of the daemon as types. It is implemented in process by
 * `app.ts` and over the socket by `local-api/client.ts`; one contract suite proves them equal.
 */
import type { HubAnswer, HubRequest } from "./api-hub.ts";
import type {
  ClientRequest,
  ClientsAnswer,
  ForgetAnswer,
  ForgetRequest,
  LedgerAnswer,
  LedgerRequest,
  PauseAnswer,
  PauseRequest,
  RuleTestAnswer,
  RuleTestRequest,
  RulesAnswer,
} from "./api-owner.ts";
import type { InjectedBlock } from "./context/markers.ts";
import type { UntrustedSpan } from "./context/plain-text.ts";
import type { ContentPart, ModelTurnText, OwnerText } from "./context/turn.ts";
import type { ActivityEvent, EventKind } from "./capture/events.ts";
import type { Blindness, SourceStatus } from "./capture/sources/source.ts";
import type { StoreSummary } from "./store/events.ts";
import type { DaysAnswer, DaysRequest } from "./store/readings/days-query.ts";
import type { SearchAnswer, SearchRequest } from "./store/readings/search-query.ts";
import type { TimelineAnswer, TimelineRequest } from "./store/readings/timeline-query.ts";
import type { TotalsAnswer, TotalsRequest } from "./store/readings/totals-query.ts";

export type { HubAnswer, HubDevice, HubLink, HubRequest } from "./api-hub.ts";
export type {
  ClientAccess,
  ClientRequest,
  ClientUse,
  ClientsAnswer,
  ForgetAnswer,
  ForgetProof,
  ForgetRequest,
  LedgerAnswer,
  LedgerRequest,
  PauseAnswer,
  PauseRequest,
  RuleTestAnswer,
  RuleTestRequest,
  RulesAnswer,
} from "./api-owner.ts";
export type { DayActivity, DaysAnswer, DaysRequest } from "./store/readings/days-query.ts";
export type { LedgerEntry } from "./store/ledger.ts";
export type { ForgetExample } from "./store/forget/plan.ts";
export type { SearchAnswer, SearchHit, SearchRequest } from "./store/readings/search-query.ts";
export type {
  TimelineAnswer,
  TimelineLane,
  TimelineLaneId,
  TimelineRequest,
  TimelineSpan,
} from "./store/readings/timeline-query.ts";
export type {
  Total,
  TotalsAnswer,
  TotalsBy,
  TotalsRequest,
} from "./store/readings/totals-query.ts";

/** The daemon, whether in this process or behind its socket. Every method may throw `ActivityError`. */
export interface ActivityApi {
  readonly status: () => Promise<StatusAnswer>;
  readonly context: (request: ContextRequest) => Promise<ContextAnswer>;
  readonly events: (request: EventsRequest) => Promise<EventsAnswer>;
  /** Documents by words of their titles, applications and places. */
  readonly search: (request: SearchRequest) => Promise<SearchAnswer>;
  /** Drains the waiting events of a session, renders the block and puts both before the owner's text. */
  readonly composeTurn: (request: TurnRequest) => Promise<TurnAnswer>;
  /** The same for a turn in parts. */
  readonly composeParts: (request: PartsRequest) => Promise<PartsAnswer>;
  readonly enqueueEvent: (request: EventRequest) => Promise<EventAnswer>;
  /** Yields the present block at once and again after every change, until `signal` aborts. */
  readonly watch: (options?: WatchOptions) => AsyncIterable<WatchMessage>;
  /** Stops recording and answering until a time, or until `resume`. It outlives a restart. */
  readonly pause: (request: PauseRequest) => Promise<PauseAnswer>;
  readonly resume: () => Promise<PauseAnswer>;
  /** Removes what was recorded from every file, or counts what would be removed. */
  readonly forget: (request: ForgetRequest) => Promise<ForgetAnswer>;
  /** What clients were given. */
  readonly ledger: (request: LedgerRequest) => Promise<LedgerAnswer>;
  /** A stretch of the record as lanes to draw. */
  readonly timeline: (request: TimelineRequest) => Promise<TimelineAnswer>;
  /** What time went to. */
  readonly totals: (request: TotalsRequest) => Promise<TotalsAnswer>;
  /** Focused time by local day and hour. */
  readonly days: (request: DaysRequest) => Promise<DaysAnswer>;
  /** The privacy rules in force. */
  readonly rules: () => Promise<RulesAnswer>;
  /** What the rules in force would make of a window. Nothing of it is kept. */
  readonly testRule: (request: RuleTestRequest) => Promise<RuleTestAnswer>;
  /** Who was given something, and who is refused. */
  readonly clients: () => Promise<ClientsAnswer>;
  /** Refuses a client from now on, or allows it again. It outlives a restart. */
  readonly setClient: (request: ClientRequest) => Promise<ClientsAnswer>;
  /** A link that opens the local page once. Throws `page_unavailable` where none is served. */
  readonly openPage: () => Promise<PageLink>;
  /** How the owner's devices stand to each other; answers also where there is no hub. */
  readonly hub: () => Promise<HubAnswer>;
  /** Changes something about the hub. Throws `not_found` where this device is in none. */
  readonly changeHub: (request: HubRequest) => Promise<HubAnswer>;
  readonly close: () => Promise<void>;
}

/**
 * Long answers as JSON in UTF-8, for whoever hands them on unread: they are made where the record is read, and cost the
 * thread that answers blocks next to nothing. Same requests, same errors.
 */
export interface PreparedAnswers {
  readonly timeline: (request: TimelineRequest, encoding: Encoding) => Promise<Uint8Array>;
  readonly totals: (request: TotalsRequest, encoding: Encoding) => Promise<Uint8Array>;
  readonly days: (request: DaysRequest, encoding: Encoding) => Promise<Uint8Array>;
}

/** How bytes are handed over (RFC 9110 §8.4.1). */
export type Encoding = "identity" | "gzip";

/** `exact`: the real-time block. `digest`: distilled for `turn`. `auto`: whichever the turn calls for, or none. */
export type ContextForm = "exact" | "digest" | "auto";

export interface ContextRequest {
  readonly form: ContextForm;
  /** The owner's turn, for `digest` and `auto`. */
  readonly turn?: string;
  readonly session?: string;
  /** Upper bound in o200k tokens: 170 for exact and 400 for digest unless given. */
  readonly budgetTokens?: number;
  /** ISO 8601 instant to answer as of, instead of the present. */
  readonly now?: string;
  /** IANA zone in which times are told, instead of the machine's. */
  readonly timeZone?: string;
  /** Who asks, for the ledger. */
  readonly client?: string;
  /** Whether the answer is to say what a digest does without. What it says stands in the ledger as well. */
  readonly withLeftOut?: boolean;
}

/** What is to be composed: the owner's turn with what the session waits to tell the model. */
export interface TurnFrame {
  /** The conversation whose waiting events are told, and then are no longer waiting. */
  readonly session: string;
  /** `auto` unless given. */
  readonly form?: ContextForm;
  /**
   * Names this turn, for a client that may have to ask again: the same id of the same session gets the same
   * events for an hour. Without it, events told in an answer that was lost on the way are gone.
   */
  readonly requestId?: string;
  readonly budgetTokens?: number;
  readonly now?: string;
  readonly timeZone?: string;
  readonly client?: string;
}

export interface TurnRequest extends TurnFrame {
  readonly ownerText: string;
}

/** A turn in parts, as OpenAI's APIs have them. */
export interface PartsRequest extends TurnFrame {
  readonly parts: readonly ContentPart[];
}

export interface TurnAnswer {
  /** For the model alone: system block, block by `form`, owner's text. */
  readonly modelText: ModelTurnText;
  /** For every screen, title, search and voice: kept beside `modelText`. */
  readonly ownerText: OwnerText;
  /** Code units of `modelText` before the owner's text; 0 when nothing was injected. */
  readonly injectedLength: number;
  /** Where in `modelText` stand characters that strangers wrote. */
  readonly untrustedSpans: readonly UntrustedSpan[];
}

export interface PartsAnswer {
  /** For the model alone. */
  readonly parts: readonly ContentPart[];
  /** The owner's text parts, one a line: for titles, search and voice. */
  readonly ownerText: OwnerText;
  /** Which of `parts` carries the injected context; null when nothing was injected. */
  readonly injectedPart: number | null;
  /** As in {@link TurnAnswer}, within the text of that part. */
  readonly injectedLength: number;
  readonly untrustedSpans: readonly UntrustedSpan[];
}

/** Something that a session is to tell the model with its next turn. */
export interface EventRequest {
  readonly session: string;
  /** Any number of lines, at most 8,000 characters; it is marked and escaped when it is told. */
  readonly text: string;
  /** What it reports, such as `exec:1`: while an event of the same key waits, another is a duplicate. */
  readonly key?: string;
}

export interface EventAnswer {
  readonly outcome: "queued" | "duplicate";
}

/** How the answer came about. */
export type ContextSource = "rules" | "semantic" | "model" | "fallback";

export interface ContextAnswer {
  /** The very text to prepend, or null when there is nothing to say. */
  readonly block: InjectedBlock | null;
  /** The form that was given; for `auto` the one that was chosen. */
  readonly form: "exact" | "digest";
  /** What the turn was taken to ask for; "now" for the real-time block. */
  readonly intent: string;
  readonly source: ContextSource;
  readonly tokens: number;
  /** Time the answer took, in milliseconds. */
  readonly ms: number;
  /** The instant the block speaks of, microseconds since 1970 UTC. */
  readonly asOfUs: number;
  readonly reasons: readonly string[];
  readonly eventIds: readonly number[];
  /** Where in `block` stand characters that strangers wrote. */
  readonly untrustedSpans: readonly UntrustedSpan[];
  /** Equal exactly when the bytes of the block are equal. */
  readonly etag: string;
  /** What came near the turn and is not told, best first; there when it was asked for and a digest was made. */
  readonly leftOut?: readonly LeftOutLine[];
}

/** A line that an answer does without. */
export interface LeftOutLine {
  /** As it would have stood in the block, `- ` and all. */
  readonly text: string;
  /** Where in `text` stand characters that strangers wrote. */
  readonly untrustedSpans: readonly UntrustedSpan[];
  /** When what it tells of began; null for a line that speaks of no single time. */
  readonly startUs: number | null;
  /** What it would have cost. */
  readonly tokens: number;
  /** Why it was thought of and why it is not told, free of words from strangers. */
  readonly reason: string;
  readonly eventIds: readonly number[];
}

export interface EventsRequest {
  readonly fromUs: number;
  /** Absent: until now. */
  readonly toUs?: number;
  readonly kinds?: readonly EventKind[];
  /** Newest events win when there are more; 1,000 unless given. */
  readonly limit?: number;
  /** Whether events of other devices are among them; false unless given. */
  readonly allDevices?: boolean;
  /** Who asks, for the ledger. */
  readonly client?: string;
}

/** An event, and where it was. */
export type DeviceEvent = ActivityEvent & {
  /**
   * Name of the other device whose event it is; absent: this one's. Ids are unique among the events of one device, and
   * times are by this one's clock as far as that can be known.
   */
  readonly device?: string;
};

export interface EventsAnswer {
  /** Oldest first. Spans are not clipped to the range asked for. */
  readonly events: readonly DeviceEvent[];
  /** True when `limit` left older events out. */
  readonly truncated: boolean;
}

export interface WatchOptions {
  readonly signal?: AbortSignal;
  /** Who watches, for the ledger. */
  readonly client?: string;
}

export interface WatchMessage {
  /** Grows by one with every message of this daemon; the `Last-Event-ID` of the stream. */
  readonly id: number;
  readonly answer: ContextAnswer;
}

export interface StatusAnswer {
  readonly version: string;
  readonly pid: number;
  readonly startedUs: number;
  readonly nowUs: number;
  readonly socket: string;
  readonly health: "ok" | "degraded";
  /** One sentence per thing that is wrong, each with its remedy. Empty when health is ok. */
  readonly problems: readonly Blindness[];
  /** What is as it should be and yet good to know, such as what cannot be told apart here. */
  readonly notes: readonly Blindness[];
  /** The pause in force, or null while recording goes on. */
  readonly paused: PauseAnswer["paused"];
  readonly sources: readonly SourceStatus[];
  readonly store: StoreSummary & {
    /** False while writes fail and the newest events are held in memory. */
    readonly writable: boolean;
  };
}

/** A link that opens the page once. */
export interface PageLink {
  /** Good for one use. */
  readonly url: string;
  readonly expiresUs: number;
}
