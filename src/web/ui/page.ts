/**
 * What every view of the page works with: the daemon, the state of the connection, where the page stands and
 * how times are told. One object for the life of the tab; views get it by `usePage`.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { createApiClient, type ApiClient } from "./api-client.ts";
import { createConnection, type Connection } from "./connection.ts";
import { createFormats, type Formats } from "./formats.ts";
import { createRouter, type Router } from "./router.ts";
import { createWallClock, type WallClock } from "./wall-clock.ts";

export interface Page {
  readonly api: ApiClient;
  readonly connection: Connection;
  readonly router: Router;
  /** Dates, times and durations as the browser's language and zone have them. */
  readonly formats: Formats;
  /** Days of the same zone. */
  readonly clock: WallClock;
}

export function createPage(): Page {
  const api = createApiClient();
  const connection = createConnection(api);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const formats = createFormats(navigator.language, timeZone);
  const clock = createWallClock(formats.timeZone);
  return { api, connection, router: createRouter(), formats, clock };
}

export const PageContext = createContext<Page | null>(null);

/** The page that this component stands on. */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error("A view stands outside of the page.");
  return page;
}
