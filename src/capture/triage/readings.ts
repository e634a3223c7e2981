/**
 * What was recorded in a span, around an event or about a topic, as lines that may be told. Each function
 * answers one reading of a turn; which readings count, and how much of each fits, is decided elsewhere.
 */
import { clipSpan } from "../events.ts";
import { localTime } from "../../context/plain-text.ts";
import type { ActivityHistory, HistoryDocument, Visit } from "../../store/history.ts";
import type { DocumentKind } from "./document-kinds.ts";
import type { SpanLine } from "./fit.ts";
import type { TimeEnd } from "./turn/reading.ts";

export interface Window {
  readonly fromUs: number;
  readonly toUs: number;
}

/** What the readings look at. `isHidden`: documents that are no activity, such as the assistant's own window. */
export interface ReadingContext {
  readonly history: ActivityHistory;
  readonly nowUs: number;
  readonly timeZone: string;
  readonly isHidden: (document: HistoryDocument) => boolean;
  readonly kindOf: (documentId: number) => DocumentKind | null;
  /** The name of another device; null for this one, which lines need not name. */
  readonly deviceOf: (deviceKey: number) => string | null;
  /** The devices that the turn asks about by name; null: it names none, and all count. */
  readonly asked: AskedDevices | null;
}

export interface AskedDevices {
  /** 0 stands for this device. */
  readonly keys: ReadonlySet<number>;
  /** Its name where it is one other device; else null. */
  readonly name: string | null;
}

const MINUTE_US = 60_000_000;
const HOUR_US = 60 * MINUTE_US;
/** Work goes on over a gap of this length, unless the owner was away. */
const EPISODE_GAP_US = 25 * MINUTE_US;

/**
 * The documents that had most of a window, each as one line: from its first to its last moment in the window,
 * or of its best day when the window spans several.
 */
export function windowLines(
  context: ReadingContext,
  window: Window,
  options: {
    readonly limit: number;
    readonly score: number;
    readonly reason: string;
    readonly only?: ReadonlySet<number>;
  },
): readonly SpanLine[] {
  const toUs = Math.min(window.toUs, context.nowUs);
  const visits = context.history
    .visitsBetween(window.fromUs, toUs)
    .filter(({ documentId }) => options.only?.has(documentId) ?? true);
  const totals = groupVisits(visits, window.fromUs, toUs)
    .map((group) => ({ ...group, activeUs: sumActive(group.clipped) }))
    .sort(
      (a, b) => b.activeUs - a.activeUs || b.documentId - a.documentId || a.deviceKey - b.deviceKey,
    );
  const most = totals[0]?.activeUs ?? 0;
  const documents = new Map(
    context.history
      .documents(totals.slice(0, options.limit + 6).map(({ documentId }) => documentId))
      .filter((document) => !context.isHidden(document))
      .map((document) => [document.id, document]),
  );
  const isLong = toUs - window.fromUs > 26 * HOUR_US;
  const lines: SpanLine[] = [];
  for (const { documentId, deviceKey, clipped, activeUs } of totals) {
    const document = documents.get(documentId);
    if (document === undefined) continue;
    if (lines.length >= options.limit) break;
    // A glance beside hours of work is noise; a window of glances is told as it was.
    if (lines.length >= 2 && activeUs < Math.min(MINUTE_US, most / 10)) break;
    const day = isLong ? bestDay(clipped, context.timeZone) : clipped;
    lines.push({
      kind: "span",
      document,
      device: context.deviceOf(deviceKey),
      ...spanOf(day),
      score: options.score * (0.5 + 0.5 * (activeUs / Math.max(1, most))),
      reason: options.reason,
    });
  }
  return lines;
}

/** A window without what is to come, and without what lies before the record. */
export function recordedPart({ history, nowUs }: ReadingContext, window: Window): Window {
  const toUs = Math.min(window.toUs, nowUs);
  const firstUs = history.firstUs() ?? window.fromUs;
  return { fromUs: firstUs < toUs ? Math.max(window.fromUs, firstUs) : window.fromUs, toUs };
}

/** A window as it is told: up to its last moment, not to the midnight after it. */
export function named({ fromUs, toUs }: Window): Window {
  return { fromUs, toUs: toUs - 1 };
}

/** What is near enough to the end of a time to be the first or last thing in it. */
const END_US = 30 * MINUTE_US;

/** The first or last half hour of what was recorded in a window; the window itself when nothing was. */
export function endOfWindow(context: ReadingContext, window: Window, end: TimeEnd): Window {
  const toUs = Math.min(window.toUs, context.nowUs);
  const visits = context.history.visitsBetween(window.fromUs, toUs);
  const documents = context.history.documents([...new Set(visits.map((v) => v.documentId))]);
  const hidden = new Set(documents.filter(context.isHidden).map(({ id }) => id));
  const seen = visits.filter(({ documentId }) => !hidden.has(documentId));
  if (seen.length === 0) return window;
  if (end === "first") {
    const fromUs = Math.max(window.fromUs, Math.min(...seen.map(({ startUs }) => startUs)));
    return { fromUs, toUs: Math.min(toUs, fromUs + END_US) };
  }
  const lastUs = Math.min(toUs, Math.max(...seen.map(({ endUs }) => endUs)));
  return { fromUs: Math.max(window.fromUs, lastUs - END_US), toUs: lastUs };
}

