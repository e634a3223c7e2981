/**
 * Which documents have the words of a question. It promises a cost that is bounded however many documents there
 * are: of words that stand nearly everywhere the newest documents are looked at, never all of them.
 */
import type { StoreDatabase } from "../database.ts";

/** Documents that have every word, as far as they were looked for. */
export interface Matching {
  /** Those that may match, the newest first: `among` tells which do. */
  readonly candidates: readonly number[];
  /** Whether others may match too, which `among` knows of. */
  readonly isCut: boolean;
  /** Whether others are looked for in a range alone. */
  readonly isOfNewest: boolean;
  /** Those of some hundreds of documents that match, candidates or not. */
  readonly among: (ids: readonly number[]) => ReadonlySet<number>;
}

/** Documents that are listed at a time, a millisecond of work, and how often for one question. */
const CUT_OFF = 5000;
const MOST_LISTS = 8;
/**
 * Before the index tells the first document with a beginning, it merges all documents of all words that begin so:
 * a tenth of a microsecond each. So many for one question.
 */
const MOST_MERGED = 100_000;
/** The newest documents, in which is counted how many of all have a beginning. */
const SAMPLE = 1000;
/** Documents whose texts are looked through for beginnings that are too frequent for the index, the newest there are. */
const TEXT_CUT_OFF = 4000;
/** Of those that the index lists, so many. */
const LISTED_TEXT_CUT_OFF = 2000;
/** Documents in which a part of a text is looked for. */
const PART_CUT_OFF = 20_000;
/** Texts that are read at a time. */
const BATCH = 250;

/**
 * Words match by their stem and without accents; when no document has all of them as they are, they match as
 * beginnings of words, and when none begins so, the newest documents match that have the text anywhere in them.
 */
export function matchDocuments(database: StoreDatabase, words: readonly string[]): Matching {
  const found = matchIndex(database, words.map((word) => `"${word}"`).join(" AND "));
  if (found.candidates.length > 0) return found;
  const begun = matchBeginnings(database, words);
  // Where not all were looked at, it is not said that none begins so.
  if (begun.isCut || hasAny(begun)) return begun;
  return matchPart(database, words.join(" ").toLowerCase());
}

/** What the search index says to words. */
function matchIndex(database: StoreDatabase, expression: string): Matching {
  const list = listFromIndex(database, expression);
  const ids = list(Number.MAX_SAFE_INTEGER);
  const isCut = ids.length >= CUT_OFF;
  return { candidates: ids, isCut, isOfNewest: false, among: amongLists(ids, list) };
}

type List = (highestId: number) => readonly number[];

/** The newest matching documents up to one. */
function listFromIndex(database: StoreDatabase, expression: string): List {
  // Numbers are bound as doubles, which the index takes for no bound at all. One row, since thousands cost more
  // to hand over than to find.
  const newest = database.prepare<{ ids: string | null }>(
    `SELECT group_concat(id) AS ids
       FROM (SELECT rowid AS id FROM document_fts WHERE document_fts MATCH ? AND rowid <= CAST(? AS INTEGER)
              ORDER BY rowid DESC LIMIT ${CUT_OFF})`,
  );
  return (highestId) => newest.get(expression, highestId)?.ids?.split(",").map(Number) ?? [];
}

/**
 * Looks some documents up in lists of matching ones, each list from the newest that is left downwards: what was
 * seen at one time is nearly as old as each other. To ask the index for one document costs a hundred of its rows.
 */
function amongLists(first: readonly number[], list: List): Matching["among"] {
  const inFirst = new Set(first);
  return (ids) => {
    const found = new Set<number>();
    let [left, known, matching] = [ids, first, inFirst];
    for (let lists = 1; left.length > 0; lists += 1) {
      const lowest = known.length < CUT_OFF ? 0 : (known.at(-1) ?? 0);
      for (const id of left) if (matching.has(id)) found.add(id);
      left = left.filter((id) => id < lowest);
      if (lists >= MOST_LISTS || left.length === 0) break;
      known = list(left.reduce((a, b) => Math.max(a, b)));
      matching = new Set(known);
    }
    return found;
  };
}

/**
 * The index is asked for the rarest beginnings, as many as it can merge; the texts of what it lists are looked
 * through for the others.
 */
function matchBeginnings(database: StoreDatabase, words: readonly string[]): Matching {
  const beginnings = estimate(database, words).toSorted((a, b) => a.documents - b.documents);
  let merged = 0;
  const indexed = beginnings.filter(({ documents }) => (merged += documents) <= MOST_MERGED);
  const hasAll = havingAll(beginnings);
  if (indexed.length === 0) {
    const newest = readNewest(database, TEXT_CUT_OFF).filter(({ text }) => hasAll(text));
    const candidates = newest.map(({ id }) => id);
    const listed = new Set(candidates);
    const among = amongTexts(database, (id) => listed.has(id) || hasAll);
    return { candidates, isCut: true, isOfNewest: false, among };
  }
  // One list alone: the index would merge all of its documents for each.
  const expression = indexed.map(({ word }) => `"${word}"*`).join(" AND ");
  const ids = listFromIndex(database, expression)(Number.MAX_SAFE_INTEGER);
  const listed = new Set(ids);
  const others = beginnings.slice(indexed.length);
  const hasOthers = others.length === 0 || havingAll(others);
  const candidates = others.length === 0 ? ids : ids.slice(0, LISTED_TEXT_CUT_OFF);
  const isCut = ids.length >= CUT_OFF || candidates.length < ids.length;
  const among = amongTexts(database, (id) => (listed.has(id) ? hasOthers : isCut && hasAll));
  return { candidates, isCut, isOfNewest: false, among };
}

