/**
 * The REST API of ActivityWatch's servers, for its watchers as they are. It hides HTTP and promises that every
 * route answers as those clients expect, that a body of any size is bounded, and that a query never holds up a
 * heartbeat.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { ActivityError } from "../errors.ts";
import { reasonForLog, type Log } from "../log.ts";
import { judgeAccess, type AccessOptions } from "./access.ts";
import {
  sendBytes,
  sendExport,
  sendFound,
  sendJson,
  sendMessage,
  sendPages,
  sendPreflight,
} from "./answers.ts";
import { drain, readJson, withFile } from "./body.ts";
import type { Buckets } from "./buckets.ts";
import type { BucketRange } from "./port.ts";
import { parseTimestamp, WireError } from "./wire.ts";

export interface ActivityWatchOptions extends Omit<AccessOptions, "port"> {
  readonly buckets: Buckets;
  /** Answers a query in JSON, one result per period; throws `WireError` for what is wrong with it. */
  readonly query: (body: unknown) => Promise<Uint8Array>;
  /** Port 0 is one that is free; a descriptor is that of a socket that listens already. */
  readonly at: { readonly port: number } | { readonly fd: number };
  readonly log: Log;
  /** Whether the other end of a connection may speak at all. */
  readonly admits: (socket: Socket) => boolean;
}

export interface ActivityWatchServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** What is under way when the server closes is answered, for so long. */
const CLOSE_GRACE_MS = 1_000;

/** Serves on 127.0.0.1. Throws `socket_in_use` when the port is taken, by ActivityWatch itself most likely. */
export async function serveActivityWatch(
  options: ActivityWatchOptions,
): Promise<ActivityWatchServer> {
  const { at } = options;
  let port = 0;
  let isClosing = false;
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    // Python's client drops what is cut off or refused: an answer on the last connection, and no other on it.
    if (isClosing) response.setHeader("connection", "close");
    if (!options.admits(request.socket)) {
      response.setHeader("connection", "close");
      return sendMessage(response, 403, "This server answers its owner alone.");
    }
    void answer({ ...options, port }, request, response).catch((thrown: unknown) => {
      if (!(thrown instanceof WireError))
        options.log.error("an ActivityWatch request failed", { reason: reasonForLog(thrown) });
      // Data are looked at value by value, as deep as the stack goes.
      if (isTooDeep(thrown)) sendMessage(response, 400, "The body is nested too deeply.");
      else sendMessage(response, thrown instanceof WireError ? 400 : 500, reasonOf(thrown));
    });
  });
  // As soon as it is there: what has ended by the time of its request cannot be told any more.
  server.on("connection", options.admits);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if ("fd" in at) server.listen({ fd: at.fd }, resolve);
    else server.listen(at.port, "127.0.0.1", resolve);
  }).catch((cause: unknown) => {
    const which = "port" in at ? `Port ${at.port} of this machine` : "The socket of the service";
    throw new ActivityError(
      "socket_in_use",
      `${which} is taken, most likely by ActivityWatch itself.`,
      "End the other server (aw-server), or keep it and turn this off: activityd activitywatch disable",
      { cause },
    );
  });
  ({ port } = server.address() as AddressInfo);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        isClosing = true;
        const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
      }),
  };
}

async function answer(
  options: ActivityWatchOptions & AccessOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = request.method ?? "GET";
  const { path, query } = splitTarget(request.url ?? "/");
  const verdict = judgeAccess(method, path, request.headers, options);
  if (verdict.corsOrigin !== null) {
    response.setHeader("access-control-allow-origin", verdict.corsOrigin);
    response.setHeader("vary", "origin");
  }
  if (!verdict.allowed) return sendMessage(response, verdict.status, verdict.message);
  if (method === "OPTIONS") return sendPreflight(request, response, verdict.corsOrigin !== null);
  // Node leaves the body of an answer to HEAD away by itself.
  const route = findRoute(method === "HEAD" ? "GET" : method, path);
  if (route === null) return sendMessage(response, 404, "There is no such route.");
  await route(options, { query, request, response });
}

