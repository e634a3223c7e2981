/**
 * The OpenAI-compatible endpoint on loopback: any client, any upstream, and the owner's context in between. It
 * promises that the client sees nothing of what was injected, that everything else passes as it came, and that
 * no failure of one request reaches another.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ContextForm } from "../api.ts";
import type { Clock } from "../clock.ts";
import { ActivityError } from "../errors.ts";
import { readBody } from "../http-body.ts";
import type { Log } from "../log.ts";
import { accessRefusal } from "./access.ts";
import { readConversation, type Dialect } from "./conversation.ts";
import { breakOff, fail } from "./failures.ts";
import type { Edit } from "./json-edit.ts";
import { createReplyFilter, type ReplyFilter } from "./reply-filter.ts";
import { createTurnInjector, type TurnComposer, type TurnInjector } from "./turn-injector.ts";
import type { TurnMemory } from "./turn-memory.ts";
import { headersToPass, openUpstream, plainBody, relay, type Upstream } from "./upstream.ts";
import { VOICE_TURN_DIRECTIVE } from "./voice-steering.ts";
import { readWishes, WISH_HEADERS, type Wishes } from "./wishes.ts";

export interface GatewayOptions {
  /** The address clients would name without the gateway. */
  readonly upstream: URL;
  /** What the upstream wants as bearer token; null: nothing. */
  readonly upstreamKey: string | null;
  readonly turns: TurnComposer;
  readonly memory: TurnMemory;
  /** What clients give as bearer token. */
  readonly token: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Which block turns get unless the request says otherwise. */
  readonly form: ContextForm;
  /** Names of clients whose requests go on as they come. */
  readonly offClients: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** An upstream that sends nothing for this long is given up; 10 minutes unless given. */
  readonly silenceMs?: number;
}

export interface Gateway {
  /** What clients take as base URL. */
  readonly address: string;
  readonly close: () => Promise<void>;
}

const DEFAULT_SILENCE_MS = 600_000;

/** Conversations with pictures are large; more than this is no conversation. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Opens the endpoint on 127.0.0.1. Rejects with `port_in_use` when the port is taken. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const upstream = openUpstream(options.upstream, options.silenceMs ?? DEFAULT_SILENCE_MS);
  const injector = createTurnInjector(options);
  let port = options.port;
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { token, allowedOrigins, log } = options;
    // A client that is gone cannot be told; what was to be written to it is of no use to anybody.
    response.on("error", () => {});
    const refused = accessRefusal(request, { port, token, allowedOrigins });
    // A page that was let in may read why it is refused, such as by its token.
    if (refused === null || refused.code === "unauthorized") allowOrigin(request, response);
    if (refused !== null) {
      fail(response, refused);
      return;
    }
    if (request.method === "OPTIONS") {
      response.writeHead(204).end();
      return;
    }
    handle(request, response, { options, upstream, injector }).catch((thrown: unknown) => {
      // Whoever is gone cannot be told, and whatever broke by it is no failure.
      if (response.destroyed) return;
      if (!(thrown instanceof ActivityError))
        log.error("gateway: a request failed", { code: "internal" });
      fail(response, thrown);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(toListenError(cause, port)));
    server.listen(port, "127.0.0.1", resolve);
  });
  port = portOf(server.address());
  return {
    address: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        upstream.close();
      }),
  };
}

interface Parts {
  readonly options: GatewayOptions;
  readonly upstream: Upstream;
  readonly injector: TurnInjector;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { options, upstream, injector }: Parts,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const path = request.url ?? "/";
  const dialect = dialectOf(request);
  const prepared = dialect === null ? null : await prepare(request, dialect, { options, injector });
  if (prepared !== null) response.setHeader(WISH_HEADERS.context, prepared.outcome);

  const headers = headersToPass(request, prepared === null ? NOT_PASSED : NOT_PASSED_WHEN_READ);
  if (options.upstreamKey !== null) headers["authorization"] = `Bearer ${options.upstreamKey}`;
  if (prepared !== null) {
    headers["content-length"] = String(prepared.body.byteLength);
    // Without the header any packing would be welcome (RFC 9110 §12.5.3), and a reply has to be readable here.
    headers["accept-encoding"] = "identity";
  }
  const answer = await upstream.send({
    method: request.method ?? "GET",
    path,
    headers,
    body: prepared?.body ?? request,
    signal: gone.signal,
  });

  await passOn(answer, response, dialect, prepared);
}

/** Passes an answer on as it comes, replies without an echo of what was put in. */
async function passOn(
  answer: IncomingMessage,
  response: ServerResponse,
  dialect: Dialect | null,
  prepared: Prepared | null,
): Promise<void> {
  const status = answer.statusCode ?? 502;
  const reply = dialect !== null && status >= 200 && status < 300 ? plainBody(answer) : null;
  const filter =
    dialect === null || reply === null || prepared === null
      ? UNCHANGED
      : createReplyFilter(dialect, prepared.replyCount, prepared.injected);
  response.statusCode = status;
  const dropped = reply === null ? NOTHING_DROPPED : NOT_PASSED_OF_REPLY;
  for (const [name, value] of Object.entries(headersToPass(answer, dropped))) {
    // Which pages may read it is for this gateway to say: the upstream was asked by none, and says so.
    if (!name.startsWith("access-control-")) response.setHeader(name, value);
  }
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
  // A client that waits for its first word should know meanwhile that it was heard.
  if (isStream) response.flushHeaders();

  let sent: Buffer = NO_BYTES;
  const push = (chunk: Buffer): Buffer => {
    const out = filter.push(chunk);
    if (out.length > 0) sent = out;
    return out;
  };
  try {
    await relay(reply ?? answer, response, { push, end: filter.end });
  } catch (cause) {
    breakOff(response, cause, isStream ? { sent, held: filter.cut() } : null);
  }
}

