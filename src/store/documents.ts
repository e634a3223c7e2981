/**
 * Interning: what was seen is written once and found again through a 64-bit hash. It promises that equal
 * facts give one label, that decorations of a title do not make a new document, and that the facts of a
 * label are read back exactly as they were given.
 */
import { createHash } from "node:crypto";
import { documentTitle } from "../capture/titles.ts";
import {
  EVENT_KINDS,
  type EventFacts,
  type EventKind,
  type StorableText,
} from "../capture/events.ts";
import { ActivityError } from "../errors.ts";
import type { StoreDatabase } from "./database.ts";

/** The number of each kind in the low four bits of a label's id. Part of the file format: append only. */
export const KIND_CODES: Readonly<Record<EventKind, number>> = {
  window: 0,
  idle: 1,
  lock: 2,
  sleep: 3,
  system: 4,
  media: 5,
  notification: 6,
  gap: 7,
  editor: 8,
  tab: 9,
};

/** Turns a label's id into the code of its kind. */
export const KIND_MASK = 15;

/** Bits of the kinds other than windows that have documents. Part of the schema. */
const SEEN_BITS = 864;
const OTHER_BITS = 64_670;

/**
 * SQL that is true of events of a kind other than windows, and of some other kinds, in the very words by which SQLite
 * finds the index that has them by kind and start: `event_seen` or `event_kind`.
 */
export function isIndexedLike(kindCode: number): string {
  const bits = (1 << kindCode) & SEEN_BITS ? SEEN_BITS : OTHER_BITS;
  return `(1 << (event.label_id & ${KIND_MASK})) & ${bits} <> 0`;
}

export interface Label {
  readonly id: number;
  /** Null for kinds that speak of the machine, not of something that was looked at. */
  readonly documentId: number | null;
}

/** The columns that `readFacts` needs, from `label` left-joined to `document`. */
export const FACTS_COLUMNS =
  "label.id AS label_id, label.title AS raw_title, label.facts AS facts, document.app AS app, document.title AS title, document.place AS place";

export interface FactsRow {
  readonly label_id: number;
  readonly raw_title: string | null;
  readonly facts: string | null;
  readonly app: string | null;
  readonly title: string | null;
  readonly place: string | null;
}

export interface Documents {
  /** The label of these facts, made when there is none. Must run inside a transaction. */
  readonly intern: (facts: EventFacts) => Label;
  /** The document that stands for an application as a whole, made when there is none. Same condition. */
  readonly internApp: (app: string) => number;
  /** Notes the labels that are given out from now on, until `stop`. */
  readonly trackInterned: () => { readonly seen: ReadonlySet<number>; readonly stop: () => void };
}

