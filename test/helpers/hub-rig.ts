/** Devices with stores of their own in one hub in memory, whose time a test moves by hand. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { EventFacts, RawFacts } from "../../src/capture/events.ts";
import { ActivityError } from "../../src/errors.ts";
import { openHub, type Hub } from "../../src/hub/hub.ts";
import {
  createIdentity,
  readIdentity,
  readJoinCode,
  writeIdentity,
  writeJoinCode,
} from "../../src/hub/identity.ts";
import type { TravellingWish } from "../../src/store/forget/plan.ts";
import { silentLog } from "../../src/log.ts";
import { openEventStore, type EventStore } from "../../src/store/events.ts";
import { carryOut } from "../../src/store/forget.ts";
import type { WishOrigin } from "../../src/store/event-walk.ts";
import { planForget } from "../../src/store/forget/plan.ts";
import type { RemoteId } from "../../src/store/devices/remote-reader.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { createMemoryHub, type MemoryDriver, type MemoryHub } from "./memory-hub.ts";
import { storable } from "./storable.ts";
import { until } from "./until.ts";

export const S = 1_000_000;
export const T0 = Date.parse("2026-05-04T09:00:00Z") * 1000;

export interface HubRig {
  readonly hub: MemoryHub;
  readonly clock: FakeClock;
  /** A device with an identity; the first one makes the hub. */
  readonly add: (name: string, options?: AddOptions) => RigDevice;
  /** Lets time pass and records travel until nothing moves any more. */
  readonly settle: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface AddOptions {
  readonly withHistory?: boolean;
  /** The code to join with; that of the first device as it is now unless given. */
  readonly code?: string;
  /** Another hub than that of the rig, with the same records in it. */
  readonly hub?: MemoryHub;
  /** Done with the store before the hub is opened. */
  readonly before?: (store: EventStore) => void;
  readonly clock?: FakeClock;
  /** Instead of forgetting what was wished elsewhere. */
  readonly forget?: (wish: TravellingWish) => Promise<void>;
}

export interface RigDevice {
  readonly name: string;
  readonly directory: string;
  /** Another one after it joined anew. */
  id: string;
  store: EventStore;
  hub: Hub;
  driver: MemoryDriver;
  readonly code: () => string;
  /** Leaves, or was left out, and takes part again by a code, as its owner is told to do. */
  readonly joinAnew: (code: string) => Promise<void>;
  /** Ends this device as a power cut would, and starts it again. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly start: () => void;
  readonly begin: (title: string, slot: number, lengthS?: number) => number;
  /** Forgets in the store; one wish after the other, as in the daemon. Returns what went of other devices' record. */
  readonly forget: (wish: TravellingWish) => Promise<readonly RemoteId[]>;
  readonly isForgetting: () => boolean;
  /** Titles of windows that its gate keeps out, whoever recorded them. */
  readonly withheld: Set<string>;
}

