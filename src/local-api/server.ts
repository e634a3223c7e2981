/**
 * The daemon's side of the socket: HTTP/1.1 over a Unix socket, in front of the route table. It promises that
 * nothing a browser sends is answered, that every refusal is one envelope, and that the block goes out as the
 * very bytes to prepend.
 */
import { lstatSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { ActivityApi, PreparedAnswers } from "../api.ts";
import { ActivityError, toErrorEnvelope } from "../errors.ts";
import type { Log } from "../log.ts";
import { createPeerGuard, type PeerGuard } from "./peer.ts";
import { createApiRouter, sendError } from "./router.ts";
import { listenPrivately } from "./socket.ts";
import { ALLOWED_HOSTS, VERSION_HEADER } from "./wire.ts";

export interface ServeOptions {
  readonly api: ActivityApi;
  /** See {@link RouterOptions}. */
  readonly prepared?: PreparedAnswers;
  /** The path to listen on, and the descriptor of a socket that is listening there already, if any (socket activation). */
  readonly at: { readonly socketPath: string; readonly fd?: number | null };
  readonly log: Log;
  readonly version: string;
}

export interface ActivityServer {
  /**
   * Listens anew where the socket is not there any more, such as after a cleaner took it: a socket without a name goes
   * on and nobody finds it. What somebody else put in its place stays. Says whether it was needed.
   *
   * @throws ActivityError as `serveActivityApi` does
   */
  readonly keep: () => Promise<boolean>;
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
  const { api, prepared, at, log, version } = options;
  const closing = new AbortController();
  const headers = {
    [VERSION_HEADER]: version,
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
  const answer = createApiRouter({
    api,
    log,
    headers,
    closing: closing.signal,
    ...(prepared === undefined ? {} : { prepared }),
  });
  const peers = createPeerGuard(log);
  /** The last is the one with a name. Those before it go on with the clients that they have. */
  const servers: Server[] = [];
  const openServer = (): Server => {
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
    return server;
  };
  const listen = async (fd: number | null): Promise<void> => {
    const server = openServer();
    if (fd === null) await listenPrivately(server, at.socketPath);
    else await listenOn(server, fd);
    servers.push(server);
  };

  await listen(at.fd ?? null);

  let closed: Promise<void> | null = null;
  return {
    keep: async () => {
      if (closed !== null || isThere(at.socketPath)) return false;
      await listen(null);
      return true;
    },
    close: () => {
      closing.abort();
      return (closed ??= Promise.all(servers.map(closeServer)).then(() => {}));
    },
  };
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function listenOn(server: Server, fd: number): Promise<void> {
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
