/**
 * What this device has to tell others: which events changed, and the records that were sealed and are not
 * acknowledged. It promises that a change is noted in the transaction that makes it, that nothing is noted where
 * there is no hub, and that what waits takes one small row per event, however long the hub is away.
 */
import type { EventFacts, EventSpan } from "../../capture/events.ts";
import type { StoreDatabase } from "../database.ts";
import { readSpan, type EventRow } from "../event-rows.ts";
import { FACTS_COLUMNS, KIND_CODES, KIND_OF_ROW, readFacts } from "../stored-facts.ts";

/** Where the log of this device stands. */
export interface OwnLog {
  /** Id of the device whose log it is. */
  readonly device: string;
  readonly epoch: number;
  /** Of the last sealed record; 0 when there is none in this epoch. */
  readonly seq: number;
  /** Hash of the last sealed record; all zero when there is none in this epoch. */
  readonly hash: Uint8Array;
  /** How far other devices' logs were read, as the driver says it; null: not at all. */
  readonly cursor: string | null;
  /** When this device last told its name and key; 0: not in this epoch. */
  readonly toldUs: number;
}

/** An event as it is to be told. */
export interface ToldEvent extends EventSpan {
  readonly facts: EventFacts;
  /** Whether it goes on. */
  readonly isOpen: boolean;
}

/** Changes that make one record. */
export interface ChangeBatch {
  readonly events: readonly ToldEvent[];
  /** Starts of events that are gone, as runs `[from, to]` within which no event is left. */
  readonly erased: readonly (readonly [number, number])[];
  /** Whether more waits. */
  readonly hasMore: boolean;
  /** Takes the changes off the list, but for events that go on: they are told once more. In the transaction that seals them. */
  readonly done: () => void;
}

export interface SealedMessage {
  readonly seq: number;
  readonly epoch: number;
  readonly bytes: Uint8Array;
}

export interface Outbox {
  /**
   * Begins to note changes. `withHistory`: everything that was recorded so far is one; otherwise nothing that began by
   * now is ever told, whatever becomes of it.
   */
  readonly begin: (withHistory: boolean) => void;
  /** Notes everything that may be told once more. */
  readonly retell: () => void;
  /** Ends it, and lets go of everything that waits. */
  readonly stop: () => void;
  readonly isStarted: () => boolean;
  /** Whether others may have been told of this device's events, also after it left. */
  readonly hasTold: () => boolean;
  /** Whether something waits that others know nothing of yet. */
  readonly hasNew: () => boolean;
  /** How many events wait, but for those in `openIds` of which others know: these grow. */
  readonly waiting: (openIds: ReadonlySet<number>) => number;
  /**
   * The oldest changes, at most `limit`. Of the events in `openIds` those that are known to others already are left
   * for later, unless `withGrowth`. Null when there is nothing to tell.
   */
  readonly changes: (
    limit: number,
    openIds: ReadonlySet<number>,
    withGrowth: boolean,
  ) => ChangeBatch | null;
  readonly readLog: () => OwnLog | null;
  readonly writeLog: (log: OwnLog) => void;
  /** Commits everything that `work` does, or nothing of it. */
  readonly together: <T>(work: () => T) => T;
  /** Returns when all that was committed is on the disk, and not only with the system: before anybody is told. */
  readonly sync: () => void;
  readonly addMessage: (message: SealedMessage) => void;
  /** Oldest first. */
  readonly messages: (limit: number) => readonly SealedMessage[];
  readonly messageCount: () => number;
  /** Lets go of messages up to `seq`. */
  readonly acknowledged: (epoch: number, seq: number) => void;
  /** Lets go of all of them, as when the log begins anew. */
  readonly dropMessages: () => void;
}

