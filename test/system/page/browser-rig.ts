/** A real daemon with a record, and the local page in a real browser, opened by a link as its owner opens it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Page, type Request } from "playwright-core";
import { freePort } from "../../helpers/free-port.ts";
import { until } from "../../helpers/until.ts";
import { openDaemonRig, type DaemonRig } from "../daemon-rig.ts";
import { createProcesses, type Processes } from "../processes.ts";

/** Where the pictures of each view are left, for people to look at. */
const PICTURES = fileURLToPath(new URL("../../../test-pictures", import.meta.url));

/** A year is read in a fraction of a second; on a machine that does ten other things, in tens of them. */
const SETTLED_WITHIN_MS = 60_000;

export const TIME_ZONE = "Europe/Berlin";

export interface PageRig {
  readonly daemon: DaemonRig;
  readonly processes: Processes;
  /** Opens the page in a browser of its own cookies. */
  readonly openPage: (options?: PageOptions) => Promise<OpenPage>;
  readonly close: () => Promise<void>;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  readonly lessMotion?: boolean;
  readonly locale?: string;
  /** Where to begin: `#/calendar`. */
  readonly hash?: string;
  /** What the browser's clock says and goes on saying until `page.clock` is told otherwise; its timers run. */
  readonly at?: string;
}

export interface OpenPage {
  readonly page: Page;
  /** Everything the browser complained of: errors, refusals of the policy for content. */
  readonly complaints: readonly string[];
  /** Goes to a view by the navigation and waits until it is there. */
  readonly goTo: (name: string) => Promise<void>;
  /** Waits until nothing moves and nothing is asked for. */
  readonly settle: () => Promise<unknown>;
  /** Has the machine be given another zone. */
  readonly travel: (timeZone: string) => Promise<void>;
  /** Leaves a picture of the screen. */
  readonly takePicture: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * `fill` puts a record into the data folder before the daemon starts; `config` is added to its settings; `lettersPx` is how
 * large letters are that no page has set, as somebody may choose in the browser's settings.
 */
export async function openPageRig(
  options: {
    readonly fill?: (directory: string) => void;
    readonly config?: string;
    readonly lettersPx?: number;
  } = {},
): Promise<PageRig> {
  const processes = createProcesses();
  const port = await freePort();
  const daemon = openDaemonRig(
    processes,
    { TZ: TIME_ZONE },
    `[page]\nport = ${port}\n${options.config ?? ""}`,
  );
  const directory = join(daemon.home, "data");
  mkdirSync(directory, { mode: 0o700 });
  options.fill?.(directory);
  await daemon.start();
  const browser = await launchBrowser(options.lettersPx ?? 16);
  return {
    daemon,
    processes,
    openPage: (pageOptions = {}) => openInBrowser(browser, daemon, pageOptions),
    close: async () => {
      await browser.close();
      await daemon.close();
    },
  };
}

function launchBrowser(lettersPx: number): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", `--blink-settings=defaultFontSize=${lettersPx}`],
  });
}

async function openInBrowser(
  browser: Browser,
  daemon: DaemonRig,
  options: PageOptions,
): Promise<OpenPage> {
  const { width = 1024, height = 768, scheme = "light", lessMotion = false } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: lessMotion ? "reduce" : "no-preference",
    locale: options.locale ?? "en-GB",
  });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const travel = async (timezoneId: string): Promise<void> => {
    await devtools.send("Emulation.setTimezoneOverride", { timezoneId });
  };
  await travel(TIME_ZONE);
  if (options.at !== undefined) await page.clock.setFixedTime(options.at);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.stack ?? error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  const { url } = await daemon.api.openPage();
  await page.goto(url);
  if (options.hash !== undefined) await page.goto(new URL(`/${options.hash}`, url).href);
  await page.locator("main").waitFor();

  /** Requests that are on their way; the stream of changes is always open. */
  const waiting = new Set<Request>();
  page.on("request", (request) => {
    if (!request.url().endsWith("/api/page/changes")) waiting.add(request);
  });
  page.on("requestfinished", (request) => waiting.delete(request));
  page.on("requestfailed", (request) => waiting.delete(request));
  const busy = page.locator('[aria-busy="true"], :text("Asking…")');
  const isQuiet = async (): Promise<boolean> => {
    if (waiting.size > 0) return false;
    // Two frames: what the last answer set going has begun by then.
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          requestAnimationFrame(() => requestAnimationFrame(resolve));
        }),
    );
    const asking = await busy.count();
    return waiting.size === 0 && asking === 0;
  };
  const settle = async (): Promise<void> => {
    try {
      await until(
        "nothing moves and nothing is asked for",
        async () => (await isQuiet()) && (await isQuiet()),
        SETTLED_WITHIN_MS,
      );
    } catch (cause) {
      const asked = [...waiting].map((request) => request.url()).join(", ");
      const shown = (await busy.allInnerTexts()).join(", ");
      throw new Error(`The page does not settle: asked "${asked}", busy "${shown}"`, { cause });
    }
  };
  return {
    page,
    complaints,
    settle,
    travel,
    goTo: async (name) => {
      await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
      await page
        .getByRole("heading", { level: 1, name, exact: true })
        .waitFor({ state: "attached" });
      await settle();
    },
    takePicture: async (name) => {
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${name}.jpg`), type: "jpeg", quality: 88 });
    },
    close: () => context.close(),
  };
}
