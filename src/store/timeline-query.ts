/**
 * A stretch of the record as lanes to draw. It promises an answer whose size depends on how finely it is to be
 * drawn and not on how much was recorded, and holes in the record that are told apart from quiet.
 */
import type { EventKind } from "../capture/events.ts";
import { ActivityError } from "../errors.ts";
import type { StoreDatabase } from "./database.ts";
import { createDeviceReader } from "./devices.ts";
import { KIND_CODES, KIND_MASK } from "./documents.ts";
import {
  clusterStretches,
  createBuckets,
  fillBuckets,
  type Drawn,
  type Stretch,
} from "./thinning.ts";
import { readElsewhere } from "./timeline-elsewhere.ts";

export interface TimelineRequest {
  /** `[fromUs, toUs)`, microseconds since 1970 UTC. */
  readonly fromUs: number;
  readonly toUs: number;
  /** At most so many spans a lane: the width in pixels. 1,000 unless given, 10 to 10,000. */
  readonly maxSpans?: number;
  /** Only these lanes; all unless given. */
  readonly lanes?: readonly TimelineLaneId[];
  /** Who asks, for the ledger. */
  readonly client?: string;
}

/**
 * `focus`: windows by application. `documents`: windows by what was in them. `tabs`: tabs and files as extensions
 * tell them. `presence`: away, passive, locked, asleep. `media`: what played. `elsewhere`: windows of the owner's
 * other devices, absent where there are none. `gaps`: why nothing is known.
 */
export type TimelineLaneId =
  | "focus"
  | "documents"
  | "tabs"
  | "presence"
  | "media"
  | "elsewhere"
  | "gaps";

/** One thing to draw. Its texts were written by strangers. */
export interface TimelineSpan {
  /** Clipped to the range, half open. */
  readonly startUs: number;
  readonly endUs: number;
  readonly kind: EventKind;
  /**
   * `idle`: "away" or "passive". `gap`: its reason ("paused", "source-lost", "filtered", "stalled",
   * "not-running"), or "expired" for the time of which only the daily totals are kept, or "unrecorded" for the time
   * before the first event of all. `media`: "playing". Else null.
   */
  readonly state: string | null;
  /** Application or player; null for presence and gaps, and for a mixture of more than can be told. */
  readonly app: string | null;
  /** Title, file, piece; null in the lane `focus`, and when it was not kept. */
  readonly label: string | null;
  /** Host and path of a page, project of a file, artist of a piece; null when there is none. */
  readonly place: string | null;
  readonly documentId: number | null;
  /** How much of the span it really filled; less than `endUs - startUs` where spans were merged. */
  readonly activeUs: number;
  /**
   * How many recorded stretches it stands for. Above 1 others may be among them: app, label and document are
   * those of the one that lasted longest.
   */
  readonly merged: number;
  /** In the lane `elsewhere`: the name of the device. */
  readonly device?: string;
}

export interface TimelineLane {
  readonly id: TimelineLaneId;
  /** By start. Spans of one lane do not meet, but for media, tabs and devices, of which several can be at once. */
  readonly spans: readonly TimelineSpan[];
  /** How many recorded stretches of the range are not drawn by themselves. */
  readonly merged: number;
}

export interface TimelineAnswer {
  readonly fromUs: number;
  readonly toUs: number;
  /** What is shorter was merged with what lies beside it; 0: every stretch is there by itself. */
  readonly resolutionUs: number;
  /** In the order of {@link TimelineLaneId}. */
  readonly lanes: readonly TimelineLane[];
  /** When the record begins; null when nothing was ever recorded. */
  readonly firstUs: number | null;
  /** Up to when the record goes: what lies behind is not known yet. Null when nothing was ever recorded. */
  readonly lastUs: number | null;
}

/** What the asker knows and the database does not yet: which events go on, and what time it is. */
export interface Running {
  readonly ids: readonly number[];
  readonly nowUs: number;
}

