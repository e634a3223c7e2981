/** Addresses as they are typed: what is none is refused before anything is sent there. */
import { ActivityError } from "../errors.ts";

/**
 * The address that was typed for `what`, such as "The upstream".
 *
 * @throws ActivityError `bad_request`, with `hint`, for one that is neither http nor https
 */
export function parseWebAddress(text: string, what: string, hint: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url;
  throw new ActivityError(
    "bad_request",
    `${what} ${JSON.stringify(text)} is no http or https address.`,
    hint,
  );
}
