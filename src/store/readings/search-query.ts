/**
 * Finding documents by words, with when they were seen. It promises an answer whose cost is bounded: of a word
 * that stands nearly everywhere the newest documents and the newest visits are looked at, never all of them.
 */
import { EVENT_KINDS, type EventKind } from "../../capture/events.ts";
import { ActivityError } from "../../errors.ts";
import type { StoreDatabase } from "../database.ts";
import { clockLeadUs, createDeviceReader } from "../devices.ts";
import { isIndexedLike, isOfKind, KIND_CODES, KIND_MASK, KIND_OF_ROW } from "../stored-facts.ts";
import { matchDocuments, type Matching } from "./search-matching.ts";

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
  /** Name of the other device where it was last seen; absent: this one. */
  readonly device?: string;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** True when there may be more than were given: a higher limit, or a range, may find them. */
  readonly truncated: boolean;
}

/** Visits, and events of each other kind, that are looked at for one question: some milliseconds of work. */
const CUT_OFF = 5000;
/** Fewer documents than this are few: each is asked for its own visits. */
const FEW = 200;
/** Of more candidates than this is not asked of each whether it matches. */
const MOST_TOLD_APART = 1000;
/** Of few documents that many visits each are added up at least. */
const VISITS_OF_EACH = 50;
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
  const matching = matchDocuments(database, words);
  const range = { fromUs: fromUs ?? -Infinity, toUs: toUs ?? Infinity };
  const places = [HERE, ...otherPlaces(database)];
  // Without a range, what was last seen long ago still counts: newest documents first.
  const isOpen = fromUs === null && toUs === null;
  const few = whereFew(matching);
  const hasOthers = matching.isCut && !(isOpen && matching.isOfNewest);
  const newest =
    few === null || hasOthers
      ? places.map((place) => newestVisits(database, matching, place, range))
      : [];
  const happened = places.map((place) => whenHappened(database, matching, place, range));
  const seen = addUp([
    ...newest.flatMap((part) => part.seen).filter(([id]) => few?.has(id) !== true),
    ...places.flatMap((place) => (few === null ? [] : visitsOfEach(database, few, place, range))),
    ...happened.flatMap((part) => part.seen),
  ]);
  const older =
    isOpen && seen.size <= limit ? lookBack(database, matching, places, seen, limit + 1) : [];
  const ordered = [...seen, ...older].sort(([, a], [, b]) => b.lastUs - a.lastUs);
  return {
    hits: readHits(database, ordered.slice(0, limit)),
    truncated:
      ordered.length > limit ||
      (matching.isCut && !hasOthers) ||
      ((matching.isCut || !isOpen) && newest.some(({ isCut }) => isCut)) ||
      happened.some(({ isCut }) => isCut),
  };
}

/** The documents that match where they are few and all known, so that each can be asked for its own visits. */
function whereFew({ candidates, among }: Matching): ReadonlySet<number> | null {
  if (candidates.length > MOST_TOLD_APART) return null;
  const matching = among(candidates);
  return matching.size > FEW ? null : matching;
}

interface Range {
  readonly fromUs: number;
  readonly toUs: number;
}

interface Sums {
  readonly lastUs: number;
  readonly activeUs: number;
  readonly visits: number;
}

interface Times extends Sums {
  /** Where it was seen last; null: on this device. */
  readonly device: string | null;
}

type Seen = readonly (readonly [id: number, times: Times])[];

interface Part {
  readonly seen: Seen;
  /** Whether more may have been seen before what was looked at. */
  readonly isCut: boolean;
}

/** A device whose record is looked through. */
interface Place {
  readonly device: string | null;
  /** Its visits, in a table or a part of one. */
  readonly visits: string;
  /** Its events of a kind in a range, as {@link FOUND_HERE} gives them. */
  readonly found: string;
  /** Its events of a kind, in a table or a part of one. */
  readonly ofKind: string;
  /** How far its clock is ahead. */
  readonly leadUs: number;
}

function otherPlaces(database: StoreDatabase): readonly Place[] {
  return createDeviceReader(database)
    .all()
    .map((device) => ({
      device: device.name,
      visits: `remote_visit WHERE device_key = ${device.key} AND`,
      found: foundOn(device.key),
      ofKind: `remote_event WHERE device_key = ${device.key} AND ${KIND_OF_ROW} = ? AND`,
      leadUs: clockLeadUs(device) ?? 0,
    }));
}