interface Exchange {
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

type Handler = (
  options: ActivityWatchOptions,
  exchange: Exchange,
  ...names: string[]
) => Promise<void> | void;

/** Paths below `/api/0`, a name in braces for each variable part. */
const ROUTES: readonly (readonly [method: string, path: string, handler: Handler])[] = [
  ["GET", "/info", ({ buckets }, { response }) => sendJson(response, 200, buckets.info())],
  ["GET", "/buckets", ({ buckets }, { response }) => sendJson(response, 200, buckets.list())],
  [
    "GET",
    "/buckets/{}",
    ({ buckets }, { response }, id = "") => sendFound(response, buckets.get(id), id),
  ],
  [
    "POST",
    "/buckets/{}",
    async ({ buckets }, { request, response }, id = "") => {
      const isNew = buckets.create(id, await readJson(request));
      if (isNew) sendJson(response, 200, {});
      else response.writeHead(304).end();
    },
  ],
  [
    "DELETE",
    "/buckets/{}",
    async ({ buckets }, { request, response }, id = "") => {
      // Python's client sends a body with it; what is not read would be taken for the next request.
      await drain(request);
      sendFound(response, buckets.remove(id) ? {} : null, id);
    },
  ],
  [
    "GET",
    "/buckets/{}/events",
    ({ buckets }, { query, response }, id = "") => {
      const pages = buckets.events(id, readRange(query), readLimit(query));
      return pages === null ? sendFound(response, null, id) : sendPages(response, pages);
    },
  ],
  [
    "GET",
    "/buckets/{}/events/count",
    ({ buckets }, { query, response }, id = "") =>
      sendFound(response, buckets.count(id, readRange(query)), id),
  ],
  [
    "GET",
    "/buckets/{}/events/{}",
    ({ buckets }, { response }, id = "", event = "") => {
      const found = buckets.event(id, readEventId(event));
      if (found === null) sendMessage(response, 404, `The bucket "${id}" has no event ${event}.`);
      else sendJson(response, 200, found);
    },
  ],
  [
    "DELETE",
    "/buckets/{}/events/{}",
    async ({ buckets }, { request, response }, id = "", event = "") => {
      await drain(request);
      const success = buckets.removeEvent(id, readEventId(event));
      sendFound(response, success === null ? null : { success: success ? 1 : 0 }, id);
    },
  ],
  [
    "POST",
    "/buckets/{}/events",
    async ({ buckets }, { request, response }, id = "") =>
      sendFound(response, buckets.insert(id, await readJson(request)), id),
  ],
  [
    "POST",
    "/buckets/{}/heartbeat",
    async ({ buckets }, { query, request, response }, id = "") => {
      const pulse = query.get("pulsetime");
      const seconds = pulse === null || pulse.trim() === "" ? Number.NaN : Number(pulse);
      const body = await readJson(request);
      if (!Number.isFinite(seconds))
        throw new WireError("A heartbeat needs pulsetime, a number of seconds.");
      sendFound(response, await buckets.heartbeat(id, body, Math.round(seconds * 1_000_000)), id);
    },
  ],
  [
    "GET",
    "/buckets/{}/export",
    ({ buckets }, { response }, id = "") =>
      buckets.get(id) === null
        ? sendFound(response, null, id)
        : sendExport(response, buckets.exportBuckets(id), id),
  ],
  [
    "GET",
    "/export",
    ({ buckets }, { response }) => sendExport(response, buckets.exportBuckets(null), null),
  ],
  [
    "POST",
    "/import",
    async ({ buckets }, { request, response }) =>
      sendJson(response, 200, await withFile(request, buckets.importBuckets)),
  ],
  [
    "POST",
    "/query",
    async ({ query: run }, { request, response }) =>
      sendBytes(response, 200, await run(await readJson(request))),
  ],
  ["GET", "/settings", ({ buckets }, { response }) => sendJson(response, 200, buckets.settings())],
  [
    "GET",
    "/settings/{}",
    ({ buckets }, { response }, key = "") => sendJson(response, 200, buckets.setting(key)),
  ],
  [
    "POST",
    "/settings/{}",
    async ({ buckets }, { request, response }, key = "") => {
      if (key.length >= 128)
        throw new WireError("The name of a setting must be shorter than 128 characters.");
      const value = await readJson(request);
      buckets.setSetting(key, value);
      sendJson(response, 200, value);
    },
  ],
  [
    "DELETE",
    "/settings/{}",
    async ({ buckets }, { request, response }, key = "") => {
      await drain(request);
      buckets.removeSetting(key);
      sendJson(response, 200, {});
    },
  ],
];

type Bound = (options: ActivityWatchOptions, exchange: Exchange) => Promise<void> | void;

function findRoute(method: string, path: string): Bound | null {
  const parts = path.split("/").slice(1);
  if (parts[0] !== "api" || parts[1] !== "0") return null;
  const below = parts.slice(2);
  for (const [routeMethod, pattern, handler] of ROUTES) {
    const wanted = pattern.split("/").slice(1);
    if (routeMethod !== method || wanted.length !== below.length) continue;
    if (!wanted.every((part, index) => part === "{}" || part === below[index])) continue;
    const names = below.filter((_, index) => wanted[index] === "{}");
    return (options, exchange) => handler(options, exchange, ...names);
  }
  return null;
}

/**
 * The path as it is judged and routed. One old client doubles the first slash, a slash at the end makes no
 * difference, and a name may hold any character but the slash in its encoded form.
 */
function splitTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = target.indexOf("?");
  const raw = mark === -1 ? target : target.slice(0, mark);
  const query = new URLSearchParams(mark === -1 ? "" : target.slice(mark + 1));
  try {
    return {
      path: decodeURIComponent(raw)
        .replace(/\/+/g, "/")
        .replace(/(?<=.)\/$/, ""),
      query,
    };
  } catch {
    // A stray percent sign is no route of ours.
    return { path: "/", query };
  }
}

function readRange(query: URLSearchParams): BucketRange {
  const instant = (name: "start" | "end"): number | null => {
    const text = query.get(name);
    if (text === null || text === "") return null;
    const us = parseTimestamp(text);
    if (us === null) throw new WireError(`Cannot read ${name} as a timestamp in ISO 8601.`);
    return us;
  };
  return { fromUs: instant("start"), toUs: instant("end") };
}

/** Null: all, as for a limit that is absent, negative or no number. */
function readLimit(query: URLSearchParams): number | null {
  const text = query.get("limit")?.trim() ?? "";
  const limit = text === "" ? -1 : Number(text);
  return Number.isSafeInteger(limit) && limit >= 0 ? limit : null;
}

function readEventId(text: string): number {
  const id = Number(text);
  if (Number.isSafeInteger(id)) return id;
  throw new WireError("The id of an event is an integer.");
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** V8 tells an exhausted stack as a RangeError, as it does much else. */
function isTooDeep(thrown: unknown): boolean {
  return thrown instanceof RangeError && thrown.message.includes("call stack");
}
