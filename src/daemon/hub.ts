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
import { reasonForLog, type Log } from "../log.ts";
import { NO_HUB, type HubPort } from "../owner/hub.ts";
import { recoveringError } from "../store/failures.ts";

export interface HubServiceOptions {
  readonly app: Pick<ActivityApp, "others">;
  readonly config: Config;
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Takes part in the hub that the settings name while there is a record to take part with: not while it is being recovered,
 * when nothing of it could be told, nor taken in.
 */
export async function keepHubService(
  options: HubServiceOptions,
): Promise<{ readonly close: () => Promise<void> }> {
  const { app, log } = options;
  const { store, attach } = app.others;
  let hub: { readonly close: () => Promise<void> } | null = null;
  let isClosed = false;
  const follow = async (): Promise<void> => {
    if (!isClosed && store.recovering() === null) {
      hub ??= await openHubService(options);
      return;
    }
    const ended = hub;
    hub = null;
    try {
      await ended?.close();
    } finally {
      if (!isClosed) attach(AWAY);
    }
  };
  let last = follow();
  store.onRecovering((isBegun) => {
    // At once: the hub of before would ask what is not there.
    if (isBegun) attach(AWAY);
    last = last.then(follow).catch((thrown: unknown) => {
      log.error("the hub could not follow the recovery of the record", {
        reason: reasonForLog(thrown),
      });
    });
  });
  await last;
  return {
    close: async () => {
      isClosed = true;
      last = last.then(follow);
      await last;
    },
  };
}

/** The hub while there is no record: left it cannot be either. That the record is being recovered is told already. */
const AWAY: HubPort = {
  self: () => null,
  request: async () => {
    throw recoveringError();
  },
  forgotten: () => {},
  problems: () => [],
  notes: () => [],
};

/** Takes part in the hub that the settings name. */
async function openHubService(
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
