/**
 * Events of this device and of the owner's others as one list. It promises an order by this device's clock, as far as
 * the others' clocks are known.
 */
import type { ActivityEvent, EventKind } from "../../capture/events.ts";
import { clockLeadUs, createDeviceReader } from "../devices.ts";
import type { EventStore } from "../events.ts";

/** An event, with the name of its device where that is another one. */
export type PlacedEvent = ActivityEvent & { readonly device?: string };

/** Reads events of all devices as {@link EventStore.between} does this one's: by range, the newest when there are many. */
export function readAllDevices(
  store: Pick<EventStore, "between" | "database" | "remote">,
  fromUs: number,
  toUs: number,
  options: { readonly kinds?: readonly EventKind[]; readonly limit: number },
): { readonly events: readonly PlacedEvent[]; readonly truncated: boolean } {
  const own = store.between(fromUs, toUs, options);
  const devices = createDeviceReader(store.database).all();
  if (devices.length === 0) return own;
  // Devices whose clocks agree are read at once: nearly always all of them.
  const leads = new Set(devices.map((device) => clockLeadUs(device) ?? 0));
  const found = [...leads].map((leadUs) => {
    const names = new Map(
      devices
        .filter((device) => (clockLeadUs(device) ?? 0) === leadUs)
        .map(({ key, name }) => [key, name]),
    );
    const { events, truncated } = store.remote().between(fromUs + leadUs, toUs + leadUs, options);
    return {
      truncated,
      events: events.flatMap(({ deviceKey, event }): readonly PlacedEvent[] => {
        const device = names.get(deviceKey);
        if (device === undefined) return [];
        const { startUs, endUs } = event;
        return [{ ...event, startUs: startUs - leadUs, endUs: endUs - leadUs, device }];
      }),
    };
  });
  const events = [...own.events, ...found.flatMap((part) => part.events)].sort(
    (a, b) => a.startUs - b.startUs,
  );
  return {
    events: events.slice(-options.limit),
    truncated:
      own.truncated || found.some(({ truncated }) => truncated) || events.length > options.limit,
  };
}
