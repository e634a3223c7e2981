/**
 * The route table as a handler of Node's requests: it finds the route, reads and checks the input, asks the daemon and
 * sends the answer or one envelope. It promises the same answers to every server that stands in front of it; who may ask
 * is for that server to say.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import { Hono } from "hono/tiny";
import type { ActivityApi, PreparedAnswers } from "../api.ts";
import { ActivityError, httpStatusOf, toErrorEnvelope } from "../errors.ts";
import { readBody } from "../http-body.ts";
import type { Log } from "../log.ts";
import { createContextReplier } from "./context-reply.ts";
import { ROUTES, type Route } from "./protocol.ts";
import { sendWatch } from "./watch-stream.ts";
import { VERSION_HEADER } from "./wire.ts";

export interface RouterOptions {
  readonly api: ActivityApi;
  /** Sent as they are in place of what `api` says to the same; asked of `api` unless given. */
  readonly prepared?: PreparedAnswers;
  readonly log: Log;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when the server ends: streams end with it. */
  readonly closing: AbortSignal;
  /** Who asks, for the ledger, where the input does not say; what the client says of itself unless given. */
  readonly clientOf?: (route: Route, agent: string | undefined) => string | undefined;
}

/** Answers one request. Its `url` is a path of the route table. */
export type ApiRouter = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Hono finds the route and Node's own objects carry the rest: the web's Request and Response would make the
 * daemon 7 MB larger and every answer half as slow again.
 */
export function createApiRouter(options: RouterOptions): ApiRouter {
  const app = createRoutes(options);
  return (incoming, outgoing) => {
    // HEAD is a GET whose body Node leaves out.
    const method = incoming.method === "HEAD" ? "GET" : incoming.method;
    const asked = { method, url: `http://localhost${incoming.url ?? "/"}` };
    // Of a request the router reads these two fields and passes it on; no handler here asks for more.
    void app.fetch(asked as Request, { incoming, outgoing });
  };
}

interface NodeRequest {
  readonly Bindings: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };
}

/** What every HTTP client says of itself. */
function agentName(_route: Route, agent: string | undefined): string | undefined {
  return agent === undefined || agent === "" ? undefined : agent.slice(0, MAX_CLIENT_CHARS);
}

const MAX_CLIENT_CHARS = 200;

function nameClient(route: Route, raw: unknown, client: string | undefined): unknown {
  if (route.namesClient !== true || typeof raw !== "object" || raw === null) return raw;
  return client === undefined || Array.isArray(raw) || "client" in raw ? raw : { ...raw, client };
}

/** Sends the envelope of a failure, with the status that belongs to its code. */
export function sendError(
  response: ServerResponse,
  thrown: unknown,
  headers: Readonly<Record<string, string>>,
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
  sendBytes(response, status, Buffer.from(JSON.stringify(value)), headers);
}

function sendBytes(
  response: ServerResponse,
  status: number,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": body.byteLength,
  });
  response.end(body);
}

/** What handlers give back when they have answered; the router passes it on unread. */
const SENT = {} as Response;

function createRoutes(options: RouterOptions): Hono<NodeRequest> {
  const { api, prepared, log, headers, closing, clientOf = agentName } = options;
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
    sendJson(context.env.outgoing, 200, describeRoutes(headers[VERSION_HEADER] ?? ""), headers);
    return SENT;
  });
  for (const route of ROUTES) {
    app.on(route.method, route.path, async (context) => {
      const { headers: asked } = context.env.incoming;
      const agent = asked["user-agent"];
      const raw = nameClient(route, await readInput(route, context), clientOf(route, agent));
      if (route.right === "change")
        log.info("local api: a change was asked for", { path: route.path });
      switch (route.answers) {
        case "json":
          if (prepared !== undefined && route.prepare !== undefined) {
            // Compressed where it is made: less for this thread to hand on.
            const encoding = acceptsGzip(asked) ? "gzip" : "identity";
            const bytes = await route.prepare(prepared, raw, encoding);
            const coding = encoding === "gzip" ? { "content-encoding": encoding } : {};
            const varied = { ...headers, ...coding, vary: "accept-encoding" };
            sendBytes(context.env.outgoing, 200, bytes, varied);
            return SENT;
          }
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

/** @see RFC 9110 §12.5.3: a weight of 0 means that it is not accepted */
function acceptsGzip({ "accept-encoding": accepted = "" }: IncomingHttpHeaders): boolean {
  return accepted
    .split(",")
    .some((coding) => /^\s*gzip\s*(?:;\s*q\s*=\s*(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
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
