/**
 * The daemon as its clients see it: `ActivityApi` over the socket, with the same answers and the same errors
 * as in process. It promises to load nothing but Node's own HTTP, because every prompt may start it afresh.
 */
import { setMaxListeners } from "node:events";
import { Agent, request as sendHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import type {
  ActivityApi,
  ClientsAnswer,
  ContextAnswer,
  DaysAnswer,
  EventAnswer,
  EventsAnswer,
  PartsAnswer,
  SearchAnswer,
  ForgetAnswer,
  HubAnswer,
  LedgerAnswer,
  PageLink,
  PauseAnswer,
  RulesAnswer,
  RuleTestAnswer,
  StatusAnswer,
  TimelineAnswer,
  TotalsAnswer,
  TurnAnswer,
  WatchMessage,
} from "../api.ts";
import { ActivityError, fromErrorEnvelope } from "../errors.ts";
import { HEARTBEAT_MS } from "../http-stream.ts";
import { VERSION } from "../version.ts";
import { resolvePaths } from "../paths.ts";
import { VERSION_HEADER } from "./wire.ts";

export interface ConnectOptions {
  /** Where the daemon listens; where it listens by default unless given. */
  readonly socketPath?: string;
  /** How long the daemon may take for an answer, in milliseconds; 10,000 unless given. */
  readonly answerTimeoutMs?: number;
  /** Called once with a sentence when the daemon is of another version than this client. */
  readonly onVersionSkew?: (sentence: string) => void;
}

/** A digest has a deadline of its own; whoever takes longer than this hangs. */
const ANSWER_TIMEOUT_MS = 10_000;
/** What a turn waits for its context, which takes a few milliseconds; then it goes without. */
export const TURN_TIMEOUT_MS = 2_000;
/** Forgetting goes through the whole record and searches every file. */
const FORGET_TIMEOUT_MS = 600_000;

const IDLE_CONNECTION_MS = 20_000;

/**
 * A client of the daemon. Nothing is sent before the first call, and an idle client keeps no process alive; a
 * daemon that was restarted in between is not noticed.
 *
 * Every method throws `daemon_unreachable` when no daemon answers.
 */
export function connectActivity(options: ConnectOptions = {}): ActivityApi {
  const socketPath = options.socketPath ?? resolvePaths(process.env).socketPath;
  const patienceMs = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
  const closing = new AbortController();
  // Every running request listens to it; Node would take many of them for a leak.
  setMaxListeners(0, closing.signal);
  // Idle connections are dropped well before the daemon would drop them, and when the daemon ends.
  const agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });
  let skewTold = false;

  const open = (
    method: "GET" | "POST",
    path: string,
    body?: unknown,
    timeoutMs = patienceMs,
  ): Promise<Opened> =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? null : Buffer.from(JSON.stringify(body));
      const request = sendHttp({
        socketPath,
        method,
        path,
        agent,
        signal: closing.signal,
        headers: {
          host: "localhost",
          "user-agent": `activityd/${VERSION}`,
          accept: "application/json, text/event-stream",
          [VERSION_HEADER]: VERSION,
          ...(payload === null
            ? {}
            : { "content-type": "application/json", "content-length": payload.byteLength }),
        },
      });
      request.setTimeout(timeoutMs, () =>
        request.destroy(
          new ActivityError(
            "timed_out",
            `The daemon at ${socketPath} did not answer within ${timeoutMs / 1000} s.`,
            "See what it does with: activityd status",
          ),
        ),
      );
      request.once("error", (cause) => {
        // The daemon went between two calls and took the idle connection with it: it saw nothing of this one.
        if (request.reusedSocket && isReset(cause)) resolve(open(method, path, body, timeoutMs));
        else reject(cause instanceof ActivityError ? cause : unreachable(socketPath, cause));
      });
      request.once("response", (response) => {
        const theirs = response.headers[VERSION_HEADER];
        const skew = typeof theirs === "string" && theirs !== VERSION ? skewSentence(theirs) : null;
        if (skew !== null && !skewTold) {
          skewTold = true;
          options.onVersionSkew?.(skew);
        }
        resolve({ request, response, skew });
      });
      request.end(payload ?? undefined);
    });

  const ask = async <Name extends keyof Answers>(
    name: Name,
    input: object = {},
    timeoutMs = patienceMs,
  ): Promise<Answers[Name]> => {
    const [method, path] = splitName(name);
    const { response, skew } =
      method === "POST"
        ? await open(method, path, input, timeoutMs)
        : await open(method, path + query(input));
    return trusted(name, await readAnswer(response, socketPath, skew));
  };

  return {
    status: () => ask("GET /v1/status"),
    context: (request) => ask("POST /v1/context", request),
    events: (request) => ask("GET /v1/events", request),
    search: (request) => ask("GET /v1/search", request),
    composeTurn: (request) => ask("POST /v1/turns", request).then(asTurn),
    composeParts: (request) => ask("POST /v1/turns", request).then(asParts),
    enqueueEvent: (request) => ask("POST /v1/system-events", request),
    watch: ({ signal, ...asker } = {}) =>
      watch(
        () => open("GET", `/v1/watch${query(asker)}`),
        socketPath,
        signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]),
      ),
    pause: (request) => ask("POST /v1/pause", request),
    resume: () => ask("POST /v1/resume"),
    forget: (request) => ask("POST /v1/forget", request, FORGET_TIMEOUT_MS),
    ledger: (request) => ask("GET /v1/ledger", request),
    timeline: (request) => ask("GET /v1/timeline", request),
    totals: (request) => ask("GET /v1/totals", request),
    days: (request) => ask("GET /v1/days", request),
    rules: () => ask("GET /v1/rules"),
    testRule: (request) => ask("POST /v1/rules/test", request),
    clients: () => ask("GET /v1/clients"),
    setClient: (request) => ask("POST /v1/clients", request),
    openPage: () => ask("POST /v1/page"),
    hub: () => ask("GET /v1/hub"),
    changeHub: (request) => ask("POST /v1/hub", request),
    close: async () => {
      closing.abort();
      agent.destroy();
    },
  };
}

