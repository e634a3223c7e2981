/**
 * Who may ask the page's server. It promises that a rebound name, another origin, a page that embeds ours and another
 * server on this machine are turned away before anything of their request is looked at. Pure.
 *
 * @see https://fetch.spec.whatwg.org/#origin-header and https://w3c.github.io/webappsec-fetch-metadata/
 */
import type { IncomingMessage } from "node:http";
import { ActivityError } from "../errors.ts";

/** Only this name: cookies belong to names, so that one under another name could not be found again. */
export function hostOf(port: number): string {
  return `127.0.0.1:${port}`;
}

/** Why a request is turned away, or null. */
export function pageRefusal(
  request: Pick<IncomingMessage, "method" | "url" | "headers">,
  port: number,
): ActivityError | null {
  const { method = "", url = "", headers } = request;
  const own = hostOf(port);
  // RFC 9112 §3.2.2: the address of another server, as a client of a proxy would ask for it.
  if (!url.startsWith("/")) {
    return new ActivityError("bad_request", "The request names another server.", "Ask for a path.");
  }
  if (headers.host !== own) {
    return refused(`The Host ${quote(headers.host)} is not this page.`, own);
  }
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${own}`) {
    return refused(`Requests from ${quote(origin)} are refused.`, own);
  }
  const isReading = method === "GET" || method === "HEAD";
  // Every browser says where a page's POST comes from; what does not say it is none of ours.
  if (!isReading && origin === undefined) return refused("The request names no Origin.", own);
  const site = headerOf(headers["sec-fetch-site"]);
  if (isReading && isTopLevel(headers) && !url.startsWith("/api/")) return null;
  // "none": by the owner's own hand, such as an address that was typed.
  if (site !== null && site !== "same-origin" && site !== "none") {
    return refused("The request comes from another page.", own);
  }
  if (headerOf(headers["sec-fetch-mode"]) === "navigate" && !isTopLevel(headers)) {
    return refused("The page is shown in no other page.", own);
  }
  return null;
}

/** A link that was followed, or an address that was typed, in a tab of its own. */
function isTopLevel(headers: IncomingMessage["headers"]): boolean {
  return (
    headerOf(headers["sec-fetch-mode"]) === "navigate" &&
    headerOf(headers["sec-fetch-dest"]) === "document"
  );
}

function headerOf(value: string | readonly string[] | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function refused(message: string, own: string): ActivityError {
  return new ActivityError("forbidden_origin", message, `The page is at http://${own}/`);
}

function quote(text = ""): string {
  return JSON.stringify(text.slice(0, 100));
}
