/**
 * Window time of a stretch of the record, by application and by document. It hides that a long stretch is drawn from
 * visits and a short one from the windows themselves, and promises that a year is never held at once.
 */
import type { StoreDatabase } from "../database.ts";
import { VISIT_REACH_US } from "../event-rows.ts";
import { clusterStretches, createBuckets, type Drawn, type Stretch } from "./thinning.ts";
import { readRows, type Frame, type Running } from "./timeline-rows.ts";

/** Keys of `focus` are places in `names`, those of `documents` ids. */
export interface DrawnWindows {
  readonly focus: readonly Drawn[];
  readonly names: readonly string[];
  readonly documents: readonly Drawn[];
}

type Wanted = Readonly<Record<"focus" | "documents", boolean>>;

/** Whether visits will do for a drawing so fine, in which short interruptions are bridged. */
export function isForVisits({ resolutionUs }: Frame): boolean {
  return resolutionUs >= VISITS_FROM_US;
}

export function readWindows(
  database: StoreDatabase,
  frame: Frame,
  running: Running,
  wanted: Wanted,
): DrawnWindows {
  return isForVisits(frame)
    ? drawVisits(database, frame, wanted)
    : drawEachWindow(database, frame, running, wanted);
}

/** From here on visits are drawn, in which interruptions below it are bridged. */
const VISITS_FROM_US = 90_000_000;
/** Windows of one application that follow each other within this are one stretch of focus. */
const FOLLOWS_US = 1_000_000;

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
  yield* long.iterate(fromUs - VISIT_REACH_US, toUs, resolutionUs, fromUs, fromUs);
}
