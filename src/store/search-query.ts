/**
 * Finding documents by words. It promises an answer whose cost is bounded: of a word that stands nearly
 * everywhere the newest documents and the newest visits are looked at, never all of them.
 */
import { EVENT_KINDS, type EventKind } from "../capture/events.ts";
import { ActivityError } from "../errors.ts";
import type { StoreDatabase } from "./database.ts";
import { KIND_CODES } from "./documents.ts";

export interface SearchRequest {
  /** Words that must all be there; 1 to 400 characters. */
  readonly q: string;
  /** Only what was seen from here on. */
  readonly fromUs?: number;
  /** Only what was seen before. */
  readonly toUs?: number;
  /** At most so many, the last seen first; 50 unless given, 1,000 at most. */
  readonly limit?: number;
  /** Who asks, for the ledger. */
  readonly client?: string;
}

/** Something that was seen, once for all times it was. Its texts were written by strangers. */
export interface SearchHit {
  readonly documentId: number;
  readonly kind: EventKind;
  /** The application; the player of media. */
  readonly app: string;
  /** The title, file, piece or summary; null when it was not kept. */
  readonly title: string | null;
  /** Host and path of a page, project of a file, artist of a piece. */
  readonly place: string | null;
  /** When it was last seen in the range, microseconds since 1970 UTC. */
  readonly lastUs: number;
  /** Time spent with it in the range, as far as the search looked back. */
  readonly activeUs: number;
  /** How often it was seen in the range, as far as the search looked back. */
  readonly visits: number;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** True when there may be more than were given. */
  readonly truncated: boolean;
}

/** Documents, visits and events of each kind that are looked at for one question: some milliseconds of work. */
const CUT_OFF = 5000;
const DEFAULT_LIMIT = 50;
const MOST_HITS = 1000;

/**
 * The documents that have every word of the question, last seen first. Words match by their stem and without
 * accents; when no document has all of them as they are, they match as beginnings of words, and when none
 * begins so, the newest documents that have the text anywhere in them.
 *
 * @throws ActivityError `bad_request` when the question has no word in it
 */
export function searchDocuments(database: StoreDatabase, request: SearchRequest): SearchAnswer {
  const { q, fromUs = null, toUs = null, limit = DEFAULT_LIMIT } = request;
  const words = q.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  if (words.length === 0) {
    throw new ActivityError(
      "bad_request",
      `There is no word to search for in "${q}".`,
      "Give one or more words of a title, an application or a page's address.",
    );
  }
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MOST_HITS) {
    throw new ActivityError(
      "bad_request",
      `Cannot give ${limit} hits.`,
      `Give a limit from 1 to ${MOST_HITS}.`,
    );
  }
  const { matching, terms } = chooseMatching(database, words);
  const range = { fromUs: fromUs ?? -Infinity, toUs: toUs ?? Infinity };
  const seen = new Map(whenSeen(database, matching, terms, range, limit + 1));
  // Without a range, what was last seen long ago still counts: newest documents first.
  const isOpen = fromUs === null && toUs === null;
  const older =
    isOpen && seen.size <= limit ? lookBack(database, matching, terms, seen, limit + 1) : [];
  const ordered = [...seen, ...older].sort(([, a], [, b]) => b.lastUs - a.lastUs);
  return {
    hits: ordered.slice(0, limit).flatMap(([id, times]) => readHit(database, id, times)),
    truncated: ordered.length > limit,
  };
}

/** Documents that match by words, newest first. */
const BY_WORDS =
  "SELECT rowid AS id FROM document_fts WHERE document_fts MATCH ? ORDER BY rowid DESC";
/**
 * Documents that have a text anywhere in them, among the newest: scripts without spaces make one word of a
 * whole title.
 */
const BY_PART = `SELECT id FROM
    (SELECT id, app || char(10) || coalesce(title, '') || char(10) || coalesce(place, '') AS text
       FROM document ORDER BY id DESC LIMIT 20000)
  WHERE instr(lower(text), ?) ORDER BY id DESC`;

/** How the words are to be matched: whole, else as beginnings, else as a part of what there is. */
function chooseMatching(
  database: StoreDatabase,
  words: readonly string[],
): { readonly matching: string; readonly terms: string } {
  const wholes = words.map((word) => `"${word}"`).join(" AND ");
  const beginnings = words.map((word) => `"${word}"*`).join(" AND ");
  const isAny = database.prepare(`${BY_WORDS} LIMIT 1`);
  for (const terms of [wholes, beginnings]) {
    if (isAny.get(terms) !== undefined) return { matching: BY_WORDS, terms };
  }
  return { matching: BY_PART, terms: words.join(" ").toLowerCase() };
}

interface Times {
  readonly lastUs: number;
  readonly activeUs: number;
  readonly visits: number;
}

interface SeenRow extends Times {
  readonly id: number;
}

