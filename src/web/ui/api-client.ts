/**
 * The daemon's answers over HTTP, typed as `ActivityApi` has them. It promises that whatever goes wrong comes
 * back as a {@link RequestError} that says which of three it was: no answer, no leave, or a refusal with its
 * reason.
 */
import type {
  ContextAnswer,
  ContextRequest,
  DaysAnswer,
  DaysRequest,
  EventsAnswer,
  EventsRequest,
  ForgetAnswer,
  ForgetRequest,
  LedgerAnswer,
  LedgerRequest,
  PauseAnswer,
  PauseRequest,
  SearchAnswer,
  SearchRequest,
  StatusAnswer,
  TimelineAnswer,
  TimelineRequest,
  TotalsAnswer,
  TotalsRequest,
} from "../../api.ts";

/** The operations of the daemon that the page uses. Each may throw {@link RequestError}. */
export interface ApiClient {
  readonly status: Ask<void, StatusAnswer>;
  readonly context: Ask<ContextRequest, ContextAnswer>;
  readonly events: Ask<EventsRequest, EventsAnswer>;
  readonly search: Ask<SearchRequest, SearchAnswer>;
  readonly pause: Ask<PauseRequest, PauseAnswer>;
  readonly resume: Ask<void, PauseAnswer>;
  readonly forget: Ask<ForgetRequest, ForgetAnswer>;
  readonly ledger: Ask<LedgerRequest, LedgerAnswer>;
  readonly timeline: Ask<TimelineRequest, TimelineAnswer>;
  readonly totals: Ask<TotalsRequest, TotalsAnswer>;
  readonly days: Ask<DaysRequest, DaysAnswer>;
  /** Any other route of the page's server (`/api/v1/…`, `/api/page/…`): GET with a query, or POST with a JSON body. */
  readonly get: <Answer>(path: string, query?: Query, signal?: AbortSignal) => Promise<Answer>;
  readonly post: <Answer>(path: string, body?: object, signal?: AbortSignal) => Promise<Answer>;
}

type Ask<Request, Answer> = (request: Request, signal?: AbortSignal) => Promise<Answer>;
type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** `unreachable`: nobody answered. `no-leave`: the link of this page has ended. `refused`: see `code`. */
type Failure = "unreachable" | "no-leave" | "refused";

export class RequestError extends Error {
  readonly failure: Failure;
  /** The daemon's error code, such as `bad_request`; null when nobody answered. */
  readonly code: string | null;
  /** What to do about it; empty when the daemon says nothing. */
  readonly hint: string;

  constructor(failure: Failure, message: string, code: string | null = null, hint = "") {
    super(message);
    this.name = "RequestError";
    this.failure = failure;
    this.code = code;
    this.hint = hint;
  }
}

/**
 * How long the daemon may take for an answer: it says itself after 20 s that a question was too long. Forgetting rewrites
 * files and may take as long as it needs.
 */
const PATIENCE_MS = 30_000;

export function createApiClient(): ApiClient {
  const get = <Answer>(path: string, query: object = {}, signal?: AbortSignal): Promise<Answer> =>
    ask(`${path}${toQueryString(query)}`, { method: "GET" }, patient(signal));
  const post = <Answer>(path: string, body: object = {}, signal?: AbortSignal): Promise<Answer> =>
    ask(path, { method: "POST", body: JSON.stringify(body) }, signal);
  return {
    status: (_, signal) => get("/api/v1/status", {}, signal),
    context: (request, signal) => post("/api/v1/context", request, signal),
    events: (request, signal) => get("/api/v1/events", request, signal),
    search: (request, signal) => get("/api/v1/search", request, signal),
    pause: (request, signal) => post("/api/v1/pause", request, signal),
    resume: (_, signal) => post("/api/v1/resume", {}, signal),
    forget: (request, signal) => post("/api/v1/forget", request, signal),
    ledger: (request, signal) => get("/api/v1/ledger", request, signal),
    timeline: (request, signal) => get("/api/v1/timeline", request, signal),
    totals: (request, signal) => get("/api/v1/totals", request, signal),
    days: (request, signal) => get("/api/v1/days", request, signal),
    get,
    post,
  };
}

function patient(signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
}

function toQueryString(query: object): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    parts.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  const text = parts.toString();
  return text === "" ? "" : `?${text}`;
}

async function ask<Answer>(
  path: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { ...init, headers, ...(signal === undefined ? {} : { signal }) });
    text = await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new RequestError("unreachable", "The daemon does not answer.");
  }
  const value = parseJson(text);
  if (!response.ok) throw toRequestError(response.status, value);
  // An answer that breaks off is none: it must not be taken for an empty one.
  if (value === undefined) {
    throw new RequestError("unreachable", "The daemon's answer broke off.");
  }
  // The one place where what the daemon says is taken at its word: it is the same program, in the same version.
  return value as Answer;
}

/** Undefined for what is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toRequestError(status: number, value: unknown): RequestError {
  const envelope = isRecord(value) && isRecord(value["error"]) ? value["error"] : {};
  const message = textOf(envelope["message"]) ?? `The daemon answered ${status}.`;
  const code = textOf(envelope["code"]);
  return new RequestError(
    status === 401 ? "no-leave" : "refused",
    message,
    code,
    textOf(envelope["hint"]) ?? "",
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