/** Interning over one database; one per writer. */
export function createDocuments(database: StoreDatabase): Documents {
  const findLabel = database.prepare<FactsRow & { document_id: number | null }>(
    `SELECT ${FACTS_COLUMNS}, label.document_id AS document_id
       FROM label LEFT JOIN document ON document.id = label.document_id WHERE label.hash = ?`,
  );
  const addLabel = database.prepare(
    "INSERT INTO label(id, hash, document_id, title, facts) VALUES(?, ?, ?, ?, ?)",
  );
  const lastLabel = database.prepare<{ id: number | null }>("SELECT max(id) AS id FROM label");
  const findDocument = database.prepare<DocumentRow>(
    "SELECT id, kind, app, title, place FROM document WHERE hash = ?",
  );
  const addDocument = database.prepare<{ id: number }>(
    "INSERT INTO document(hash, kind, app, title, place) VALUES(?, ?, ?, ?, ?) RETURNING id",
  );

  const tracked = new Set<Set<number>>();
  /** Labels given out lately by their facts: a person goes to and fro between a few windows. */
  const recent = new Map<string, RecentLabel>();
  const isStill = database.prepare("SELECT 1 FROM label WHERE id = ? AND hash = ?");

  const givenOut = (label: Label): Label => {
    for (const seen of tracked) seen.add(label.id);
    return label;
  };

  const remember = (key: string, hash: bigint, label: Label): Label => {
    if (recent.size >= REMEMBERED_LABELS) recent.clear();
    recent.set(key, { label, hash });
    return givenOut(label);
  };

  const internDocument = (kind: EventKind, { app, title, place }: DocumentText): number => {
    const hash = documentHash(kind, { app, title, place });
    const known = findDocument
      .all(hash)
      .find(
        (row) => row.kind === kind && row.app === app && row.title === title && row.place === place,
      );
    if (known !== undefined) return known.id;
    const added = addDocument.get(hash, kind, app, title, place);
    if (added === undefined)
      throw new ActivityError("internal", "A new document came back without an id.");
    return added.id;
  };

  return {
    intern: (facts) => {
      // Another order of the fields is another key, which costs a look-up and nothing else.
      const key = JSON.stringify(facts);
      const lately = recent.get(key);
      if (lately !== undefined) {
        // It may have been erased or undone since, and its number given to another.
        if (isStill.get(lately.label.id, lately.hash) !== undefined) return givenOut(lately.label);
        recent.delete(key);
      }
      const stored = toStored(facts);
      const { document, rawTitle, rest } = stored;
      const hash = labelHash(facts.kind, stored);
      const known = findLabel.all(hash).find((row) => isSameStored(facts.kind, stored, row));
      if (known !== undefined) {
        return remember(key, hash, { id: known.label_id, documentId: known.document_id });
      }
      const documentId = document === null ? null : internDocument(facts.kind, document);
      const sequence = Math.floor((lastLabel.get()?.id ?? 0) / (KIND_MASK + 1)) + 1;
      const id = sequence * (KIND_MASK + 1) + KIND_CODES[facts.kind];
      addLabel.run(id, hash, documentId, rawTitle, rest);
      return remember(key, hash, { id, documentId });
    },
    internApp: (app) => internDocument("window", { app, title: null, place: null }),
    trackInterned: () => {
      const seen = new Set<number>();
      tracked.add(seen);
      return {
        seen,
        stop: () => {
          tracked.delete(seen);
        },
      };
    },
  };
}

const REMEMBERED_LABELS = 256;

interface RecentLabel {
  readonly label: Label;
  readonly hash: bigint;
}

/** The facts of a stored label. */
export function readFacts(row: FactsRow): EventFacts {
  const kind = EVENT_KINDS.find((kind) => KIND_CODES[kind] === (row.label_id & KIND_MASK));
  const rest = parseRest(row.facts);
  const app = stored(row.app ?? "");
  const title = storedOrNull(row.raw_title ?? row.title);
  const place = storedOrNull(row.place);
  switch (kind) {
    case "window":
      return { kind, app, title, place };
    case "tab":
      return { kind, app, title, place, audible: booleanOrNull(rest["audible"]) };
    case "editor": {
      const [branch, language] = [textOrNull(rest["branch"]), textOrNull(rest["language"])];
      return { kind, app, file: title ?? stored(""), project: place, branch, language };
    }
    case "media":
      return { kind, player: app, title, artist: place, playing: rest["playing"] === true };
    case "notification":
      return { kind, app, summary: title ?? stored("") };
    case "idle":
      return { kind, state: rest["state"] === "passive" ? "passive" : "away" };
    case "lock":
    case "sleep":
      return { kind };
    case "gap":
      return { kind, reason: GAP_REASONS.find((reason) => reason === rest["reason"]) ?? "stalled" };
    case "system":
      return {
        kind,
        power: rest["power"] === "ac" || rest["power"] === "battery" ? rest["power"] : null,
        batteryPercent: numberOrNull(rest["batteryPercent"]),
        online: booleanOrNull(rest["online"]),
        cpuLoad: numberOrNull(rest["cpuLoad"]),
        memoryUsed: numberOrNull(rest["memoryUsed"]),
        displayCount: numberOrNull(rest["displayCount"]),
      };
    default:
      throw new ActivityError(
        "database_damaged",
        `Label ${row.label_id} has a kind that nobody wrote.`,
      );
  }
}

/** The hash under which a document is found. It also tells whether a recovered row is as it was written. */
export function documentHash(kind: string, { app, title, place }: DocumentText): bigint {
  return hash64([kind, app, title, place]);
}

/** The hash under which a label is found, of the same use. */
export function labelHash(kind: string, { document, rawTitle, rest }: StoredFacts): bigint {
  return hash64([kind, document?.app, document?.title, document?.place, rawTitle, rest]);
}

