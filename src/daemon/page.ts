/**
 * The local page in the daemon: when it is served, and what it is told beside the API. It promises that a daemon whose
 * page nobody opened loads nothing of it, and that a page which was open finds a daemon that was started anew.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ActivityApi, PageLink } from "../api.ts";
import type { ActivityApp } from "../app.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { ActivityError } from "../errors.ts";
import { createApiRouter } from "../local-api/router.ts";
import { reasonForLog, type Log } from "../log.ts";
import type { Paths } from "../paths.ts";
import { VERSION } from "../version.ts";
import type { PageAbout, PageApi, PageFinding } from "../web/page-api.ts";
import type { PageServer } from "../web/server.ts";

export interface PageService {
  /** A link that opens the page once. @throws ActivityError `page_unavailable` */
  readonly openPage: () => Promise<PageLink>;
  /**
   * Serves the page at once where a browser may still have it open. A port that is taken is logged, and tried again
   * until it is free: resolves after the first try.
   */
  readonly resume: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface PageServiceOptions {
  readonly app: ActivityApp;
  readonly config: Config;
  readonly paths: Paths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A page that lost its daemon asks again all the time. */
const TRY_AGAIN_MS = 10_000;

export function createPageService(options: PageServiceOptions): PageService {
  const { app, config, paths, clock, log } = options;
  const sessionsFile = join(paths.dataDirectory, "page-sessions.json");
  const ending = new AbortController();
  let serving: Promise<PageServer> | null = null;

  const openPage = async (): Promise<PageLink> => {
    const link = (await serveAnywhere()).link();
    // The page asks in a moment, and the process that reads takes one to begin.
    const nowUs = clock.nowUs();
    app.prepared
      .timeline({ fromUs: nowUs, toUs: nowUs + 1 }, "identity")
      .catch((thrown: unknown) => {
        log.warn("the reading process did not begin", { reason: reasonForLog(thrown) });
      });
    return link;
  };
  const api: ActivityApi = { ...app, openPage };

  const serve = async (port = config.page.port): Promise<PageServer> => {
    serving ??= start(port);
    try {
      return await serving;
    } catch (thrown) {
      // The next one tries again: the port may be free by then.
      serving = null;
      throw thrown;
    }
  };

  /**
   * Who asks for the page gets it also where its port is another's, such as that of a daemon of another user: at one that
   * is free until the daemon ends.
   */
  const serveAnywhere = async (): Promise<PageServer> => {
    try {
      return await serve();
    } catch (thrown) {
      const { isPortTaken } = await import("../web/server.ts");
      if (!isPortTaken(thrown)) throw thrown;
      log.warn("the port of the page is taken: it is served at another");
      return serve(0);
    }
  };

  const start = async (port: number): Promise<PageServer> => {
    const { servePage } = await import("../web/server.ts");
    const { openPageSessions } = await import("../web/sessions.ts");
    return servePage({
      port,
      folder: fileURLToPath(new URL("../web/ui/", import.meta.url)),
      sessions: openPageSessions({ file: sessionsFile, clock, log }),
      page: createPageApi({ ...options, ending: ending.signal }),
      createApiHandler: (parts) =>
        createApiRouter({
          ...parts,
          api,
          prepared: app.prepared,
          log,
          // The owner who looks is no client; a block that the page asks for is told to be its.
          clientOf: (route) => (route.answers === "context" ? "page" : undefined),
        }),
      log,
    });
  };

  /** Such as after a daemon of before that took its time to end. */
  const serveLater = async (): Promise<void> => {
    const { signal } = ending;
    for (let isServed = false; !isServed && !signal.aborted;) {
      await sleep(TRY_AGAIN_MS, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted)
        isServed = await serve().then(
          () => true,
          () => false,
        );
    }
  };

  return {
    openPage,
    resume: async () => {
      if (!existsSync(sessionsFile)) return;
      try {
        await serve();
      } catch (thrown) {
        const reason = thrown instanceof ActivityError ? thrown.code : reasonForLog(thrown);
        log.warn("the page is not served", { reason });
        void serveLater();
      }
    },
    close: async () => {
      ending.abort();
      const server = await serving?.catch(() => null);
      await server?.close();
    },
  };
}

/** What the page is told from. */
interface PageParts extends PageServiceOptions {
  /** Aborts when the daemon ends. */
  readonly ending: AbortSignal;
}

function createPageApi(options: PageParts): PageApi {
  const { app, clock } = options;
  return {
    changes: async function* (signal) {
      const { startedUs } = await app.status();
      for await (const change of app.follow(signal)) {
        yield { ...change, nowUs: clock.nowUs(), startedUs };
      }
    },
    findings: async () => ({ findings: await readFindings(options) }),
    about: async () => describeRecord(options),
    exportLines: () => runCommand(options, ["export"]),
  };
}

/**
 * In a process of their own: doctor reads every page of the database and an export every event, and neither may delay
 * a block.
 */
async function readFindings(options: PageParts): Promise<readonly PageFinding[]> {
  const findings: PageFinding[] = [];
  for await (const line of createInterface({ input: runCommand(options, ["doctor", "--json"]) })) {
    if (line !== "") findings.push(trustedFinding(JSON.parse(line)));
  }
  return findings;
}

/** The one place where a line of `doctor --json` gets its type: it is this very program that printed it. */
function trustedFinding(value: unknown): PageFinding {
  return value as PageFinding;
}

function runCommand({ env, log, ending }: PageParts, args: readonly string[]): Readable {
  const main = fileURLToPath(new URL("../cli/main.js", import.meta.url));
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...env },
    stdio: ["ignore", "pipe", "ignore"],
    signal: ending,
  });
  const output = child.stdout.setEncoding("utf8");
  child.once("error", (cause) => {
    if (!ending.aborted) log.warn("a command for the page failed", { reason: reasonForLog(cause) });
    output.destroy(cause);
  });
  // Whoever reads no further wants no more of it.
  output.once("close", () => child.kill());
  return output;
}

function describeRecord({ config, paths }: PageParts): PageAbout {
  const { capture, store } = config;
  const { keep_days: keepDays, max_megabytes: maxMegabytes } = store;
  return {
    version: VERSION,
    recorded: RECORDED.map(({ kind, what }) => ({ kind, on: capture[kind], what })),
    places: [
      { what: "The record", path: join(paths.dataDirectory, "activity.db") },
      { what: "Backups, the pause and the sessions of this page", path: paths.dataDirectory },
      { what: "Settings and privacy rules", path: paths.configFile },
      { what: "Log lines, without anything that was recorded", path: paths.logDirectory },
      { what: "The socket that assistants ask", path: paths.socketPath },
    ],
    keepDays: keepDays === 0 ? null : keepDays,
    maxMegabytes: maxMegabytes === 0 ? null : maxMegabytes,
  };
}

const RECORDED = [
  { kind: "window", what: "The focused window: application, title, host and path of a page." },
  { kind: "input", what: "Whether you are at the machine; no key and no movement." },
  { kind: "session", what: "Locking, sleep and the change of user." },
  { kind: "system", what: "Power, battery, network, load and memory." },
  { kind: "media", what: "Player, title and artist of what plays." },
  { kind: "notification", what: "Application and summary of notifications; never their text." },
] as const satisfies readonly { kind: keyof Config["capture"]; what: string }[];