/** Something may have been seen on this device and on others. */
function addUp(parts: Seen): ReadonlyMap<number, Times> {
  const sums = new Map<number, Times>();
  for (const [id, times] of parts) {
    const sum = sums.get(id);
    if (sum === undefined) {
      sums.set(id, times);
      continue;
    }
    const last = times.lastUs > sum.lastUs ? times : sum;
    sums.set(id, {
      lastUs: last.lastUs,
      device: last.device,
      activeUs: sum.activeUs + times.activeUs,
      visits: sum.visits + times.visits,
    });
  }
  return sums;
}

/** The newest visits of all documents, whosever they are, and of those the matching ones. */
function newestVisits(
  database: StoreDatabase,
  matching: Matching,
  place: Place,
  { fromUs, toUs }: Range,
): Part {
  const visited = database
    .prepare<SeenRow>(
      `SELECT document_id AS id, ${SUMS} FROM (SELECT * FROM ${place.visits} start_us >= ? AND start_us < ?
          ORDER BY start_us DESC LIMIT ${CUT_OFF}) GROUP BY document_id`,
    )
    .all(fromUs + place.leadUs, toUs + place.leadUs);
  const wanted = matching.among(visited.map(({ id }) => id));
  return {
    seen: toSeen(
      visited.filter(({ id }) => wanted.has(id)),
      place,
    ),
    isCut: visited.reduce((sum, { visits }) => sum + visits, 0) >= CUT_OFF,
  };
}

/** The newest visits of each of few documents. */
function visitsOfEach(
  database: StoreDatabase,
  ids: ReadonlySet<number>,
  place: Place,
  { fromUs, toUs }: Range,
): Seen {
  const ofOne = database.prepare<Sums>(
    `SELECT ${SUMS} FROM (SELECT * FROM ${place.visits} start_us >= ? AND start_us < ? AND document_id = ?
        ORDER BY start_us DESC LIMIT ?)`,
  );
  const most = Math.max(VISITS_OF_EACH, Math.floor(CUT_OFF / ids.size));
  return toSeen(
    [...ids].flatMap((id) => {
      const times = ofOne.get(fromUs + place.leadUs, toUs + place.leadUs, id, most);
      return times === undefined || times.visits === 0 ? [] : [{ id, ...times }];
    }),
    place,
  );
}

const SUMS = "max(start_us + span_us) AS lastUs, sum(active_us) AS activeUs, count(*) AS visits";

interface SeenRow extends Sums {
  readonly id: number;
}

function toSeen(rows: readonly SeenRow[], { device, leadUs }: Place): Seen {
  return rows.map(({ id, lastUs, ...sums }) => [id, { ...sums, lastUs: lastUs - leadUs, device }]);
}

/** Documents of the other kinds, which have no visits, among the newest events of each. */
function whenHappened(
  database: StoreDatabase,
  matching: Matching,
  place: Place,
  { fromUs, toUs }: Range,
): Part {
  const range = [fromUs + place.leadUs, toUs + place.leadUs] as const;
  const labels = database
    .prepare<{ id: number; documentId: number }>(
      `SELECT id, document_id AS documentId FROM label
        WHERE document_id IN (SELECT value FROM json_each(?)) AND id & ${KIND_MASK} <> 0`,
    )
    .all(JSON.stringify(matching.candidates));
  const parts = SEEN_KINDS.map((kind) => {
    const ofKind = labels.filter(({ id }) => isOfKind(id, kind));
    if (ofKind.length === 0) return { seen: [], isCut: false };
    const newest = database.prepare<SeenRow>(
      `SELECT label.document_id AS id, max(start_us + duration_us) AS lastUs,
              sum(duration_us) AS activeUs, count(*) AS visits
         FROM (${place.found}) JOIN label ON label.id = found_label GROUP BY label.document_id`,
    );
    const ids = JSON.stringify(ofKind.map(({ id }) => id));
    const happened = newest.all(KIND_CODES[kind], ...range, ids);
    const wanted = matching.among(ofKind.map(({ documentId }) => documentId));
    return {
      seen: toSeen(
        happened.filter(({ id }) => wanted.has(id)),
        place,
      ),
      isCut: happened.length < wanted.size && countEvents(database, place, kind, range) >= CUT_OFF,
    };
  });
  return { seen: parts.flatMap(({ seen }) => seen), isCut: parts.some(({ isCut }) => isCut) };
}