/** What each route answers with. A new method of the client is a line here and a line above. */
interface Answers {
  readonly "GET /v1/status": StatusAnswer;
  readonly "POST /v1/context": ContextAnswer;
  readonly "GET /v1/events": EventsAnswer;
  readonly "GET /v1/search": SearchAnswer;
  readonly "POST /v1/turns": TurnAnswer | PartsAnswer;
  readonly "POST /v1/system-events": EventAnswer;
  readonly "POST /v1/forget": ForgetAnswer;
  readonly "GET /v1/hub": HubAnswer;
  readonly "POST /v1/hub": HubAnswer;
  readonly "GET /v1/ledger": LedgerAnswer;
  readonly "POST /v1/pause": PauseAnswer;
  readonly "POST /v1/resume": PauseAnswer;
  readonly "GET /v1/timeline": TimelineAnswer;
  readonly "GET /v1/totals": TotalsAnswer;
  readonly "GET /v1/days": DaysAnswer;
  readonly "GET /v1/rules": RulesAnswer;
  readonly "POST /v1/rules/test": RuleTestAnswer;
  readonly "GET /v1/clients": ClientsAnswer;
  readonly "POST /v1/clients": ClientsAnswer;
  readonly "POST /v1/page": PageLink;
  readonly "GET /v1/watch": ContextAnswer;
}

interface Opened {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  /** A sentence when the daemon is of another version. */
  readonly skew: string | null;
}

/**
 * The one place where bytes of the daemon become types. It is this package at the other end, and the contract
 * suite runs over this very function, so the shape is not checked again at each start of a client.
 */
function trusted<Name extends keyof Answers>(_name: Name, value: unknown): Answers[Name] {
  return value as Answers[Name];
}

/** A turn is answered in the form in which it was asked: text for text, parts for parts. */
function asTurn(answer: TurnAnswer | PartsAnswer): TurnAnswer {
  if ("modelText" in answer) return answer;
  throw otherForm();
}

function asParts(answer: TurnAnswer | PartsAnswer): PartsAnswer {
  if ("parts" in answer) return answer;
  throw otherForm();
}

function otherForm(): ActivityError {
  return new ActivityError(
    "internal",
    "The daemon answered a turn in another form than it was asked.",
  );
}

