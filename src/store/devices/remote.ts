/**
 * The record of other devices beside this one's: their events, and the visits these make. It promises one result
 * whatever the order, the repetition or the interruption in which records come: of two words about an event the
 * later record's holds, and what was erased or forgotten stays away.
 */
import type { EventFacts, EventSpan } from "../../capture/events.ts";
import type { StoreDatabase } from "../database.ts";
import { OWN_KEY } from "../devices.ts";
import type { Documents } from "../documents.ts";
import { isOfKind } from "../stored-facts.ts";
import { createRemoteCopies } from "./remote-copies.ts";
import { createRemoteErasures } from "./remote-erasures.ts";
import { createRemoteReader, type RemoteId, type RemoteReader } from "./remote-reader.ts";
import { createRemoteVisits } from "./remote-visits.ts";
import { createZones } from "../zones.ts";

/** An event of another device, as its record tells it. */
export interface RemotePut extends EventSpan {
  readonly facts: EventFacts;
  readonly isOpen: boolean;
}

export interface PutOutcome {
  /** How many were taken: the others were known, or stay away. */
  readonly taken: number;
  /** Labels that events bore until then. */
  readonly labels: ReadonlySet<number>;
}

/** Every method that changes something runs in a transaction of its own unless there is one. */
export interface RemoteEvents extends RemoteReader {
  /**
   * Takes events of a device in, or what a later record says of them, unless they are here already as this device's
   * own, or as another's that last as long. Another's that are shorter pass over to this device, and so do those of one
   * that takes no part any more. Version 0 says nothing of what is there already, as an export does not.
   */
  readonly put: (deviceKey: number, version: number, events: readonly RemotePut[]) => PutOutcome;
  /** Erases what a device says it erased, also what arrives later from before. Returns the labels that it bore. */
  readonly erase: (
    deviceKey: number,
    version: number,
    runs: readonly (readonly [number, number])[],
  ) => ReadonlySet<number>;
  /** Erases events for good: nothing brings them back. Returns the labels that they bore. */
  readonly forget: (ids: readonly RemoteId[]) => ReadonlySet<number>;
  /**
   * Remembers that events of this device's own were forgotten, before they go: a log that it left in the hub, and reads
   * when it joined anew, tells them too.
   */
  readonly forgetOwn: (startsUs: readonly number[]) => void;
  /** Gives events other facts of the same kind in this store alone. Returns the labels that they bore. */
  readonly rewrite: (
    changes: readonly { readonly id: RemoteId; readonly facts: EventFacts }[],
  ) => ReadonlySet<number>;
  /** Takes events out of this store alone, as when they expire: no record that was read brings them back. */
  readonly drop: (ids: readonly RemoteId[]) => ReadonlySet<number>;
  /** Ends an event earlier, until its own device says what became of it. */
  readonly cut: (id: RemoteId, endUs: number) => void;
  /**
   * To be asked before this device takes an event in as its own, such as from an export that says not whose it is: false
   * where a device that takes part tells it. What one that is gone told of it goes.
   */
  readonly claim: (facts: EventFacts, startUs: number) => boolean;
  /** Takes everything of a device out, what was erased as well. */
  readonly dropDevice: (deviceKey: number) => ReadonlySet<number>;
}

