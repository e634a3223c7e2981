/** Devices with stores of their own that take part in a hub of real servers, in real time. */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { EventFacts, RawFacts } from "../../../src/capture/events.ts";
import { systemClock, type Clock } from "../../../src/clock.ts";
import type { HubDriver } from "../../../src/hub/driver.ts";
import { openHub, type Hub } from "../../../src/hub/hub.ts";
import {
  createIdentity,
  readIdentity,
  readJoinCode,
  writeIdentity,
  writeJoinCode,
} from "../../../src/hub/identity.ts";
import type { TravellingWish } from "../../../src/store/forget/plan.ts";
import { silentLog } from "../../../src/log.ts";
import { carryOut } from "../../../src/store/forget.ts";
import { planForget } from "../../../src/store/forget/plan.ts";
import { openEventStore, type EventStore } from "../../../src/store/events.ts";
import { storable } from "../../helpers/storable.ts";
import type { ClusterRig } from "./cluster-rig.ts";

export interface HubDevice {
  readonly id: string;
  readonly directory: string;
  store: EventStore;
  hub: Hub;
  driver: HubDriver;
  /** What another device joins with. */
  readonly code: () => string;
  /** Records windows with these titles, a second each, one after the other. Gives the time of the first. */
  readonly record: (titles: readonly string[]) => number;
  /** Titles that it knows of the windows of other devices, oldest first. */
  readonly heard: () => string[];
  /** Forgets here, and tells the others, as the daemon does. */
  readonly forget: (match: string) => Promise<void>;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly copyTo: (folder: string) => void;
  readonly copyFrom: (folder: string) => void;
}

export interface HubDeviceOptions {
  readonly cluster: ClusterRig;
  /** A temporary folder. */
  readonly home: string;
  /** Also that of its key: each device has one of its own. */
  readonly name: string;
  /** Absent: it makes a hub. */
  readonly code?: string;
  readonly clock?: Clock;
  /** A data folder that it has already, with an identity in it. */
  readonly copyOf?: string;
  /** It knows where the hub is and has another key. */
  readonly hasWrongKey?: boolean;
}

let made = 0;

export async function openHubDevice(options: HubDeviceOptions): Promise<HubDevice> {
  const { cluster, home, name, code, clock = systemClock } = options;
  const directory = options.copyOf ?? join(home, `${name}-${(made += 1)}`);
  if (options.copyOf === undefined) {
    mkdirSync(directory);
    const joined = code === undefined ? {} : { code: readJoinCode(code) };
    const identity = createIdentity({ name, withHistory: true, ...joined });
    const { ring } = createIdentity({ name, withHistory: true });
    writeIdentity(directory, options.hasWrongKey === true ? { ...identity, ring } : identity);
  }
  const identity = readIdentity(directory);
  if (identity === null) throw new Error("no identity");
  let nextUs = systemClock.nowUs() - 3_600_000_000;

  const open = async () => {
    const store = openEventStore({ directory, clock, log: silentLog });
    const driver = await cluster.open(name, identity.device, { hub: identity.hub });
    const hub = openHub({
      driver,
      store,
      directory,
      admit,
      forget: async (wish) => forgetIn(store, wish),
      onChange: () => {},
      turn: () => new Promise((resolve) => setImmediate(resolve)),
      clock,
      log: silentLog,
    });
    return { store, driver, hub };
  };

  const device: HubDevice = {
    id: identity.device,
    directory,
    ...(await open()),
    code: () => {
      const now = readIdentity(directory);
      if (now === null) throw new Error("no identity");
      return writeJoinCode(now, { driver: "nats", servers: [] });
    },
    record: (titles) => {
      const startUs = nextUs;
      device.store.database.transaction(() => {
        for (const title of titles) {
          const span = { startUs: nextUs, endUs: nextUs + 1_000_000 };
          nextUs += 1_000_000;
          device.store.begin(windowFacts(title), { ...span, utcOffsetMinutes: 0, timeZone: "UTC" });
        }
      });
      return startUs;
    },
    heard: () =>
      [...device.store.remote().all()]
        .flat()
        .flatMap(({ event }) =>
          event.kind === "window" && event.title !== null ? [String(event.title)] : [],
        ),
    forget: async (match) => {
      const wish = { fromUs: null, toUs: null, app: null, match, atUs: clock.nowUs() };
      await forgetIn(device.store, wish);
      device.hub.forgotten(wish, []);
    },
    start: async () => void Object.assign(device, await open()),
    stop: async () => {
      await device.hub.close();
      device.store.close();
    },
    copyTo: (folder) => cpSync(directory, folder, { recursive: true }),
    copyFrom: (folder) => cpSync(folder, directory, { recursive: true, force: true }),
  };
  return device;
}

function windowFacts(title: string): EventFacts {
  return { kind: "window", app: storable("Code"), title: storable(title), place: null };
}

/** Lets everything by: what a gate does is tested with the gate. */
function admit(facts: RawFacts): EventFacts {
  return facts as EventFacts;
}

/** What the daemon does with a wish, without its proof. */
async function forgetIn(store: EventStore, wish: TravellingWish): Promise<void> {
  const span = { fromUs: wish.fromUs ?? 0, toUs: wish.toUs ?? wish.atUs };
  const { match } = wish;
  const isMeant =
    match === null
      ? null
      : (facts: EventFacts) => facts.kind === "window" && facts.title?.includes(match) === true;
  await carryOut(store, await planForget(store, { span, isMeant }));
}
