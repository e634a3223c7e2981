/**
 * The ledger: what each client was given, when, of which events and why. It promises that noting costs the
 * answer nothing (it is written a moment later), that the same bytes given again are one entry with a count,
 * and that no entry outlives the events.
 */
import type { UntrustedSpan } from "../context/plain-text.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { StoreDatabase } from "./database.ts";

/** One thing that was given to a client. */
export interface LedgerNote {
  /** Who asked, as the client calls itself; null when it did not say. */
  readonly client: string | null;
  readonly session: string | null;
  /** What was asked for: a form of the block, or the name of another reading request. */
  readonly form: string;
  readonly intent: string;
  readonly source: string;
  /** The bytes; null when what was given is told by its events alone. */
  readonly text: string | null;
  /** Where in `text` stand characters that strangers wrote. */
  readonly untrustedSpans: readonly UntrustedSpan[];
  /**
   * What the owner wrote in that turn, which is all that the owner sees of it: without secrets, cut after 2,000
   * characters. Null when it was no turn, or turns are not kept (`keep_turns` in `[ledger]`).
   */
  readonly ownerText: string | null;
  readonly tokens: number;
  readonly eventIds: readonly number[];
  readonly reasons: readonly string[];
}

/** The same bytes given to one client within a while. */
export interface LedgerEntry extends LedgerNote {
  readonly id: number;
  /** When these bytes were given first and last, and how often. */
  readonly firstUs: number;
  readonly lastUs: number;
  readonly times: number;
}

/** A client as the entries name it, and how often it was given something. */
export interface LedgerClient {
  readonly client: string;
  readonly firstUs: number;
  readonly lastUs: number;
  readonly times: number;
}

export interface LedgerQuery {
  /** Entries given at or after this instant. */
  readonly fromUs: number;
  readonly toUs: number;
  /** Only what this client was given; a name without a version stands for all versions of it. */
  readonly client?: string;
  readonly limit: number;
}

/**
 * Which entries are to go: those made of one of the events, and those that were given within the span and hold
 * the text, as far as either is given. With neither, the events alone decide.
 */
export interface LedgerSelection {
  readonly eventIds: ReadonlySet<number>;
  readonly span: { readonly fromUs: number; readonly toUs: number } | null;
  readonly holds: ((text: string) => boolean) | null;
  /** Whether an entry goes for another reason. */
  readonly isMeant?: (entry: LedgerEntry) => boolean;
}

export interface Ledger {
  /** Notes what was given now. Never throws. */
  readonly note: (note: LedgerNote) => void;
  /** Entries, newest first, those noted just now included. */
  readonly read: (query: LedgerQuery) => {
    readonly entries: readonly LedgerEntry[];
    readonly truncated: boolean;
  };
  /** Every client that the entries name, with when it was given something and how often. */
  readonly clients: () => readonly LedgerClient[];
  /** Counts (`dryRun`) or removes the entries that a selection names. */
  readonly forget: (selection: LedgerSelection, dryRun: boolean) => number;
  /** See `expireLedger`. */
  readonly expire: () => void;
  /** Writes what was noted. */
  readonly flush: () => void;
  readonly close: () => void;
}

export interface OpenLedgerOptions {
  readonly database: StoreDatabase;
  readonly clock: Clock;
  readonly log: Log;
}

const FLUSH_MS = 500;
/** The same bytes to the same client within this long are one entry. */
const MERGE_US = 10 * 60_000_000;
/** What waits for a disk that refuses; older notes are lost, and the log says so. */
const MAX_WAITING = 1_000;
const EXPIRE_EVERY_US = 3_600_000_000;