export function createOutbox(database: StoreDatabase): Outbox {
  const findTrigger = database.prepare(
    "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = 'hub_event_added'",
  );
  const newestStart = database.prepare<{ start_us: number | null }>(
    "SELECT max(start_us) AS start_us FROM event",
  );
  const readMeta = database.prepare<{ value: string }>("SELECT value FROM meta WHERE name = ?");
  const writeMeta = database.prepare(
    "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const noteAll = database.prepare(
    `INSERT OR IGNORE INTO hub_change(event_id, is_new)
      SELECT start_us, 1 FROM event WHERE start_us >= ? AND ${IS_TOLD}`,
  );
  const anyNew = database.prepare("SELECT 1 FROM hub_change WHERE is_new = 1 LIMIT 1");
  const countChanges = database.prepare<{ n: number }>(
    `SELECT count(*) AS n FROM hub_change
      WHERE is_new = 1 OR event_id NOT IN (SELECT value FROM json_each(?))`,
  );
  const changes = database.prepare<ChangeRow>(
    `SELECT event_id, is_new, event.start_us, duration_us, zone.name AS time_zone, utc_offset_minutes,
            ${FACTS_COLUMNS}
       FROM hub_change LEFT JOIN event ON event.start_us = event_id
       LEFT JOIN zone ON zone.id = zone_id LEFT JOIN label ON label.id = label_id
       LEFT JOIN document ON document.id = label.document_id
      WHERE event_id > ? ORDER BY event_id LIMIT ?`,
  );
  /** Whoever was told that an event goes on is to hear that it does no more, also where its end is known already. */
  const keepChange = database.prepare("UPDATE hub_change SET is_new = 0 WHERE event_id = ?");
  const dropChange = database.prepare("DELETE FROM hub_change WHERE event_id = ?");
  const between = database.prepare(
    "SELECT 1 FROM event WHERE start_us > ? AND start_us < ? LIMIT 1",
  );
  const readLog = database.prepare<LogRow>(
    "SELECT device, epoch, seq, hash, cursor, told_us FROM hub_log WHERE id = 1",
  );
  const writeLog = database.prepare(
    `INSERT INTO hub_log(id, device, epoch, seq, hash, cursor, told_us) VALUES(1, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET device = excluded.device, epoch = excluded.epoch, seq = excluded.seq,
        hash = excluded.hash, cursor = excluded.cursor, told_us = excluded.told_us`,
  );
  const touchLog = database.prepare("UPDATE hub_log SET told_us = told_us");
  const addMessage = database.prepare("INSERT INTO hub_message(seq, epoch, bytes) VALUES(?, ?, ?)");
  const messages = database.prepare<SealedMessage>(
    "SELECT seq, epoch, bytes FROM hub_message ORDER BY seq LIMIT ?",
  );
  const countMessages = database.prepare<{ n: number }>("SELECT count(*) AS n FROM hub_message");
  const dropMessages = database.prepare("DELETE FROM hub_message WHERE epoch = ? AND seq <= ?");

  return {
    begin: (withHistory) => {
      database.transaction(() => {
        dropTriggers();
        database.execute("DELETE FROM hub_change");
        const newest = newestStart.get()?.start_us ?? null;
        const fromUs = withHistory || newest === null ? 0 : newest + 1;
        writeMeta.run(TOLD_FROM, String(fromUs));
        database.execute(triggers(fromUs));
        if (withHistory) retell();
      });
    },
    retell: () => {
      database.transaction(retell);
    },
    stop: () => {
      database.transaction(() => {
        dropTriggers();
        database.execute("DELETE FROM hub_change; DELETE FROM hub_message; DELETE FROM hub_log;");
        database.execute("DELETE FROM hub_held; DELETE FROM hub_record;");
      });
    },
    isStarted: () => findTrigger.get() !== undefined,
    hasTold: () => readMeta.get(TOLD_FROM) !== undefined,
    hasNew: () => anyNew.get() !== undefined,
    waiting: (openIds) => countChanges.get(JSON.stringify([...openIds]))?.n ?? 0,
    changes: (limit, openIds, withGrowth) => {
      const rows: ChangeRow[] = [];
      let lastId = Number.MIN_SAFE_INTEGER;
      let hasMore = true;
      while (rows.length < limit && hasMore) {
        const found = changes.all(lastId, limit + 1);
        lastId = found.at(-1)?.event_id ?? lastId;
        hasMore = found.length > limit;
        rows.push(
          ...found.filter(
            ({ event_id: id, is_new: isNew }) => isNew === 1 || withGrowth || !openIds.has(id),
          ),
        );
      }
      const taken = rows.slice(0, limit);
      if (taken.length === 0) return null;
      return {
        events: taken.flatMap((row) => toTold(row, openIds.has(row.event_id))),
        erased: toRuns(taken.filter((row) => row.start_us === null)),
        hasMore: hasMore || rows.length > limit,
        done: () => {
          for (const { event_id: id, start_us: startUs } of taken)
            (startUs !== null && openIds.has(id) ? keepChange : dropChange).run(id);
        },
      };
    },
    readLog: () => {
      const row = readLog.get();
      if (row === undefined) return null;
      const { told_us: toldUs, ...log } = row;
      return { ...log, toldUs };
    },
    writeLog: ({ device, epoch, seq, hash, cursor, toldUs }) => {
      writeLog.run(device, epoch, seq, Buffer.from(hash), cursor, toldUs);
    },
    together: (work) => database.transaction(work),
    sync: () => {
      // A power cut may take the last commits with it otherwise; others would then know a record that this device
      // does not, as if it had been restored from a backup. A commit in this mode takes those before it along.
      database.execute("PRAGMA synchronous = FULL");
      try {
        touchLog.run();
      } finally {
        database.execute("PRAGMA synchronous = NORMAL");
      }
    },
    addMessage: ({ seq, epoch, bytes }) => {
      addMessage.run(seq, epoch, Buffer.from(bytes));
    },
    messages: (limit) => messages.all(limit),
    messageCount: () => countMessages.get()?.n ?? 0,
    acknowledged: (epoch, seq) => {
      dropMessages.run(epoch, seq);
    },
    dropMessages: () => {
      database.execute("DELETE FROM hub_message");
    },
  };

  function dropTriggers(): void {
    for (const name of TRIGGER_NAMES) database.execute(`DROP TRIGGER IF EXISTS ${name}`);
  }

  function retell(): void {
    const fromUs = Number(readMeta.get(TOLD_FROM)?.value ?? 0);
    noteAll.run(fromUs);
  }

  /** Joins starts that are gone to runs, as long as no event that is left lies between two of them. */
  function toRuns(gone: readonly ChangeRow[]): readonly (readonly [number, number])[] {
    const runs: [number, number][] = [];
    for (const { event_id: id } of gone) {
      const last = runs.at(-1);
      if (last !== undefined && between.get(last[1], id) === undefined) last[1] = id;
      else runs.push([id, id]);
    }
    return runs;
  }
}

