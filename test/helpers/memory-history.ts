/** The record in memory: the same answers as the store gives, for tests that need no database. */
import { documentTitle } from "../../src/capture/titles.ts";
import type {
  Absence,
  ActivityHistory,
  Focus,
  HistoryDocument,
  Visit,
} from "../../src/store/history.ts";

export interface RecordedWindow {
  readonly app: string;
  readonly title: string;
  readonly place?: string;
  readonly startUs: number;
  readonly endUs: number;
}

const BRIDGE_US = 90_000_000;

/** A history of these windows (in order of start) and absences. */
export function createMemoryHistory(
  windows: readonly RecordedWindow[],
  absences: readonly Absence[] = [],
): ActivityHistory {
  const ids = new Map<string, number>();
  const documents: HistoryDocument[] = [];
  const visits: Visit[] = [];
  const lastVisit = new Map<number, number>();
  const events: Focus[] = [];

  for (const { app, title, place = null, startUs, endUs } of windows) {
    const text = documentTitle(app, title);
    const key = JSON.stringify([app, text, place]);
    let id = ids.get(key);
    if (id === undefined) {
      id = documents.length + 1;
      ids.set(key, id);
      documents.push({ id, app, title: text, place });
    }
    events.push({ documentId: id, startUs, endUs });
    const at = lastVisit.get(id);
    const open = at === undefined ? undefined : visits[at];
    if (at !== undefined && open !== undefined && startUs - open.endUs < BRIDGE_US) {
      const grown = Math.max(open.endUs, endUs);
      visits[at] = { ...open, endUs: grown, activeUs: open.activeUs + endUs - startUs };
    } else {
      lastVisit.set(id, visits.length);
      visits.push({ deviceKey: 0, documentId: id, startUs, endUs, activeUs: endUs - startUs });
    }
  }
  visits.sort((a, b) => a.startUs - b.startUs);
  const byDocument = new Map<number, Visit[]>();
  for (const visit of visits) {
    const list = byDocument.get(visit.documentId) ?? [];
    list.push(visit);
    byDocument.set(visit.documentId, list);
  }
  const firstFrom = (fromUs: number): number => {
    let low = 0;
    let high = visits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((visits[middle]?.startUs ?? 0) < fromUs) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const started = (fromUs: number, toUs: number): readonly Visit[] =>
    visits.slice(firstFrom(fromUs), firstFrom(toUs));

  const history: ActivityHistory = {
    firstUs: () => visits[0]?.startUs ?? null,
    lastDocumentId: () => documents.length,
    documentCount: () => documents.length,
    documentsAfter: (id, limit) => documents.slice(id, id + limit),
    documents: (wanted) => documents.filter(({ id }) => wanted.includes(id)),
    visitsFrom: (fromUs, toUs, limit) => started(fromUs, toUs).slice(0, limit),
    visitsBetween: (fromUs, toUs) =>
      started(fromUs - 12 * 3_600_000_000, toUs).filter(({ endUs }) => endUs > fromUs),
    visitsOf: (wanted, beforeUs, limit) =>
      wanted
        .flatMap((id) => byDocument.get(id) ?? [])
        .filter(({ startUs }) => startUs < beforeUs)
        .sort((a, b) => b.startUs - a.startUs)
        .slice(0, limit),
    absencesBetween: (fromUs, toUs) =>
      absences.filter(({ startUs, endUs }) => endUs > fromUs && startUs < toUs),
    eventIds: (documentId, fromUs, toUs) =>
      events
        .filter((e) => e.documentId === documentId && e.startUs >= fromUs && e.startUs < toUs)
        .map(({ startUs }) => startUs),
    focusBetween: (fromUs, toUs) =>
      events.filter(({ startUs, endUs }) => endUs > fromUs && startUs < toUs),
    devices: () => [],
    only: () => history,
  };
  return history;
}
