/**
 * One event told by two devices: a device that left and joined anew tells its record once more under a new name, as
 * does one that began as a copy of another. What two devices saw at once may begin in the same microsecond with the same
 * facts: of two that take part only what ends together too is one event. What a device told under its former name may have
 * gone on, or been cut, before it tells it again.
 */
import type { StoreDatabase } from "../database.ts";
import { IS_GONE } from "../devices.ts";

/** Finds what stands here already under another device's name. */
export interface RemoteCopies {
  /** Whether the event is one of this device's own. */
  readonly isOwn: (event: ToldEvent) => boolean;
  /** The other devices that take part and tell the event too, and how long it lasts there. */
  readonly toldBy: (
    event: ToldEvent,
  ) => readonly { readonly deviceKey: number; readonly durationUs: number }[];
  /** The devices that take no part any more and told the event before. */
  readonly formerOf: (event: ToldEvent) => readonly number[];
}

/** Two devices do not begin the same thing in the same microsecond: of one beginning it is one event, however long. */
export interface ToldEvent {
  readonly deviceKey: number;
  readonly startUs: number;
  readonly labelId: number;
}

export function createRemoteCopies(database: StoreDatabase): RemoteCopies {
  const own = database.prepare("SELECT 1 FROM event WHERE start_us = ? AND label_id = ?");
  const present = database.prepare<{ deviceKey: number; durationUs: number }>(
    `SELECT device_key AS deviceKey, duration_us AS durationUs
       FROM remote_event JOIN device ON device.key = device_key
      WHERE start_us = ? AND label_id = ? AND device_key <> ? AND NOT ${IS_GONE}`,
  );
  const former = database.prepare<{ key: number }>(
    `SELECT device_key AS key FROM remote_event JOIN device ON device.key = device_key
      WHERE start_us = ? AND label_id = ? AND device_key <> ? AND ${IS_GONE}`,
  );
  return {
    isOwn: ({ startUs, labelId }) => own.get(startUs, labelId) !== undefined,
    toldBy: ({ deviceKey, startUs, labelId }) => present.all(startUs, labelId, deviceKey),
    formerOf: ({ deviceKey, startUs, labelId }) =>
      former.all(startUs, labelId, deviceKey).map(({ key }) => key),
  };
}
