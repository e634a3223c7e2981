/**
 * Buckets of events as other recorders send them: rows of JSON in SQLite, apart from our own events. It promises
 * that ids are unique over all buckets and never move between them, that what was acknowledged is committed, and
 * that a range is found without reading the bucket.
 */
import type { StoreDatabase } from "./database.ts";

export interface BucketRow {
  readonly id: string;
  readonly type: string;
  readonly client: string;
  readonly hostname: string;
  readonly createdUs: number;
  /** JSON object. */
  readonly data: string;
}

/** One event of a bucket. `data` is JSON; spans may overlap, and durations are what the sender said. */
export interface BucketEventRow {
  readonly id: number;
  readonly startUs: number;
  readonly durationUs: number;
  readonly data: string;
}

export type NewBucketEvent = Omit<BucketEventRow, "id">;

/** Both ends count, as the protocol has it; null: open. */
export interface BucketRange {
  readonly fromUs: number | null;
  readonly toUs: number | null;
}

export interface BucketStore {
  readonly list: () => readonly BucketRow[];
  readonly find: (bucket: string) => BucketRow | null;
  /** False when a bucket of that id is there already; it stays as it is. */
  readonly create: (row: BucketRow) => boolean;
  /** Removes a bucket with its events. False when there is none. */
  readonly remove: (bucket: string) => boolean;
  /** Newest start first; of equal starts the first inserted first. `limit` null: all. */
  readonly events: (
    bucket: string,
    range: BucketRange,
    limit: number | null,
  ) => readonly BucketEventRow[];
  /** The same in pages: other work on the store may come between any two. */
  readonly pages: (
    bucket: string,
    range: BucketRange,
    limit: number | null,
  ) => IterableIterator<readonly BucketEventRow[]>;
  /** All events in the same order, read in pages: other work on the store may come between any two. */
  readonly iterate: (bucket: string) => IterableIterator<BucketEventRow>;
  readonly count: (bucket: string, range: BucketRange) => number;
  readonly event: (bucket: string, id: number) => BucketEventRow | null;
  /** Inserts in one transaction and gives the rows with their ids. */
  readonly insert: (bucket: string, events: readonly NewBucketEvent[]) => readonly BucketEventRow[];
  /** False when the id is not one of this bucket's. */
  readonly replace: (bucket: string, row: BucketEventRow) => boolean;
  readonly removeEvent: (bucket: string, id: number) => boolean;
  /** The event with the greatest start; of equal starts the last inserted. */
  readonly newest: (bucket: string) => BucketEventRow | null;
  /** Whether an event of exactly this start, duration and data is there. */
  readonly holds: (bucket: string, event: NewBucketEvent) => boolean;
  readonly setting: (key: string) => string | null;
  readonly settings: () => Readonly<Record<string, string>>;
  /** `value` is JSON; null removes the setting. */
  readonly setSetting: (key: string, value: string | null) => void;
  readonly transaction: StoreDatabase["transaction"];
}

