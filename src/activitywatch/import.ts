/**
 * Takes a history of ActivityWatch over: every event into its bucket, and what tells of windows, absences, tabs,
 * editors and players into the record. It promises that everything passes the privacy gate, that no id of
 * elsewhere counts, and that taking the same history again adds nothing.
 */
import type { EventFacts } from "../capture/events.ts";
import type { GateResult, PrivacyGate } from "../capture/privacy.ts";
import { gateBucketData } from "../capture/privacy/buckets.ts";
import { localTime } from "../context/plain-text.ts";
import type { EventStore } from "../store/events.ts";
import { createDesk, type Desk, type Span } from "./desk.ts";
import { editorOf, mediaOf } from "./facts.ts";
import type { History, HistoryBucket } from "./history.ts";
import type { BucketRows } from "./port.ts";
import { canonicalJson, type JsonObject, type WireEvent } from "./wire.ts";

/** What became of a history. */
export interface ImportSummary {
  readonly kind: string;
  readonly buckets: number;
  /** Events that were added to their buckets. */
  readonly added: number;
  /** Events that their buckets held before. */
  readonly repeated: number;
  /** Events that a privacy rule kept out of their buckets. */
  readonly withheld: number;
  /** Events that could not be read, by reason. */
  readonly unreadable: Readonly<Record<string, number>>;
  /** What was added to the record, by kind. */
  readonly recorded: Readonly<Record<"window" | "idle" | "tab" | "editor" | "media", number>>;
  /** Events that stay in their buckets alone: they lie ahead of the clock, or before 1970, where nobody was. */
  readonly misdated: number;
  /** Events in buckets of types that the record knows nothing of, by type. */
  readonly otherTypes: Readonly<Record<string, number>>;
}

export interface ImportOptions {
  readonly store: EventStore;
  readonly rows: BucketRows;
  readonly gate: PrivacyGate;
  /** IANA zone in which the events happened: a history only tells UTC. */
  readonly timeZone: string;
  readonly nowUs: number;
  /** Told after each event how many have been looked at. */
  readonly onEvent?: (count: number) => void;
}

/** Commits some thousand events at a time: one by one costs a write to disk each, all at once locks too long. */
const EVENTS_PER_COMMIT = 2_000;

/** Nothing a person does lasts a quarter of a year: a clock was wrong. */
const LONGEST_US = 10_000_000_000_000;

export function importHistory(history: History, options: ImportOptions): ImportSummary {
  const { store, rows, gate, timeZone, nowUs, onEvent = () => {} } = options;
  const local = localTime(timeZone);
  const desk = createDesk(history);
  const counts = { added: 0, repeated: 0, withheld: 0 };
  const unreadable: Record<string, number> = {};
  const recorded = { window: 0, idle: 0, tab: 0, editor: 0, media: 0 };
  const otherTypes: Record<string, number> = {};
  let misdated = 0;
  let seen = 0;

  const record: RecordFacts = (facts, span) => {
    const lengthUs = span.endUs - span.startUs;
    if (facts === null || lengthUs <= 0 || lengthUs > LONGEST_US) return;
    // A record that ends ahead of the clock makes the clock one that is lost: time would go on from there.
    if (span.startUs < 0 || span.endUs > nowUs) {
      misdated += 1;
      return;
    }
    const offset = { utcOffsetMinutes: local.offsetMinutes(span.startUs), timeZone };
    if (store.put(facts, { ...span, ...offset }) === "added") recorded[facts.kind] += 1;
  };

  for (const [name, value] of history.settings)
    if (rows.setting(name) === null) rows.setSetting(name, value);
  for (const away of desk.absences())
    store.database.transaction(() => record({ kind: "idle", state: "away" }, away));
  for (const bucket of history.buckets) {
    create(rows, bucket, nowUs);
    const take = recorderOf(bucket, desk, gate, record);
    if (take === null && bucket.type !== "afkstatus")
      otherTypes[bucket.type] = (otherTypes[bucket.type] ?? 0) + bucket.eventCount;
    const isHidden = desk.hidden(bucket.hostname);
    inBatches(store, bucket.events(), (event) => {
      seen += 1;
      onEvent(seen);
      if ("unreadable" in event) {
        unreadable[event.unreadable] = (unreadable[event.unreadable] ?? 0) + 1;
        return;
      }
      const span = { startUs: event.startUs, endUs: event.startUs + event.durationUs };
      const isWithheld =
        bucket.type === "currentwindow" && isHidden(textOf(event.data, "app") ?? "", span);
      counts[isWithheld ? "withheld" : keep(rows, gate, bucket, event)] += 1;
      take?.take(event);
    });
    store.database.transaction(() => take?.finish());
  }
  return {
    kind: history.kind,
    buckets: history.buckets.length,
    ...counts,
    unreadable,
    recorded,
    misdated,
    otherTypes,
  };
}

