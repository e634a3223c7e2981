/**
 * How answers of the page's server go out: with the headers that keep other sites out, and failures as one envelope.
 */
import type { ServerResponse } from "node:http";
import { httpStatusOf, toErrorEnvelope, type ActivityError } from "../errors.ts";

/** Nothing of the page is told to other sites, shown in them, or fetched from them. */
export const GUARDS = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** Sent with everything that is not a file. */
export const API_HEADERS = { ...GUARDS, "cache-control": "no-store" } as const;

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendBody(response, status, "application/json", JSON.stringify(value));
}

/** A failure as its envelope. */
export function sendFailure(response: ServerResponse, thrown: unknown): void {
  const envelope = toErrorEnvelope(thrown);
  sendJson(response, httpStatusOf(envelope.error.code), envelope);
}

/** A failure as a person reads it, where the browser shows the answer itself. */
export function showFailure(response: ServerResponse, error: ActivityError): void {
  const text = `${error.message}\n${error.hint}\n`;
  sendBody(response, httpStatusOf(error.code), "text/plain; charset=utf-8", text);
}

function sendBody(response: ServerResponse, status: number, type: string, text: string): void {
  const body = Buffer.from(text);
  response.writeHead(status, {
    ...API_HEADERS,
    "content-type": type,
    "content-length": body.byteLength,
  });
  response.end(response.req.method === "HEAD" ? undefined : body);
}
