/**
 * What the owner asks of the daemon about the record itself: pausing, forgetting, who was given what, which rules are in
 * force and which clients are refused. Types only, spoken through `api.ts`.
 */
import type { LedgerEntry } from "./store/ledger.ts";
import type { ForgetExample } from "./store/forget/plan.ts";

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
