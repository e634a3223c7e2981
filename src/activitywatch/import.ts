/**
 * Takes the window and absence buckets of an ActivityWatch export into the store. It promises that everything
 * passes the privacy gate, that time away is taken off the windows it lies in, and that importing the same file
 * twice adds nothing.
 */
import { clipSpan, type EventFacts, isSameFacts, type WindowFacts } from "../capture/events.ts";
import type { PrivacyGate } from "../capture/privacy.ts";
import { localTime } from "../context/plain-text.ts";
import { ActivityError } from "../errors.ts";
import type { EventStore } from "../store/events.ts";

/** What became of the events of an export. */
export interface ImportSummary {
  /** Window events added. */
  readonly windows: number;
  /** Absences added. */
  readonly absences: number;
  /** Events that were in the store before. */
  readonly repeated: number;
  /** Windows that a privacy rule kept out. */
  readonly withheld: number;
  /** Events that could not be read: no time, no application, no length. */
  readonly skipped: number;
  /** Buckets of other kinds, by type, which were left out. */
  readonly otherBuckets: readonly string[];
}

export interface ImportOptions {
  readonly store: EventStore;
  readonly gate: PrivacyGate;
  /** IANA zone in which the events happened: an export only tells UTC. */
  readonly timeZone: string;
}

interface Span {
  readonly startUs: number;
  readonly endUs: number;
}

/**
 * Imports the parsed JSON of an export (`{"buckets": {id: {type, events}}}`), as ActivityWatch's own servers write it.
 *
 * @throws ActivityError `bad_request` when the value is no export
 * @see https://docs.activitywatch.net/en/latest/buckets-and-events.html
 */
export function importBuckets(
  source: unknown,
  { store, gate, timeZone }: ImportOptions,
): ImportSummary {
  const buckets = parseExport(source);
  const local = localTime(timeZone);
  const counts = { windows: 0, absences: 0, repeated: 0, withheld: 0, skipped: 0 };
  const otherBuckets = new Set<string>();
  const aways: Span[] = [];

  const add = (facts: EventFacts, span: Span): boolean => {
    if (isKnown(store, facts, span)) {
      counts.repeated += 1;
      return false;
    }
    store.begin(facts, {
      ...span,
      utcOffsetMinutes: local.offsetMinutes(span.startUs),
      timeZone,
    });
    return true;
  };

  for (const { events } of buckets.filter(({ type }) => type === "afkstatus")) {
    for (const { span, data } of events) {
      if (span === null) counts.skipped += 1;
      else if (data["status"] === "afk") aways.push(span);
    }
  }
  const away = joinSpans(aways);
  inBatches(store, away, (span) => {
    if (add({ kind: "idle", state: "away" }, span)) counts.absences += 1;
  });

  for (const { type, events } of buckets) {
    if (type === "afkstatus") continue;
    if (type !== "currentwindow") {
      otherBuckets.add(type);
      continue;
    }
    const readable = events.flatMap(({ span, data }) => {
      const app = textOf(data["app"]);
      if (span === null || app === null) {
        counts.skipped += 1;
        return [];
      }
      return [{ span, app, data }];
    });
    readable.sort((a, b) => a.span.startUs - b.span.startUs);
    const seen = readable.map((event, index) => {
      // A watcher that was late to end a window would credit the same second twice.
      const nextUs = readable[index + 1]?.span.startUs ?? Infinity;
      return { ...event, span: { ...event.span, endUs: Math.min(event.span.endUs, nextUs) } };
    });
    inBatches(store, seen, ({ span, app, data }) => {
      const facts = gated(gate, app, data, span.startUs);
      if (facts === null) {
        counts.withheld += 1;
        return;
      }
      for (const piece of without(span, away)) {
        if (add(facts, piece)) counts.windows += 1;
      }
    });
  }
  return { ...counts, otherBuckets: [...otherBuckets].sort() };
}

/** Commits some thousand events at a time: one by one costs a write to disk each, all at once locks too long. */
function inBatches<T>(store: EventStore, items: readonly T[], work: (item: T) => void): void {
  for (let at = 0; at < items.length; at += 2000) {
    store.database.transaction(() => {
      for (const item of items.slice(at, at + 2000)) work(item);
    });
  }
}

