/** The record of other devices as it stands here, for whoever reads it: nothing of it is changed here. */
import type { ActivityEvent, EventKind } from "../../capture/events.ts";
import type { StoreDatabase } from "../database.ts";
import { readEvent, REMOTE_REACH_US, selectEvents, type EventRow } from "../event-rows.ts";
import { IS_WINDOW, KIND_CODES, KIND_OF_ROW } from "../stored-facts.ts";

/** An event of another device as it stands here. */
export interface RemoteEvent {
  /** See `device.key`: 1 or more. */
  readonly deviceKey: number;
  /** Whether it went on when it was last heard of. */
  readonly isOpen: boolean;
  /** `id` is its start and unique among the events of its device alone. */
  readonly event: ActivityEvent;
}

/** A device and one of its events, which its start names. */
export interface RemoteId {
  readonly deviceKey: number;
  readonly startUs: number;
}

export interface RemoteReader {
  /** Events that meet `[fromUs, toUs)`, oldest first and unclipped; the newest win when there are more than `limit`. */
  readonly between: (
    fromUs: number,
    toUs: number,
    options?: { readonly kinds?: readonly EventKind[]; readonly limit?: number },
  ) => { readonly events: readonly RemoteEvent[]; readonly truncated: boolean };
  /** The newest window events of a device that began before an instant by its clock, newest first. */
  readonly latestWindows: (
    deviceKey: number,
    limit: number,
    beforeUs?: number,
  ) => readonly RemoteEvent[];
  readonly count: () => number;
  /** Events that ended before an instant, in no particular order, at most `limit`. */
  readonly endedBefore: (beforeUs: number, limit: number) => readonly RemoteId[];
  /** All events, by device and start, some at a time. */
  readonly all: () => Generator<readonly RemoteEvent[]>;
}

export function createRemoteReader(database: StoreDatabase): RemoteReader {
  const inRange = database.prepare<RemoteRow>(
    `${SELECT_REMOTE} WHERE remote_event.start_us >= ? AND remote_event.start_us < ?
        AND remote_event.start_us + duration_us > ? AND (1 << (${KIND_OF_ROW})) & ? <> 0
      ORDER BY remote_event.start_us DESC LIMIT ?`,
  );
  const latest = database.prepare<RemoteRow>(
    `${SELECT_REMOTE} WHERE device_key = ? AND remote_event.start_us < ? AND ${IS_WINDOW}
      ORDER BY remote_event.start_us DESC LIMIT ?`,
  );
  const ended = database.prepare<RemoteId>(
    `SELECT device_key AS deviceKey, start_us AS startUs FROM remote_event
      WHERE start_us < ? AND start_us + duration_us < ? LIMIT ?`,
  );
  const count = database.prepare<{ n: number }>("SELECT count(*) AS n FROM remote_event");

  return {
    between: (fromUs, toUs, { kinds, limit = 1000 } = {}) => {
      const mask = kinds?.reduce((bits, kind) => bits | (1 << KIND_CODES[kind]), 0) ?? -1;
      const rows = inRange
        .all(fromUs - REMOTE_REACH_US, toUs, fromUs - 1, mask, limit + 1)
        .filter((row) => row.start_us >= fromUs || row.start_us + row.duration_us > fromUs);
      return {
        events: rows.slice(0, limit).reverse().map(readRemote),
        truncated: rows.length > limit,
      };
    },
    latestWindows: (deviceKey, limit, beforeUs = Number.MAX_SAFE_INTEGER) =>
      latest.all(deviceKey, beforeUs, limit).map(readRemote),
    count: () => count.get()?.n ?? 0,
    endedBefore: (beforeUs, limit) => ended.all(beforeUs, beforeUs, limit),
    all: () => readAllRemote(database),
  };
}

/** Every event of other devices, by device and start, in batches, so that memory stays flat. */
export function* readAllRemote(database: StoreDatabase): Generator<readonly RemoteEvent[]> {
  const after = database.prepare<RemoteRow>(
    `${SELECT_REMOTE} WHERE (device_key, remote_event.start_us) > (?, ?)
      ORDER BY device_key, remote_event.start_us LIMIT ${ROWS_PER_STEP}`,
  );
  let last: RemoteId = { deviceKey: 0, startUs: 0 };
  for (;;) {
    const rows = after.all(last.deviceKey, last.startUs);
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows.map(readRemote);
    last = { deviceKey: end.device_key, startUs: end.start_us };
  }
}

const ROWS_PER_STEP = 1000;

const SELECT_REMOTE = selectEvents("remote_event", ["device_key", "is_open"]);

interface RemoteRow extends EventRow {
  readonly device_key: number;
  readonly is_open: number;
}

function readRemote(row: RemoteRow): RemoteEvent {
  return { deviceKey: row.device_key, isOpen: row.is_open === 1, event: readEvent(row) };
}