const GAP_REASONS = ["paused", "source-lost", "filtered", "stalled", "not-running"] as const;

export interface DocumentText {
  readonly app: string;
  readonly title: string | null;
  readonly place: string | null;
}

interface DocumentRow extends DocumentText {
  readonly id: number;
  readonly kind: string;
}

/** Facts as their rows hold them. */
export interface StoredFacts {
  readonly document: DocumentText | null;
  /** The title as it was seen, null when it is the document's own. */
  readonly rawTitle: string | null;
  /** JSON of what the document does not say, null when it says all. */
  readonly rest: string | null;
}

/** Half of a surrogate pair has no UTF-8 form: it would come back from SQLite as another text. */
function toStored(facts: EventFacts): StoredFacts {
  const { document, rawTitle, rest } = splitFacts(facts);
  return {
    document:
      document === null
        ? null
        : {
            app: wellFormed(document.app),
            title: wellFormedOrNull(document.title),
            place: wellFormedOrNull(document.place),
          },
    rawTitle: wellFormedOrNull(rawTitle),
    rest,
  };
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

function wellFormedOrNull(text: string | null): string | null {
  return text === null ? null : wellFormed(text);
}

function splitFacts(facts: EventFacts): StoredFacts {
  switch (facts.kind) {
    case "window":
      return withNormalisedTitle(facts, null);
    case "tab":
      return withNormalisedTitle(facts, JSON.stringify({ audible: facts.audible }));
    case "editor": {
      const { app, file, project, branch, language } = facts;
      const document = { app, title: file, place: project };
      return { document, rawTitle: null, rest: JSON.stringify({ branch, language }) };
    }
    case "media": {
      const { player, title, artist, playing } = facts;
      const document = { app: player, title, place: artist };
      return { document, rawTitle: null, rest: JSON.stringify({ playing }) };
    }
    case "notification":
      return {
        document: { app: facts.app, title: facts.summary, place: null },
        rawTitle: null,
        rest: null,
      };
    case "lock":
    case "sleep":
      return { document: null, rawTitle: null, rest: null };
    case "idle":
      return { document: null, rawTitle: null, rest: JSON.stringify({ state: facts.state }) };
    case "gap":
      return { document: null, rawTitle: null, rest: JSON.stringify({ reason: facts.reason }) };
    case "system":
      break;
  }
  // In one order, whatever order the fields came in: equal facts must give one label.
  const { power, batteryPercent, online, cpuLoad, memoryUsed, displayCount } = facts;
  const rest = { power, batteryPercent, online, cpuLoad, memoryUsed, displayCount };
  return { document: null, rawTitle: null, rest: JSON.stringify(rest) };
}

function withNormalisedTitle(
  {
    app,
    title,
    place,
  }: { readonly app: string; readonly title: string | null; readonly place: string | null },
  rest: string | null,
): StoredFacts {
  const normalised = title === null ? null : documentTitle(app, title);
  return {
    document: { app, title: normalised, place },
    rawTitle: title === normalised ? null : title,
    rest,
  };
}

function isSameStored(
  kind: EventKind,
  { document, rawTitle, rest }: StoredFacts,
  row: FactsRow,
): boolean {
  return (
    (row.label_id & KIND_MASK) === KIND_CODES[kind] &&
    row.raw_title === rawTitle &&
    row.facts === rest &&
    row.app === (document?.app ?? null) &&
    row.title === (document?.title ?? null) &&
    row.place === (document?.place ?? null)
  );
}

/** Eight bytes of a cryptographic hash: a stranger who chooses titles cannot make all of them collide. */
function hash64(parts: readonly (string | null | undefined)[]): bigint {
  return createHash("sha256").update(JSON.stringify(parts)).digest().readBigInt64LE();
}

function parseRest(json: string | null): Readonly<Record<string, unknown>> {
  if (json === null) return {};
  const value: unknown = JSON.parse(json);
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}

/** Text from the database passed the privacy gate before it was written: the brand is given back to it. */
function stored(text: string): StorableText {
  return text as StorableText;
}

function storedOrNull(text: string | null): StorableText | null {
  return text === null ? null : stored(text);
}

function textOrNull(value: unknown): StorableText | null {
  return typeof value === "string" ? stored(value) : null;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function booleanOrNull(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}
