/**
 * The address of each view, behind `#` so that the server serves one page: `#/totals?day=2026-11-27` is the view
 * `totals` with its parameters.
 */

/** Every view, in the order of the navigation. */
export const VIEWS = ["timeline", "calendar", "totals", "saw", "try", "privacy", "health"] as const;

export type ViewName = (typeof VIEWS)[number];

export interface Route {
  readonly view: ViewName;
  readonly params: Readonly<Record<string, string>>;
}

/** The address of a view, for links. */
export function toHash(view: ViewName, params: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(params).toString();
  return query === "" ? `#/${view}` : `#/${view}?${query}`;
}

/** The route that an address stands for; the first view for one that stands for none. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const view = VIEWS.find((name) => name === path) ?? VIEWS[0];
  return { view, params: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * The stretch that `from` and `to` of an address name, both in seconds since 1970 UTC. Null where they name none that this
 * program could have recorded: what was cut off or mistyped leads to where an address without them leads.
 */
export function stretchOf(
  params: Readonly<Record<string, string>>,
): { readonly fromUs: number; readonly toUs: number } | null {
  const [fromUs, toUs] = [readInstant(params["from"]), readInstant(params["to"])];
  return fromUs !== null && toUs !== null && toUs > fromUs ? { fromUs, toUs } : null;
}

/** Microseconds beyond the year 2112 are no time of a record, and with a margin still whole numbers. */
const LAST_SECOND = 4_500_000_000;

function readInstant(seconds: string | undefined): number | null {
  if (seconds === undefined || !/^\d+(?:\.\d+)?$/.test(seconds)) return null;
  const value = Number(seconds);
  return value <= LAST_SECOND ? Math.round(value * 1_000_000) : null;
}