/** How many events of a kind there are in a range, as far as they are looked at. */
function countEvents(
  database: StoreDatabase,
  { ofKind }: Place,
  kind: EventKind,
  range: readonly [fromUs: number, toUs: number],
): number {
  const count = database.prepare<{ events: number }>(
    `SELECT count(*) AS events
       FROM (SELECT 1 FROM ${ofKind} start_us >= ? AND start_us < ? LIMIT ${CUT_OFF})`,
  );
  return count.get(KIND_CODES[kind], ...range)?.events ?? 0;
}

/** Events among the newest of a kind in a range that have one of some labels. The index alone is looked through. */
const FOUND_HERE = `SELECT found_label, start_us, duration_us
    FROM (SELECT start_us AS found_us, label_id AS found_label FROM event
           WHERE ${KIND_OF_ROW} = ? AND ${isIndexedLike(KIND_CODES.media)} AND start_us >= ? AND start_us < ?
           ORDER BY start_us DESC LIMIT ${CUT_OFF})
    JOIN event ON event.start_us = found_us
   WHERE found_label IN (SELECT value FROM json_each(?))`;

function foundOn(deviceKey: number): string {
  return `SELECT label_id AS found_label, start_us, duration_us
    FROM (SELECT label_id, start_us, duration_us FROM remote_event
           WHERE device_key = ${deviceKey} AND ${KIND_OF_ROW} = ? AND start_us >= ? AND start_us < ?
           ORDER BY start_us DESC LIMIT ${CUT_OFF})
   WHERE label_id IN (SELECT value FROM json_each(?))`;
}

/** This device. */
const HERE: Place = {
  device: null,
  visits: "visit WHERE",
  found: FOUND_HERE,
  ofKind: `event WHERE ${KIND_OF_ROW} = ? AND ${isIndexedLike(KIND_CODES.media)} AND`,
  leadUs: 0,
};

/** Kinds other than windows that have documents. */
const SEEN_KINDS = ["media", "notification", "editor", "tab"] as const;

/** Matching documents that were last seen before the newest visits, at most `limit` with those of `seen`. */
function lookBack(
  database: StoreDatabase,
  matching: Matching,
  places: readonly Place[],
  seen: ReadonlyMap<number, Times>,
  limit: number,
): Seen {
  const lastVisits = places.map((place) => ({
    place,
    read: database.prepare<Sums>(
      `SELECT start_us + span_us AS lastUs, active_us AS activeUs, 1 AS visits FROM ${place.visits}
        document_id = ? ORDER BY start_us DESC LIMIT 1`,
    ),
  }));
  const found = new Map<number, Times>();
  const { candidates, among } = matching;
  for (let at = 0; at < candidates.length; at += limit) {
    const unseen = candidates.slice(at, at + limit).filter((id) => !seen.has(id));
    for (const id of among(unseen)) {
      if (seen.size + found.size >= limit) return [...found];
      const visits = lastVisits.flatMap(({ place, read }) => {
        const sums = read.get(id);
        return sums === undefined ? [] : toSeen([{ id, ...sums }], place);
      });
      const last = addUp(visits).get(id);
      if (last !== undefined) found.set(id, last);
    }
  }
  return [...found];
}

function readHits(database: StoreDatabase, seen: Seen): readonly SearchHit[] {
  const document = database.prepare<{
    kind: string;
    app: string;
    title: string | null;
    place: string | null;
  }>("SELECT kind, app, title, place FROM document WHERE id = ?");
  return seen.flatMap(([id, { device, ...sums }]) => {
    const row = document.get(id);
    const kind = EVENT_KINDS.find((known) => known === row?.kind);
    if (row === undefined || kind === undefined) return [];
    const { app, title, place } = row;
    const hit = { documentId: id, kind, app, title, place, ...sums };
    return [device === null ? hit : { ...hit, device }];
  });
}
