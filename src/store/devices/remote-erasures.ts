/**
 * What was erased of other devices' records, and stays away whenever it is told again. It hides that a device erases by
 * its log and the owner for good, and promises that the order in which records come makes no difference.
 */
import type { StoreDatabase } from "../database.ts";
import { IS_GONE, OWN_KEY } from "../devices.ts";
import type { RemoteId } from "./remote-reader.ts";
import { epochStart } from "./version.ts";

export interface RemoteErasures {
  /** Whether an event stays away though a record of this version tells it. */
  readonly keepsAway: (id: RemoteId, version: number) => boolean;
  /** A device erased what began within `[fromUs, toUs]`. */
  readonly add: (deviceKey: number, version: number, fromUs: number, toUs: number) => void;
  /** The owner had it forgotten: no record brings it back. */
  readonly addForGood: (id: RemoteId) => void;
  /** Lets go of what a device erased. */
  readonly dropDevice: (deviceKey: number) => void;
}

export function createRemoteErasures(database: StoreDatabase): RemoteErasures {
  const isForgotten = database.prepare(
    `SELECT 1 FROM remote_erased WHERE device_key = ? AND from_us = ? AND to_us = ? AND version = ${FOR_GOOD}`,
  );
  const isForgottenBefore = database.prepare(
    `SELECT 1 FROM remote_erased
      WHERE (device_key = ${OWN_KEY} OR device_key IN (SELECT key FROM device WHERE ${IS_GONE}))
        AND from_us = ? AND to_us = ? AND version = ${FOR_GOOD} LIMIT 1`,
  );
  const isErased = database.prepare(
    `SELECT 1 FROM remote_erased
      WHERE device_key = ? AND from_us <= ? AND to_us >= ? AND (version > ? OR version < ?) LIMIT 1`,
  );
  const extent = database.prepare<{ first: number | null; last: number | null }>(
    `SELECT min(version) AS first, max(version) AS last FROM remote_erased
      WHERE device_key = ? AND version < ${FOR_GOOD}`,
  );
  const add = database.prepare(
    "INSERT INTO remote_erased(device_key, from_us, to_us, version) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const drop = database.prepare("DELETE FROM remote_erased WHERE device_key = ?");
  /** By device, the first and the last of its records that erased something. */
  const extents = new Map<number, Extent>();

  const extentOf = (deviceKey: number): Extent => {
    const known = extents.get(deviceKey);
    if (known !== undefined) return known;
    const { first, last } = extent.get(deviceKey) ?? { first: null, last: null };
    const found = { first: first ?? FOR_GOOD, last: last ?? 0 };
    extents.set(deviceKey, found);
    return found;
  };

  return {
    keepsAway: ({ deviceKey, startUs }, version) => {
      if (isForgotten.get(deviceKey, startUs, startUs) !== undefined) return true;
      // A device that joined anew, be it this one, tells under another name what was forgotten under its former one.
      if (isForgottenBefore.get(startUs, startUs) !== undefined) return true;
      // What a device erased before it began its log anew stays erased: the backup it came from knows no better.
      const thisEpoch = epochStart(version);
      const { first, last } = extentOf(deviceKey);
      if (last < version && first >= thisEpoch) return false;
      return isErased.get(deviceKey, startUs, startUs, version, thisEpoch) !== undefined;
    },
    add: (deviceKey, version, fromUs, toUs) => {
      const { first, last } = extentOf(deviceKey);
      extents.set(deviceKey, { first: Math.min(first, version), last: Math.max(last, version) });
      add.run(deviceKey, fromUs, toUs, version);
    },
    addForGood: ({ deviceKey, startUs }) => {
      add.run(deviceKey, startUs, startUs, FOR_GOOD);
    },
    dropDevice: (deviceKey) => {
      drop.run(deviceKey);
      extents.delete(deviceKey);
    },
  };
}

/** Stands for the owner's word, which is later than any record. */
const FOR_GOOD = Number.MAX_SAFE_INTEGER;

interface Extent {
  readonly first: number;
  readonly last: number;
}
