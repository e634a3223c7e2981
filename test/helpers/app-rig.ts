/** The whole daemon in this process, for tests of what an owner asks of it. */
import { onTestFinished } from "vitest";
import { createActivityApp, type ActivityApp } from "../../src/app.ts";
import type { ActivityEvent } from "../../src/capture/events.ts";
import { parseConfig } from "../../src/config.ts";
import { ActivityError } from "../../src/errors.ts";
import { silentLog } from "../../src/log.ts";
import { resolvePaths } from "../../src/paths.ts";
import { recoverHere } from "../../src/store/recovery/aside.ts";
import { createFakeClock } from "./fake-clock.ts";
import { createFakeDesktop } from "./fake-desktop.ts";
import { createTempHome } from "./temp-home.ts";

/** A range of all times. */
export const ALL = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER, limit: 100_000 };

/** A daemon in this process on a desktop that a test moves, in a home of its own. */
export async function startApp({
  home = createTempHome(),
  config = "",
  clock = createFakeClock("2026-11-30T12:00:00Z"),
  recoverer = recoverHere,
} = {}) {
  const desktop = createFakeDesktop();
  const env = { ACTIVITYD_HOME: home };
  const open = (text: string): ActivityApp =>
    createActivityApp({
      config: parseConfig(text, "config.toml"),
      paths: resolvePaths(env),
      env,
      clock,
      log: silentLog,
      registry: desktop.registry,
      recoverer,
    });
  const apps: ActivityApp[] = [];
  const launch = async (text = config): Promise<ActivityApp> => {
    const app = open(text);
    apps.push(app);
    await app.start();
    return app;
  };
  onTestFinished(async () => {
    for (const app of apps) await app.close();
  });
  /** Lets time pass as it does while somebody works: more at once would be a stalled machine. */
  const work = (minutes: number): void => {
    for (let step = 0; step < minutes * 3; step++) {
      clock.advanceMs(20_000);
      desktop.poll();
    }
  };
  return { home, desktop, clock, work, launch, app: await launch() };
}

/** The titles of the windows among events. */
export const titlesOf = (events: readonly ActivityEvent[]) =>
  events.flatMap((event) => (event.kind === "window" ? [event.title] : []));

/** Code and message with which something was refused. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ActivityError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
}
