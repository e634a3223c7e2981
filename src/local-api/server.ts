/**
 * The daemon's side of the socket: HTTP/1.1 over a Unix socket, made from the route table. It promises that
 * nothing a browser sends is answered, that every refusal is one envelope, and that the block goes out as the
 * very bytes to prepend.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { Context } from "hono";
import { Hono } from "hono/tiny";
import type { ActivityApi } from "../api.ts";
import { ActivityError, toErrorEnvelope } from "../errors.ts";
import { readBody } from "../http-body.ts";
import type { Log } from "../log.ts";
import { createContextReplier } from "./context-reply.ts";
import { createPeerGuard, type PeerGuard } from "./peer.ts";
import { ROUTES, type Route } from "./protocol.ts";
import { listenPrivately } from "./socket.ts";
import { sendWatch } from "./watch-stream.ts";
import { ALLOWED_HOSTS, VERSION_HEADER, httpStatusOf } from "./wire.ts";

export interface ServeOptions {
  readonly api: ActivityApi;
  /** A path to listen on, or the descriptor of a socket that is listening already (socket activation). */
  readonly at: { readonly socketPath: string } | { readonly fd: number };
  readonly log: Log;
  readonly version: string;
}

export interface ActivityServer {
  /** Ends the streams, lets running requests finish for a moment and removes the socket. Safe to call twice. */
  readonly close: () => Promise<void>;
}

/** A request that is still running this long after `close` is cut. */
const CLOSE_GRACE_MS = 1_000;

/**
 * Answers requests for `api` until `close`. It resolves once clients can connect.
 *
 * @throws ActivityError `socket_path_too_long`, `socket_unsafe`, `socket_in_use`
 */
export async function serveActivityApi(options: ServeOptions): Promise<ActivityServer> {
  const { api, at, log, version } = options;
  const closing = new AbortController();
  const headers = {
    [VERSION_HEADER]: version,
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
  const answer = createRouter(api, log, headers, closing.signal);
  const peers = await createPeerGuard(log);
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000 },
    (request, response) => {
      const refused = refusal(request, peers);
      if (refused !== null) sendError(response, refused, headers);
      else answer(request, response);
    },
  );
  server.on("clientError", (_error, socket) => {
    // What is not HTTP gets an answer too, as long as the other end still listens for one.
    if (!socket.writable) return;
    const body = JSON.stringify(
      toErrorEnvelope(new ActivityError("bad_request", "The request is not HTTP/1.1.")),
    );
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });

  if ("fd" in at) await listenOn(server, at.fd);
  else await listenPrivately(server, at.socketPath);

  let closed: Promise<void> | null = null;
  return {
    close: () =>
      (closed ??= new Promise((resolve) => {
        closing.abort();
        const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      })),
  };
}

function listenOn(server: ReturnType<typeof createServer>, fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ fd }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * Why a request is turned away before anything looks at it, or null. The kernel names other users. Browsers always send one of these when a
 * page reaches for another origin, and a rebound name shows in Host.
 */
function refusal(request: IncomingMessage, peers: PeerGuard): ActivityError | null {
  if (!peers.admits(request.socket)) {
    return new ActivityError(
      "forbidden_peer",
      "This daemon answers its owner alone.",
      "Start one of your own with: activityd start --detach",
    );
  }
  const { origin, referer, host } = request.headers;
  if (origin !== undefined || referer !== undefined) {
    return new ActivityError(
      "forbidden_origin",
      "Requests from web pages are refused (Origin or Referer is set).",
      "Send the request without these headers.",
    );
  }
  if (host === undefined || !ALLOWED_HOSTS.includes(host)) {
    return new ActivityError(
      "forbidden_origin",
      `Unknown Host ${JSON.stringify(host ?? "")}.`,
      "Send the request to http://localhost/ over the socket.",
    );
  }
  return null;
}

interface NodeRequest {
  readonly Bindings: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };
}

/** Who asks, for the ledger, when the request does not say: what every HTTP client says of itself. */
function whoAsks(agent: string | undefined): { readonly client?: string } {
  return agent === undefined || agent === "" ? {} : { client: agent.slice(0, MAX_CLIENT_CHARS) };
}

const MAX_CLIENT_CHARS = 200;

function nameClient(route: Route, raw: unknown, agent: string | undefined): unknown {
  if (route.namesClient !== true || typeof raw !== "object" || raw === null) return raw;
  return Array.isArray(raw) || "client" in raw ? raw : { ...raw, ...whoAsks(agent) };
}

type Headers = Readonly<Record<string, string>> & { readonly [VERSION_HEADER]: string };

function sendError(
  response: ServerResponse,
  thrown: unknown,
  headers: Headers,
  extra: Readonly<Record<string, string>> = {},
): void {
  const envelope = toErrorEnvelope(thrown);
  sendJson(response, httpStatusOf(envelope.error.code), envelope, { ...headers, ...extra });
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>>,
): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": body.byteLength,
  });
  response.end(body);
}

/**
 * Hono finds the route and Node's own objects carry the rest: the web's Request and Response would make the
 * daemon 7 MB larger and every answer half as slow again.
 */
