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
      const { view, params: present } = route.peek();
      const next = { view, params };
      // The address is ahead of us: what is being left, a view or a stretch of it, has no word in where the page goes.
      const asked = parseRoute(location.hash);
      if (toHash(asked.view, asked.params) !== toHash(view, present)) return;
      history.replaceState(null, "", toHash(next.view, params));
      route.value = next;
    },
    go: (view, params = {}) => {
      location.hash = toHash(view, params);
    },
  };
}
