/**
 * What time went to in a stretch of the record. It promises sums that are those of the events, and of days whose
 * events have expired those of the daily totals.
 */
import { repositoryOf, titleParts } from "../../capture/titles.ts";
import { ActivityError } from "../../errors.ts";
import type { StoreDatabase } from "../database.ts";
import { clockLeadUs, createDeviceReader } from "../devices.ts";
import { LONG_US, VISIT_REACH_US } from "../event-rows.ts";
import { createLocalDays } from "../local-day.ts";
import { IS_WINDOW } from "../stored-facts.ts";

/** `document`: one title of one application. `project`: as editors and titles name it. `host`: of pages. */
export type TotalsBy = "application" | "document" | "project" | "host";

export interface TotalsRequest {
  readonly fromUs: number;
  readonly toUs: number;
  readonly by: TotalsBy;
  /** The largest so many; 20 unless given, 1,000 at most. */
  readonly limit?: number;
  /** Who asks, for the ledger. */
  readonly client?: string;
}

/** Its texts were written by strangers. */
export interface Total {
  /** What it is of: application, title, project, host; null: a title that was not kept. */
  readonly label: string | null;
  /** The application of a document; else null. */
  readonly app: string | null;
  /** Host and path of a document that is a page; else null. */
  readonly place: string | null;
  readonly documentId: number | null;
  readonly activeUs: number;
}

export interface TotalsAnswer {
  /** Largest first. */
  readonly totals: readonly Total[];
  /** Focused time in the whole range, whatever it went to. */
  readonly activeUs: number;
  /** The part of it in smaller totals than those given, and how many they are. */
  readonly rest: { readonly activeUs: number; readonly count: number };
  /** The part of it that has no project or host. */
  readonly withoutUs: number;
  /** True when days are in it whose events have expired: they are counted whole, by their totals. */
  readonly fromDayTotals: boolean;
  /**
   * Focused time on the owner's other devices, the largest first; absent where there are none. All else is this device's
   * alone, so that no minute counts twice in which two were in use.
   */
  readonly elsewhere?: readonly { readonly device: string; readonly activeUs: number }[];
}

/**
 * Whole days of the range are those of `timeZone`. Their totals were kept by the wall clock of then, so that after a
 * journey a day is the day that it was on the owner's desk.
 *
 * @throws ActivityError `bad_request` when the range is empty or the limit out of bounds
 */
export function readTotals(
  database: StoreDatabase,
  request: TotalsRequest,
  timeZone: string,
): TotalsAnswer {
  const { fromUs, toUs, by, limit = DEFAULT_LIMIT } = request;
  checkRequest(fromUs, toUs, limit);
  const firstUs =
    database
      .prepare<{ us: number }>("SELECT start_us AS us FROM event ORDER BY start_us LIMIT 1")
      .get()?.us ?? toUs;
  const times = readTimes(database, fromUs, toUs, timeZone);
  const groups = new Map<string, Group>();
  let activeUs = 0;
  let withoutUs = 0;
  for (const document of readDocuments(database, times)) {
    const us = times.get(document.id) ?? 0;
    activeUs += us;
    const group = groupOf(document, by);
    if (group === null) {
      withoutUs += us;
      continue;
    }
    const known = groups.get(group.key);
    if (known === undefined) groups.set(group.key, { ...group.total, activeUs: us });
    else known.activeUs += us;
  }
  const ordered = [...groups.values()].sort((a, b) => b.activeUs - a.activeUs);
  const rest = ordered.slice(limit);
  return {
    totals: ordered.slice(0, limit),
    activeUs,
    rest: { activeUs: rest.reduce((sum, each) => sum + each.activeUs, 0), count: rest.length },
    withoutUs,
    fromDayTotals: firstUs > fromUs && isBefore(database, firstUs),
    ...readElsewhere(database, fromUs, toUs),
  };
}

/** Focused time by device, from events: of other devices no daily totals are kept. */
function readElsewhere(
  database: StoreDatabase,
  fromUs: number,
  toUs: number,
): Pick<TotalsAnswer, "elsewhere"> {
  const devices = createDeviceReader(database).all();
  if (devices.length === 0) return {};
  const sum = database.prepare<{ us: number | null }>(
    `SELECT sum(min(start_us + duration_us, ?) - max(start_us, ?)) AS us FROM remote_event
      WHERE device_key = ? AND start_us >= ? AND start_us < ? AND start_us + duration_us > ?
        AND ${IS_WINDOW}`,
  );
  const elsewhere = devices.map((device) => {
    const leadUs = clockLeadUs(device) ?? 0;
    const [first, last] = [fromUs + leadUs, toUs + leadUs];
    const us = sum.get(last, first, device.key, first - VISIT_REACH_US, last, first)?.us ?? 0;
    return { device: device.name, activeUs: us };
  });
  return { elsewhere: elsewhere.sort((a, b) => b.activeUs - a.activeUs) };
}

const DEFAULT_LIMIT = 20;
const MOST_TOTALS = 1000;
/** In a range of fewer whole days than this the events themselves are added up. */
const FEWEST_DAYS = 3;