function splitName(name: keyof Answers): ["GET" | "POST", string] {
  return name.startsWith("GET ") ? ["GET", name.slice(4)] : ["POST", name.slice(5)];
}

/** The input of a GET as a query string: lists are joined by commas, absent fields left out. */
function query(input: object): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    if (value !== undefined) fields.set(name, String(value));
  }
  return fields.size === 0 ? "" : `?${fields.toString()}`;
}

async function readAnswer(
  response: IncomingMessage,
  socketPath: string,
  skew: string | null,
): Promise<unknown> {
  let text = "";
  try {
    response.setEncoding("utf8");
    for await (const chunk of response) text += String(chunk);
  } catch (cause) {
    throw cause instanceof ActivityError ? cause : unreachable(socketPath, cause);
  }
  const value = parseJson(text);
  if (response.statusCode === 200 && value !== undefined) return value;
  const error = fromErrorEnvelope(value);
  if (error === null) {
    throw new ActivityError(
      "internal",
      `What answers at ${socketPath} is not activityd (status ${response.statusCode ?? 0}).`,
      "Look for another program that uses this socket.",
    );
  }
  // What one version does not know, the other may: then the version is the thing to mend.
  if (skew === null) throw error;
  throw new ActivityError(error.code, error.message, `${error.hint} ${skew}`.trim());
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Told by the caller, who knows what was asked for.
    return undefined;
  }
}

async function* watch(
  open: () => Promise<Opened>,
  socketPath: string,
  signal: AbortSignal,
): AsyncGenerator<WatchMessage, void, undefined> {
  if (signal.aborted) return;
  const { request, response, skew } = await open();
  const stop = (): void => {
    request.destroy();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (response.statusCode !== 200) {
      await readAnswer(response, socketPath, skew);
      return;
    }
    // Three heartbeats that did not come: the daemon hangs, and the reader must not take that for "no change".
    request.setTimeout(3 * HEARTBEAT_MS);
    const decoder = new StringDecoder("utf8");
    let pending = "";
    for await (const chunk of response) {
      pending += decoder.write(chunk);
      const parts = pending.split("\n\n");
      pending = parts.pop() ?? "";
      for (const part of parts) {
        const message = parseMessage(part);
        if (message !== null) yield message;
      }
    }
    throw unreachable(socketPath, new Error("the stream ended"));
  } catch (cause) {
    if (isAborted(signal)) return;
    throw cause instanceof ActivityError ? cause : unreachable(socketPath, cause);
  } finally {
    signal.removeEventListener("abort", stop);
    request.destroy();
  }
}

/** One event of our own server, which writes `id`, `event` and one `data` line; comments and `retry` are null. */
function parseMessage(part: string): WatchMessage | null {
  let id = 0;
  let data: string | null = null;
  for (const line of part.split("\n")) {
    if (line.startsWith("id: ")) id = Number.parseInt(line.slice(4), 10);
    else if (line.startsWith("data: ")) data = line.slice(6);
  }
  return data === null ? null : { id, answer: trusted("GET /v1/watch", JSON.parse(data)) };
}

/** Asked in a function because the compiler takes the answer at the top of a generator for the last one. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function isReset(cause: Error): boolean {
  return "code" in cause && (cause.code === "ECONNRESET" || cause.code === "EPIPE");
}

/** What the system says where no socket is, or none that anybody listens on. */
const ABSENT: readonly unknown[] = ["ENOENT", "ENOTDIR", "ECONNREFUSED"];

function unreachable(socketPath: string, cause: unknown): ActivityError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const isClosed = code === "EACCES";
  let message = `The daemon at ${socketPath} went away while it was answering.`;
  if (isClosed)
    message = `You may not open the daemon's socket ${socketPath}: it belongs to another user.`;
  else if (ABSENT.includes(code)) message = `No daemon answers at ${socketPath}.`;
  return new ActivityError(
    "daemon_unreachable",
    message,
    isClosed
      ? "See what stands in the way with: activityd doctor"
      : "Start it with: activityd start --detach",
    { cause },
  );
}

function skewSentence(theirs: string): string {
  return `The daemon is activityd ${theirs}, this client ${VERSION}. Restart the daemon with: activityd stop && activityd start --detach`;
}
