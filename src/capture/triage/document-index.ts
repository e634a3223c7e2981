/**
 * The words of every document that was looked at, held in memory as numbers, with the text itself left in
 * the store. It promises to follow the store: new documents are taken in when they are asked for, and
 * after something was forgotten the index is built anew, so that no forgotten word stays.
 */
import type { ActivityHistory, HistoryDocument } from "../../store/history.ts";
import { foldedWords, matchKey, wordLikeness } from "./words.ts";

/** Documents that a word of a turn points at. */
export interface WordHits {
  /** Weight of the word: rare words tell more. At least 1. */
  readonly weight: number;
  /** How the word was found: in its own letters, inflected, or only alike (compound, typing error). */
  readonly how: "exact" | "stem" | "alike" | "none";
  /** Document id to closeness, 0 to 1. */
  readonly documents: ReadonlyMap<number, number>;
}

export interface DocumentIndex {
  /**
   * Takes in what is new in the store, at most `maxDocuments` at once; cheap when nothing is. True when nothing is left.
   * `listener` is told of each document taken in, and when all are about to be told again.
   */
  readonly refresh: (
    history: ActivityHistory,
    listener?: IndexListener,
    maxDocuments?: number,
  ) => boolean;
  /** Forgets everything; the next `refresh` reads the store anew. For after something was forgotten. */
  readonly clear: () => void;
  readonly size: () => number;
  /** Ids of all documents, ascending. */
  readonly ids: () => readonly number[];
  /** Whether a folded word stands in the name of a program that was used. */
  readonly isProgram: (word: string) => boolean;
  /** What a folded word of a turn hits; `alike: false` keeps to the word's own letters and inflections. */
  readonly find: (word: string, options?: { readonly alike?: boolean }) => WordHits;
}

/** Documents read from the store at once. */
const BATCH = 2000;

export interface IndexListener {
  readonly onDocument: (document: HistoryDocument) => void;
  readonly onClear: () => void;
}

/** An empty index; `refresh` fills it. */
export function createDocumentIndex(): DocumentIndex {
  let vocabulary = new Map<string, number>();
  let words: string[] = [];
  let postings: ShortList[] = [];
  let keys = new Map<string, ShortList>();
  let programs = new Set<string>();
  let documents = 0;
  let ids: number[] = [];
  let lastId = 0;
  let seen = { last: 0, count: 0 };

  const clear = (): void => {
    programs = new Set();
    vocabulary = new Map();
    words = [];
    postings = [];
    keys = new Map();
    documents = 0;
    ids = [];
    lastId = 0;
    seen = { last: 0, count: 0 };
  };

  const add = (document: HistoryDocument): void => {
    documents += 1;
    ids.push(document.id);
    lastId = document.id;
    for (const { text } of foldedWords(document.app)) programs.add(text);
    for (const [word, weak] of documentWords(document)) {
      // The sign of an entry says whether the word stands in the title or only in the address.
      const entry = weak ? -document.id : document.id;
      const wordId = vocabulary.get(word);
      if (wordId !== undefined) {
        postings[wordId] = withOneMore(postings[wordId], entry);
        continue;
      }
      vocabulary.set(word, words.length);
      const key = matchKey(word);
      keys.set(key, withOneMore(keys.get(key), words.length));
      words.push(word);
      postings.push(entry);
    }
  };

  const gather = (
    found: Map<number, number>,
    wordIds: readonly number[],
    closeness: number,
  ): void => {
    for (const wordId of wordIds) {
      for (const entry of listOf(postings[wordId])) {
        const id = Math.abs(entry);
        const near = entry < 0 ? closeness * 0.8 : closeness;
        if ((found.get(id) ?? 0) < near) found.set(id, near);
      }
    }
  };

  const weigh = (hits: number): number =>
    // A word never seen weighs as much as one seen twice: more would let one odd word hide the others.
    1 + Math.log((documents + 2) / (Math.max(hits, 2) + 1));

  return {
    refresh: (history, listener, maxDocuments = Infinity) => {
      const last = history.lastDocumentId();
      if (last === seen.last) return true;
      const count = history.documentCount();
      const grown = last - seen.last;
      const added = count - seen.count;
      // Ids are handed out one by one: fewer documents than ids means that some were deleted.
      if (added !== grown) {
        clear();
        listener?.onClear();
      }
      for (let left = maxDocuments; ;) {
        const limit = Math.min(left, BATCH);
        const batch = history.documentsAfter(lastId, limit);
        for (const document of batch) {
          add(document);
          listener?.onDocument(document);
        }
        left -= batch.length;
        if (batch.length < limit) break;
        if (left <= 0) return false;
      }
      seen = { last, count };
      return true;
    },
    clear,
    size: () => documents,
    ids: () => ids,
    isProgram: (word) => programs.has(word),
    find: (word, options) => {
      const found = new Map<number, number>();
      const exact = vocabulary.get(word);
      gather(found, listOf(keys.get(matchKey(word))), 0.95);
      if (exact !== undefined) gather(found, [exact], 1);
      if (found.size > 0) {
        return {
          weight: weigh(found.size),
          how: exact === undefined ? "stem" : "exact",
          documents: found,
        };
      }
      if (options?.alike !== false && word.length >= 4) {
        for (let wordId = 0; wordId < words.length; wordId += 1) {
          const likeness = wordLikeness(word, words[wordId] ?? "");
          if (likeness > 0) gather(found, [wordId], likeness);
        }
        // "Meomries" is alike to "memory" once both have lost their endings.
        const key = matchKey(word);
        if (found.size === 0 && key !== word) {
          for (const [other, wordIds] of keys) {
            const likeness = wordLikeness(key, other);
            if (likeness > 0) gather(found, listOf(wordIds), likeness * 0.95);
          }
        }
      }
      return {
        weight: weigh(found.size),
        how: found.size > 0 ? "alike" : "none",
        documents: found,
      };
    },
  };
}

/** Most lists have one entry: it stands by itself, which saves half of the memory. */
type ShortList = number | number[];

function withOneMore(list: ShortList | undefined, entry: number): ShortList {
  if (list === undefined) return entry;
  if (typeof list === "number") return [list, entry];
  list.push(entry);
  return list;
}

function listOf(list: ShortList | undefined): readonly number[] {
  if (list === undefined) return [];
  return typeof list === "number" ? [list] : list;
}

/** Words of a document; the value is true for those that stand only in its address. */
export function documentWords(document: HistoryDocument): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  const { host, path } = splitPlace(document.place);
  for (const { text } of foldedWords(path)) if (isTelling(text)) found.set(text, true);
  for (const part of host.split(".").slice(0, -1)) {
    for (const { text } of foldedWords(part)) {
      if (text !== "www" && isTelling(text)) found.set(text, false);
    }
  }
  for (const { text } of foldedWords(document.title ?? ""))
    if (isTelling(text)) found.set(text, false);
  for (const { text } of foldedWords(document.app)) {
    if (isTelling(text) && !found.has(text)) found.set(text, true);
  }
  return found;
}

/** Host and path of a place, each possibly empty. */
function splitPlace(place: string | null): { readonly host: string; readonly path: string } {
  if (place === null) return { host: "", path: "" };
  const slash = place.indexOf("/");
  if (slash < 0) return { host: place, path: "" };
  return { host: place.slice(0, slash), path: place.slice(slash + 1) };
}

/** Single letters tell nothing, except in scripts where one character is a word. */
function isTelling(word: string): boolean {
  return word.length > 1 || !/^[a-z]$/.test(word);
}