type Group = { -readonly [Field in keyof Total]: Total[Field] };

interface TotalsDocument {
  readonly id: number;
  readonly app: string;
  readonly title: string | null;
  readonly place: string | null;
}

function checkRequest(fromUs: number, toUs: number, limit: number): void {
  if (!(toUs > fromUs)) {
    throw new ActivityError(
      "bad_request",
      `The range ends (${toUs}) before it begins (${fromUs}).`,
      "Give fromUs below toUs.",
    );
  }
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MOST_TOTALS) {
    throw new ActivityError(
      "bad_request",
      `Cannot give ${limit} totals.`,
      `Give a limit from 1 to ${MOST_TOTALS}.`,
    );
  }
}

/** Whether totals are kept of days before the first event. */
function isBefore(database: StoreDatabase, firstUs: number): boolean {
  const first = database.prepare<{ us: number | null }>("SELECT min(first_us) AS us FROM day");
  const us = first.get()?.us ?? null;
  return us !== null && us < firstUs;
}

/** Focused time by document: of events at the edges of the range, of daily totals for the whole days between. */
function readTimes(
  database: StoreDatabase,
  fromUs: number,
  toUs: number,
  timeZone: string,
): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  const add = (rows: readonly { readonly documentId: number; readonly us: number }[]): void => {
    for (const { documentId, us } of rows) times.set(documentId, (times.get(documentId) ?? 0) + us);
  };
  const sums = (rows: string) =>
    database.prepare<{ documentId: number; us: number }>(
      `SELECT label.document_id AS documentId,
              sum(min(event.start_us + event.duration_us, ?) - max(event.start_us, ?)) AS us
         FROM event JOIN label ON label.id = event.label_id
        WHERE ${rows} AND ${IS_WINDOW} AND event.start_us + event.duration_us > ?
        GROUP BY label.document_id`,
    );
  const near = sums("event.start_us >= ? AND event.start_us < ?");
  // Those that begin long before are few, and found through an index of their own.
  const long = sums(`event.duration_us > ${LONG_US} AND event.start_us < ?`);
  const addEvents = (startUs: number, endUs: number): void => {
    if (endUs <= startUs) return;
    const reachUs = startUs - LONG_US;
    add(near.all(endUs, startUs, reachUs, endUs, startUs));
    add(long.all(endUs, startUs, reachUs, startUs));
  };
  const whole = wholeDays(fromUs, toUs, timeZone);
  if (whole === null) {
    addEvents(fromUs, toUs);
    return times;
  }
  const days = database.prepare<{ documentId: number; us: number }>(
    `SELECT document_id AS documentId, sum(active_us) AS us FROM day_total
      WHERE local_day BETWEEN ? AND ? GROUP BY document_id`,
  );
  addEvents(fromUs, whole.fromUs);
  add(days.all(whole.firstDay, whole.lastDay));
  addEvents(whole.toUs, toUs);
  return times;
}

interface WholeDays {
  readonly firstDay: number;
  readonly lastDay: number;
  readonly fromUs: number;
  readonly toUs: number;
}

/** The days that lie whole in the range; null when they are so few that the events are read as fast. */
function wholeDays(fromUs: number, toUs: number, timeZone: string): WholeDays | null {
  const days = createLocalDays();
  // A day ends where the next begins: looked for at the two edges alone.
  const first = days.rangeAt(fromUs, timeZone);
  const last = days.rangeAt(toUs, timeZone);
  const startUs = first.fromUs === fromUs ? fromUs : first.toUs;
  const endUs = last.fromUs;
  if (endUs - startUs < FEWEST_DAYS * 86_400_000_000) return null;
  return {
    firstDay: days.dayAt(startUs, timeZone),
    lastDay: days.dayAt(endUs - 1, timeZone),
    fromUs: startUs,
    toUs: endUs,
  };
}

function readDocuments(
  database: StoreDatabase,
  times: ReadonlyMap<number, number>,
): IterableIterator<TotalsDocument> {
  return database
    .prepare<TotalsDocument>(
      "SELECT id, app, title, place FROM document WHERE id IN (SELECT value FROM json_each(?))",
    )
    .iterate(JSON.stringify([...times.keys()]));
}

/** What a document counts for; null: it has no project or host. */
function groupOf(
  { id, app, title, place }: TotalsDocument,
  by: TotalsBy,
): { readonly key: string; readonly total: Total } | null {
  const whole = { app: null, place: null, documentId: null, activeUs: 0 };
  switch (by) {
    case "application":
      return { key: app, total: { ...whole, label: app } };
    case "document":
      return { key: String(id), total: { ...whole, label: title, app, place, documentId: id } };
    case "project": {
      const project = place === null ? titleParts(app, title ?? "").project : repositoryOf(place);
      return project === null
        ? null
        : { key: project.toLowerCase(), total: { ...whole, label: project } };
    }
    case "host": {
      const host = place?.split("/")[0]?.toLowerCase() ?? "";
      return host === "" ? null : { key: host, total: { ...whole, label: host } };
    }
  }
}