export function createHubRig(home: string): HubRig {
  const clock = createFakeClock("2026-05-04T12:00:00Z");
  const hub = createMemoryHub(clock);
  const devices: RigDevice[] = [];

  const add = (name: string, options: AddOptions = {}): RigDevice => {
    const directory = join(home, `${name}-${devices.length}`);
    mkdirSync(directory);
    const [first] = devices;
    const code = options.code ?? first?.code();
    writeIdentity(
      directory,
      createIdentity({
        name,
        withHistory: options.withHistory ?? true,
        ...(code === undefined ? {} : { code: readJoinCode(code) }),
      }),
    );
    const device = openRigDevice(options.hub ?? hub, directory, name, { clock, ...options });
    devices.push(device);
    return device;
  };

  const settle = async (): Promise<void> => {
    let quiet = 0;
    for (let round = 0; quiet < 3; round += 1) {
      if (round > 500) throw new Error("the hub does not come to rest");
      const before = hub.records.length;
      clock.advanceMs(6_000);
      for (const device of devices) {
        device.hub.tick();
        await device.hub.flush();
      }
      for (let turn = 0; turn < 30; turn += 1) {
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
      quiet = hub.records.length === before ? quiet + 1 : 0;
    }
  };

  return {
    hub,
    clock,
    add,
    settle,
    close: async () => {
      for (const device of devices) await device.stop();
    },
  };
}

function openRigDevice(
  hub: MemoryHub,
  directory: string,
  name: string,
  { clock, before = () => {}, forget }: AddOptions & { readonly clock: FakeClock },
): RigDevice {
  let isOpen = false;
  let isForgetting = false;
  const withheld = new Set<string>();

  const oneAtATime = async (store: EventStore, wish: TravellingWish, origin?: WishOrigin) => {
    if (isForgetting) throw new ActivityError("database_busy", "Something is being forgotten.");
    isForgetting = true;
    try {
      return await forgetIn(store, wish, origin);
    } finally {
      isForgetting = false;
    }
  };

  const open = () => {
    const identity = readIdentity(directory);
    if (identity === null) throw new Error("no identity");
    const store = openEventStore({ directory, clock, log: silentLog });
    before(store);
    const driver = hub.open(identity.device);
    const opened = openHub({
      driver,
      store,
      directory,
      admit: (facts) =>
        facts.kind === "window" && withheld.has(facts.title ?? "") ? null : admit(facts),
      forget: forget ?? (async (wish, origin) => void (await oneAtATime(store, wish, origin))),
      onChange: () => {},
      turn: nextTurn,
      clock,
      log: silentLog,
    });
    isOpen = true;
    return { id: identity.device, store, driver, hub: opened };
  };

  const device: RigDevice = {
    name,
    directory,
    withheld,
    ...open(),
    joinAnew: async (code) => {
      await device.hub.request({ action: "leave" });
      await device.stop();
      const identity = { name, withHistory: true, code: readJoinCode(code) };
      writeIdentity(directory, createIdentity(identity));
      device.start();
    },
    code: () => {
      const now = readIdentity(directory);
      if (now === null) throw new Error("no identity");
      return writeJoinCode(now, { driver: "folder", servers: [] });
    },
    stop: async () => {
      if (!isOpen) return;
      isOpen = false;
      await device.hub.close();
      device.store.close();
    },
    start: () => {
      Object.assign(device, open());
    },
    restart: async () => {
      await device.stop();
      device.start();
    },
    forget: (wish) => oneAtATime(device.store, wish),
    isForgetting: () => isForgetting,
    begin: (title, slot, lengthS = 10) => {
      const startUs = T0 + slot * 60 * S;
      const span = { startUs, endUs: startUs + lengthS * S };
      return device.store.begin(windowFacts(title), {
        ...span,
        utcOffsetMinutes: 0,
        timeZone: "UTC",
      });
    },
  };
  return device;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

export function windowFacts(title: string): EventFacts {
  return { kind: "window", app: storable("Code"), title: storable(title), place: null };
}

/** Lets everything by: what a gate does is tested with the gate. */
function admit(facts: RawFacts): EventFacts {
  return facts as EventFacts;
}

/** What the daemon does with a wish of its owner, without its proof. */
export async function forgetOn(device: RigDevice, wish: TravellingWish): Promise<void> {
  const elsewhere = await until("nothing else is forgotten there", () =>
    device.isForgetting() ? null : device.forget(wish),
  );
  device.hub.forgotten(wish, elsewhere);
}

/** Returns what went of other devices' record. */
async function forgetIn(
  store: EventStore,
  wish: TravellingWish,
  origin?: WishOrigin,
): Promise<readonly RemoteId[]> {
  const span = { fromUs: wish.fromUs ?? 0, toUs: wish.toUs ?? wish.atUs };
  const { match } = wish;
  const isMeant =
    match === null
      ? null
      : (facts: EventFacts) => facts.kind === "window" && facts.title?.includes(match) === true;
  const meant = { span, isMeant };
  const plan = await planForget(
    store,
    origin === undefined ? meant : { ...meant, elsewhere: origin },
  );
  await carryOut(store, plan);
  return plan.remote.whole;
}

/** What a device knows of another: starts, ends and titles of its windows. */
export function knownOf(device: RigDevice, other: RigDevice): string[] {
  const row = device.store.database
    .prepare<{ key: number }>("SELECT key FROM device WHERE id = ?")
    .get(other.id);
  return [...device.store.remote().all()]
    .flat()
    .filter(({ deviceKey }) => deviceKey === row?.key)
    .map(({ event }) => lineOf(event));
}

/** What a device recorded itself. */
export function ownOf(device: RigDevice): string[] {
  return device.store.between(0, Number.MAX_SAFE_INTEGER, { limit: 100_000 }).events.map(lineOf);
}

function lineOf(event: { readonly startUs: number; readonly endUs: number } & EventFacts): string {
  const title = event.kind === "window" ? event.title : event.kind;
  return `${(event.startUs - T0) / S}–${(event.endUs - T0) / S} ${title}`;
}
