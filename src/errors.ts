/**
 * The one error type of the program and the catalogue of its codes. It promises that every failure a
 * person or a client meets has a stable code, a sentence that says what happened, and a hint what to do.
 */

/** Every code there is. Codes are API: they are added, never renamed. */
export const ERROR_CODES = [
  "bad_request",
  "body_too_large",
  "client_revoked",
  "config_invalid",
  "daemon_unreachable",
  "database_busy",
  "database_damaged",
  "database_key",
  "database_newer",
  "database_unwritable",
  "forbidden_origin",
  "forbidden_peer",
  "hub_away",
  "hub_conflict",
  "hub_refused",
  "internal",
  "method_not_allowed",
  "not_found",
  "page_unavailable",
  "paused",
  "platform_unsupported",
  "port_in_use",
  "privacy_failed",
  "program_replaced",
  "rule_invalid",
  "socket_in_use",
  "socket_path_too_long",
  "socket_unsafe",
  "source_unavailable",
  "speech_failed",
  "timed_out",
  "unauthorized",
  "upstream_broken",
  "upstream_unreachable",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** The error as it travels over the socket: the same fields on both ends. */
export interface ErrorEnvelope {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
}

/**
 * What is thrown wherever a person or a client may see it.
 *
 * `message` says subject, what happened and the value, in one sentence; `hint` says what to do next, as a
 * command where there is one, and is the empty string when nothing can be done; `cause` is kept.
 */
export class ActivityError extends Error {
  override readonly name = "ActivityError";
  readonly code: ErrorCode;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, hint = "", options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}

/** A path or a name as one word of a shell's command, so that a hint can be typed as it stands. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The envelope of any thrown value. What is not an `ActivityError` becomes `internal`, without its stack. */
export function toErrorEnvelope(thrown: unknown): ErrorEnvelope {
  if (thrown instanceof ActivityError) {
    return { error: { code: thrown.code, message: thrown.message, hint: thrown.hint } };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { error: { code: "internal", message: `Internal error: ${message}`, hint: "" } };
}

/** The error that an envelope describes, or null when the value is no envelope. */
export function fromErrorEnvelope(value: unknown): ActivityError | null {
  if (typeof value !== "object" || value === null || !("error" in value)) return null;
  const { error } = value;
  if (typeof error !== "object" || error === null) return null;
  const code = "code" in error ? ERROR_CODES.find((known) => known === error.code) : undefined;
  const message = "message" in error && typeof error.message === "string" ? error.message : null;
  const hint = "hint" in error && typeof error.hint === "string" ? error.hint : "";
  if (message === null) return null;
  return new ActivityError(code ?? "internal", message, hint);
}
