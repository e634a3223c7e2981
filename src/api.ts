/**
 * What every face speaks: the operations of the daemon as types. It is implemented in process by
 * `app.ts` and over the socket by `local-api/client.ts`; one contract suite proves them equal.
 */
import type { InjectedBlock } from "./context/markers.ts";
import type { UntrustedSpan } from "./context/plain-text.ts";
import type { ContentPart, ModelTurnText, OwnerText } from "./context/turn.ts";
import type { ActivityEvent, EventKind } from "./capture/events.ts";
import type { Blindness, SourceStatus } from "./capture/sources/source.ts";
import type { ForgetExample } from "./store/forget-plan.ts";
import type { DaysAnswer, DaysRequest } from "./store/days-query.ts";
import type { SearchAnswer, SearchRequest } from "./store/search-query.ts";
import type { TimelineAnswer, TimelineRequest } from "./store/timeline-query.ts";
import type { TotalsAnswer, TotalsRequest } from "./store/totals-query.ts";

export type { DayActivity, DaysAnswer, DaysRequest } from "./store/days-query.ts";
export type { ForgetExample } from "./store/forget-plan.ts";
export type { SearchAnswer, SearchHit, SearchRequest } from "./store/search-query.ts";
export type {
  TimelineAnswer,
  TimelineLane,
  TimelineLaneId,
  TimelineRequest,
  TimelineSpan,
} from "./store/timeline-query.ts";
export type { Total, TotalsAnswer, TotalsBy, TotalsRequest } from "./store/totals-query.ts";

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
  readonly store: {
    readonly path: string;
    readonly sizeBytes: number;
    readonly eventCount: number;
    readonly lastCommittedUs: number | null;
    /** False while writes fail and the newest events are held in memory. */
    readonly writable: boolean;
  };
}

/** How long to pause. Neither field: until `resume`. */
export interface PauseRequest {
  readonly minutes?: number;
  /** ISO 8601 instant at which recording goes on. */
  readonly until?: string;
}

export interface PauseAnswer {
  /** The pause in force; null while recording goes on. `untilUs` null: until `resume`. */
  readonly paused: { readonly sinceUs: number; readonly untilUs: number | null } | null;
}

/**
 * What to forget: everything that meets all the conditions given. At least one of span, `app`, `match` and
 * `byRules` must be there.
 */
export interface ForgetRequest {
  /** The last so many minutes. */
  readonly lastMinutes?: number;
  readonly fromUs?: number;
  /** Absent with `fromUs`: until now. */
  readonly toUs?: number;
  /** Only of this application, in any case; `*` stands for any run of characters. */
  readonly app?: string;
  /** Only what holds this text anywhere, in any case. */
  readonly match?: string;
  /** What the privacy rules of today would drop or rewrite; given alone. */
  readonly byRules?: boolean;
  /** Only count. */
  readonly dryRun?: boolean;
  /** At most so many examples of what would go, with `dryRun`; none unless given, 50 at most. */
  readonly examples?: number;
  /** Who asks, for the ledger: examples tell what was recorded. */
  readonly client?: string;
}

export interface ForgetAnswer {
  readonly dryRun: boolean;
  /** Events that went whole, were shortened at the edges of the span, and were rewritten by rules. */
  readonly events: number;
  readonly shortened: number;
  readonly rewritten: number;
  /** Distinct things among them; after the fact, those of which nothing is left. */
  readonly documents: number;
  readonly ledgerEntries: number;
  /** Rows that clients left, such as waiting events of sessions. */
  readonly otherRows: number;
  /** Backups that were removed because they held it. */
  readonly backups: number;
  /** When the first of it began and the last of it ended; null when there is none. */
  readonly span: { readonly fromUs: number; readonly toUs: number } | null;
  /** Distinct things that would go, what had most time first; empty unless asked for. */
  readonly examples: readonly ForgetExample[];
  /** The search of all files for what was forgotten; null after a dry run. */
  readonly proof: ForgetProof | null;
}

export interface ForgetProof {
  readonly filesSearched: number;
  readonly bytesSearched: number;
  /** How many texts were looked for: `match` itself, or a sample of what was forgotten. */
  readonly texts: number;
  /** Files in which one of them still stands, or that could not be read. Empty when all is well. */
  readonly foundIn: readonly string[];
}

export interface LedgerRequest {
  readonly fromUs?: number;
  readonly toUs?: number;
  /** A name without a version, such as "curl", stands for all versions of it. */
  readonly client?: string;
  /** The newest win; 100 unless given. */
  readonly limit?: number;
}

export interface LedgerAnswer {
  /** Newest first. */
  readonly entries: readonly LedgerEntry[];
  readonly truncated: boolean;
}