/** @throws ActivityError `bad_request` when the range is empty or the limit out of bounds */
export function readTimeline(
  database: StoreDatabase,
  request: TimelineRequest,
  running: Running,
): TimelineAnswer {
  const { fromUs, toUs, maxSpans = DEFAULT_SPANS, lanes = LANES } = request;
  checkRequest(request, maxSpans);
  // One more than the stretches between them begin.
  const resolutionUs = Math.ceil((toUs - fromUs) / (maxSpans - 1));
  const frame = { fromUs, toUs, resolutionUs };
  const edges = readEdges(database, running);
  const isAlone = createDeviceReader(database).all().length === 0;
  const windows = drawWindows(database, frame, running, lanes);
  const draw = {
    focus: () => windows.focus,
    documents: () => windows.documents,
    tabs: () => drawKinds(database, frame, running, ["tab", "editor"]),
    presence: () => drawKinds(database, frame, running, ["idle", "lock", "sleep"]),
    media: () => drawKinds(database, frame, running, ["media"]),
    elsewhere: () => drawElsewhere(database, frame),
    gaps: () => [...before(frame, edges), ...drawKinds(database, frame, running, ["gap"])],
  };
  const drawn = LANES.filter((id) => lanes.includes(id) && (id !== "elsewhere" || !isAlone)).map(
    (id) => ({ id, spans: draw[id]() }),
  );
  return {
    fromUs,
    toUs,
    resolutionUs: drawn.some(({ spans }) => spans.some(({ merged }) => merged > 1))
      ? resolutionUs
      : 0,
    lanes: drawn.map(({ id, spans }) => ({
      id,
      spans,
      merged: spans.reduce((sum, { merged }) => sum + (merged > 1 ? merged : 0), 0),
    })),
    firstUs: edges.firstUs,
    lastUs: edges.lastUs,
  };
}

const LANES = ["focus", "documents", "tabs", "presence", "media", "elsewhere", "gaps"] as const;
const DEFAULT_SPANS = 1000;
const FEWEST_SPANS = 10;
const MOST_SPANS = 10_000;
/** Beyond this an event stands in the index `event_long`. Part of the schema. */
const LONG_US = 3_600_000_000;
/** From here on visits are drawn, in which interruptions below it are bridged. */
const VISITS_FROM_US = 90_000_000;
/** No visit is believed to reach further back than this before the range. */
const REACH_US = 12 * 3_600_000_000;
/** Windows of one application that follow each other within this are one stretch of focus. */
const FOLLOWS_US = 1_000_000;

interface Frame {
  readonly fromUs: number;
  readonly toUs: number;
  readonly resolutionUs: number;
}

interface Edges {
  readonly firstUs: number | null;
  readonly lastUs: number | null;
  /** When the first of the daily totals began: what lies between it and the first event has expired. */
  readonly totalsUs: number | null;
}

function checkRequest({ fromUs, toUs }: TimelineRequest, maxSpans: number): void {
  if (!(toUs > fromUs)) {
    throw new ActivityError(
      "bad_request",
      `The range ends (${toUs}) before it begins (${fromUs}).`,
      "Give fromUs below toUs.",
    );
  }
  if (!Number.isSafeInteger(maxSpans) || maxSpans < FEWEST_SPANS || maxSpans > MOST_SPANS) {
    throw new ActivityError(
      "bad_request",
      `Cannot draw ${maxSpans} spans.`,
      `Give maxSpans from ${FEWEST_SPANS} to ${MOST_SPANS}.`,
    );
  }
}

function readEdges(database: StoreDatabase, running: Running): Edges {
  const first = database
    .prepare<{ us: number }>("SELECT start_us AS us FROM event ORDER BY start_us LIMIT 1")
    .get();
  // The longest of the newest may end last.
  const last = database
    .prepare<{ us: number | null }>(
      `SELECT max(start_us + duration_us) AS us FROM
         (SELECT start_us, duration_us FROM event ORDER BY start_us DESC LIMIT 64)`,
    )
    .get();
  const totals = database.prepare<{ us: number | null }>("SELECT min(first_us) AS us FROM day");
  const lastUs = last?.us ?? null;
  return {
    firstUs: first?.us ?? null,
    lastUs: lastUs !== null && running.ids.length > 0 ? Math.max(lastUs, running.nowUs) : lastUs,
    totalsUs: totals.get()?.us ?? null,
  };
}

