/** Which view is shown, kept in step with the address: back, forward and bookmarks work. */
import { signal, type ReadonlySignal } from "@preact/signals";
import { parseRoute, toHash, type Route, type ViewName } from "./route.ts";

export interface Router {
  readonly route: ReadonlySignal<Route>;
  /** Changes the parameters of the present view, without a step in the history. */
  readonly replaceParams: (params: Readonly<Record<string, string>>) => void;
  readonly go: (view: ViewName, params?: Readonly<Record<string, string>>) => void;
}

export function createRouter(): Router {
  const route = signal(parseRoute(location.hash));
  addEventListener("hashchange", () => {
    route.value = parseRoute(location.hash);
  });
  return {
    route,
    replaceParams: (params) => {
      const next = { view: route.peek().view, params };
      // The address is ahead of us: a view that is being left has no word in where the page goes.
      if (parseRoute(location.hash).view !== next.view) return;
      history.replaceState(null, "", toHash(next.view, params));
      route.value = next;
    },
    go: (view, params = {}) => {
      location.hash = toHash(view, params);
    },
  };
}
