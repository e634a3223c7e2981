/**
 * Who may speak the protocol, and what a browser is told about it. Decided on the decoded, routed path, so that no
 * spelling of a path goes round it.
 *
 * @see https://github.com/ActivityWatch/aw-server-rust/security (GHSA-v9fg-6g9j-h4x4, DNS rebinding)
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface AccessOptions {
  readonly port: number;
  readonly testing: boolean;
  /** Needed as a Bearer token for everything but `/api/0/info`; null: reads are open to this machine. */
  readonly apiKey: string | null;
  /** Origins that may do everything, beside our own, compared letter for letter. */
  readonly allowedOrigins: readonly string[];
}

export type Verdict =
  | { readonly allowed: true; readonly corsOrigin: string | null }
  | {
      readonly allowed: false;
      readonly status: 400 | 401 | 403;
      readonly message: string;
      readonly corsOrigin: string | null;
    };

/** `path` is decoded, single-slashed and without a query: `/api/0/buckets/aw-watcher-web-chrome/heartbeat`. */
export function judgeAccess(
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
  options: AccessOptions,
): Verdict {
  const { origin } = headers;
  const trust = origin === undefined ? "none" : trustOf(origin, options);
  const corsOrigin = origin !== undefined && trust !== "stranger" ? origin : null;
  const refuse = (status: 400 | 401 | 403, message: string): Verdict => ({
    allowed: false,
    status,
    message,
    corsOrigin,
  });
  if (!isOwnHost(headers.host)) return refuse(400, "The Host header is not this machine.");
  if (trust === "extension" && !isWatcherRoute(method, path)) {
    return refuse(403, "A browser extension may only send what its watcher sees.");
  }
  // A page gets no answer it could read; a request that changes something must not even be carried out.
  if (trust === "stranger" && !READING.includes(method))
    return refuse(403, "This origin may not write.");
  if (method === "OPTIONS" || path === "/api/0/info" || options.apiKey === null)
    return { allowed: true, corsOrigin };
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? "";
  if (isSame(given, options.apiKey)) return { allowed: true, corsOrigin };
  return refuse(401, "This server wants its key: Authorization: Bearer KEY.");
}

const READING = ["GET", "HEAD", "OPTIONS"];

function isOwnHost(host: string | undefined): boolean {
  if (host === undefined) return false;
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(host)?.[1]?.toLowerCase();
  return name === "localhost" || name === "127.0.0.1" || name === "[::1]";
}

/** The published watcher for Chromium; every build of another store has an id of its own. */
const CHROME_WATCHER = "chrome-extension://nglaklhklhcoonedhgnpgddginnjdadi";

function trustOf(
  origin: string,
  { port, testing, allowedOrigins }: AccessOptions,
): "own" | "extension" | "stranger" {
  const own = [`http://127.0.0.1:${port}`, `http://localhost:${port}`, CHROME_WATCHER];
  if (testing) own.push("http://127.0.0.1:27180", "http://localhost:27180");
  if (own.includes(origin) || allowedOrigins.includes(origin)) return "own";
  if (testing && /^chrome-extension:\/\/[a-p]{32}$/.test(origin)) return "own";
  // Firefox gives each installation an id of its own, so that any extension could be the watcher: hence the routes.
  return /^moz-extension:\/\/[\w-]+$/.test(origin) ? "extension" : "stranger";
}

function isWatcherRoute(method: string, path: string): boolean {
  if (method === "OPTIONS") return true;
  if (method === "GET") return path === "/api/0/info";
  return (
    method === "POST" && /^\/api\/0\/buckets\/aw-watcher-web-[^/]+(?:\/heartbeat)?$/.test(path)
  );
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