/** What of the range lies before the first event. */
function before({ fromUs, toUs }: Frame, { firstUs, totalsUs }: Edges): readonly TimelineSpan[] {
  const recordedUs = firstUs ?? Number.MAX_SAFE_INTEGER;
  const keptUs = Math.min(totalsUs ?? recordedUs, recordedUs);
  return [
    gapSpan("unrecorded", fromUs, Math.min(toUs, keptUs)),
    gapSpan("expired", Math.max(fromUs, keptUs), Math.min(toUs, recordedUs)),
  ].flat();
}

function gapSpan(state: string, startUs: number, endUs: number): readonly TimelineSpan[] {
  if (endUs <= startUs) return [];
  const nothing = { app: null, label: null, place: null, documentId: null };
  return [{ startUs, endUs, kind: "gap", state, ...nothing, activeUs: endUs - startUs, merged: 1 }];
}

interface StretchRow {
  readonly startUs: number;
  readonly endUs: number;
  readonly labelId: number;
  readonly documentId: number | null;
}

/** Window time by application and by document: of a long range from visits, else from the windows themselves. */
function drawWindows(
  database: StoreDatabase,
  frame: Frame,
  running: Running,
  lanes: readonly TimelineLaneId[],
): Readonly<Record<"focus" | "documents", readonly TimelineSpan[]>> {
  const wanted = { focus: lanes.includes("focus"), documents: lanes.includes("documents") };
  const empty = { focus: [], documents: [] };
  if (!wanted.focus && !wanted.documents) return empty;
  const drawn =
    frame.resolutionUs >= VISITS_FROM_US
      ? drawVisits(database, frame, wanted)
      : drawEachWindow(database, frame, running, wanted);
  const documents = readDocuments(database, drawn.documents);
  return {
    focus: drawn.focus.map((span) =>
      toSpan(span, "window", null, { app: drawn.names[span.key] ?? null }),
    ),
    documents: drawn.documents.map((span) =>
      toSpan(span, "window", null, documents.get(span.key) ?? null),
    ),
  };
}

/** Keys of `focus` are places in `names`, those of `documents` ids. */
interface DrawnWindows {
  readonly focus: readonly Drawn[];
  readonly names: readonly string[];
  readonly documents: readonly Drawn[];
}

type Wanted = Readonly<Record<"focus" | "documents", boolean>>;

/** Row by row, so that a year is never held at once. */
function drawVisits(database: StoreDatabase, frame: Frame, wanted: Wanted): DrawnWindows {
  const applications = numberApplications(
    database.prepare<AppRow>("SELECT id, app FROM document WHERE kind = 'window'").iterate(),
  );
  const focus = createBuckets(frame);
  const documents = createBuckets(frame);
  for (const row of readVisits(database, frame)) {
    const { startUs, endUs, activeUs, documentId, count } = row;
    const stretch = { startUs, endUs, activeUs, count };
    if (wanted.focus) focus.add({ ...stretch, key: applications.of(documentId) });
    if (wanted.documents) documents.add({ ...stretch, key: documentId });
  }
  return { focus: focus.draw(), names: applications.names, documents: documents.draw() };
}

function drawEachWindow(
  database: StoreDatabase,
  frame: Frame,
  running: Running,
  wanted: Wanted,
): DrawnWindows {
  const windows = [...readRows(database, frame, running, "window")].flatMap((row) => {
    const { startUs, endUs, documentId: key } = row;
    return key === null ? [] : [{ startUs, endUs, activeUs: endUs - startUs, key }];
  });
  const ids = JSON.stringify([...new Set(windows.map(({ key }) => key))]);
  const applications = numberApplications(
    database
      .prepare<AppRow>("SELECT id, app FROM document WHERE id IN (SELECT value FROM json_each(?))")
      .iterate(ids),
  );
  const byApplication = windows.map((window) => ({ ...window, key: applications.of(window.key) }));
  const areApart = true;
  return {
    focus: wanted.focus
      ? clusterStretches(byApplication, frame, { followsUs: FOLLOWS_US, areApart })
      : [],
    names: applications.names,
    documents: wanted.documents ? clusterStretches(windows, frame, { followsUs: 0, areApart }) : [],
  };
}

interface AppRow {
  readonly id: number;
  readonly app: string;
}

