/**
 * The other devices of the hub and which of their records were taken in. It promises that a record is known again
 * by its bytes, so that one with the same number and other content is told from a repetition.
 */
import { ActivityError } from "../errors.ts";
import type { StoreDatabase } from "./database.ts";
import { epochStart } from "./devices/version.ts";

/**
 * `member`: its records are taken. `revoked`: an owner took it out. `left`: it said goodbye. `forked`: two logs
 * go under its name, and only what continues the first is taken.
 */
export type DeviceState = "member" | "revoked" | "left" | "forked";

/** A sort of machine, as a line may name it. */
export type DeviceKind = "desktop" | "laptop" | "phone" | "server" | "tablet";

export interface DeviceRow {
  /** 1 or more. */
  readonly key: number;
  readonly id: string;
  /** As it calls itself; its owner typed it. */
  readonly name: string;
  /** What sort of machine it says it is; null: it did not say. */
  readonly kind: DeviceKind | null;
  readonly state: DeviceState;
  /** Its public key for what only it may open; null until it told. */
  readonly sealingKey: Uint8Array | null;
  /** The newest record that was taken in, as one number; 0 when there is none. */
  readonly version: number;
  /** When it made that record, by its clock; null when there is none. */
  readonly sentUs: number | null;
  /** When it came in, by ours. */
  readonly receivedUs: number | null;
  /** How far its clock is ahead of ours, as near as can be told; null: unknown. */
  readonly offsetUs: number | null;
  /** What is wrong with it, as a sentence; null: nothing. */
  readonly trouble: string | null;
}

export interface KnownRecord {
  readonly hash: Uint8Array;
  readonly previous: Uint8Array;
}

export interface HeldRecord {
  readonly id: number;
  readonly device: string;
  readonly epoch: number;
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly carriedUs: number | null;
}

/** Reads the devices; costs next to nothing where there are none. */
export interface DeviceReader {
  readonly all: () => readonly DeviceRow[];
  readonly find: (id: string) => DeviceRow | null;
}

export interface Devices extends DeviceReader {
  /** The row of a device, made when there is none. */
  readonly ensure: (id: string, name: string) => DeviceRow;
  readonly update: (key: number, change: Partial<Omit<DeviceRow, "key" | "id">>) => void;
  readonly record: (deviceKey: number, version: number) => KnownRecord | null;
  readonly addRecord: (deviceKey: number, version: number, record: KnownRecord) => void;
  /** How many records before the newest are missing, as far as they are remembered. */
  readonly missing: (deviceKey: number) => number;
  /** Keeps a record for later. At most `MOST_HELD` are kept; false when there is no room. */
  readonly hold: (record: Omit<HeldRecord, "id">) => boolean;
  readonly held: (limit: number, afterId: number) => readonly HeldRecord[];
  readonly heldCount: () => number;
  readonly release: (id: number) => void;
}

/** Stands for this device where the key of a device is told. */
export const OWN_KEY = 0;

/** Whether a device takes no part any more, as a condition on its row. */
export const IS_GONE = "state IN ('left', 'revoked')";

/** Whether a device is in the hub, for all that is known. */
export function takesPart({ state }: Pick<DeviceRow, "state">): boolean {
  return state !== "left" && state !== "revoked";
}

export function createDeviceReader(database: StoreDatabase): DeviceReader {
  const all = database.prepare<StoredDevice>(`SELECT ${COLUMNS} FROM device ORDER BY key`);
  const find = database.prepare<StoredDevice>(`SELECT ${COLUMNS} FROM device WHERE id = ?`);
  return {
    all: () => all.all().map(toDevice),
    find: (id) => {
      const row = find.get(id);
      return row === undefined ? null : toDevice(row);
    },
  };
}

/** One of the sorts of machine that are known; null for any other word. */
function parseDeviceKind(word: string | null): DeviceKind | null {
  return DEVICE_KINDS.find((kind) => kind === word) ?? null;
}

/**
 * How far the clock of a device is ahead of ours, to be taken off its instants; null while nobody can tell. One that
 * seems behind may as well be right and its records long on their way. Half minutes: what is less is the time a record
 * takes anyway, and an answer that is made again should say the same.
 */
export function clockLeadUs({ offsetUs }: Pick<DeviceRow, "offsetUs">): number | null {
  if (offsetUs === null || offsetUs < -CLOCK_TOLERANCE_US) return null;
  return Math.round(offsetUs / CLOCK_STEP_US) * CLOCK_STEP_US;
}