function create(rows: BucketRows, bucket: HistoryBucket, nowUs: number): void {
  const { id, type, client, hostname, createdUs, data } = bucket;
  rows.create({
    id,
    type,
    client,
    hostname,
    createdUs: createdUs ?? nowUs,
    data: JSON.stringify(data),
  });
}

/** Into the bucket, unless it is there or a rule is against it. */
function keep(
  rows: BucketRows,
  gate: PrivacyGate,
  bucket: HistoryBucket,
  { startUs, durationUs, data }: WireEvent,
): "added" | "repeated" | "withheld" {
  const gated = gateBucketData(gate, bucket, data, startUs);
  if (gated === null) return "withheld";
  const next = { startUs, durationUs, data: canonicalJson(gated) };
  if (rows.holds(bucket.id, next)) return "repeated";
  rows.insert(bucket.id, [next]);
  return "added";
}

function inBatches<T>(store: EventStore, items: Iterable<T>, work: (item: T) => void): void {
  let batch: T[] = [];
  const commit = (): void =>
    store.database.transaction(() => {
      for (const item of batch) work(item);
    });
  for (const item of items) {
    batch.push(item);
    if (batch.length < EVENTS_PER_COMMIT) continue;
    commit();
    batch = [];
  }
  commit();
}

// ---------------------------------------------------------------- into the record

interface BucketRecorder {
  /** Takes the events of a bucket, oldest first. */
  readonly take: (event: WireEvent) => void;
  readonly finish: () => void;
}

type Facts = Extract<EventFacts, { kind: keyof ImportSummary["recorded"] }>;

type RecordFacts = (facts: Facts | null, span: Span) => void;

/** Null for a bucket whose type tells nothing that the record knows. */
function recorderOf(
  bucket: HistoryBucket,
  desk: Desk,
  gate: PrivacyGate,
  record: RecordFacts,
): BucketRecorder | null {
  switch (bucket.type) {
    case "currentwindow":
      return windowRecorder(bucket, desk, gate, record);
    case "web.tab.current":
      return tabRecorder(bucket, desk, gate, record);
    case "app.editor.activity":
      return plainRecorder(record, (data, atUs) => {
        const sample = editorOf(bucket, data);
        return sample === null ? null : kept(gate.editor(sample, atUs));
      });
    case "currently-playing":
      return plainRecorder(record, (data, atUs) => {
        const sample = mediaOf(data);
        return sample === null ? null : kept(gate.media(sample, atUs));
      });
    default:
      return null;
  }
}

function windowRecorder(
  bucket: HistoryBucket,
  desk: Desk,
  gate: PrivacyGate,
  record: RecordFacts,
): BucketRecorder {
  const attended = desk.attended(bucket.hostname);
  const pages = desk.pages(bucket.hostname);
  let waiting: WireEvent | null = null;

  const flush = (nextUs: number): void => {
    if (waiting === null) return;
    const { startUs, durationUs, data } = waiting;
    const app = textOf(data, "app");
    if (app === null) return;
    // A watcher that was late to end a window would credit the same second twice.
    const span = { startUs, endUs: Math.min(startUs + durationUs, nextUs) };
    const title = textOf(data, "title");
    const page = pages(app, title, span);
    const sample = {
      app,
      title,
      pid: null,
      executable: null,
      url: textOf(data, "url") ?? page.url,
      private: page.private || data["incognito"] === true ? true : null,
    };
    const facts = kept(gate.window(sample, startUs));
    if (facts === null) return;
    for (const piece of attended(span)) record(facts, piece);
  };
  return {
    take: (event) => {
      flush(event.startUs);
      waiting = event;
    },
    finish: () => flush(Infinity),
  };
}

/** Where windows are known, tabs only tell more of them: window and tab are one document. */
function tabRecorder(
  bucket: HistoryBucket,
  desk: Desk,
  gate: PrivacyGate,
  record: RecordFacts,
): BucketRecorder | null {
  if (desk.hasWindows(bucket.hostname)) return { take: () => {}, finish: () => {} };
  const app = /^aw-watcher-web-([a-z]+)/i.exec(bucket.id)?.[1] ?? "browser";
  return plainRecorder(record, (data, atUs) => {
    const audible = typeof data["audible"] === "boolean" ? data["audible"] : null;
    const isPrivate = data["incognito"] === true;
    const [title, url] = [textOf(data, "title"), textOf(data, "url")];
    return kept(gate.tab({ app, title, url, audible, private: isPrivate }, atUs));
  });
}

function plainRecorder(
  record: RecordFacts,
  factsOf: (data: JsonObject, atUs: number) => Facts | null,
): BucketRecorder {
  return {
    take: ({ startUs, durationUs, data }) => {
      if (durationUs > 0) record(factsOf(data, startUs), { startUs, endUs: startUs + durationUs });
    },
    finish: () => {},
  };
}

function kept<F extends EventFacts>(judged: GateResult<F>): F | null {
  return judged.verdict === "store" ? judged.facts : null;
}

function textOf(data: JsonObject, key: string): string | null {
  const value = data[key];
  return typeof value === "string" && value !== "" ? value : null;
}
