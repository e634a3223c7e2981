/**
 * One event told by two devices: a device that left and joined anew tells its record once more under a new name, as
 * does one that began as a copy of another. No two events of different devices begin in the same microsecond with the
 * same facts otherwise.
 */
import type { StoreDatabase } from "./database.ts";

/** Finds what stands here already under another device's name. */
export interface RemoteCopies {
  /** Whether the event is one of this device's own, or one that a device which takes part tells too. */
  readonly isTold: (deviceKey: number, startUs: number, labelId: number) => boolean;
  /** The devices that take no part any more and told the event before. */
  readonly formerOf: (deviceKey: number, startUs: number, labelId: number) => readonly number[];
  /** Whether it was forgotten for good while it stood under the name of a device that takes no part any more. */
  readonly isForgotten: (startUs: number) => boolean;
}

/** `forGood`: the version under which an owner's word to forget is kept. */
export function createRemoteCopies(database: StoreDatabase, forGood: number): RemoteCopies {
  const own = database.prepare("SELECT 1 FROM event WHERE start_us = ? AND label_id = ?");
  const others = database.prepare<{ key: number; is_gone: number }>(
    `SELECT device_key AS key, ${IS_GONE} AS is_gone FROM remote_event JOIN device ON device.key = device_key
      WHERE start_us = ? AND label_id = ? AND device_key <> ?`,
  );
  const forgotten = database.prepare(
    `SELECT 1 FROM remote_erased WHERE device_key IN (SELECT key FROM device WHERE ${IS_GONE})
        AND from_us = ? AND to_us = ? AND version = ${forGood} LIMIT 1`,
  );
  return {
    isTold: (deviceKey, startUs, labelId) =>
      own.get(startUs, labelId) !== undefined ||
      others.all(startUs, labelId, deviceKey).some((row) => row.is_gone === 0),
    formerOf: (deviceKey, startUs, labelId) =>
      others.all(startUs, labelId, deviceKey).map(({ key }) => key),
    isForgotten: (startUs) => forgotten.get(startUs, startUs) !== undefined,
  };
}

const IS_GONE = "state IN ('left', 'revoked')";