/** A small number for each application, since numbers are counted faster than texts. */
function numberApplications(documents: Iterable<AppRow>): {
  /** -1 for a document that is not among them. */
  readonly of: (documentId: number) => number;
  readonly names: readonly string[];
} {
  const numbers = new Map<string, number>();
  const ofDocument = new Map<number, number>();
  for (const { id, app } of documents) {
    const number = numbers.get(app) ?? numbers.size;
    numbers.set(app, number);
    ofDocument.set(id, number);
  }
  return { of: (documentId) => ofDocument.get(documentId) ?? -1, names: [...numbers.keys()] };
}

interface VisitRow extends Omit<Stretch, "key" | "count"> {
  readonly documentId: number;
  readonly count: number;
}

/**
 * Visits by document and piece of the range. SQLite adds up those that are shorter than a piece, in the one in which they
 * began: of a year that leaves a quarter of the rows, and takes a quarter of the time.
 */
function* readVisits(
  database: StoreDatabase,
  { fromUs, toUs, resolutionUs }: Frame,
): Generator<VisitRow> {
  // Numbers come to SQLite as floats, and dividing those gives no whole pieces.
  const short = database.prepare<VisitRow>(
    `SELECT min(start_us) AS startUs,
            min(max(start_us + span_us), ? + (piece + 1) * ?) AS endUs,
            sum(active_us) AS activeUs, document_id AS documentId, count(*) AS count
       FROM (SELECT start_us, span_us, active_us, document_id,
                    (start_us - CAST(? AS INTEGER)) / CAST(? AS INTEGER) AS piece
               FROM visit WHERE start_us >= ? AND start_us < ? AND span_us <= ?)
      GROUP BY piece, document_id`,
  );
  const long = database.prepare<VisitRow>(
    `SELECT start_us AS startUs, start_us + span_us AS endUs, active_us AS activeUs,
            document_id AS documentId, 1 AS count
       FROM visit
      WHERE start_us >= ? AND start_us < ? AND (span_us > ? OR start_us < ?) AND start_us + span_us > ?`,
  );
  yield* short.iterate(fromUs, resolutionUs, fromUs, resolutionUs, fromUs, toUs, resolutionUs);
  yield* long.iterate(fromUs - REACH_US, toUs, resolutionUs, fromUs, fromUs);
}

/** Rows of one kind that meet the range, by start, clipped to it. */
function* readRows(
  database: StoreDatabase,
  { fromUs, toUs }: Frame,
  running: Running,
  kind: EventKind,
): Generator<StretchRow> {
  const isKind =
    kind === "window"
      ? "event.label_id & 15 = 0"
      : `event.label_id & 15 = ${KIND_CODES[kind]} AND event.label_id & 15 <> 0`;
  const select = `SELECT event.start_us AS startUs, event.start_us + event.duration_us AS endUs,
      event.label_id AS labelId, label.document_id AS documentId
    FROM event JOIN label ON label.id = event.label_id WHERE ${isKind}`;
  const long = database.prepare<StretchRow>(
    `${select} AND event.duration_us > ${LONG_US} AND event.start_us < ? ORDER BY event.start_us`,
  );
  const near = database.prepare<StretchRow>(
    `${select} AND event.start_us >= ? AND event.start_us < ? ORDER BY event.start_us`,
  );
  const goesOn = new Set(running.ids);
  for (const rows of [
    // Those that begin long before the range are few, and found through an index of their own.
    long.iterate(fromUs - LONG_US),
    near.iterate(fromUs - LONG_US, toUs),
  ]) {
    for (const row of rows) {
      const endUs = goesOn.has(row.startUs) ? Math.max(row.endUs, running.nowUs) : row.endUs;
      const startUs = Math.max(row.startUs, fromUs);
      // What lasted no time cannot be drawn.
      if (endUs > startUs) yield { ...row, startUs, endUs: Math.min(endUs, toUs) };
    }
  }
}