function createRouter(
  api: ActivityApi,
  log: Log,
  headers: Headers,
  closing: AbortSignal,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const app = createRoutes(api, log, headers, closing);
  return (incoming, outgoing) => {
    // HEAD is a GET whose body Node leaves out.
    const method = incoming.method === "HEAD" ? "GET" : incoming.method;
    const asked = { method, url: `http://localhost${incoming.url ?? "/"}` };
    // Of a request the router reads these two fields and passes it on; no handler here asks for more.
    void app.fetch(asked as Request, { incoming, outgoing });
  };
}

/** What handlers give back when they have answered; the router passes it on unread. */
const SENT = {} as Response;

function createRoutes(
  api: ActivityApi,
  log: Log,
  headers: Headers,
  closing: AbortSignal,
): Hono<NodeRequest> {
  const app = new Hono<NodeRequest>();
  const replyTo = createContextReplier(headers);
  const fail = (
    { env }: Context<NodeRequest>,
    thrown: unknown,
    extra: Readonly<Record<string, string>> = {},
  ): Response => {
    if (!(thrown instanceof ActivityError)) {
      log.error("local api: a request failed", { code: "internal" });
    }
    // An answer that had begun can only be broken off.
    if (env.outgoing.headersSent) env.outgoing.destroy();
    else sendError(env.outgoing, thrown, headers, extra);
    return SENT;
  };
  app.onError((thrown, context) => fail(context, thrown));
  app.notFound((context) => {
    const { path } = context.req;
    const allowed = ROUTES.filter((route) => route.path === path).map((route) => route.method);
    if (allowed.length === 0) return fail(context, noSuchRoute(path));
    const error = new ActivityError(
      "method_not_allowed",
      `${path} does not answer ${context.req.method}.`,
      `Use ${allowed.join(" or ")}.`,
    );
    return fail(context, error, { allow: allowed.join(", ") });
  });

  app.get("/v1/openapi.json", async (context) => {
    const { describeRoutes } = await import("./openapi.ts");
    sendJson(context.env.outgoing, 200, describeRoutes(headers[VERSION_HEADER]), headers);
    return SENT;
  });
  for (const route of ROUTES) {
    app.on(route.method, route.path, async (context) => {
      const { headers: asked } = context.env.incoming;
      const agent = asked["user-agent"];
      const raw = nameClient(route, await readInput(route, context), agent);
      if (route.right === "change")
        log.info("local api: a change was asked for", { path: route.path });
      switch (route.answers) {
        case "json":
          sendJson(context.env.outgoing, 200, (await route.call(api, raw)) ?? {}, headers);
          return SENT;
        case "context": {
          const wishes = { accept: asked.accept, ifNoneMatch: asked["if-none-match"] };
          const reply = replyTo(wishes, await route.call(api, raw));
          context.env.outgoing.writeHead(reply.status, reply.headers);
          context.env.outgoing.end(reply.body ?? undefined);
          return SENT;
        }
        default:
          await sendWatch(api, context.env.outgoing, {
            ...route.call(raw),
            lastEventId: lastEventIdOf(asked),
            headers,
            closing,
          });
          return SENT;
      }
    });
  }
  return app;
}

function lastEventIdOf(headers: IncomingHttpHeaders): string | undefined {
  const id = headers["last-event-id"];
  return typeof id === "string" ? id : undefined;
}

function noSuchRoute(path: string): ActivityError {
  const paths = [...new Set(ROUTES.map((route) => route.path))];
  return new ActivityError(
    "not_found",
    `There is no ${path} here.`,
    `The routes are: ${paths.join(", ")}.`,
  );
}

/** The raw input of a request: the query as an object, or the parsed body. */
async function readInput(route: Route, context: Context<NodeRequest>): Promise<unknown> {
  if (route.method === "GET") return readQuery(context);
  // From Node's own request: a web stream between would cost more than the parsing.
  const bytes = await readBody(context.env.incoming, route.maxBodyBytes);
  if (bytes === null) {
    throw new ActivityError(
      "body_too_large",
      `The body is larger than ${route.maxBodyBytes} bytes.`,
      "Send less: a turn is text, not a file.",
    );
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (cause) {
    throw new ActivityError("bad_request", "The body is not UTF-8.", "Send JSON in UTF-8.", {
      cause,
    });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    // V8 quotes the text it could not read; only the reason before that is of use, and nothing of the turn is told.
    throw new ActivityError(
      "bad_request",
      `The body is not JSON${text === "" ? ": it is empty" : ""}.`,
      'Send an object such as {"form": "exact"}.',
      { cause: reason },
    );
  }
}

function readQuery(context: Context): unknown {
  const { url } = context.req;
  if (!url.includes("?")) return {};
  const query: Record<string, string> = {};
  for (const [name, values] of Object.entries(context.req.queries())) {
    if (values.length > 1) {
      throw new ActivityError(
        "bad_request",
        `The query parameter "${name}" is given ${values.length} times.`,
        "Give it once.",
      );
    }
    query[name] = values[0] ?? "";
  }
  return query;
}