/** The same bytes given to one client within a while. */
export interface LedgerEntry {
  readonly id: number;
  readonly firstUs: number;
  readonly lastUs: number;
  readonly times: number;
  readonly client: string | null;
  readonly session: string | null;
  /** The form of the block, or the name of another reading request. */
  readonly form: string;
  readonly intent: string;
  readonly source: string;
  /** The bytes; null when what was given is told by its events alone. */
  readonly text: string | null;
  /** Where in `text` stand characters that strangers wrote. */
  readonly untrustedSpans: readonly UntrustedSpan[];
  /**
   * What the owner wrote in that turn, which is all that the owner sees of it: without secrets, cut after 2,000
   * characters. Null when it was no turn, or turns are not kept (`keep_turns` in `[ledger]`).
   */
  readonly ownerText: string | null;
  readonly tokens: number;
  readonly eventIds: readonly number[];
  readonly reasons: readonly string[];
}

/** A window to try the privacy rules on. Nothing of it is kept. */
export interface RuleTestRequest {
  readonly app: string;
  readonly title?: string;
  /** The address of the page in it. */
  readonly url?: string;
  /** As if a browser source had called the window private. */
  readonly private?: boolean;
}

export interface RuleTestAnswer {
  readonly verdict: "keep" | "drop";
  /** The rule that acted, as `activityd privacy explain` calls it; null: none did. */
  readonly rule: string | null;
  /** What would be stored; null when it is dropped. */
  readonly stored: {
    readonly app: string;
    readonly title: string | null;
    readonly place: string | null;
  } | null;
  /** The same in sentences. */
  readonly lines: readonly string[];
}

/** The privacy rules in force. */
export interface RulesAnswer {
  /** Every rule in the order in which they are tried, in sentences; an empty line parts them. */
  readonly lines: readonly string[];
}

/** `revoked`: whatever the client asks for is refused. */
export type ClientAccess = "allowed" | "revoked";

export interface ClientRequest {
  /** The client as {@link ClientUse} names it. */
  readonly client: string;
  readonly access: ClientAccess;
}

/** One program that was given something, or is refused. */
export interface ClientUse {
  /** As it calls itself, without its version: "curl" for "curl/8.5.0". */
  readonly client: string;
  readonly access: ClientAccess;
  /** When it was given something first and last, as far as the ledger goes back; null: nothing that is kept. */
  readonly firstUs: number | null;
  readonly lastUs: number | null;
  /** How often it was given something. */
  readonly times: number;
  /** Since when it is refused; null while it is allowed. */
  readonly revokedUs: number | null;
}

export interface ClientsAnswer {
  /** The last used first, then those that are refused and were given nothing. */
  readonly clients: readonly ClientUse[];
}

/** A link that opens the page once. */
export interface PageLink {
  /** Good for one use. */
  readonly url: string;
  readonly expiresUs: number;
}

/** What to do about the hub. */
export interface HubRequest {
  /**
   * `rotate`: a new key for all devices. `revoke`: the same, without `device`. `rejoin`: this device goes on after a
   * restore. `leave`: it takes no part any more, and what others recorded goes from here.
   */
  readonly action: "rotate" | "revoke" | "rejoin" | "leave";
  /** For `revoke`: the name of a device, or the beginning of its id. */
  readonly device?: string;
}

/** How the hub stands, seen from this device. */
export interface HubAnswer {
  /** Where it is, without secrets; null: this device is in no hub. */
  readonly place: string | null;
  readonly link: HubLink | null;
  /** This device first. */
  readonly devices: readonly HubDevice[];
  /** Changes that others have not been told yet: events, or records that wait for the hub. */
  readonly waiting: number;
  /** When the hub last took something from this device, in this run of the daemon; null: nothing yet. */
  readonly lastSentUs: number | null;
  /** What is wrong, each with its remedy. */
  readonly problems: readonly Blindness[];
  /** What is as it should be and yet good to know. */
  readonly notes: readonly Blindness[];
}

/** `away`: out of reach, and tried again. `refused`: it does not take this device. */
export interface HubLink {
  readonly state: "connected" | "away" | "refused";
  readonly sinceUs: number;
  /** Null while connected. */
  readonly why: Blindness | null;
}

export interface HubDevice {
  /** 0 for this device; the others as visits and search hits name them. */
  readonly key: number;
  /** 32 hex digits. */
  readonly id: string;
  readonly name: string;
  /** What sort of machine it says it is; null: it does not say. */
  readonly kind: "desktop" | "laptop" | "phone" | "server" | "tablet" | null;
  /** `forked`: two logs go under its name. */
  readonly state: "member" | "revoked" | "left" | "forked";
  /** When its newest record came in; null: never, or this device itself. */
  readonly lastHeardUs: number | null;
  /** How long that record was on its way, as far as both clocks are right; null as above. */
  readonly lagUs: number | null;
  /** How far its clock is ahead of this one's, as near as can be told; null: unknown. */
  readonly clockOffsetUs: number | null;
  /** Records before its newest that are missing here. */
  readonly missing: number;
}