/** Events of rarer kinds, each kind by itself where several can be at once. */
function drawKinds(
  database: StoreDatabase,
  frame: Frame,
  running: Running,
  kinds: readonly EventKind[],
): readonly TimelineSpan[] {
  const states = createStates(database);
  const drawn = kinds.flatMap((kind) => {
    const stretches = [...readRows(database, frame, running, kind)].flatMap(
      ({ startUs, endUs, labelId, documentId }): Stretch[] => {
        const state = states.of(labelId);
        // A player that stands still plays nothing.
        if (kind === "media" && state === null) return [];
        const key = documentId ?? states.keyOf(kind, state);
        return [{ startUs, endUs, activeUs: endUs - startUs, key }];
      },
    );
    const areApart = kind !== "media" && kind !== "tab" && kind !== "editor";
    return clusterStretches(stretches, frame, { followsUs: 0, areApart }).map((span) => ({
      ...span,
      kind,
    }));
  });
  const documents = readDocuments(database, drawn);
  return drawn
    .map((span) => {
      const document = span.key < 0 ? null : (documents.get(span.key) ?? null);
      const state = span.kind === "media" ? "playing" : states.ofKey(span.key);
      return toSpan(span, span.kind, state, document);
    })
    .sort((a, b) => a.startUs - b.startUs);
}

/** Windows of other devices by what was in them; those of one device do not meet. */
function drawElsewhere(database: StoreDatabase, frame: Frame): readonly TimelineSpan[] {
  const isCoarse = frame.resolutionUs >= VISITS_FROM_US;
  return readElsewhere(database, frame, isCoarse)
    .flatMap(({ device, stretches }) => {
      const drawn = isCoarse
        ? fillBuckets(stretches, frame)
        : clusterStretches(stretches, frame, { followsUs: 0, areApart: true });
      const documents = readDocuments(database, drawn);
      return drawn.map((span) => ({
        ...toSpan(span, "window", null, documents.get(span.key) ?? null),
        device,
      }));
    })
    .sort((a, b) => a.startUs - b.startUs);
}

/** What labels say beside their document: the state of an idle time, the reason of a gap, whether media play. */
function createStates(database: StoreDatabase): {
  readonly of: (labelId: number) => string | null;
  /** A key below 0, unlike those of documents, for a kind in a state. */
  readonly keyOf: (kind: EventKind, state: string | null) => number;
  readonly ofKey: (key: number) => string | null;
} {
  const read = database.prepare<{ state: string | null }>(
    `SELECT CASE id & ${KIND_MASK} WHEN ${KIND_CODES.idle} THEN facts ->> '$.state'
        WHEN ${KIND_CODES.gap} THEN facts ->> '$.reason'
        WHEN ${KIND_CODES.media} THEN CASE facts ->> '$.playing' WHEN 1 THEN 'playing' END END AS state
       FROM label WHERE id = ?`,
  );
  const known = new Map<number, string | null>();
  const keys: { readonly kind: EventKind; readonly state: string | null }[] = [];
  return {
    of: (labelId) => {
      if (!known.has(labelId)) known.set(labelId, read.get(labelId)?.state ?? null);
      return known.get(labelId) ?? null;
    },
    keyOf: (kind, state) => {
      const at = keys.findIndex((key) => key.kind === kind && key.state === state);
      return -1 - (at < 0 ? keys.push({ kind, state }) - 1 : at);
    },
    ofKey: (key) => keys[-1 - key]?.state ?? null,
  };
}

interface DrawnDocument {
  readonly id: number;
  readonly app: string;
  readonly title: string | null;
  readonly place: string | null;
}

function readDocuments(
  database: StoreDatabase,
  drawn: readonly Drawn[],
): ReadonlyMap<number, DrawnDocument> {
  const ids = new Set(drawn.map(({ key }) => key));
  const rows = database.prepare<DrawnDocument>(
    "SELECT id, app, title, place FROM document WHERE id IN (SELECT value FROM json_each(?))",
  );
  return new Map(rows.all(JSON.stringify([...ids])).map((row) => [row.id, row]));
}

function toSpan(
  { startUs, endUs, activeUs, merged }: Drawn,
  kind: EventKind,
  state: string | null,
  document: ({ readonly app: string | null } & Partial<Omit<DrawnDocument, "app">>) | null,
): TimelineSpan {
  return {
    startUs,
    endUs,
    kind,
    state,
    app: document?.app ?? null,
    label: document?.title ?? null,
    place: document?.place ?? null,
    documentId: document?.id ?? null,
    activeUs,
    merged,
  };
}
