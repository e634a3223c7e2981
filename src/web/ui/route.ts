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
