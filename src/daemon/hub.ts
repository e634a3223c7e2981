/**
 * The hub beside a running daemon, loaded where the settings name one. It promises that a hub which cannot be opened
 * is told among the problems and keeps nothing else from running.
 */
import { admitFacts } from "../capture/privacy/facts.ts";
import type { ActivityApp } from "../app.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { ActivityError } from "../errors.ts";
import type { HubDriver, OpenHubDriver } from "../hub/driver.ts";
import { leftUnheard } from "../hub/hub-report.ts";
import { openHub } from "../hub/hub.ts";
import { requireIdentity } from "../hub/identity.ts";
import type { Log } from "../log.ts";
import { NO_HUB, type HubPort } from "../owner/hub.ts";

export interface HubServiceOptions {
  readonly app: Pick<ActivityApp, "others">;
  readonly config: Config;
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Takes part in the hub that the settings name. */
export async function openHubService(
  options: HubServiceOptions,
): Promise<{ readonly close: () => Promise<void> }> {
  const { app, config, dataDirectory, clock, log } = options;
  const { others } = app;
  let device: string | null = null;
  try {
    const identity = requireIdentity(dataDirectory);
    device = identity.device;
    const open = await loadDriver(config.hub.driver);
    const driver = await open({
      hub: identity.hub,
      device: identity.device,
      settings: { ...config.hub, keep_days: keepDays(config) },
      clock,
      log,
    });
    const hub = await openOrClose(driver, () =>
      openHub({
        driver,
        store: others.store,
        directory: dataDirectory,
        admit: (facts, atUs) => admitFacts(others.gate, facts, atUs),
        forget: others.forget,
        onChange: others.changed,
        turn: others.turn,
        clock,
        log,
      }),
    );
    others.attach(hub);
    return {
      close: async () => {
        others.attach(null);
        await hub.close();
      },
    };
  } catch (thrown) {
    if (!(thrown instanceof ActivityError)) throw thrown;
    log.error("the hub cannot be opened", { code: thrown.code });
    others.attach(brokenHub(thrown, device));
    return { close: async () => others.attach(null) };
  }
}

/** Of the two drivers one is loaded. */
async function loadDriver(driver: Config["hub"]["driver"]): Promise<OpenHubDriver> {
  if (driver !== "nats") return (await import("../hub/folder.ts")).openFolderDriver;
  return (await import("../hub/nats.ts")).openNatsDriver;
}

async function openOrClose<T>(driver: HubDriver, open: () => T): Promise<T> {
  try {
    return open();
  } catch (thrown) {
    await driver.close();
    throw thrown;
  }
}

/** The hub must not outlive what the owner keeps. */
function keepDays({ hub, store }: Config): number {
  return store.keep_days === 0 ? hub.keep_days : Math.min(hub.keep_days, store.keep_days);
}

/** A hub that only says why it is none, and can be left: there is nobody to say goodbye to. */
function brokenHub(error: ActivityError, device: string | null): HubPort {
  const problem = { reason: error.message, remedy: error.hint };
  return {
    self: () => null,
    request: async (request) => {
      if (request !== null && request.action !== "leave") throw error;
      const notes = request === null || device === null ? [] : [leftUnheard(device)];
      return { ...NO_HUB, problems: [problem], notes };
    },
    forgotten: () => {},
    problems: () => [problem],
    notes: () => [],
  };
}
