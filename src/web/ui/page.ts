/**
 * What every view of the page works with: the daemon, the state of the connection, where the page stands and
 * how times are told. Views get it by `usePage`; one that stays open for days is told when another day begins, and
 * gets another where the machine was given another zone.
 */
import { computed, type ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { createApiClient, type ApiClient } from "./api-client.ts";
import { createConnection, type Connection } from "./connection.ts";
import { createFormats, type Formats } from "./formats.ts";
import { createPresent } from "./present.ts";
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
  /** The day that it is, as a number of `clock`. */
  readonly today: ReadonlySignal<number>;
}

/** The page of this tab, another one in each zone that the machine is given. */
export function createPage(): ReadonlySignal<Page> {
  const api = createApiClient();
  const connection = createConnection(api);
  const router = createRouter();
  const { nowUs, timeZone } = createPresent();
  return computed(() => {
    const formats = createFormats(navigator.language, timeZone.value);
    const clock = createWallClock(formats.timeZone);
    const today = computed(() => clock.dayNumber(nowUs.value));
    return { api, connection, router, formats, clock, today };
  });
}

export const PageContext = createContext<Page | null>(null);

/** The page that this component stands on. */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error("A view stands outside of the page.");
  return page;
}
