/**
 * Visits of other devices: what their window events add up to, with the same interruptions bridged as in this
 * device's own. It promises that they are those which the events give, in whatever order the events came.
 */
import type { StoreDatabase } from "../database.ts";
import { VISIT_BRIDGE_US } from "../visits.ts";
import { IS_WINDOW } from "../stored-facts.ts";

/** Every method must run inside the transaction that changes the events themselves. */
export interface RemoteVisits {
  /** A window event was added. Returns false when it does not follow all there is: then `rebuild` is due. */
  readonly append: (
    deviceKey: number,
    documentId: number,
    startUs: number,
    endUs: number,
  ) => boolean;
  /** Makes the visits of documents that touch a stretch of theirs anew from their events. */
  readonly rebuild: (deviceKey: number, stretches: ReadonlyMap<number, TouchedStretch>) => void;
}

/** Where the events of a document changed. */
export interface TouchedStretch {
  readonly fromUs: number;
  readonly toUs: number;
}

interface VisitRow {
  readonly start_us: number;
  readonly end_us: number;
  readonly active_us: number;
}

const COLUMNS = "start_us, start_us + span_us AS end_us, active_us";

export function createRemoteVisits(database: StoreDatabase): RemoteVisits {
  const before = database.prepare<VisitRow>(
    `SELECT ${COLUMNS} FROM remote_visit
      WHERE document_id = ? AND device_key = ? AND start_us <= ? ORDER BY start_us DESC LIMIT 1`,
  );
  const after = database.prepare<VisitRow>(
    `SELECT ${COLUMNS} FROM remote_visit
      WHERE document_id = ? AND device_key = ? AND start_us > ? ORDER BY start_us LIMIT 1`,
  );
  const add = database.prepare(
    "INSERT INTO remote_visit(device_key, start_us, document_id, span_us, active_us) VALUES(?, ?, ?, ?, ?)",
  );
  const set = database.prepare(
    "UPDATE remote_visit SET span_us = ?, active_us = ? WHERE device_key = ? AND start_us = ?",
  );
  const drop = database.prepare("DELETE FROM remote_visit WHERE device_key = ? AND start_us = ?");
  const events = database.prepare<{ start_us: number; end_us: number }>(
    `SELECT start_us, start_us + duration_us AS end_us FROM remote_event
      WHERE device_key = ? AND start_us BETWEEN ? AND ? AND ${IS_WINDOW}
        AND label_id IN (SELECT id FROM label WHERE document_id = ?)
      ORDER BY start_us`,
  );

  return {
    append: (deviceKey, documentId, startUs, endUs) => {
      if (after.get(documentId, deviceKey, startUs) !== undefined) return false;
      const last = before.get(documentId, deviceKey, startUs);
      if (last === undefined || startUs - last.end_us >= VISIT_BRIDGE_US) {
        add.run(deviceKey, startUs, documentId, endUs - startUs, endUs - startUs);
        return true;
      }
      const spanUs = Math.max(last.end_us, endUs) - last.start_us;
      set.run(spanUs, last.active_us + endUs - startUs, deviceKey, last.start_us);
      return true;
    },
    rebuild: (deviceKey, stretches) => {
      // All are taken out before any is put in: an event that is about another document now keeps its start.
      const cleared = [...stretches].map(([documentId, { fromUs, toUs }]) => ({
        documentId,
        ...clear(deviceKey, documentId, fromUs, toUs),
      }));
      for (const { documentId, fromUs, toUs } of cleared) fill(deviceKey, documentId, fromUs, toUs);
    },
  };

  /** Drops the visits that touch a stretch, and those they may be joined with. Returns what they covered. */
  function clear(
    deviceKey: number,
    documentId: number,
    fromUs: number,
    toUs: number,
  ): TouchedStretch {
    const first = before.get(documentId, deviceKey, fromUs);
    const isJoined = first !== undefined && fromUs - first.end_us < VISIT_BRIDGE_US;
    const startUs = isJoined ? first.start_us : fromUs;
    let endUs = Math.max(toUs, isJoined ? first.end_us : toUs);
    if (isJoined) drop.run(deviceKey, first.start_us);
    for (;;) {
      const next = after.get(documentId, deviceKey, startUs - 1);
      // A gap that closes joins what follows.
      if (next === undefined || next.start_us - endUs >= VISIT_BRIDGE_US) break;
      drop.run(deviceKey, next.start_us);
      endUs = Math.max(endUs, next.end_us);
    }
    return { fromUs: startUs, toUs: endUs };
  }

  function fill(deviceKey: number, documentId: number, fromUs: number, toUs: number): void {
    let open: { startUs: number; endUs: number; activeUs: number } | null = null;
    const write = (): void => {
      if (open === null) return;
      const { startUs, endUs, activeUs } = open;
      add.run(deviceKey, startUs, documentId, endUs - startUs, activeUs);
    };
    for (const event of events.all(deviceKey, fromUs, toUs, documentId)) {
      const activeUs = event.end_us - event.start_us;
      if (open !== null && event.start_us - open.endUs < VISIT_BRIDGE_US) {
        open.endUs = Math.max(open.endUs, event.end_us);
        open.activeUs += activeUs;
        continue;
      }
      write();
      open = { startUs: event.start_us, endUs: event.end_us, activeUs };
    }
    write();
  }
}
