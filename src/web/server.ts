/**
 * The server of the local page: its files, the daemon's API behind a cookie, and links that open it once. It promises
 * to answer this machine's owner alone, and that no other page can ask, embed or read anything of it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { PageLink } from "../api.ts";
import { ActivityError } from "../errors.ts";
import { createTcpPeerGuard } from "../local-api/peer.ts";
import { reasonForLog, type Log } from "../log.ts";
import { hostOf, pageRefusal } from "./access.ts";
import type { PageApi } from "./page-api.ts";
import { openPageFiles, type PageFiles } from "./page-files.ts";
import { answerPageRoute, wrongMethod } from "./page-routes.ts";
import { API_HEADERS, GUARDS, sendFailure } from "./replies.ts";
import type { PageSessions } from "./sessions.ts";

export interface PageServerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Where the files of the page lie. */
  readonly folder: string;
  readonly sessions: PageSessions;
  readonly page: PageApi;
  /** Makes what answers `/v1/…`; its `headers` go with every answer, and its streams end with `closing`. */
  readonly createApiHandler: (options: {
    readonly headers: Readonly<Record<string, string>>;
    readonly closing: AbortSignal;
  }) => Handler;
  readonly log: Log;
}

export interface PageServer {
  readonly port: number;
  /** A link that opens the page once, within minutes. */
  readonly link: () => PageLink;
  /** Ends the streams and lets running requests finish for a moment. Safe to call twice. */
  readonly close: () => Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A request that is still running this long after `close` is cut. */
const CLOSE_GRACE_MS = 1_000;

/**
 * Serves on 127.0.0.1 alone.
 *
 * @throws ActivityError `page_unavailable` when the port is taken or not for this user, or the page was not built
 */
export async function servePage(options: PageServerOptions): Promise<PageServer> {
  const { sessions, page, folder, createApiHandler, log } = options;
  const files = openPageFiles(folder);
  if (files === null) {
    throw new ActivityError(
      "page_unavailable",
      `The files of the page are not in ${folder}.`,
      "Build them with: npm run build",
    );
  }
  const closing = new AbortController();
  const answerApi = createApiHandler({ headers: API_HEADERS, closing: closing.signal });
  const { admits } = createTcpPeerGuard("page", log);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = parseTarget(request.url ?? "/", port);
    const { pathname } = url;
    if (pathname !== "/open" && !pathname.startsWith("/api/"))
      return sendFile(files, pathname, request, response);
    const serving = { port, sessions, page, answerApi, closing: closing.signal };
    return answerPageRoute(serving, url, request, response);
  };
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 60_000 },
    (request, response) => {
      const refusal = admits(request.socket) ? pageRefusal(request, port) : OTHER_USER;
      if (refusal !== null) return sendFailure(response, refusal);
      answer(request, response).catch((thrown: unknown) => {
        if (!(thrown instanceof ActivityError))
          log.error("a request of the page failed", { reason: reasonForLog(thrown) });
        // An answer that had begun can only be broken off.
        if (response.headersSent) response.destroy();
        else sendFailure(response, thrown);
      });
    },
  );
  // As soon as it is there: what has ended by the time of its request cannot be told any more.
  server.on("connection", admits);
  const port = await listen(server, options.port);
  let closed: Promise<void> | null = null;
  return {
    port,
    link: () => {
      const { key, expiresUs } = sessions.mint();
      return { url: `http://${hostOf(port)}/open?key=${key}`, expiresUs };
    },
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

function listen(server: ReturnType<typeof createServer>, wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(portRefused(wanted, cause)));
    server.listen(wanted, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : wanted);
    });
  });
}

function portRefused(port: number, cause: Error): ActivityError {
  const why = isTaken(cause) ? "is taken" : "may not be used by this user";
  return new ActivityError(
    "page_unavailable",
    `Port ${port} of this machine, where the page is served, ${why}.`,
    `${isTaken(cause) ? "End the other program, or set" : "Set"} another port in [page] (activityd config edit) and start the daemon anew.`,
    { cause },
  );
}

function isTaken(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
}

/** Whether `servePage` failed because another program has the port. */
export function isPortTaken(thrown: unknown): boolean {
  return thrown instanceof ActivityError && isTaken(thrown.cause);
}

/** A file of the page. Whoever asks gets it: it is the same for everybody who has the program. */
async function sendFile(
  files: PageFiles,
  pathname: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") throw wrongMethod(pathname, "GET");
  const file = await files.read(pathname);
  if (file === null) {
    throw new ActivityError("not_found", `There is no ${pathname} here.`, "The page is at /");
  }
  const headers = {
    ...GUARDS,
    etag: file.etag,
    // The page itself is asked for anew, or an update of the program would never be seen.
    "cache-control": file.isImmutable ? "private, max-age=31536000, immutable" : "no-cache",
  };
  if (request.headers["if-none-match"] === file.etag) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    "content-type": file.type,
    "content-length": file.bytes.byteLength,
  });
  response.end(request.method === "HEAD" ? undefined : file.bytes);
}

function parseTarget(target: string, port: number): URL {
  try {
    return new URL(target, `http://${hostOf(port)}`);
  } catch (cause) {
    throw new ActivityError("bad_request", "The request names no path.", "Ask for /", { cause });
  }
}

const OTHER_USER = new ActivityError(
  "forbidden_peer",
  "This page answers its owner alone.",
  "Open your own with: activityd open",
);
