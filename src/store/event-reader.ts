/**
 * Reading events back. It promises answers whose cost depends on what is asked for and not on how many
 * years are stored: every question reaches its rows through the clustering by start or a small index.
 */
import { EVENT_KINDS, type ActivityEvent, type EventKind } from "../capture/events.ts";
import type { SqlStatement } from "./connection.ts";
import type { StoreDatabase } from "./database.ts";
import { LONG_US, longestEventUs, readEvent, selectEvents, type EventRow } from "./event-rows.ts";
import { parseLocalDay } from "./local-day.ts";
import { IS_WINDOW, isIndexedLike, KIND_CODES, KIND_OF_ROW } from "./stored-facts.ts";

/** Part of the record, as `EventsAnswer` tells it. */
export interface EventRange {
  /** Oldest first, unclipped. */
  readonly events: readonly ActivityEvent[];
  /** True when the limit left older events out. */
  readonly truncated: boolean;
}

export interface EventReader {
  /** See `EventStore.between`. */
  readonly between: (
    fromUs: number,
    toUs: number,
    options?: { readonly kinds?: readonly EventKind[]; readonly limit?: number },
  ) => EventRange;
  /** See `EventStore.latest`. */
  readonly latest: (kind: EventKind, limit: number, beforeUs?: number) => readonly ActivityEvent[];
  /** See `EventStore.activeOn`. */
  readonly activeOn: (
    localDay: string,
  ) => { readonly activeUs: number; readonly firstUs: number } | null;
  /** Start of the first event of a kind after `startUs`; null when there is none. */
  readonly firstAfter: (kindCode: number, startUs: number) => number | null;
  /** Counts every row: tens of milliseconds at ten million. */
  readonly count: () => number;
  readonly newestEndUs: () => number | null;
  /** Tells the reader of a duration that was written, so that it knows how far back a long event may begin. */
  readonly noteDuration: (durationUs: number) => void;
  /** Says that another file stands in the place of the database, of which nothing is known. */
  readonly noteReplaced: () => void;
}

