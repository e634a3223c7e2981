/**
 * The daemon's side of the socket: HTTP/1.1 over a Unix socket, made from the route table. It promises that
 * nothing a browser sends is answered, that every refusal is one envelope, and that the block goes out as the
 * very bytes to prepend.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono, type Context } from "hono";
import type { ActivityApi, ContextAnswer } from "../api.ts";
import { ActivityError, toErrorEnvelope } from "../errors.ts";
import type { Log } from "../log.ts";
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
  const answer = getRequestListener(createRoutes(api, log, headers, closing.signal).fetch, {
    overrideGlobalObjects: false,
  });
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000 },
    (request, response) => {
      const refused = refusal(request);
      if (refused === null) void answer(request, response);
      else sendError(response, refused, headers);
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

type Headers = Readonly<Record<string, string>>;

function sendError(response: ServerResponse, error: ActivityError, headers: Headers): void {
  const body = JSON.stringify(toErrorEnvelope(error));
  response.writeHead(httpStatusOf(error.code), {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

function createRoutes(api: ActivityApi, log: Log, headers: Headers, closing: AbortSignal): Hono {
  const app = new Hono();
  const fail = (context: Context, thrown: unknown, extra: Headers = {}): Response => {
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

  const sendContext = createContextAnswerer(headers);
  for (const route of ROUTES) {
    app.on(route.method, route.path, async (context) => {
      const raw = await readInput(route, context);
      if (route.right === "change")
        log.info("local api: a change was asked for", { path: route.path });
      switch (route.answers) {
        case "json":
          return context.json((await route.call(api, raw)) ?? {}, 200, headers);
        case "context":
          return sendContext(context, await route.call(api, raw));
        default:
          route.call(raw);
          return watchStream(api, {
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

/** The route whose path shares the longest start with the one asked for: usually the one that was meant. */
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

/**
 * Sends blocks: as text or JSON, 304 when the client has it already, 204 when there is nothing to say. The
 * bytes of the last block are kept, so that an unchanged block costs no copy.
 */
function createContextAnswerer(
  headers: Headers,
): (context: Context, answer: ContextAnswer) => Response {
  let last: {
    readonly etag: string;
    readonly bytes: Uint8Array<ArrayBuffer>;
    readonly headers: Record<string, string>;
  } = {
    etag: "",
    bytes: new Uint8Array(),
    headers: {},
  };
  return (context, answer) => {
    const etag = `"${answer.etag}"`;
    if (holds(context.req.header("if-none-match"), etag)) {
      return new Response(null, { status: 304, headers: { ...headers, etag } });
    }
    if (prefersJson(context.req.header("accept"))) {
      // Weak: fields beside the block (how long it took) differ between answers that carry the same block.
      return context.json(answer, 200, { ...headers, etag: `W/${etag}` });
    }
    if (answer.block === null)
      return new Response(null, { status: 204, headers: { ...headers, etag } });
    if (last.etag !== etag) {
      const bytes = new TextEncoder().encode(answer.block);
      last = {
        etag,
        bytes,
        headers: {
          ...headers,
          etag,
          "content-type": "text/plain; charset=utf-8",
          "content-length": String(bytes.byteLength),
        },
      };
    }
    return new Response(last.bytes, { headers: last.headers });
  };
}

/** Weak comparison of RFC 9110 §13.1.2. */
function holds(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((one) => {
    const tag = one.trim();
    return tag === "*" || tag === etag || tag === `W/${etag}`;
  });
}

/** Whether JSON stands before text in what the client accepts; `curl` accepts everything and gets text. */
function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes("application/json")) return false;
  const quality = (type: string): number => {
    for (const part of accept.split(",")) {
      const [name, ...parameters] = part.split(";").map((piece) => piece.trim());
      if (name !== type) continue;
      const q = parameters.find((parameter) => parameter.startsWith("q="));
      return q === undefined ? 1 : Number(q.slice(2));
    }
    return 0;
  };
  return quality("application/json") >= quality("text/plain");
}