/** The newest stretches of documents, each joined over short gaps, newest first; at most `limit`. */
export function latestLines(
  context: ReadingContext,
  documentIds: readonly number[],
  options: {
    readonly limit: number;
    readonly score: number;
    readonly reason: string;
    readonly within?: Window | null;
    /** Gap over which visits are one stretch. */
    readonly gapUs?: number;
  },
): readonly SpanLine[] {
  const { within } = options;
  const beforeUs = Math.min(within?.toUs ?? context.nowUs, context.nowUs);
  const fromUs = within?.fromUs ?? 0;
  const visits = context.history
    .visitsOf(documentIds, beforeUs, 200)
    .filter(({ endUs }) => endUs > fromUs)
    .map((visit) => clipVisit(visit, fromUs, context.nowUs));
  const stretches = stretchesOf(visits, options.gapUs ?? 10 * MINUTE_US);
  const documents = new Map(context.history.documents(documentIds).map((d) => [d.id, d]));
  const lines: SpanLine[] = [];
  for (const [index, stretch] of stretches.slice(0, options.limit).entries()) {
    const document = documents.get(stretch[0]?.documentId ?? -1);
    if (document === undefined || context.isHidden(document)) continue;
    lines.push({
      kind: "span",
      document,
      device: context.deviceOf(stretch[0]?.deviceKey ?? 0),
      ...spanOf(stretch),
      score: options.score * 0.8 ** index,
      reason: options.reason,
    });
  }
  return lines;
}

/**
 * The last sitting at a piece of work: its documents by the time they had in it, each with its last stretch.
 * Glances do not make a sitting.
 */
export function lastSitting(
  context: ReadingContext,
  documentIds: readonly number[],
  within: Window | null,
): readonly Visit[] {
  const beforeUs = Math.min(within?.toUs ?? context.nowUs, context.nowUs);
  const visits = context.history
    .visitsOf(documentIds, beforeUs, 300)
    .filter(({ endUs }) => endUs > (within?.fromUs ?? 0));
  const sittings: Visit[][] = [];
  for (const visit of visits) {
    const open = sittings.at(-1);
    const nextUs = open?.at(-1)?.startUs;
    if (open !== undefined && nextUs !== undefined && nextUs - visit.endUs < EPISODE_GAP_US) {
      open.push(visit);
    } else sittings.push([visit]);
  }
  return sittings.find((sitting) => sumActive(sitting) >= 3 * MINUTE_US) ?? sittings[0] ?? [];
}

/** Active time of visits inside a window, with visits cut at its edges counted by their share. */
export function activeWithin(visits: readonly Visit[], { fromUs, toUs }: Window): number {
  return visits.reduce((sum, visit) => sum + clipVisit(visit, fromUs, toUs).activeUs, 0);
}

function clipVisit(visit: Visit, fromUs: number, toUs: number): Visit {
  const clipped = clipSpan(visit, fromUs, toUs);
  if (clipped === null) return { ...visit, activeUs: 0 };
  const share = (clipped.endUs - clipped.startUs) / Math.max(1, visit.endUs - visit.startUs);
  return { ...clipped, activeUs: Math.round(visit.activeUs * share) };
}

/** Visits, newest first, of one document on one device joined over gaps; each stretch newest first. */
export function stretchesOf(
  visits: readonly Visit[],
  gapUs: number,
): readonly (readonly Visit[])[] {
  const stretches: Visit[][] = [];
  const open = new Map<number, Visit[]>();
  for (const visit of visits) {
    const key = placeKey(visit);
    const stretch = open.get(key);
    const nextUs = stretch?.at(-1)?.startUs;
    if (stretch !== undefined && nextUs !== undefined && nextUs - visit.endUs < gapUs)
      stretch.push(visit);
    else {
      const started = [visit];
      open.set(key, started);
      stretches.push(started);
    }
  }
  return stretches;
}

/** From the first to the last moment of visits, and the active time in between. */
export function spanOf(visits: readonly Visit[]): {
  readonly startUs: number;
  readonly endUs: number;
  readonly activeUs: number;
} {
  return {
    startUs: Math.min(...visits.map(({ startUs }) => startUs)),
    endUs: Math.max(...visits.map(({ endUs }) => endUs)),
    activeUs: sumActive(visits),
  };
}

export function sumActive(visits: readonly Visit[]): number {
  return visits.reduce((sum, { activeUs }) => sum + activeUs, 0);
}

interface VisitGroup {
  readonly documentId: number;
  readonly deviceKey: number;
  readonly clipped: readonly Visit[];
}

/** Visits clipped to a span, those of one document on one device together. */
function groupVisits(
  visits: readonly Visit[],
  fromUs: number,
  toUs: number,
): readonly VisitGroup[] {
  const groups = new Map<number, Visit[]>();
  for (const visit of visits) {
    const clipped = clipVisit(visit, fromUs, toUs);
    if (clipped.endUs <= clipped.startUs) continue;
    const key = placeKey(visit);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [clipped]);
    else group.push(clipped);
  }
  return [...groups.values()].flatMap((clipped) => {
    const [first] = clipped;
    if (first === undefined) return [];
    const { documentId, deviceKey } = first;
    return [{ documentId, deviceKey, clipped }];
  });
}

/** A document on a device, as one number. */
function placeKey({ documentId, deviceKey }: Visit): number {
  return documentId + deviceKey * 2 ** 32;
}

function bestDay(visits: readonly Visit[], timeZone: string): readonly Visit[] {
  const local = localTime(timeZone);
  const days = new Map<string, Visit[]>();
  for (const visit of visits) {
    const day = local.isoDay(visit.startUs);
    const list = days.get(day);
    if (list === undefined) days.set(day, [visit]);
    else list.push(visit);
  }
  let best: readonly Visit[] = visits;
  let most = -1;
  for (const list of days.values()) {
    const activeUs = sumActive(list);
    // The later day wins a tie: it is the fresher memory.
    if (activeUs >= most) {
      most = activeUs;
      best = list;
    }
  }
  return best;
}
