/**
 * Reduces an address to the place it names: host and path. It promises that query, fragment, user info and
 * path parameters never come through, and that what is no web address yields nothing.
 */
import { foldText } from "./readings.ts";

/**
 * Host (with a port that is not the default one) and path of a web address, percent-encoding undone where
 * that is readable; null for every other scheme: `data:`, `file:` and `javascript:` carry contents.
 */
export function toPlace(url: string): string | null {
  // Beyond this an address is cut; what then has no end of its host in sight cannot be trusted to be one.
  const head = url.slice(0, MAX_URL_UNITS).replace(/^view-source:/i, "");
  if (url.length > MAX_URL_UNITS && !/^[a-z]+:\/\/[^/?#]*[/?#]/i.test(head)) return null;
  // Stored places come back through the gate when a rule is applied backwards: they have no scheme.
  const address = /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(head) ? head : `https://${head}`;
  let parsed: URL;
  try {
    parsed = new URL(address);
  } catch {
    // What no browser would open is no place.
    return null;
  }
  if (!WEB_SCHEMES.has(parsed.protocol) || parsed.host === "") return null;
  const path = readPath(parsed.pathname).replace(/\/+$/, "");
  return `${parsed.host}${path}`;
}

const MAX_URL_UNITS = 8192;
const WEB_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "ftp:", "ws:", "wss:"]);

function readPath(encoded: string): string {
  let path = encoded;
  try {
    path = foldText(decodeURIComponent(encoded));
  } catch {
    // Not UTF-8: the encoded form is as good a name.
  }
  // A decoded path may have grown a query of its own; parameters such as ;jsessionid= are session ids.
  return path.replace(/[?#][^]*$/, "").replace(/;[^/]*/g, "");
}