interface Prepared {
  readonly body: Buffer;
  readonly replyCount: number;
  /** How the turn was composed, for telling. */
  readonly outcome: string;
  /** What stands before its turns; a reply that begins with it loses it. */
  readonly injected: readonly string[];
}

/** Reads a conversation and makes of it what goes to the upstream. */
async function prepare(
  request: IncomingMessage,
  dialect: Dialect,
  { options, injector }: Omit<Parts, "upstream">,
): Promise<Prepared> {
  const received = await readBody(request, MAX_BODY_BYTES);
  if (received === null) {
    throw new ActivityError(
      "body_too_large",
      `The request is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB.`,
      "Send fewer or smaller pictures, or a shorter conversation.",
    );
  }
  const conversation = readConversation(decode(received), dialect);
  const wishes = readWishes(request.headers, conversation.model, options);
  const edits: Edit[] = [];
  if (wishes.model !== null) edits.push(conversation.replaceModel(wishes.model));

  // The only place that fills it: constant, last, and on this channel alone. In the turn it would be stored,
  // shown again and echoed.
  const extraSystemPrompt = wishes.voice ? VOICE_TURN_DIRECTIVE : null;
  if (extraSystemPrompt !== null) edits.push(conversation.appendToSystemPrompt(extraSystemPrompt));

  const { edits: turnEdits, ...injection } = await injectAsWished(injector, conversation, wishes);
  edits.push(...turnEdits);
  const body = edits.length === 0 ? received : Buffer.from(conversation.edited(edits));
  return { body, replyCount: conversation.replyCount, ...injection };
}

async function injectAsWished(
  injector: TurnInjector,
  conversation: ReturnType<typeof readConversation>,
  { form, session, client }: Wishes,
): Promise<{
  readonly edits: readonly Edit[];
  readonly outcome: string;
  readonly injected: readonly string[];
}> {
  if (form === "off") return { edits: [], outcome: "off", injected: [] };
  return injector.inject(conversation, { form, session, client });
}

/** The routes whose bodies are read; everything else passes as it comes. */
function dialectOf({ method, url = "", headers }: IncomingMessage): Dialect | null {
  // A packed body cannot be read here, and its client expects it to arrive packed.
  if (method !== "POST" || headers["content-encoding"] !== undefined) return null;
  // A base address that ends with a slash makes two of it, which many upstreams take.
  const path = url
    .split("?")[0]
    ?.replaceAll(/\/{2,}/g, "/")
    .replace(/\/$/, "");
  if (path === "/v1/chat/completions") return "chat";
  return path === "/v1/responses" ? "responses" : null;
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw new ActivityError("bad_request", "The body is not UTF-8.", "Send JSON in UTF-8.", {
      cause,
    });
  }
}

/** Headers of the client that mean this gateway and not the upstream. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  "host",
  "authorization",
  "origin",
  "referer",
  "cookie",
  "expect",
  ...Object.values(WISH_HEADERS),
]);

const NOT_PASSED_WHEN_READ: ReadonlySet<string> = new Set([
  ...NOT_PASSED,
  "content-length",
  "accept-encoding",
]);

const NOT_PASSED_OF_REPLY: ReadonlySet<string> = new Set(["content-length", "content-encoding"]);
const NOTHING_DROPPED: ReadonlySet<string> = new Set();

const NO_BYTES = Buffer.alloc(0);
const UNCHANGED: ReplyFilter = {
  push: (chunk) => chunk,
  end: () => NO_BYTES,
  cut: () => NO_BYTES,
};

function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("vary", "origin");
  if (request.method !== "OPTIONS") return;
  response.setHeader("access-control-allow-methods", "GET, POST, DELETE");
  const wanted = request.headers["access-control-request-headers"];
  if (wanted !== undefined) response.setHeader("access-control-allow-headers", wanted);
}

function toListenError(cause: Error, port: number): Error {
  if (!("code" in cause) || cause.code !== "EADDRINUSE") return cause;
  return new ActivityError(
    "port_in_use",
    `Cannot listen on 127.0.0.1:${port}: another program does.`,
    "Take another port with: activityd gateway --port 0",
    { cause },
  );
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