function gated(
  gate: PrivacyGate,
  app: string,
  data: Readonly<Record<string, unknown>>,
  atUs: number,
): WindowFacts | null {
  const judged = gate.window(
    {
      app,
      title: textOf(data["title"]),
      url: textOf(data["url"]),
      pid: null,
      executable: null,
      private: typeof data["incognito"] === "boolean" ? data["incognito"] : null,
    },
    atUs,
  );
  return judged.verdict === "store" ? judged.facts : null;
}

/** Whether the store holds these facts from the same start (moved on by colliding ones) to the same end. */
function isKnown(store: EventStore, facts: EventFacts, { startUs, endUs }: Span): boolean {
  const { events } = store.between(startUs, startUs + MAX_COLLISIONS, { kinds: [facts.kind] });
  return events.some((event) => {
    const {
      id: _id,
      startUs: from,
      endUs: to,
      utcOffsetMinutes: _offset,
      timeZone: _zone,
      ...rest
    } = event;
    return from >= startUs && to === endUs && isSameFacts(rest, facts);
  });
}

/** Each event with a start that is taken begins a microsecond later; more than this many in one do not occur. */
const MAX_COLLISIONS = 100;

/** A span without the stretches away; what is left of it may be nothing, or several pieces. */
function without(span: Span, away: readonly Span[]): readonly Span[] {
  const pieces: Span[] = [];
  let fromUs = span.startUs;
  for (const gone of away) {
    if (gone.endUs <= fromUs) continue;
    if (gone.startUs >= span.endUs) break;
    if (gone.startUs > fromUs) pieces.push({ startUs: fromUs, endUs: gone.startUs });
    fromUs = Math.max(fromUs, gone.endUs);
  }
  const rest = clipSpan({ startUs: fromUs, endUs: span.endUs }, span.startUs, span.endUs);
  return rest === null ? pieces : [...pieces, rest];
}

/** Spans in order, those that touch or overlap made one. */
function joinSpans(spans: readonly Span[]): readonly Span[] {
  const joined: { startUs: number; endUs: number }[] = [];
  for (const span of [...spans].sort((a, b) => a.startUs - b.startUs)) {
    const last = joined.at(-1);
    if (last !== undefined && span.startUs <= last.endUs)
      last.endUs = Math.max(last.endUs, span.endUs);
    else joined.push({ ...span });
  }
  return joined;
}

// ---------------------------------------------------------------- parsing

interface Bucket {
  readonly type: string;
  readonly events: readonly {
    readonly span: Span | null;
    readonly data: Readonly<Record<string, unknown>>;
  }[];
}

function parseExport(source: unknown): readonly Bucket[] {
  const buckets = isRecord(source) ? source["buckets"] : undefined;
  // Written as an object by both servers; as a list in their published schema.
  if (!isRecord(buckets) && !Array.isArray(buckets)) {
    throw new ActivityError(
      "bad_request",
      'This is no ActivityWatch export: it has no "buckets".',
      "Export with ActivityWatch: Raw Data, Export all buckets as JSON.",
    );
  }
  const list: readonly unknown[] = Array.isArray(buckets) ? buckets : Object.values(buckets);
  return list.filter(isRecord).map((bucket) => {
    const events: readonly unknown[] = Array.isArray(bucket["events"]) ? bucket["events"] : [];
    return { type: textOf(bucket["type"]) ?? "unknown", events: events.map(parseEvent) };
  });
}

function parseEvent(event: unknown): Bucket["events"][number] {
  if (!isRecord(event)) return { span: null, data: {} };
  const data = isRecord(event["data"]) ? event["data"] : {};
  const startUs = parseTimestamp(event["timestamp"]);
  const duration = event["duration"];
  if (startUs === null || typeof duration !== "number" || !(duration > 0) || duration > 1e7) {
    return { span: null, data };
  }
  return { span: { startUs, endUs: startUs + Math.round(duration * 1e6) }, data };
}

/** Microseconds of an ISO 8601 time with up to nine digits of fraction; without a zone it is UTC. Null: no time. */
function parseTimestamp(value: unknown): number | null {
  if (typeof value !== "string") return null;
  const match =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?$/i.exec(
      value.trim(),
    );
  if (match === null) return null;
  const [, date, time, fraction = "", zone = "Z"] = match;
  const ms = Date.parse(`${date}T${time}${zone}`);
  if (Number.isNaN(ms)) return null;
  return ms * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
