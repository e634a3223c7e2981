/** Values of options as they are typed. It promises that what cannot be meant is refused before anything is done with it. */
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

/**
 * A whole number above 0 that was typed for `option`; `what` it counts, such as "events".
 *
 * @throws ActivityError `bad_request`
 */
export function parseCount(text: string, option: string, what: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new ActivityError(
    "bad_request",
    `Cannot read ${option} "${text}" as a number of ${what}.`,
    "Give a whole number above 0.",
  );
}