export function createRemoteEvents(database: StoreDatabase, documents: Documents): RemoteEvents {
  const zoneId = createZones(database);
  const visits = createRemoteVisits(database);
  const copies = createRemoteCopies(database);
  const erasures = createRemoteErasures(database);
  const find = database.prepare<StandingRow>(
    `${SELECT_STANDING} WHERE device_key = ? AND start_us = ?`,
  );
  const within = database.prepare<StandingRow>(
    `${SELECT_STANDING} WHERE device_key = ? AND start_us BETWEEN ? AND ? AND version < ?`,
  );
  const write = database.prepare(
    `INSERT INTO remote_event(device_key, start_us, duration_us, label_id, zone_id, version, is_open)
      VALUES(?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET duration_us = excluded.duration_us, label_id = excluded.label_id,
        zone_id = excluded.zone_id, version = excluded.version, is_open = excluded.is_open`,
  );
  const remove = database.prepare("DELETE FROM remote_event WHERE device_key = ? AND start_us = ?");
  const setDuration = database.prepare(
    "UPDATE remote_event SET duration_us = ? WHERE device_key = ? AND start_us = ?",
  );
  const setLabel = database.prepare(
    "UPDATE remote_event SET label_id = ? WHERE device_key = ? AND start_us = ?",
  );

  const takeOut = (deviceKey: number, rows: readonly StandingRow[]): ReadonlySet<number> => {
    const touched = createTouched();
    for (const row of rows) {
      remove.run(deviceKey, row.start_us);
      if (isWindow(row)) touched.add(row.document_id, row.start_us, row.end_us);
    }
    visits.rebuild(deviceKey, touched.all());
    return new Set(rows.map((row) => row.label_id));
  };

  const takeOutAll = (ids: readonly RemoteId[]): ReadonlySet<number> => {
    const groups = new Map<number, StandingRow[]>();
    for (const { deviceKey, startUs } of ids) {
      const row = find.get(deviceKey, startUs);
      if (row === undefined) continue;
      const group = groups.get(deviceKey);
      if (group === undefined) groups.set(deviceKey, [row]);
      else group.push(row);
    }
    const labels = new Set<number>();
    for (const [deviceKey, rows] of groups)
      for (const label of takeOut(deviceKey, rows)) labels.add(label);
    return labels;
  };

  const put: RemoteEvents["put"] = (deviceKey, version, events) => {
    const touched = createTouched();
    const labels = new Set<number>();
    const replaced: RemoteId[] = [];
    let taken = 0;
    for (const { facts, isOpen, ...span } of events) {
      const { startUs } = span;
      const endUs = Math.max(span.endUs, startUs);
      const known = find.get(deviceKey, startUs);
      if (known !== undefined && known.version >= version) continue;
      if (erasures.keepsAway({ deviceKey, startUs }, version)) continue;
      const label = documents.intern(facts);
      if (known === undefined) {
        const event = { deviceKey, startUs, labelId: label.id };
        for (const key of copies.formerOf(event)) replaced.push({ deviceKey: key, startUs });
        const others = copies.toldBy(event);
        if (copies.isOwn(event) || others.some((other) => other.durationUs >= endUs - startUs))
          continue;
        for (const other of others) replaced.push({ deviceKey: other.deviceKey, startUs });
      }
      taken += 1;
      const zone = zoneId(span);
      write.run(deviceKey, startUs, endUs - startUs, label.id, zone, version, isOpen ? 1 : 0);
      if (known !== undefined && known.label_id !== label.id) labels.add(known.label_id);
      if (known !== undefined && isWindow(known))
        touched.add(known.document_id, startUs, known.end_us);
      if (facts.kind !== "window" || label.documentId === null) continue;
      const isNew = known === undefined && !touched.has(label.documentId);
      if (isNew && visits.append(deviceKey, label.documentId, startUs, endUs)) continue;
      touched.add(label.documentId, startUs, endUs);
    }
    visits.rebuild(deviceKey, touched.all());
    takeOutAll(replaced);
    return { taken, labels };
  };

  return {
    ...createRemoteReader(database),
    put: (deviceKey, version, events) =>
      database.transaction(() => put(deviceKey, version, events)),
    erase: (deviceKey, version, runs) =>
      database.transaction(() => {
        const labels = new Set<number>();
        for (const [fromUs, toUs] of runs) {
          erasures.add(deviceKey, version, fromUs, toUs);
          const rows = within.all(deviceKey, fromUs, toUs, version);
          for (const label of takeOut(deviceKey, rows)) labels.add(label);
        }
        return labels;
      }),
    forget: (ids) =>
      database.transaction(() => {
        for (const id of ids) erasures.addForGood(id);
        return takeOutAll(ids);
      }),
    forgetOwn: (startsUs) => {
      database.transaction(() => {
        for (const startUs of startsUs) erasures.addForGood({ deviceKey: OWN_KEY, startUs });
      });
    },
    rewrite: (changes) =>
      database.transaction(() => {
        const labels = new Set<number>();
        for (const { id, facts } of changes) {
          const row = find.get(id.deviceKey, id.startUs);
          if (row === undefined || !isOfKind(row.label_id, facts.kind)) continue;
          const label = documents.intern(facts);
          setLabel.run(label.id, id.deviceKey, id.startUs);
          labels.add(row.label_id);
          if (!isWindow(row)) continue;
          const touched = createTouched();
          touched.add(row.document_id, row.start_us, row.end_us);
          touched.add(label.documentId ?? row.document_id, row.start_us, row.end_us);
          visits.rebuild(id.deviceKey, touched.all());
        }
        return labels;
      }),
    drop: (ids) => database.transaction(() => takeOutAll(ids)),
    cut: ({ deviceKey, startUs }, endUs) => {
      database.transaction(() => {
        const row = find.get(deviceKey, startUs);
        if (row === undefined || endUs < startUs) return;
        setDuration.run(endUs - startUs, deviceKey, startUs);
        if (isWindow(row))
          visits.rebuild(
            deviceKey,
            new Map([[row.document_id, { fromUs: startUs, toUs: Math.max(row.end_us, endUs) }]]),
          );
      });
    },
    claim: (facts, startUs) =>
      database.transaction(() => {
        const event = { deviceKey: OWN_KEY, startUs, labelId: documents.intern(facts).id };
        if (copies.toldBy(event).length > 0) return false;
        takeOutAll(copies.formerOf(event).map((deviceKey) => ({ deviceKey, startUs })));
        return true;
      }),
    dropDevice: (deviceKey) =>
      database.transaction(() => {
        const labels = database
          .prepare<{ id: number }>(
            "SELECT DISTINCT label_id AS id FROM remote_event WHERE device_key = ?",
          )
          .all(deviceKey);
        for (const table of ["remote_event", "remote_visit", "hub_record"])
          database.prepare(`DELETE FROM ${table} WHERE device_key = ?`).run(deviceKey);
        erasures.dropDevice(deviceKey);
        database.prepare("DELETE FROM device WHERE key = ?").run(deviceKey);
        return new Set(labels.map(({ id }) => id));
      }),
  };
}

const SELECT_STANDING = `SELECT start_us, start_us + duration_us AS end_us, label_id, version,
    (SELECT document_id FROM label WHERE label.id = label_id) AS document_id
  FROM remote_event`;

/** An event as it stands, before it is changed. */
interface StandingRow {
  readonly start_us: number;
  readonly end_us: number;
  readonly label_id: number;
  readonly version: number;
  readonly document_id: number | null;
}

function isWindow(row: StandingRow): row is StandingRow & { readonly document_id: number } {
  return isOfKind(row.label_id, "window") && row.document_id !== null;
}

/** The stretch of each document whose visits have to be made anew. */
function createTouched() {
  const spans = new Map<number, { fromUs: number; toUs: number }>();
  return {
    has: (documentId: number) => spans.has(documentId),
    add: (documentId: number, fromUs: number, toUs: number) => {
      const span = spans.get(documentId);
      spans.set(documentId, {
        fromUs: Math.min(span?.fromUs ?? fromUs, fromUs),
        toUs: Math.max(span?.toUs ?? toUs, toUs),
      });
    },
    all: () => spans,
  };
}
