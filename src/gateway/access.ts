/**
 * Who may use the gateway. It promises that a web page, another user of the machine and a rebound name are
 * turned away before anything of their request is looked at.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { ActivityError } from "../errors.ts";
import { writeWhole } from "../whole-file.ts";

export interface AccessRules {
  readonly port: number;
  readonly token: string;
  /** Origins of pages and programs that may ask, compared letter for letter. */
  readonly allowedOrigins: readonly string[];
}

/**
 * Why a request is turned away, or null.
 *
 * - `bad_request`: the address of another server
 * - `forbidden_origin`: a Host that is not this very address, or an Origin that was not allowed
 * - `unauthorized`: the token is absent or wrong
 */
export function accessRefusal(request: IncomingMessage, rules: AccessRules): ActivityError | null {
  const { host, origin, authorization } = request.headers;
  // RFC 9112 §3.2.2: the address of another server, as a client of a proxy would ask for it. This is none.
  if (request.url?.startsWith("/") !== true && request.method !== "OPTIONS") {
    return new ActivityError(
      "bad_request",
      "The request names another server.",
      "Ask for a path, such as /v1/models.",
    );
  }
  // What a page on a rebound name sends: its own name, at our address.
  if (host !== `127.0.0.1:${rules.port}` && host !== `localhost:${rules.port}`) {
    return new ActivityError(
      "forbidden_origin",
      `The Host ${JSON.stringify((host ?? "").slice(0, 100))} is not this gateway.`,
      `Use http://127.0.0.1:${rules.port}/v1`,
    );
  }
  if (origin !== undefined && !rules.allowedOrigins.includes(origin)) {
    return new ActivityError(
      "forbidden_origin",
      `Requests from ${JSON.stringify(origin.slice(0, 100))} are refused.`,
      "Allow a page or program with: activityd gateway --allow-origin ORIGIN",
    );
  }
  // A preflight carries no token by its nature (Fetch §4.8), and gets no answer but the headers.
  if (request.method === "OPTIONS" && origin !== undefined) return null;
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1] ?? "";
  // An empty token is none, whatever the gateway was given for one.
  if (given !== "" && isSame(given, rules.token)) return null;
  return new ActivityError(
    "unauthorized",
    given === "" ? "The request has no token." : "The token is wrong.",
    "Set OPENAI_API_KEY to the token that activityd gateway prints.",
  );
}

/** Compares in a time that tells nothing, of length neither. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** The token in the file at `path` (mode 0600), made at the first start, so that clients keep their setting. */
export function readOrMakeToken(path: string): string {
  try {
    const kept = readFileSync(path, "utf8").trim();
    if (/^adg_[\w-]{43}$/.test(kept)) {
      chmodSync(path, 0o600);
      return kept;
    }
  } catch (cause) {
    const absent = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (!absent) throw cause;
  }
  const token = `adg_${randomBytes(32).toString("base64url")}`;
  writeWhole(path, `${token}\n`);
  return token;
}