export function createDevices(database: StoreDatabase): Devices {
  const reader = createDeviceReader(database);
  const byKey = database.prepare<StoredDevice>(`SELECT ${COLUMNS} FROM device WHERE key = ?`);
  const add = database.prepare(
    "INSERT INTO device(id, name, state, version) VALUES(?, ?, 'member', 0) ON CONFLICT DO NOTHING",
  );
  const set = database.prepare(
    `UPDATE device SET name = ?, kind = ?, state = ?, sealing_key = ?, version = ?, sent_us = ?, received_us = ?,
        offset_us = ?, trouble = ? WHERE key = ?`,
  );
  const record = database.prepare<KnownRecord>(
    "SELECT hash, previous FROM hub_record WHERE device_key = ? AND version = ?",
  );
  const addRecord = database.prepare(
    "INSERT INTO hub_record(device_key, version, hash, previous) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const forgetRecords = database.prepare(
    "DELETE FROM hub_record WHERE device_key = ? AND version < ?",
  );
  const counted = database.prepare<{ n: number; first: number | null; last: number | null }>(
    `SELECT count(*) AS n, min(version) AS first, max(version) AS last FROM hub_record
      WHERE device_key = ? AND version > ?`,
  );
  const hold = database.prepare(
    `INSERT INTO hub_held(device, epoch, seq, bytes, carried_us) VALUES(?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`,
  );
  const held = database.prepare<HeldRecord>(
    `SELECT id, device, epoch, seq, bytes, carried_us AS carriedUs FROM hub_held
      WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const heldCount = database.prepare<{ n: number }>("SELECT count(*) AS n FROM hub_held");
  const release = database.prepare("DELETE FROM hub_held WHERE id = ?");

  return {
    ...reader,
    ensure: (id, name) => {
      const known = reader.find(id);
      if (known !== null) return known;
      add.run(id, name);
      const added = reader.find(id);
      if (added === null)
        throw new ActivityError("internal", "A device vanished as it was written.");
      return added;
    },
    update: (key, change) => {
      const row = byKey.get(key);
      if (row === undefined) return;
      const { name, kind, state, sealingKey, version, sentUs, receivedUs, offsetUs, trouble } = {
        ...toDevice(row),
        ...change,
      };
      const bytes = sealingKey === null ? null : Buffer.from(sealingKey);
      set.run(name, kind, state, bytes, version, sentUs, receivedUs, offsetUs, trouble, key);
    },
    record: (deviceKey, version) => record.get(deviceKey, version) ?? null,
    addRecord: (deviceKey, version, { hash, previous }) => {
      addRecord.run(deviceKey, version, Buffer.from(hash), Buffer.from(previous));
      if (version % FORGET_EVERY === 0) forgetRecords.run(deviceKey, version - REMEMBERED_RECORDS);
    },
    missing: (deviceKey) => {
      const version = byKey.get(deviceKey)?.version ?? 0;
      const row = counted.get(deviceKey, epochStart(version));
      if (row?.first === null || row?.last === null || row === undefined) return 0;
      return row.last - row.first + 1 - row.n;
    },
    hold: ({ device, epoch, seq, bytes, carriedUs }) => {
      if ((heldCount.get()?.n ?? 0) >= MOST_HELD) return false;
      hold.run(device, epoch, seq, Buffer.from(bytes), carriedUs);
      return true;
    },
    held: (limit, afterId) => held.all(afterId, limit),
    heldCount: () => heldCount.get()?.n ?? 0,
    release: (id) => {
      release.run(id);
    },
  };
}

const COLUMNS =
  "key, id, name, kind, state, sealing_key AS sealingKey, version, sent_us AS sentUs, received_us AS receivedUs, offset_us AS offsetUs, trouble";
const DEVICE_KINDS = ["desktop", "laptop", "phone", "server", "tablet"] as const;
const CLOCK_STEP_US = 30_000_000;
const CLOCK_TOLERANCE_US = 120_000_000;

interface StoredDevice extends Omit<DeviceRow, "kind"> {
  readonly kind: string | null;
}

/** A newer program may know more sorts. */
function toDevice(row: StoredDevice): DeviceRow {
  return { ...row, kind: parseDeviceKind(row.kind) };
}

/** Days of one record each five seconds. An older one that comes again changes nothing either. */
const REMEMBERED_RECORDS = 20_000;
const FORGET_EVERY = 1_000;
/** At the size of records in steady state a few megabytes. */
const MOST_HELD = 10_000;
