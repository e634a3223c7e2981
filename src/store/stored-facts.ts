/**
 * How facts lie in the rows of a label and its document. It promises that decorations of a title do not make a new
 * document, and that the facts of a label are read back exactly as they were given.
 */
import { createHash } from "node:crypto";
import {
  EVENT_KINDS,
  type EventFacts,
  type EventKind,
  type StorableText,
} from "../capture/events.ts";
import { documentTitle } from "../capture/titles.ts";
import { ActivityError } from "../errors.ts";

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

/** Whether a label's facts are of a kind. */
export function isOfKind(labelId: number, kind: EventKind): boolean {
  return (labelId & KIND_MASK) === KIND_CODES[kind];
}

/** SQL for the code of the kind of an event, this device's or another's. */
export const KIND_OF_ROW = `label_id & ${KIND_MASK}`;

/** SQL that is true of window events. */
export const IS_WINDOW = `${KIND_OF_ROW} = ${KIND_CODES.window}`;

/** Bits of the kinds other than windows that have documents. Part of the schema. */
const SEEN_BITS = 864;
const OTHER_BITS = 64_670;

/**
 * SQL that is true of events of a kind other than windows, and of some other kinds, in the very words by which SQLite
 * finds the index that has them by kind and start: `event_seen` or `event_kind`.
 */
export function isIndexedLike(kindCode: number): string {
  const bits = (1 << kindCode) & SEEN_BITS ? SEEN_BITS : OTHER_BITS;
  return `(1 << (event.${KIND_OF_ROW})) & ${bits} <> 0`;
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

/** The facts of a stored label. */
export function readFacts(row: FactsRow): EventFacts {
  const kind = EVENT_KINDS.find((kind) => isOfKind(row.label_id, kind));
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

/** Facts as their rows hold them. */
export interface StoredFacts {
  readonly document: DocumentText | null;
  /** The title as it was seen, null when it is the document's own. */
  readonly rawTitle: string | null;
  /** JSON of what the document does not say, null when it says all. */
  readonly rest: string | null;
}

/** Half of a surrogate pair has no UTF-8 form: it would come back from SQLite as another text. */
export function toStored(facts: EventFacts): StoredFacts {
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

/** Whether a row holds these facts. */
export function isSameStored(
  kind: EventKind,
  { document, rawTitle, rest }: StoredFacts,
  row: FactsRow,
): boolean {
  return (
    isOfKind(row.label_id, kind) &&
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
