/**
 * A stretch of the record as lanes to draw. It promises an answer whose size depends on how finely it is to be
 * drawn and not on how much was recorded, and holes in the record that are told apart from quiet.
 */
import type { EventKind } from "../../capture/events.ts";
import { ActivityError } from "../../errors.ts";
import type { StoreDatabase } from "../database.ts";
import { createDeviceReader } from "../devices.ts";
import { KIND_CODES, KIND_MASK } from "../stored-facts.ts";
import { clusterStretches, fillBuckets, type Drawn, type Stretch } from "./thinning.ts";
import { readElsewhere } from "./timeline-elsewhere.ts";
import { readRows, type Frame, type Running } from "./timeline-rows.ts";
import { isForVisits, readWindows } from "./timeline-windows.ts";

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
    // Visits are not the stretches themselves, however few there are.
    resolutionUs:
      isForVisits(frame) || drawn.some(({ spans }) => spans.some(({ merged }) => merged > 1))
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
  const drawn = readWindows(database, frame, running, wanted);
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
  const isCoarse = isForVisits(frame);
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