export function openLedger({ database, clock, log }: OpenLedgerOptions): Ledger {
  const add = database.prepare<{ id: number }>(
    `INSERT INTO ledger(first_us, last_us, times, client, session, form, intent, source, text, tokens, event_ids, reasons, untrusted, owner_text)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  );
  const again = database.prepare("UPDATE ledger SET last_us = ?, times = times + ? WHERE id = ?");
  const drop = database.prepare("DELETE FROM ledger WHERE id = ?");
  const select = database.prepare<LedgerRow>(
    `${SELECT_ENTRY} WHERE last_us >= ? AND first_us <= ?
        AND (client IS coalesce(?, client) OR substr(client, 1, length(?) + 1) = ? || '/')
      ORDER BY last_us DESC, id DESC LIMIT ?`,
  );
  const clients = database.prepare<LedgerClient>(
    `SELECT client, min(first_us) AS firstUs, max(last_us) AS lastUs, sum(times) AS times
       FROM ledger WHERE client IS NOT NULL GROUP BY client`,
  );
  const after = database.prepare<LedgerRow>(
    `${SELECT_ENTRY} WHERE id > ? ORDER BY id LIMIT ${ROWS_PER_STEP}`,
  );
  let waiting: Waiting[] = [];
  /** The newest entry of each client and session, to which the same bytes are added. */
  const newest = new Map<
    string,
    { readonly id: number; readonly key: string; readonly lastUs: number }
  >();
  let timer: NodeJS.Timeout | null = null;
  let expiredUs = Number.MIN_SAFE_INTEGER;
  let isFailing = false;

  const write = ({ atUs, lastUs, times, note, key }: Waiting): void => {
    const who = `${note.client ?? ""}\n${note.session ?? ""}`;
    const last = newest.get(who);
    if (last?.key === key && atUs - last.lastUs <= MERGE_US && atUs >= last.lastUs) {
      if (again.run(lastUs, times, last.id) === 1) {
        newest.set(who, { ...last, lastUs });
        return;
      }
    }
    const row = add.get(
      atUs,
      lastUs,
      times,
      note.client,
      note.session,
      note.form,
      note.intent,
      note.source,
      note.text,
      note.tokens,
      JSON.stringify(note.eventIds),
      JSON.stringify(note.reasons),
      JSON.stringify(note.untrustedSpans.flatMap(({ start, end }) => [start, end])),
      note.ownerText,
    );
    if (row !== undefined) newest.set(who, { id: row.id, key, lastUs });
    if (newest.size > MAX_CLIENTS) newest.clear();
  };

  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (waiting.length === 0) return;
    try {
      database.transaction(() => {
        for (const noted of waiting) write(noted);
      });
      waiting = [];
      isFailing = false;
      expireNowAndThen();
    } catch (error) {
      // What the map says of entries that were rolled back is no longer so.
      newest.clear();
      if (!isFailing)
        log.warn("the ledger cannot be written; its notes are held in memory", {
          kind: errorKind(error),
        });
      isFailing = true;
      if (waiting.length > MAX_WAITING) {
        log.warn("notes of the ledger were lost", { count: waiting.length - MAX_WAITING });
        waiting = waiting.slice(-MAX_WAITING);
      }
      schedule();
    }
  };

  const schedule = (): void => {
    if (timer !== null) return;
    timer = setTimeout(flush, FLUSH_MS);
    timer.unref();
  };

  const expire = (): void => expireLedger(database);

  const expireNowAndThen = (): void => {
    const nowUs = clock.nowUs();
    if (nowUs - expiredUs < EXPIRE_EVERY_US && nowUs >= expiredUs) return;
    expiredUs = nowUs;
    expire();
  };

  /** Every entry, in steps that keep memory flat. */
  function* all(): Generator<LedgerEntry> {
    let lastId = 0;
    for (;;) {
      const rows = after.all(lastId);
      for (const row of rows) yield toEntry(row);
      const last = rows.at(-1);
      if (last === undefined) return;
      lastId = last.id;
    }
  }

  return {
    note: (note) => {
      const atUs = clock.nowUs();
      const key = JSON.stringify([
        note.form,
        note.intent,
        note.source,
        note.text,
        note.text === null ? note.eventIds : null,
        note.ownerText,
      ]);
      const last = waiting.at(-1);
      // A status line that polls gets the same bytes many times in one moment.
      if (
        last !== undefined &&
        last.key === key &&
        last.note.client === note.client &&
        last.note.session === note.session
      ) {
        last.lastUs = atUs;
        last.times += 1;
        return;
      }
      waiting.push({ atUs, lastUs: atUs, times: 1, note, key });
      schedule();
    },
    read: ({ fromUs, toUs, client, limit }) => {
      flush();
      const name = client ?? null;
      const rows = select.all(fromUs, toUs, name, name, name, limit + 1);
      return { entries: rows.slice(0, limit).map(toEntry), truncated: rows.length > limit };
    },
    clients: () => {
      flush();
      return clients.all();
    },
    forget: (selection, dryRun) => {
      flush();
      const ids: number[] = [];
      for (const entry of all()) if (isSelected(entry, selection)) ids.push(entry.id);
      if (dryRun || ids.length === 0) return ids.length;
      database.transaction(() => {
        for (const id of ids) drop.run(id);
      });
      newest.clear();
      return ids.length;
    },
    expire,
    flush,
    close: () => {
      flush();
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

/**
 * Removes the entries whose events are no longer kept: those given before the oldest event, and those that tell
 * of an older one. Whoever lets events expire calls it before the freed pages are overwritten.
 */
export function expireLedger(database: StoreDatabase): void {
  database.execute(
    `DELETE FROM ledger WHERE last_us < (SELECT min(start_us) FROM event)
       OR EXISTS (SELECT 1 FROM json_each(event_ids) WHERE value < (SELECT min(start_us) FROM event))`,
  );
}

const ROWS_PER_STEP = 500;
const MAX_CLIENTS = 1_000;

interface Waiting {
  readonly atUs: number;
  readonly note: LedgerNote;
  /** Equal exactly when what was given is equal. */
  readonly key: string;
  lastUs: number;
  times: number;
}

interface LedgerRow {
  readonly id: number;
  readonly first_us: number;
  readonly last_us: number;
  readonly times: number;
  readonly client: string | null;
  readonly session: string | null;
  readonly form: string;
  readonly intent: string;
  readonly source: string;
  readonly text: string | null;
  readonly tokens: number;
  readonly event_ids: string;
  readonly reasons: string;
  readonly untrusted: string;
  readonly owner_text: string | null;
}

const SELECT_ENTRY =
  "SELECT id, first_us, last_us, times, client, session, form, intent, source, text, tokens, event_ids, reasons, untrusted, owner_text FROM ledger";

function toEntry(row: LedgerRow): LedgerEntry {
  return {
    id: row.id,
    firstUs: row.first_us,
    lastUs: row.last_us,
    times: row.times,
    client: row.client,
    session: row.session,
    form: row.form,
    intent: row.intent,
    source: row.source,
    text: row.text,
    untrustedSpans: parseSpans(row.untrusted),
    ownerText: row.owner_text,
    tokens: row.tokens,
    eventIds: parseList(row.event_ids).filter((id) => typeof id === "number"),
    reasons: parseList(row.reasons).filter((reason) => typeof reason === "string"),
  };
}

/** Starts and ends by turns. */
function parseSpans(json: string): readonly UntrustedSpan[] {
  const edges = parseList(json).filter((edge) => typeof edge === "number");
  return edges.flatMap((start, index) => {
    const end = edges[index + 1];
    return index % 2 === 1 || end === undefined ? [] : [{ start, end }];
  });
}

function parseList(json: string): readonly unknown[] {
  const value: unknown = JSON.parse(json);
  return Array.isArray(value) ? value : [];
}

function isSelected(entry: LedgerEntry, selection: LedgerSelection): boolean {
  const { eventIds, span, holds } = selection;
  if (selection.isMeant?.(entry) === true) return true;
  // Of events that were read nothing is kept but which they were.
  if (entry.form !== "events" && entry.eventIds.some((id) => eventIds.has(id))) return true;
  if (span === null && holds === null) return false;
  if (span !== null && !(entry.firstUs < span.toUs && entry.lastUs >= span.fromUs)) return false;
  const { text, ownerText, client, session, reasons } = entry;
  const texts = [text, ownerText, client, session, ...reasons];
  return holds === null || texts.some((text) => text !== null && holds(text));
}

function errorKind(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