/** What matches among the newest visits and events of a range, last seen first. All of it happens in SQLite. */
function whenSeen(
  database: StoreDatabase,
  matching: string,
  terms: string,
  range: { readonly fromUs: number; readonly toUs: number },
  limit: number,
): readonly (readonly [number, Times])[] {
  const { fromUs, toUs } = range;
  const rare = database
    .prepare<{ id: number; kind: string }>(
      `SELECT id, kind FROM document WHERE id IN (${matching} LIMIT ${RARE + 1})`,
    )
    .all(terms);
  const isRare = rare.length <= RARE;
  const hasOthers = hasOtherDevices(database);
  const visit = hasOthers ? ALL_VISITS : "visit";
  // Of few documents every visit is looked at; of many the newest visits, whosever they are.
  const visits = isRare
    ? `SELECT document_id, end_us, active_us FROM ${visit}
        WHERE document_id IN (${matching}) AND start_us >= ? AND start_us < ?`
    : `SELECT document_id, end_us, active_us FROM
         (SELECT document_id, end_us, active_us FROM ${visit}
           WHERE start_us >= ? AND start_us < ? ORDER BY start_us DESC LIMIT ${CUT_OFF})
        WHERE document_id IN (${matching} LIMIT ${CUT_OFF})`;
  const windows = database.prepare<SeenRow>(lastSeenFirst(visits));
  const others = database.prepare<SeenRow>(
    lastSeenFirst(
      `SELECT label.document_id AS document_id, event.start_us + duration_us AS end_us,
              duration_us AS active_us
         FROM (SELECT start_us AS found_us, label_id AS found_label FROM event
                WHERE label_id & 15 = ? AND label_id & 15 <> 0 AND start_us >= ? AND start_us < ?
                ORDER BY start_us DESC LIMIT ${CUT_OFF})
         JOIN event ON event.start_us = found_us JOIN label ON label.id = found_label
        WHERE found_label IN
          (SELECT id FROM label WHERE document_id IN (${matching} LIMIT ${CUT_OFF}))`,
    ),
  );
  const elsewhere = hasOthers
    ? database.prepare<SeenRow>(lastSeenFirst(elsewhereOf(matching)))
    : null;
  const kinds = isRare
    ? SEEN_KINDS.filter((kind) => rare.some((row) => row.kind === kind))
    : SEEN_KINDS;
  const rows = [
    ...(isRare ? windows.all(terms, fromUs, toUs, limit) : windows.all(fromUs, toUs, terms, limit)),
    ...kinds.flatMap((kind) => others.all(KIND_CODES[kind], fromUs, toUs, terms, limit)),
    ...kinds.flatMap((kind) => elsewhere?.all(KIND_CODES[kind], fromUs, toUs, terms, limit) ?? []),
  ];
  return addUp(rows);
}

/** Something may have been seen on this device and, as another row, on others. */
function addUp(rows: readonly SeenRow[]): readonly (readonly [number, Times])[] {
  const sums = new Map<number, Times>();
  for (const { id, lastUs, activeUs, visits } of rows) {
    const sum = sums.get(id);
    sums.set(id, {
      lastUs: Math.max(sum?.lastUs ?? lastUs, lastUs),
      activeUs: (sum?.activeUs ?? 0) + activeUs,
      visits: (sum?.visits ?? 0) + visits,
    });
  }
  return [...sums];
}

function hasOtherDevices(database: StoreDatabase): boolean {
  return database.prepare("SELECT 1 FROM remote_event LIMIT 1").get() !== undefined;
}

const ALL_VISITS = `(SELECT document_id, start_us, end_us, active_us FROM visit
    UNION ALL SELECT document_id, start_us, start_us + span_us, active_us FROM remote_visit)`;

/** What other devices saw besides windows. */
function elsewhereOf(matching: string): string {
  return `SELECT label.document_id AS document_id, start_us + duration_us AS end_us, duration_us AS active_us
    FROM (SELECT start_us, duration_us, label_id FROM remote_event
           WHERE label_id & 15 = ? AND start_us >= ? AND start_us < ?
           ORDER BY start_us DESC LIMIT ${CUT_OFF})
    JOIN label ON label.id = label_id
   WHERE label_id IN (SELECT id FROM label WHERE document_id IN (${matching} LIMIT ${CUT_OFF}))`;
}

function lastSeenFirst(rows: string): string {
  return `SELECT document_id AS id, max(end_us) AS lastUs, sum(active_us) AS activeUs, count(*) AS visits
    FROM (${rows}) GROUP BY document_id ORDER BY lastUs DESC LIMIT ?`;
}

/** Fewer documents than this are few. */
const RARE = 200;
/** Kinds other than windows that have documents. */
const SEEN_KINDS = ["media", "notification", "editor", "tab"] as const;

/** Matching documents that were last seen before the newest visits, at most `limit` with those of `seen`. */
function lookBack(
  database: StoreDatabase,
  matching: string,
  terms: string,
  seen: ReadonlyMap<number, Times>,
  limit: number,
): readonly (readonly [number, Times])[] {
  const newest = database.prepare<{ id: number }>(`${matching} LIMIT ?`);
  const lastVisit = database.prepare<Times>(
    `SELECT end_us AS lastUs, active_us AS activeUs, 1 AS visits FROM visit
      WHERE document_id = ? ORDER BY start_us DESC LIMIT 1`,
  );
  const lastElsewhere = hasOtherDevices(database)
    ? database.prepare<Times>(
        `SELECT start_us + span_us AS lastUs, active_us AS activeUs, 1 AS visits FROM remote_visit
          WHERE document_id = ? ORDER BY start_us DESC LIMIT 1`,
      )
    : null;
  const found: (readonly [number, Times])[] = [];
  for (const { id } of newest.all(terms, seen.size + limit)) {
    if (seen.size + found.length >= limit) break;
    const times = seen.has(id) ? undefined : (lastVisit.get(id) ?? lastElsewhere?.get(id));
    if (times !== undefined) found.push([id, times]);
  }
  return found;
}

function readHit(database: StoreDatabase, id: number, times: Times): readonly SearchHit[] {
  const row = database
    .prepare<{ kind: string; app: string; title: string | null; place: string | null }>(
      "SELECT kind, app, title, place FROM document WHERE id = ?",
    )
    .get(id);
  const kind = EVENT_KINDS.find((known) => known === row?.kind);
  if (row === undefined || kind === undefined) return [];
  const { app, title, place } = row;
  return [{ documentId: id, kind, app, title, place, ...times }];
}