/** The tables in an open database. Every method throws `ActivityError` where SQLite fails. */
export function createBucketStore(database: StoreDatabase): BucketStore {
  const columns =
    "event.id AS id, start_us AS startUs, duration_us AS durationUs, event.data AS data";
  const described = "id, type, client, hostname, created_us AS createdUs, data";
  const list = database.prepare<BucketRow>(`SELECT ${described} FROM bucket ORDER BY key`);
  const find = database.prepare<BucketRow>(`SELECT ${described} FROM bucket WHERE id = ?`);
  const findKey = database.prepare<{ key: number; longestUs: number }>(
    "SELECT key, longest_us AS longestUs FROM bucket WHERE id = ?",
  );
  const create = database.prepare(
    `INSERT INTO bucket(id, type, client, hostname, created_us, data, longest_us) VALUES(?, ?, ?, ?, ?, ?, 0)
      ON CONFLICT DO NOTHING`,
  );
  const noteLongest = database.prepare(
    "UPDATE bucket SET longest_us = ? WHERE key = ? AND longest_us < ?",
  );
  const removeEvents = database.prepare("DELETE FROM bucket_event WHERE bucket_key = ?");
  const removeBucket = database.prepare("DELETE FROM bucket WHERE key = ?");
  const inRange = `FROM bucket_event AS event WHERE bucket_key = ? AND start_us BETWEEN ? AND ?
                    AND start_us + duration_us >= ?`;
  // Most of the time of thousands of rows goes into handing them over one by one, and texts of them that are
  // equal: so a page comes by its data, with the numbers of all its events as one text.
  const grouped = database.prepare<{ data: string; numbers: string }>(
    `SELECT data, '[' || group_concat(id || ',' || start_us || ',' || duration_us) || ']' AS numbers
       FROM (SELECT id, start_us, duration_us, data ${inRange} AND (start_us < ? OR id > ?)
              ORDER BY start_us DESC, id LIMIT ?)
      GROUP BY data`,
  );
  const count = database.prepare<{ count: number }>(`SELECT count(*) AS count ${inRange}`);
  const page = database.prepare<BucketEventRow>(
    `SELECT ${columns} FROM bucket_event AS event
      WHERE bucket_key = ? AND start_us <= ? AND (start_us < ? OR id > ?)
      ORDER BY start_us DESC, id LIMIT ${PAGE_ROWS}`,
  );
  const event = database.prepare<BucketEventRow>(
    `SELECT ${columns} FROM bucket_event AS event WHERE id = ? AND bucket_key = ?`,
  );
  const newest = database.prepare<BucketEventRow>(
    `SELECT ${columns} FROM bucket_event AS event WHERE bucket_key = ? ORDER BY start_us DESC, id DESC LIMIT 1`,
  );
  const same = database.prepare<{ found: number }>(
    `SELECT 1 AS found FROM bucket_event WHERE bucket_key = ? AND start_us = ? AND duration_us = ? AND data = ? LIMIT 1`,
  );
  const insert = database.prepare<{ id: number }>(
    "INSERT INTO bucket_event(bucket_key, start_us, duration_us, data) VALUES(?, ?, ?, ?) RETURNING id",
  );
  const replace = database.prepare(
    "UPDATE bucket_event SET start_us = ?, duration_us = ?, data = ? WHERE id = ? AND bucket_key = ?",
  );
  const removeOne = database.prepare("DELETE FROM bucket_event WHERE id = ? AND bucket_key = ?");
  const settings = database.prepare<{ key: string; value: string }>(
    "SELECT key, value FROM bucket_setting ORDER BY key",
  );
  const setting = database.prepare<{ value: string }>(
    "SELECT value FROM bucket_setting WHERE key = ?",
  );
  const setSetting = database.prepare(
    "INSERT INTO bucket_setting(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
  );
  const removeSetting = database.prepare("DELETE FROM bucket_setting WHERE key = ?");

  /** A range that ends before it begins holds nothing, whatever spans it. */
  const isEmpty = ({ fromUs, toUs }: BucketRange): boolean =>
    fromUs !== null && toUs !== null && toUs < fromUs;
  const range = (
    { fromUs, toUs }: BucketRange,
    longestUs: number,
  ): readonly [number, number, number] => {
    const from = fromUs ?? EARLIEST_US;
    // No event of the bucket is longer than its longest: what began before that cannot reach the range.
    return [fromUs === null ? EARLIEST_US : from - longestUs, toUs ?? LATEST_US, from];
  };
  const add = (key: number, each: NewBucketEvent): BucketEventRow => {
    const row = insert.get(key, each.startUs, each.durationUs, each.data);
    noteLongest.run(each.durationUs, key, each.durationUs);
    return { id: row?.id ?? 0, ...each };
  };

  function* walk(
    bucket: string,
    wanted: BucketRange,
    limit: number | null,
    pageRows: number,
  ): Generator<readonly BucketEventRow[], void, undefined> {
    const found = findKey.get(bucket);
    if (found === undefined || isEmpty(wanted)) return;
    const [fromUs, toUs, endFromUs] = range(wanted, found.longestUs);
    let after = { startUs: toUs, id: -1 };
    for (let left = limit ?? Infinity; left > 0;) {
      const most = Math.min(left, pageRows);
      const { startUs, id } = after;
      const groups = grouped.all(found.key, fromUs, startUs, endFromUs, startUs, id, most);
      const next = groups.flatMap(toRows).sort((a, b) => b.startUs - a.startUs || a.id - b.id);
      const last = next.at(-1);
      if (last === undefined) return;
      yield next;
      if (next.length < most) return;
      left -= next.length;
      after = last;
    }
  }

  return {
    list: () => list.all(),
    find: (bucket) => find.get(bucket) ?? null,
    create: ({ id, type, client, hostname, createdUs, data }) =>
      create.run(id, type, client, hostname, createdUs, data) === 1,
    remove: (bucket) =>
      database.transaction(() => {
        const found = findKey.get(bucket);
        if (found === undefined) return false;
        removeEvents.run(found.key);
        removeBucket.run(found.key);
        return true;
      }),
    events: (bucket, wanted, limit) => {
      const rows: BucketEventRow[] = [];
      for (const next of walk(bucket, wanted, limit, GROUPED_ROWS))
        for (const row of next) rows.push(row);
      return rows;
    },
    pages: (bucket, wanted, limit) => walk(bucket, wanted, limit, PAGE_ROWS),
    iterate: function* (bucket) {
      const { key } = findKey.get(bucket) ?? { key: -1 };
      let after = { startUs: LATEST_US, id: 0 };
      for (;;) {
        const rows = page.all(key, after.startUs, after.startUs, after.id);
        yield* rows;
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last;
      }
    },
    count: (bucket, wanted) => {
      const found = findKey.get(bucket);
      return found === undefined || isEmpty(wanted)
        ? 0
        : (count.get(found.key, ...range(wanted, found.longestUs))?.count ?? 0);
    },
    event: (bucket, id) => event.get(id, findKey.get(bucket)?.key ?? -1) ?? null,
    insert: (bucket, rows) =>
      database.transaction(() => {
        const found = findKey.get(bucket);
        return found === undefined ? [] : rows.map((row) => add(found.key, row));
      }),
    replace: (bucket, { id, startUs, durationUs, data }) =>
      database.transaction(() => {
        const found = findKey.get(bucket);
        if (found === undefined) return false;
        noteLongest.run(durationUs, found.key, durationUs);
        return replace.run(startUs, durationUs, data, id, found.key) === 1;
      }),
    removeEvent: (bucket, id) => removeOne.run(id, findKey.get(bucket)?.key ?? -1) === 1,
    newest: (bucket) => newest.get(findKey.get(bucket)?.key ?? -1) ?? null,
    holds: (bucket, { startUs, durationUs, data }) =>
      same.get(findKey.get(bucket)?.key ?? -1, startUs, durationUs, data) !== undefined,
    setting: (key) => setting.get(key)?.value ?? null,
    settings: () => Object.fromEntries(settings.all().map(({ key, value }) => [key, value])),
    setSetting: (key, value) => {
      if (value === null) removeSetting.run(key);
      else setSetting.run(key, value);
    },
    transaction: database.transaction,
  };
}

const PAGE_ROWS = 1_000;
/** Few enough that SQLite sorts them in memory: text must not lie in a temporary file. */
const GROUPED_ROWS = 5_000;

function toRows(group: { readonly data: string; readonly numbers: string }): BucketEventRow[] {
  // A list that SQLite wrote of three INTEGER columns: id, start and duration of each event.
  const numbers = JSON.parse(group.numbers) as readonly number[];
  const rows: BucketEventRow[] = [];
  for (let at = 0; at < numbers.length; at += 3) {
    const [id = 0, startUs = 0, durationUs = 0] = [numbers[at], numbers[at + 1], numbers[at + 2]];
    rows.push({ id, startUs, durationUs, data: group.data });
  }
  return rows;
}

/** Wider than any instant the protocol can name. */
const EARLIEST_US = -8_640_000_000_000_000;
const LATEST_US = 8_640_000_000_000_000;
