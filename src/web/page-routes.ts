/**
 * What the page's server answers beside files: links that open a session, what only the page asks for, and the daemon's
 * API for those who have a session. It promises that nothing else is answered without one.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { ActivityError } from "../errors.ts";
import { readBody } from "../http-body.ts";
import { roomIn } from "../http-stream.ts";
import { sendChanges } from "./change-stream.ts";
import type { PageApi } from "./page-api.ts";
import { API_HEADERS, sendJson, showFailure } from "./replies.ts";
import { SESSION_US, type PageSessions } from "./sessions.ts";

export interface PageRouteOptions {
  readonly port: number;
  readonly sessions: PageSessions;
  readonly page: PageApi;
  /** Answers `/v1/…`. */
  readonly answerApi: (request: IncomingMessage, response: ServerResponse) => void;
  /** The server stops. */
  readonly closing: AbortSignal;
}

/** One request for something that is no file. Rejects with the `ActivityError` to send. */
export async function answerPageRoute(
  options: PageRouteOptions,
  { pathname, search, searchParams }: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { sessions, port, page, answerApi, closing } = options;
  const secret = readCookie(request, cookieName(port));
  if (pathname === "/open") return openSession(options, searchParams, secret, request, response);
  if (secret === null || !sessions.isOpen(secret)) {
    throw new ActivityError(
      "unauthorized",
      "This browser has not opened the page, or its session has ended.",
      "Open it with: activityd open",
    );
  }
  if (pathname.startsWith("/api/v1/")) {
    // The route table knows these paths as the socket has them.
    request.url = pathname.slice("/api".length) + search;
    answerApi(request, response);
    return;
  }
  const method = request.method === "HEAD" ? "GET" : request.method;
  const known = PAGE_ROUTES.find((route) => route.endsWith(` ${pathname}`));
  if (known !== undefined && search !== "") refuseParameters(searchParams, []);
  switch (`${method} ${pathname}`) {
    case "GET /api/page/changes":
      return sendChanges(page.changes, request, response, { headers: API_HEADERS, closing });
    case "GET /api/page/findings":
      return sendJson(response, 200, await page.findings());
    case "GET /api/page/about":
      return sendJson(response, 200, await page.about());
    case "GET /api/page/export":
      return sendExport(page.exportLines(), request, response);
    case "POST /api/page/end":
      return endSession(options, secret, request, response);
    default:
      throw known === undefined
        ? new ActivityError(
            "not_found",
            `There is no ${pathname} here.`,
            `The routes are: /api/v1/…, ${PAGE_ROUTES.map((route) => route.split(" ")[1]).join(", ")}.`,
          )
        : wrongMethod(pathname, known.split(" ")[0] ?? "GET");
  }
}

/** The refusal of a method that a path does not answer. */
export function wrongMethod(path: string, method: string): ActivityError {
  return new ActivityError(
    "method_not_allowed",
    `${path} does not answer this method.`,
    `Use ${method}.`,
  );
}

const PAGE_ROUTES = [
  "GET /api/page/changes",
  "GET /api/page/findings",
  "GET /api/page/about",
  "GET /api/page/export",
  "POST /api/page/end",
] as const;

function refuseParameters(query: URLSearchParams, known: readonly string[]): void {
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new ActivityError(
    "bad_request",
    `Unknown query parameter ${JSON.stringify(unknown)}.`,
    `Known here: ${known.join(", ") || "nothing"}.`,
  );
}

/** Uses the key of a link up and gives the browser its cookie; a used link leads on who has one already. */
function openSession(
  { sessions, port }: PageRouteOptions,
  query: URLSearchParams,
  known: string | null,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (request.method !== "GET") throw wrongMethod("/open", "GET");
  refuseParameters(query, ["key"]);
  // A browser that looks ahead must not use up what its owner is about to click.
  const isAhead = /prefetch|prerender/.test(String(request.headers["sec-purpose"] ?? ""));
  const isKnown = known !== null && sessions.isOpen(known);
  const secret = isAhead ? null : sessions.redeem(query.get("key") ?? "");
  if (secret === null && !isKnown) return showFailure(response, USED_UP);
  if (secret !== null && isKnown) sessions.end(known);
  const cookie =
    secret === null ? {} : { "set-cookie": cookieOf(port, secret, SESSION_US / 1_000_000) };
  // Away from the address with the key in it, which then stands in no history.
  response.writeHead(303, { ...API_HEADERS, ...cookie, location: "/" }).end();
}

const USED_UP = new ActivityError(
  "unauthorized",
  "The link was used already, or is too old.",
  "Make a new one with: activityd open",
);

async function endSession(
  { sessions, port }: PageRouteOptions,
  secret: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { all } = parseEnd(await readBody(request, 1000));
  if (all) sessions.endAll();
  else sessions.end(secret);
  response.setHeader(
    "set-cookie",
    `${cookieName(port)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`,
  );
  sendJson(response, 200, {});
}

function parseEnd(bytes: Buffer | null): { readonly all: boolean } {
  let body: unknown = null;
  try {
    body = JSON.parse(bytes?.toString("utf8") ?? "");
  } catch {
    // Told below, in one sentence for all that does not fit.
  }
  const fits =
    typeof body === "object" &&
    body !== null &&
    Object.entries(body).every(([name, value]) => name === "all" && typeof value === "boolean");
  if (!fits) {
    throw new ActivityError("bad_request", "The body does not fit.", 'Send {} or {"all": true}.');
  }
  return { all: Object.values(Object(body)).includes(true) };
}

async function sendExport(
  lines: Iterable<string> | AsyncIterable<string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, {
    ...API_HEADERS,
    "content-type": "application/x-ndjson; charset=utf-8",
    "content-disposition": 'attachment; filename="activityd-export.jsonl"',
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  for await (const text of lines) {
    if (response.destroyed) return;
    if (!response.write(text)) await roomIn(response);
  }
  response.end();
}

/** Cookies know no ports: the name tells two daemons of one machine apart. */
function cookieName(port: number): string {
  return `activityd_page_${port}`;
}

function cookieOf(port: number, secret: string, maxAgeSeconds: number): string {
  return `${cookieName(port)}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`;
}

function readCookie(request: IncomingMessage, name: string): string | null {
  for (const pair of request.headers.cookie?.split(";") ?? []) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && value !== undefined) return value;
  }
  return null;
}