/** The state of the machine itself (load, battery) is nobody else's concern, and would be most of what is sent. */
const IS_TOLD = `${KIND_OF_ROW} <> ${KIND_CODES.system}`;

const TRIGGER_NAMES = ["hub_event_added", "hub_event_changed", "hub_event_removed"];

/** Since when what began is told. It stays when a device leaves: what it told is in its log in the hub. */
const TOLD_FROM = "hub_told_from_us";

/** An event that others never heard of is not noted when it goes: only its row in the list does. */
function triggers(fromUs: number): string {
  return `
  CREATE TRIGGER hub_event_added AFTER INSERT ON event WHEN new.start_us >= ${fromUs} AND new.${IS_TOLD} BEGIN
    INSERT INTO hub_change(event_id, is_new) VALUES(new.start_us, 1) ON CONFLICT DO NOTHING;
  END;
  CREATE TRIGGER hub_event_changed AFTER UPDATE ON event WHEN new.start_us >= ${fromUs} AND new.${IS_TOLD} BEGIN
    INSERT INTO hub_change(event_id, is_new) VALUES(new.start_us, 0) ON CONFLICT DO NOTHING;
  END;
  CREATE TRIGGER hub_event_removed AFTER DELETE ON event WHEN old.start_us >= ${fromUs} AND old.${IS_TOLD} BEGIN
    INSERT INTO hub_change(event_id, is_new) VALUES(old.start_us, 0) ON CONFLICT DO NOTHING;
    DELETE FROM hub_change WHERE event_id = old.start_us AND is_new = 1;
  END;`;
}

interface LogRow extends Omit<OwnLog, "toldUs"> {
  readonly told_us: number;
}

interface Change {
  readonly event_id: number;
  readonly is_new: number;
}

/** A change of an event that is gone has no row beside it. */
type ChangeRow = Change & (EventRow | { readonly start_us: null });

function toTold(row: ChangeRow, isOpen: boolean): readonly ToldEvent[] {
  if (row.start_us === null) return [];
  return [{ facts: readFacts(row), ...readSpan(row), isOpen }];
}
