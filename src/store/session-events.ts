/**
 * The rows of the event queue in SQLite. They promise that an acknowledged event survives a restart, and
 * that a transaction shuts out every other writer, of this process and of others, from its first read on.
 */
import type { StoreDatabase } from "./database.ts";

/** One row of the queue. `dropped` above 0: no event, but how many older ones were dropped for it. */
export interface SessionEventRow {
  readonly id: number;
  readonly atUs: number;
  readonly text: string;
  readonly key: string | null;
  readonly dropped: number;
}

export interface SessionEventTable {
  readonly transaction: <T>(work: () => T) => T;
  /** Rows of a session that wait, in the order in which they came. */
  readonly waiting: (session: string) => readonly SessionEventRow[];
  readonly add: (session: string, row: Omit<SessionEventRow, "id">) => void;
  readonly remove: (id: number) => void;
  /** Keeps a row out of the queue, as told to a request. */
  readonly markTold: (id: number, request: string, toldUs: number) => void;
  /** Rows that were told to a request of a session, in the order in which they came. */
  readonly toldTo: (session: string, request: string) => readonly SessionEventRow[];
  readonly removeToldBefore: (toldUs: number) => void;
}

/** The table in an open database. Every method throws `ActivityError` where SQLite fails. */
export function createSessionEventTable(database: StoreDatabase): SessionEventTable {
  const columns = "id, at_us AS atUs, text, key, dropped";
  const waiting = database.prepare<SessionEventRow>(
    `SELECT ${columns} FROM session_event WHERE session = ? AND told_to IS NULL ORDER BY id`,
  );
  const toldTo = database.prepare<SessionEventRow>(
    `SELECT ${columns} FROM session_event WHERE session = ? AND told_to = ? ORDER BY id`,
  );
  const add = database.prepare(
    "INSERT INTO session_event(session, at_us, text, key, dropped) VALUES(?, ?, ?, ?, ?)",
  );
  const remove = database.prepare("DELETE FROM session_event WHERE id = ?");
  const markTold = database.prepare(
    "UPDATE session_event SET told_to = ?, told_us = ? WHERE id = ?",
  );
  const removeTold = database.prepare("DELETE FROM session_event WHERE told_us < ?");
  return {
    transaction: database.transaction,
    waiting: (session) => waiting.all(session),
    add: (session, { atUs, text, key, dropped }) => {
      add.run(session, atUs, text, key, dropped);
    },
    remove: (id) => {
      remove.run(id);
    },
    markTold: (id, request, toldUs) => {
      markTold.run(request, toldUs, id);
    },
    toldTo: (session, request) => toldTo.all(session, request),
    removeToldBefore: (toldUs) => {
      removeTold.run(toldUs);
    },
  };
}