export function createEventReader(database: StoreDatabase): EventReader {
  // Bits of the mask are codes of kinds: one statement serves every choice of kinds.
  const ofKinds = `(1 << (${KIND_OF_ROW})) & ? <> 0`;
  const inRange = database.prepare<EventRow>(
    `${SELECT_EVENT} WHERE event.start_us >= ? AND event.start_us < ?
        AND event.start_us + event.duration_us > ? AND ${ofKinds}
      ORDER BY event.start_us DESC LIMIT ?`,
  );
  const longBefore = database.prepare<EventRow>(
    `${SELECT_EVENT} WHERE event.duration_us > ${LONG_US} AND event.start_us >= ? AND event.start_us < ?
        AND event.start_us + event.duration_us > ? AND ${ofKinds}
      ORDER BY event.start_us DESC LIMIT ?`,
  );
  const seen = prepareRare(database, KIND_CODES.media);
  const other = prepareRare(database, KIND_CODES.idle);
  const rare = (kindCode: number): RareStatements =>
    isIndexedLike(kindCode) === isIndexedLike(KIND_CODES.media) ? seen : other;
  const latestWindows = database.prepare<EventRow>(
    `${SELECT_EVENT} WHERE ${IS_WINDOW} AND event.start_us < ? ORDER BY event.start_us DESC LIMIT ?`,
  );
  const nextWindow = database.prepare<{ start_us: number }>(
    `SELECT start_us FROM event WHERE ${IS_WINDOW} AND start_us > ? ORDER BY start_us LIMIT 1`,
  );
  const day = database.prepare<{ active_us: number; first_us: number }>(
    "SELECT active_us, first_us FROM day WHERE local_day = ?",
  );
  const count = database.prepare<{ count: number }>("SELECT count(*) AS count FROM event");
  const newest = database.prepare<{ end_us: number }>(
    "SELECT start_us + duration_us AS end_us FROM event ORDER BY start_us DESC LIMIT 1",
  );
  /** Null: nobody asked yet. */
  let knownLongestUs: number | null = null;
  const longestEver = (): number => (knownLongestUs ??= longestEventUs(database));

  /** Rows that meet the range, newest first, at most `limit`. */
  const meeting = (
    fromUs: number,
    toUs: number,
    kinds: readonly EventKind[],
    limit: number,
  ): EventRow[] => {
    // An event without duration meets the range when it begins in it.
    const endAfterUs = fromUs - 1;
    const longestUs = longestEver();
    if (!kinds.includes("window")) {
      const earliest = fromUs - longestUs;
      const found = kinds.flatMap((kind) =>
        rare(KIND_CODES[kind]).inRange.all(KIND_CODES[kind], earliest, toUs, endAfterUs, limit),
      );
      return found.sort((a, b) => b.start_us - a.start_us).slice(0, limit);
    }
    const mask = kinds.reduce((bits, kind) => bits | (1 << KIND_CODES[kind]), 0);
    const near = inRange.all(fromUs - LONG_US, toUs, endAfterUs, mask, limit);
    if (near.length >= limit || longestUs <= LONG_US) return near;
    const far = longBefore.all(
      fromUs - longestUs,
      fromUs - LONG_US,
      endAfterUs,
      mask,
      limit - near.length,
    );
    return [...near, ...far];
  };

  return {
    between: (fromUs, toUs, { kinds = EVENT_KINDS, limit = 1000 } = {}) => {
      const rows = meeting(fromUs, toUs, kinds, limit + 1).filter(
        (row) => row.start_us >= fromUs || row.start_us + row.duration_us > fromUs,
      );
      return {
        events: rows.slice(0, limit).reverse().map(readEvent),
        truncated: rows.length > limit,
      };
    },
    latest: (kind, limit, beforeUs = Number.MAX_SAFE_INTEGER) => {
      const rows =
        kind === "window"
          ? latestWindows.all(beforeUs, limit)
          : rare(KIND_CODES[kind]).latest.all(KIND_CODES[kind], beforeUs, limit);
      return rows.map(readEvent);
    },
    activeOn: (localDay) => {
      const number = parseLocalDay(localDay);
      const row = number === null ? undefined : day.get(number);
      return row === undefined ? null : { activeUs: row.active_us, firstUs: row.first_us };
    },
    firstAfter: (kindCode, startUs) => {
      const row =
        kindCode === KIND_CODES.window
          ? nextWindow.get(startUs)
          : rare(kindCode).next.get(kindCode, startUs);
      return row?.start_us ?? null;
    },
    count: () => count.get()?.count ?? 0,
    newestEndUs: () => newest.get()?.end_us ?? null,
    noteDuration: (durationUs) => {
      if (knownLongestUs !== null) knownLongestUs = Math.max(knownLongestUs, durationUs);
    },
    noteReplaced: () => {
      knownLongestUs = null;
    },
  };
}

/** Statements about events of a kind other than windows; the first value of each is the code of the kind. */
interface RareStatements {
  readonly inRange: SqlStatement<EventRow>;
  readonly latest: SqlStatement<EventRow>;
  readonly next: SqlStatement<{ readonly start_us: number }>;
}

function prepareRare(database: StoreDatabase, kindCode: number): RareStatements {
  const isOfKind = `${KIND_OF_ROW} = ? AND ${isIndexedLike(kindCode)}`;
  return {
    inRange: database.prepare(
      `${SELECT_EVENT} WHERE ${isOfKind}
          AND event.start_us >= ? AND event.start_us < ? AND event.start_us + event.duration_us > ?
        ORDER BY event.start_us DESC LIMIT ?`,
    ),
    latest: database.prepare(
      `${SELECT_EVENT} WHERE ${isOfKind} AND event.start_us < ? ORDER BY event.start_us DESC LIMIT ?`,
    ),
    next: database.prepare(
      `SELECT start_us FROM event WHERE ${isOfKind} AND start_us > ? ORDER BY start_us LIMIT 1`,
    ),
  };
}

/** Every event of a database by start, in batches, so that memory stays flat. */
export function* readAllEvents(
  database: StoreDatabase,
  fromUs = Number.MIN_SAFE_INTEGER,
  toUs = Number.MAX_SAFE_INTEGER,
): Generator<readonly ActivityEvent[]> {
  const batch = database.prepare<EventRow>(
    `${SELECT_EVENT} WHERE event.start_us >= ? AND event.start_us < ?
      ORDER BY event.start_us LIMIT ${EVENTS_PER_BATCH}`,
  );
  for (let nextUs = fromUs; ;) {
    const rows = batch.all(nextUs, toUs);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(readEvent);
    nextUs = last.start_us + 1;
  }
}

const EVENTS_PER_BATCH = 1000;

const SELECT_EVENT = selectEvents("event");
