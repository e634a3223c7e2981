/**
 * Which documents have the words of a question. It promises a cost that is bounded however many documents there
 * are: of words that stand nearly everywhere the newest documents are looked at, never all of them.
 */
import type { StoreDatabase } from "./database.ts";

/** Documents that have every word, as far as they were looked for. */
export interface Matching {
  /** The newest first. */
  readonly ids: readonly number[];
  /** Whether there may be others, which `among` knows of. */
  readonly isCut: boolean;
  /** Those of some hundreds of documents that match, in `ids` or not. */
  readonly among: (ids: readonly number[]) => ReadonlySet<number>;
}

/** Documents that are listed at a time, a millisecond of work, and how often for one question. */
const CUT_OFF = 5000;
const MOST_LISTS = 8;
/**
 * The newest documents, in which beginnings of words are counted: the index merges all documents of all words that
 * begin so before it tells the first.
 */
const SAMPLE = 2000;
/** Beginnings that more of the sample have are looked for in texts alone. */
const FREQUENT = 40;
/** Documents in which a part of a text is looked for. */
const PART_CUT_OFF = 20_000;

/**
 * Words match by their stem and without accents; when no document has all of them as they are, they match as
 * beginnings of words, and when none begins so, the newest documents match that have the text anywhere in them.
 */
export function matchDocuments(database: StoreDatabase, words: readonly string[]): Matching {
  const found = matchIndex(database, words.map((word) => `"${word}"`).join(" AND "));
  if (found.ids.length > 0) return found;
  const begun = matchBeginnings(database, words);
  return begun.ids.length > 0 ? begun : matchPart(database, words.join(" ").toLowerCase());
}

/** What the search index says to words. */
function matchIndex(database: StoreDatabase, expression: string): Matching {
  const list = listFromIndex(database, expression);
  const ids = list(Number.MAX_SAFE_INTEGER);
  return ids.length < CUT_OFF ? listed(ids) : { ids, isCut: true, among: amongLists(ids, list) };
}

type List = (highestId: number) => readonly number[];

/** The newest matching documents up to one. */
function listFromIndex(database: StoreDatabase, expression: string): List {
  // Numbers are bound as doubles, which the index takes for no bound at all.
  const newest = database.prepare<{ id: number }>(
    `SELECT rowid AS id FROM document_fts WHERE document_fts MATCH ? AND rowid <= CAST(? AS INTEGER)
      ORDER BY rowid DESC LIMIT ${CUT_OFF}`,
  );
  return (highestId) => newest.all(expression, highestId).map(({ id }) => id);
}

/**
 * Looks some documents up in lists of matching ones, each list from the newest that is left downwards: what was
 * seen at one time is nearly as old as each other. To ask the index for one document costs a hundred of its rows.
 */
function amongLists(first: readonly number[], list: List): Matching["among"] {
  return (ids) => {
    const found = new Set<number>();
    let [left, known] = [ids, first];
    for (let lists = 1; left.length > 0; lists += 1) {
      const matching = new Set(known);
      const lowest = known.length < CUT_OFF ? 0 : (known.at(-1) ?? 0);
      for (const id of left) if (matching.has(id)) found.add(id);
      left = left.filter((id) => id < lowest);
      if (lists >= MOST_LISTS || left.length === 0) break;
      known = list(Math.max(...left));
    }
    return found;
  };
}

/** All that match. */
function listed(ids: readonly number[]): Matching {
  const known = new Set(ids);
  return { ids, isCut: false, among: (some) => new Set(some.filter((id) => known.has(id))) };
}

function matchBeginnings(database: StoreDatabase, words: readonly string[]): Matching {
  // One list alone: the index would merge all of its documents for each.
  const inIndex = (some: readonly string[]): Matching =>
    listed(
      listFromIndex(
        database,
        some.map((word) => `"${word}"*`).join(" AND "),
      )(Number.MAX_SAFE_INTEGER),
    );
  const newest = readNewest(database, SAMPLE);
  if (newest.length < SAMPLE) return inIndex(words);
  const sample = newest.map(({ id, text }) => ({ id, text: plain(text) }));
  const patterns = words.map((word) => ({ word, pattern: beginning(word) }));
  const isFrequent = ({ pattern }: { readonly pattern: RegExp }): boolean =>
    sample.filter(({ text }) => pattern.test(text)).length > FREQUENT;
  const frequent = patterns.filter(isFrequent).map(({ pattern }) => pattern);
  const rare = patterns.flatMap(({ word, pattern }) => (frequent.includes(pattern) ? [] : [word]));
  if (frequent.length === 0) return inIndex(words);
  const hasFrequent = (text: string): boolean => frequent.every((pattern) => pattern.test(text));
  const textOf = readText(database);
  if (rare.length > 0) {
    const ids = inIndex(rare).ids;
    return listed(ids.filter((id) => hasFrequent(plain(textOf(id)))));
  }
  const ids = sample.filter(({ text }) => hasFrequent(text)).map(({ id }) => id);
  // Each stands nearly everywhere and all of them nowhere near: only the index knows.
  if (ids.length === 0) return inIndex(words);
  const among: Matching["among"] = (some) =>
    new Set(some.filter((id) => hasFrequent(plain(textOf(id)))));
  return { ids, isCut: true, among };
}

/** The text as the index takes it, but for stems: without case and accents. */
function plain(text: string): string {
  const lower = text.toLowerCase();
  return ASCII.test(lower) ? lower : lower.normalize("NFD").replaceAll(/\p{M}+/gu, "");
}

const ASCII = /^[\n -~]*$/;

/** Finds a word that begins so in a plain text. */
function beginning(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${plain(word)}`, "u");
}

/** Scripts without spaces make one word of a whole title: there a part of it must do. */
function matchPart(database: StoreDatabase, part: string): Matching {
  const ids = database
    .prepare<{ id: number }>(
      `SELECT id FROM (SELECT id, ${TEXT} AS text FROM document ORDER BY id DESC LIMIT ${PART_CUT_OFF})
        WHERE instr(lower(text), ?) ORDER BY id DESC LIMIT ${CUT_OFF}`,
    )
    .all(part)
    .map(({ id }) => id);
  return listed(ids);
}

/** All that a document says, a line each. */
const TEXT = "app || char(10) || coalesce(title, '') || char(10) || coalesce(place, '')";

function readNewest(
  database: StoreDatabase,
  count: number,
): readonly { readonly id: number; readonly text: string }[] {
  return database
    .prepare<{ id: number; text: string }>(
      `SELECT id, ${TEXT} AS text FROM document ORDER BY id DESC LIMIT ?`,
    )
    .all(count);
}

function readText(database: StoreDatabase): (id: number) => string {
  const text = database.prepare<{ text: string }>(
    `SELECT ${TEXT} AS text FROM document WHERE id = ?`,
  );
  return (id) => text.get(id)?.text ?? "";
}
