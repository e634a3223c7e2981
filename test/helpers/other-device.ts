/** Another device of the owner, as its records make it known to a store. */
import type { EventFacts } from "../../src/capture/events.ts";
import { createDevices, type DeviceKind, type DeviceRow } from "../../src/store/devices.ts";
import type { EventStore } from "../../src/store/events.ts";
import { storable } from "./storable.ts";

export interface ToldWindow {
  readonly app?: string;
  readonly title: string;
  readonly place?: string;
  /** By the clock of the device. */
  readonly startUs: number;
  readonly endUs: number;
  readonly isOpen?: boolean;
}

export interface OtherDevice {
  readonly key: number;
  /** A record that was sent and came in at these instants; the same unless told. */
  readonly tell: (windows: readonly ToldWindow[], sentUs: number, receivedUs?: number) => void;
  /** The same for any facts. */
  readonly tellFacts: (facts: EventFacts, startUs: number, endUs: number) => void;
  /** A record that says these events are gone. */
  readonly erase: (fromUs: number, toUs: number) => void;
  readonly set: (change: Partial<Omit<DeviceRow, "key" | "id">>) => void;
}

/** Makes a device known whose clock is `offsetUs` ahead; null: nobody can tell. */
export function createOtherDevice(
  store: EventStore,
  name: string,
  { kind = null, offsetUs = 0 }: { kind?: DeviceKind | null; offsetUs?: number | null } = {},
): OtherDevice {
  const devices = createDevices(store.database);
  const { key } = devices.ensure(name, name);
  devices.update(key, { kind, offsetUs });
  let version = 0;
  const put = (facts: EventFacts, startUs: number, endUs: number, isOpen: boolean): void => {
    const span = { startUs, endUs, utcOffsetMinutes: 0, timeZone: "UTC" };
    store.remote().put(key, (version += 1), [{ ...span, facts, isOpen }]);
  };
  return {
    key,
    tell: (windows, sentUs, receivedUs = sentUs) => {
      for (const { app = "Code", title, place = null, startUs, endUs, isOpen = false } of windows) {
        const texts = {
          app: storable(app),
          title: storable(title),
          place: place === null ? null : storable(place),
        };
        put({ kind: "window", ...texts }, startUs, endUs, isOpen);
      }
      devices.update(key, { version, sentUs, receivedUs });
    },
    tellFacts: (facts, startUs, endUs) => put(facts, startUs, endUs, false),
    erase: (fromUs, toUs) => {
      store.remote().erase(key, (version += 1), [[fromUs, toUs]]);
    },
    set: (change) => devices.update(key, change),
  };
}
