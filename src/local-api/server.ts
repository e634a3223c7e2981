/**
 * The daemon's side of the socket: HTTP/1.1 over a Unix socket, made from the route table. It promises that
 * nothing a browser sends is answered, that every refusal is one envelope, and that the block goes out as the
 * very bytes to prepend.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono, type Context } from "hono";
import type { ActivityApi } from "../api.ts";
import { ActivityError, toErrorEnvelope } from "../errors.ts";
import type { Log } from "../log.ts";
import { createContextReplier, type Reply } from "./context-reply.ts";
import { ROUTES, type Route } from "./protocol.ts";
import { listenPrivately } from "./socket.ts";
import { watchStream } from "./watch-stream.ts";
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
  const replyTo = createContextReplier(headers);
  const answer = getRequestListener(
    createRoutes(api, log, headers, replyTo, closing.signal).fetch,
    {
      // The rest of the program keeps the Request and Response of Node.
      overrideGlobalObjects: false,
    },
  );
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000 },
    (request, response) => {
      const refused = refusal(request);
      if (refused !== null) sendError(response, refused, headers);
      else if (isPlainBlockRequest(request)) void sendBlock(request, response);
      else void answer(request, response);
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

  // The request of every prompt. Web Request and Response objects would cost more than all the rest of it.
  async function sendBlock(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { accept, "if-none-match": ifNoneMatch, "user-agent": agent } = request.headers;
      const given = await api.context({ form: "exact", ...whoAsks(agent) });
      const reply = replyTo({ accept, ifNoneMatch }, given);
      response.writeHead(reply.status, reply.headers);
      response.end(reply.body ?? undefined);
    } catch (thrown) {
      sendError(response, thrown, headers);
    }
  }

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
 * Why a request is turned away before anything looks at it, or null. Browsers always send one of these when a
 * page reaches for another origin, and a rebound name shows in Host.
 */
function refusal(request: IncomingMessage): ActivityError | null {
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

type Headers = Readonly<Record<string, string>> & { readonly [VERSION_HEADER]: string };

/** Who asks, for the ledger, when the request does not say: what every HTTP client says of itself. */
function whoAsks(agent: string | undefined): { readonly client?: string } {
  return agent === undefined || agent === "" ? {} : { client: agent.slice(0, MAX_CLIENT_CHARS) };
}

const MAX_CLIENT_CHARS = 200;

function nameClient(route: Route, raw: unknown, agent: string | undefined): unknown {
  if (route.namesClient !== true || typeof raw !== "object" || raw === null) return raw;
  return Array.isArray(raw) || "client" in raw ? raw : { ...raw, ...whoAsks(agent) };
}

/** The exact block and nothing else: there is no input to check. */
function isPlainBlockRequest({ method, url }: IncomingMessage): boolean {
  return method === "GET" && (url === "/v1/context" || url === "/v1/context?form=exact");
}

function sendError(response: ServerResponse, thrown: unknown, headers: Headers): void {
  const envelope = toErrorEnvelope(thrown);
  const body = JSON.stringify(envelope);
  response.writeHead(httpStatusOf(envelope.error.code), {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

function createRoutes(
  api: ActivityApi,
  log: Log,
  headers: Headers,
  replyTo: ReturnType<typeof createContextReplier>,
  closing: AbortSignal,
): Hono {
  const app = new Hono();
  const fail = (
    context: Context,
    thrown: unknown,
    extra: Record<string, string> = {},
  ): Response => {
    const envelope = toErrorEnvelope(thrown);
    if (envelope.error.code === "internal")
      log.error("local api: a request failed", { code: "internal" });
    return context.json(envelope, httpStatusOf(envelope.error.code), { ...headers, ...extra });
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
    return context.json(describeRoutes(headers[VERSION_HEADER]), 200, headers);
  });
  for (const route of ROUTES) {
    app.on(route.method, route.path, async (context) => {
      const agent = context.req.header("user-agent");
      const raw = nameClient(route, await readInput(route, context), agent);
      if (route.right === "change")
        log.info("local api: a change was asked for", { path: route.path });
      switch (route.answers) {
        case "json":
          return context.json((await route.call(api, raw)) ?? {}, 200, headers);
        case "context":
          return toResponse(
            replyTo(
              {
                accept: context.req.header("accept"),
                ifNoneMatch: context.req.header("if-none-match"),
              },
              await route.call(api, raw),
            ),
          );
        default:
          return watchStream(api, {
            ...route.call(raw),
            lastEventId: context.req.header("last-event-id"),
            headers,
            closing,
            gone: context.req.raw.signal,
          });
      }
    });
  }
  return app;
}

function toResponse({ status, headers, body }: Reply): Response {
  return new Response(body, { status, headers });
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
async function readInput(route: Route, context: Context): Promise<unknown> {
  if (route.method === "GET") return readQuery(context);
  const bytes = await readBody(context, route.maxBodyBytes);
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

async function readBody(context: Context, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): ActivityError =>
    new ActivityError(
      "body_too_large",
      `The body is larger than ${maxBytes} bytes.`,
      "Send less: a turn is text, not a file.",
    );
  if (Number(context.req.header("content-length") ?? 0) > maxBytes) throw tooLarge();
  const { body } = context.req.raw;
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