interface Beginning {
  readonly word: string;
  /** The beginning as plain texts have it. */
  readonly letters: string;
  /** Finds a word that begins so in a plain text. */
  readonly pattern: RegExp;
  /** How many documents have it, or at most have it. */
  readonly documents: number;
}

function estimate(database: StoreDatabase, words: readonly string[]): readonly Beginning[] {
  const patterns = words.map((word) => {
    const letters = plain(word).replace(ENDING, "");
    return { word, letters, pattern: new RegExp(`(?<![\\p{L}\\p{N}])${letters}`, "u") };
  });
  const count = countDocuments(database);
  if (count * words.length <= MOST_MERGED)
    return patterns.map((beginning) => ({ ...beginning, documents: count }));
  const sample = readNewest(database, SAMPLE).map(({ text }) => text);
  return patterns.map((beginning) => {
    const having = sample.filter((text) => hasBeginning(text, beginning)).length;
    return { ...beginning, documents: (having / SAMPLE) * count };
  });
}

/**
 * The index looks for the stem of a beginning too, and for "gas" merges all that begins with "ga". These are the
 * endings that it takes from short words.
 */
const ENDING = /(?<=.)(?:ies|e?s|ed|ing)$/u;

/** At most so many: what was erased counts too. */
function countDocuments(database: StoreDatabase): number {
  return database.prepare<{ id: number }>("SELECT max(id) AS id FROM document").get()?.id ?? 0;
}

type Test = (text: string) => boolean;

function havingAll(beginnings: readonly Beginning[]): Test {
  return (text) => beginnings.every((beginning) => hasBeginning(text, beginning));
}

function hasBeginning(
  text: string,
  { letters, pattern }: Pick<Beginning, "letters" | "pattern">,
): boolean {
  // To look for letters alone is ten times as fast.
  return text.includes(letters) && pattern.test(text);
}

/** Tells documents apart by a test of their texts; `testOf` says which, or true or false where none is needed. */
function amongTexts(
  database: StoreDatabase,
  testOf: (id: number) => Test | boolean,
): Matching["among"] {
  const known = new Map<number, boolean>();
  const read = database.prepare<Text>(
    `SELECT document.id AS id, ${TEXT} AS text FROM json_each(?) AS wanted JOIN document ON document.id = wanted.value`,
  );
  return (ids) => {
    const unknown = ids.filter((id) => {
      const test = testOf(id);
      if (typeof test === "boolean") known.set(id, test);
      return !known.has(id);
    });
    for (const { id, text } of unknown.length === 0 ? [] : read.all(JSON.stringify(unknown))) {
      const test = testOf(id);
      known.set(id, typeof test === "boolean" ? test : test(plain(text)));
    }
    return new Set(ids.filter((id) => known.get(id) === true));
  };
}

/** Whether one of the candidates matches. */
function hasAny({ candidates, among }: Matching): boolean {
  for (let at = 0; at < candidates.length; at += BATCH)
    if (among(candidates.slice(at, at + BATCH)).size > 0) return true;
  return false;
}

/** Scripts without spaces make one word of a whole title: there a part of it must do. */
function matchPart(database: StoreDatabase, part: string): Matching {
  const candidates = database
    .prepare<{ id: number }>(
      `SELECT id FROM (SELECT id, ${TEXT} AS text FROM document ORDER BY id DESC LIMIT ${PART_CUT_OFF})
        WHERE instr(lower(text), ?) ORDER BY id DESC LIMIT ${CUT_OFF}`,
    )
    .all(part)
    .map(({ id }) => id);
  const isCut = candidates.length >= CUT_OFF || countDocuments(database) > PART_CUT_OFF;
  const listed = new Set(candidates);
  const hasPart: Test = (text) => text.includes(plain(part));
  const among = amongTexts(database, (id) => listed.has(id) || (isCut && hasPart));
  return { candidates, isCut, isOfNewest: true, among };
}

/** The text as the index takes it, but for stems: without case and accents. */
function plain(text: string): string {
  const lower = text.toLowerCase();
  return ASCII.test(lower) ? lower : lower.normalize("NFD").replaceAll(/\p{M}+/gu, "");
}

const ASCII = /^[\n -~]*$/;

/** All that a document says, a line each. */
const TEXT = "app || char(10) || coalesce(title, '') || char(10) || coalesce(place, '')";

interface Text {
  readonly id: number;
  readonly text: string;
}

/** The newest documents with their plain texts. */
function readNewest(database: StoreDatabase, count: number): readonly Text[] {
  return database
    .prepare<Text>(`SELECT id, ${TEXT} AS text FROM document ORDER BY id DESC LIMIT ?`)
    .all(count)
    .map(({ id, text }) => ({ id, text: plain(text) }));
}
