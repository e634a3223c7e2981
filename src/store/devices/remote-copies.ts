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
  /** Whether the event is one of this device's own, or one that a device which takes part tells too. */
  readonly isTold: (event: ToldEvent) => boolean;
  /** Whether a device that takes part tells an event of this beginning, however long it lasts there. */
  readonly isPresent: (event: Omit<ToldEvent, "durationUs">) => boolean;
  /** The devices that take no part any more and told the event before. */
  readonly formerOf: (event: Omit<ToldEvent, "durationUs">) => readonly number[];
  /** Whether it was forgotten for good while it stood under the name of a device that takes no part any more. */
  readonly isForgotten: (startUs: number) => boolean;
}

export interface ToldEvent {
  readonly deviceKey: number;
  readonly startUs: number;
  readonly durationUs: number;
  readonly labelId: number;
}

/** `forGood`: the version under which an owner's word to forget is kept. */
export function createRemoteCopies(database: StoreDatabase, forGood: number): RemoteCopies {
  const own = database.prepare("SELECT 1 FROM event WHERE start_us = ? AND label_id = ?");
  const present = database.prepare(
    `SELECT 1 FROM remote_event JOIN device ON device.key = device_key
      WHERE start_us = ? AND duration_us = ? AND label_id = ? AND device_key <> ? AND NOT ${IS_GONE} LIMIT 1`,
  );
  const begunPresent = database.prepare(
    `SELECT 1 FROM remote_event JOIN device ON device.key = device_key
      WHERE start_us = ? AND label_id = ? AND device_key <> ? AND NOT ${IS_GONE} LIMIT 1`,
  );
  const former = database.prepare<{ key: number }>(
    `SELECT device_key AS key FROM remote_event JOIN device ON device.key = device_key
      WHERE start_us = ? AND label_id = ? AND device_key <> ? AND ${IS_GONE}`,
  );
  const forgotten = database.prepare(
    `SELECT 1 FROM remote_erased WHERE device_key IN (SELECT key FROM device WHERE ${IS_GONE})
        AND from_us = ? AND to_us = ? AND version = ${forGood} LIMIT 1`,
  );
  return {
    isTold: ({ deviceKey, startUs, durationUs, labelId }) =>
      own.get(startUs, labelId) !== undefined ||
      present.get(startUs, durationUs, labelId, deviceKey) !== undefined,
    isPresent: ({ deviceKey, startUs, labelId }) =>
      begunPresent.get(startUs, labelId, deviceKey) !== undefined,
    formerOf: ({ deviceKey, startUs, labelId }) =>
      former.all(startUs, labelId, deviceKey).map(({ key }) => key),
    isForgotten: (startUs) => forgotten.get(startUs, startUs) !== undefined,
  };
}
