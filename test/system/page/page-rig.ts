/**
 * The page as its owner meets it: a daemon with a record of its own, the link that `activityd open` prints, and
 * Debian's Chromium. It promises that nothing the page shows came from elsewhere and that its console stays silent.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import type { EventFacts, StorableText } from "../../../src/capture/events.ts";
import { silentLog } from "../../../src/log.ts";
import { openEventStore } from "../../../src/store/events.ts";
import { openDaemonRig, type DaemonRig } from "../daemon-rig.ts";
import { createProcesses, type Processes } from "../processes.ts";

/** One event of the record that the daemon finds at its start. */
export interface SeededEvent {
  readonly facts: EventFacts;
  readonly startUs: number;
  readonly endUs: number;
}

export interface PageRig extends DaemonRig {
  readonly processes: Processes;
  /** Opens the page by a link of its own in a browser of its own, at a view such as `privacy`. */
  readonly open: (view: string, options?: BrowserContextOptions) => Promise<Page>;
  /** What the consoles of all pages said that is worth a look. */
  readonly complaints: () => readonly string[];
}

const ZONE = "Europe/Berlin";

/** Starts a daemon whose record holds `events`. `port = 0`: each daemon takes a free one. */
export async function openPageRig(
  events: readonly SeededEvent[],
  config = "[page]\nport = 0\n",
): Promise<PageRig> {
  const processes = createProcesses();
  const rig = openDaemonRig(processes, { TZ: ZONE }, config);
  seed(join(rig.home, "data"), events);
  await rig.start();
  const complaints: string[] = [];
  let browser: Browser | null = null;
  return {
    ...rig,
    processes,
    complaints: () => complaints,
    open: async (view, options = {}) => {
      browser ??= await chromium.launch({
        executablePath: "/usr/bin/chromium",
        args: ["--no-sandbox"],
      });
      const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        locale: "en-GB",
        timezoneId: ZONE,
        ...options,
      });
      const page = await context.newPage();
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning")
          complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      const { out, talk } = await rig.run(["open", "--print"]);
      const link = /http:\/\/\S+/.exec(out)?.[0];
      if (link === undefined) throw new Error(`no link was printed: ${out}${talk}`);
      await page.goto(link);
      await page.goto(new URL(`/#/${view}`, page.url()).href);
      return page;
    },
    close: async () => {
      await browser?.close();
      await rig.close();
    },
  };
}

/** A window event. Only the privacy gate makes the brand of its texts; these are a test's own. */
export function windowFacts(app: string, title: string, place: string | null = null): EventFacts {
  return {
    kind: "window",
    app: app as StorableText,
    title: title as StorableText,
    place: place as StorableText | null,
  };
}

function seed(directory: string, events: readonly SeededEvent[]): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const clock = {
    nowUs: () => Date.now() * 1000,
    monotonicUs: () => Number(process.hrtime.bigint() / 1000n),
    timeZone: () => ZONE,
  };
  const store = openEventStore({ directory, clock, log: silentLog });
  for (const { facts, startUs, endUs } of events) {
    store.begin(facts, { startUs, endUs, utcOffsetMinutes: 60, timeZone: ZONE });
  }
  store.settle();
  store.close();
}
