/**
 * Finding documents by words. It promises an answer whose cost is bounded: of a word that stands nearly
 * everywhere the newest documents and the newest visits are looked at, never all of them.
 */
import { EVENT_KINDS, type EventKind } from "../capture/events.ts";
import { ActivityError } from "../errors.ts";
import type { StoreDatabase } from "./database.ts";

export interface SearchRequest {
  /** Words that must all be there; 1 to 400 characters. */
  readonly q: string;
  /** Only what was seen from here on. */
  readonly fromUs?: number;
  /** Only what was seen before. */
  readonly toUs?: number;
  /** At most so many, the last seen first; 50 unless given, 1,000 at most. */
  readonly limit?: number;
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

/** Documents, and visits, that are looked at for one question. About 15 ms of work at most. */
const CUT_OFF = 20_000;
/** Events of kinds other than windows, each. */
const RARE_CUT_OFF = 2000;
const DEFAULT_LIMIT = 50;
const MOST_HITS = 1000;

/**
 * The documents that have every word of the question, last seen first. Words match by their stem and without
 * accents; when no document has all of them as they are, they match as beginnings of words.
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
  const exact = matches(
    database,
    words.map((word) => `"${word}"`),
  );
  const found =
    exact.length > 0
      ? exact
      : matches(
          database,
          words.map((word) => `"${word}"*`),
        );
  const seen = whenSeen(database, new Set(found), fromUs, toUs);
  // Without a range, what was last seen long ago still counts: newest documents first.
  const rest = fromUs === null && toUs === null ? found.filter((id) => !seen.has(id)) : [];
  for (const id of rest.slice(0, limit)) {
    const last = lastVisit(database, id);
    if (last !== null) seen.set(id, last);
  }
  const ordered = [...seen].sort(([, a], [, b]) => b.lastUs - a.lastUs);
  return {
    hits: ordered.slice(0, limit).flatMap(([id, times]) => readHit(database, id, times)),
    truncated: ordered.length > limit || rest.length > limit || found.length >= CUT_OFF,
  };
}

interface Times {
  lastUs: number;
  activeUs: number;
  visits: number;
}

function matches(database: StoreDatabase, terms: readonly string[]): readonly number[] {
  return database
    .prepare<{ rowid: number }>(
      `SELECT rowid FROM document_fts WHERE document_fts MATCH ? ORDER BY rowid DESC LIMIT ${CUT_OFF}`,
    )
    .all(terms.join(" AND "))
    .map(({ rowid }) => rowid);
}

/** When these documents were seen within a range, from its newest visits and events back. */
function whenSeen(
  database: StoreDatabase,
  ids: ReadonlySet<number>,
  fromUs: number | null,
  toUs: number | null,
): Map<number, Times> {
  const seen = new Map<number, Times>();
  if (ids.size === 0) return seen;
  const note = (id: number, endUs: number, activeUs: number): void => {
    if (!ids.has(id)) return;
    const times = seen.get(id) ?? { lastUs: endUs, activeUs: 0, visits: 0 };
    times.lastUs = Math.max(times.lastUs, endUs);
    times.activeUs += activeUs;
    times.visits += 1;
    seen.set(id, times);
  };
  const from = fromUs ?? Number.MIN_SAFE_INTEGER;
  const to = toUs ?? Number.MAX_SAFE_INTEGER;
  const visits = database.prepare<{ document_id: number; end_us: number; active_us: number }>(
    `SELECT document_id, end_us, active_us FROM visit
      WHERE start_us >= ? AND start_us < ? ORDER BY start_us DESC LIMIT ${CUT_OFF}`,
  );
  for (const row of visits.all(from, to)) note(row.document_id, row.end_us, row.active_us);
  const rare = database.prepare<{ document_id: number; end_us: number; duration_us: number }>(
    `SELECT document_id, event.start_us + duration_us AS end_us, duration_us
       FROM event JOIN label ON label.id = label_id
      WHERE label_id & 15 = ? AND label_id & 15 <> 0 AND event.start_us >= ? AND event.start_us < ?
      ORDER BY event.start_us DESC LIMIT ${RARE_CUT_OFF}`,
  );
  for (const code of SEEN_KINDS) {
    for (const row of rare.all(code, from, to)) note(row.document_id, row.end_us, row.duration_us);
  }
  return seen;
}

/** Codes of the kinds other than windows that have documents: media, notification, editor, tab. */
const SEEN_KINDS = [5, 6, 8, 9] as const;

function lastVisit(database: StoreDatabase, id: number): Times | null {
  const row = database
    .prepare<{ end_us: number; active_us: number }>(
      "SELECT end_us, active_us FROM visit WHERE document_id = ? ORDER BY start_us DESC LIMIT 1",
    )
    .get(id);
  return row === undefined ? null : { lastUs: row.end_us, activeUs: row.active_us, visits: 1 };
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
