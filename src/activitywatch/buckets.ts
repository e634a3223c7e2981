/**
 * What the routes do: buckets, events, heartbeats, settings, export and import. It promises heartbeat merge as the
 * watchers count on it, that nothing is stored which did not pass the privacy gate, and that ids of others are
 * never trusted.
 */
import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  canonicalJson,
  isObject,
  parseTimestamp,
  readEvent,
  WireError,
  writeEvent,
  type JsonObject,
  type WireEvent,
} from "./wire.ts";
import { readExportParts } from "./export-stream.ts";
import { createGroupCommit } from "./group-commit.ts";
import type { BucketKeeper, BucketRange, StoredBucket, StoredEvent } from "./port.ts";

export interface Buckets {
  readonly info: () => JsonObject;
  readonly list: () => JsonObject;
  readonly get: (bucket: string) => JsonObject | null;
  /** False when it is there already. Throws `WireError` for a body without client, type and hostname. */
  readonly create: (bucket: string, body: unknown) => boolean;
  readonly remove: (bucket: string) => boolean;
  /** In pages; null: no such bucket. */
  readonly events: (
    bucket: string,
    range: BucketRange,
    limit: number | null,
  ) => Iterable<readonly JsonObject[]> | null;
  readonly count: (bucket: string, range: BucketRange) => number | null;
  readonly event: (bucket: string, id: number) => JsonObject | null;
  /** Null: no such bucket. */
  readonly removeEvent: (bucket: string, id: number) => boolean | null;
  readonly insert: (bucket: string, body: unknown) => readonly JsonObject[] | null;
  /** Resolves when it is committed. */
  readonly heartbeat: (
    bucket: string,
    body: unknown,
    pulseUs: number,
  ) => Promise<JsonObject | null>;
  readonly exportBuckets: (only: string | null) => Iterable<string>;
  /** Takes an export while it arrives; what came before a fault in it stays. */
  readonly importBuckets: (chunks: AsyncIterable<Uint8Array>) => Promise<ImportCounts>;
  readonly settings: () => JsonObject;
  readonly setting: (key: string) => unknown;
  readonly setSetting: (key: string, value: unknown) => void;
  readonly removeSetting: (key: string) => void;
}

export interface ImportCounts {
  readonly added: number;
  readonly repeated: number;
  readonly skipped: number;
}

export interface BucketsOptions {
  readonly keeper: BucketKeeper;
  readonly hostname: string;
  readonly version: string;
  readonly testing: boolean;
  readonly nowUs: () => number;
}

export function createBuckets(options: BucketsOptions): Buckets {
  const { keeper, hostname, version, testing, nowUs } = options;
  const { store } = keeper;
  const commits = createGroupCommit(store.transaction);
  /**
   * The event that the last heartbeat of a bucket made: "last" is the most recently written, not the latest start.
   * Everything else that writes into a bucket forgets it.
   */
  const lastBeats = new Map<string, StoredEvent>();

  /** The event that a heartbeat may extend. What the owner had forgotten or cut meanwhile is extended no more. */
  const lastBeat = (bucket: string): StoredEvent | null => {
    const last = lastBeats.get(bucket);
    const row = last === undefined ? null : store.event(bucket, last.id);
    const isAsWritten =
      last !== undefined &&
      row?.startUs === last.startUs &&
      row.durationUs === last.durationUs &&
      row.data === last.data;
    return isAsWritten ? last : store.newest(bucket);
  };

  const describe = (row: StoredBucket): JsonObject => {
    const newest = store.newest(row.id);
    return {
      id: row.id,
      name: null,
      type: row.type,
      client: row.client,
      hostname: row.hostname,
      created: new Date(row.createdUs / 1000).toISOString(),
      data: JSON.parse(row.data),
      ...(newest === null
        ? {}
        : {
            last_updated: writeEvent({
              ...newest,
              startUs: newest.startUs + newest.durationUs,
              data: {},
            })["timestamp"],
          }),
    };
  };
  const insertGated = (row: StoredBucket, events: readonly WireEvent[]): readonly StoredEvent[] => {
    const kept = events.flatMap(({ startUs, durationUs, data }) => {
      const gated = keeper.gate(row, data, startUs);
      return gated === null ? [] : [{ startUs, durationUs, data: canonicalJson(gated) }];
    });
    const rows = store.insert(row.id, kept);
    for (const each of rows) keeper.onEvent(row, { ...each, data: JSON.parse(each.data) });
    return rows;
  };
  const toWire = (row: StoredEvent): JsonObject =>
    writeEvent({ ...row, data: JSON.parse(row.data) });

  return {
    info: () => ({ hostname, version, testing, device_id: deviceId(hostname) }),
    list: () => Object.fromEntries(store.list().map((row) => [row.id, describe(row)])),
    get: (bucket) => {
      const row = store.find(bucket);
      return row === null ? null : describe(row);
    },
    create: (bucket, body) => store.create(readBucket(bucket, body, hostname, nowUs())),
    remove: (bucket) => {
      lastBeats.delete(bucket);
      return store.remove(bucket);
    },
    events: (bucket, range, limit) =>
      store.find(bucket) === null ? null : eventPages(bucket, range, limit),
    count: (bucket, range) => (store.find(bucket) === null ? null : store.count(bucket, range)),
    event: (bucket, id) => {
      const row = store.event(bucket, id);
      return row === null ? null : toWire(row);
    },
    removeEvent: (bucket, id) => {
      if (store.find(bucket) === null) return null;
      lastBeats.delete(bucket);
      return store.removeEvent(bucket, id);
    },
    insert: (bucket, body) => {
      const row = store.find(bucket);
      if (row === null) return null;
      const events = (Array.isArray(body) ? body : [body]).map((each: unknown) => readEvent(each));
      lastBeats.delete(bucket);
      return store.transaction(() =>
        events.flatMap((event) => {
          const replaced = event.id === null ? null : replaceGated(row, event, event.id);
          return (replaced === null ? insertGated(row, [event]) : [replaced]).map(toWire);
        }),
      );
    },
    heartbeat: async (bucket, body, pulseUs) => {
      const row = store.find(bucket);
      if (row === null) return null;
      const beat = readEvent(body);
      const gated = keeper.gate(row, beat.data, beat.startUs);
      // What a rule drops is acknowledged like the rest: the watcher must not learn that it was.
      if (gated === null) return writeEvent({ ...beat, id: null, data: {} });
      const kept = await commits.run(() => keepBeat(bucket, { ...beat, data: gated }, pulseUs));
      if (kept === null) return null;
      keeper.onEvent(row, { ...kept, data: gated });
      return toWire(kept);
    },
    exportBuckets: (only) => exportJson(only),
    importBuckets: (chunks) => importParts(chunks),
    settings: () =>
      Object.fromEntries(
        Object.entries(store.settings()).map(([key, value]) => [key, JSON.parse(value)]),
      ),
    setting: (key) => JSON.parse(store.setting(key) ?? "null"),
    setSetting: (key, value) => store.setSetting(key, JSON.stringify(value ?? null)),
    removeSetting: (key) => store.setSetting(key, null),
  };

  function* eventPages(
    bucket: string,
    range: BucketRange,
    limit: number | null,
  ): Iterable<readonly JsonObject[]> {
    for (const rows of store.pages(bucket, range, limit))
      yield rows.map((row) => toWire(clip(row, range)));
  }

  /** Lengthens the last event or makes a new one. Null: the bucket is gone meanwhile. */
  function keepBeat(bucket: string, beat: WireEvent, pulseUs: number): StoredEvent | null {
    const { startUs, durationUs, data } = beat;
    const last = lastBeat(bucket);
    const merged = last === null ? null : mergeBeat(last, beat, pulseUs);
    if (merged !== null) store.replace(bucket, merged);
    const [made = null] =
      merged === null
        ? store.insert(bucket, [{ startUs, durationUs, data: canonicalJson(data) }])
        : [merged];
    if (made !== null) lastBeats.set(bucket, made);
    return made;
  }

  /** Null when the id is not one of this bucket: then the event is a new one. */
  function replaceGated(row: StoredBucket, event: WireEvent, id: number): StoredEvent | null {
    if (store.event(row.id, id) === null) return null;
    const gated = keeper.gate(row, event.data, event.startUs);
    const next = {
      id,
      startUs: event.startUs,
      durationUs: event.durationUs,
      data: canonicalJson(gated ?? {}),
    };
    store.replace(row.id, next);
    return next;
  }

  /** The export in pieces, so that a history of any size needs no memory of its size. */
  function* exportJson(only: string | null): Iterable<string> {
    yield '{"buckets":{';
    let first = true;
    for (const row of store.list()) {
      if (only !== null && row.id !== only) continue;
      const head = JSON.stringify(describe(row)).slice(0, -1);
      yield `${first ? "" : ","}${JSON.stringify(row.id)}:${head},"events":[`;
      first = false;
      let batch: string[] = [];
      let isFirstBatch = true;
      for (const event of store.iterate(row.id)) {
        const { id: _id, ...rest } = toWire(event);
        batch.push(JSON.stringify(rest));
        if (batch.length < 1_000) continue;
        yield (isFirstBatch ? "" : ",") + batch.join(",");
        isFirstBatch = false;
        batch = [];
      }
      if (batch.length > 0) yield (isFirstBatch ? "" : ",") + batch.join(",");
      yield "]}";
    }
    yield "}}";
  }

  /** In steps, so that heartbeats and blocks are answered meanwhile. */
  async function importParts(chunks: AsyncIterable<Uint8Array>): Promise<ImportCounts> {
    const counts = { added: 0, repeated: 0, skipped: 0 };
    for await (const { key, bucket, events } of readExportParts(chunks)) {
      // An object in what servers write, a list in their published schema.
      const id =
        typeof key === "number" && typeof bucket["id"] === "string" ? bucket["id"] : String(key);
      // Old files leave some of these out; a history is not lost for that.
      const described = { type: "unknown", client: "unknown", hostname: "unknown", ...bucket };
      store.create(readBucket(id, described, hostname, nowUs()));
      const row = store.find(id);
      if (row === null) continue;
      lastBeats.delete(id);
      store.transaction(() => {
        for (const each of events) importEvent(row, each, counts);
      });
      await nextTurn();
    }
    return counts;
  }

  /** Ids in a file are those of another database. An event that is there already is not added again. */
  function importEvent(
    row: StoredBucket,
    value: unknown,
    counts: { added: number; repeated: number; skipped: number },
  ): void {
    let event: WireEvent;
    try {
      event = readEvent(value);
    } catch {
      // One unreadable event must not cost the rest of a history.
      counts.skipped += 1;
      return;
    }
    const gated = keeper.gate(row, event.data, event.startUs);
    if (gated === null) {
      counts.skipped += 1;
      return;
    }
    const next = {
      startUs: event.startUs,
      durationUs: event.durationUs,
      data: canonicalJson(gated),
    };
    if (store.holds(row.id, next)) {
      counts.repeated += 1;
      return;
    }
    store.insert(row.id, [next]);
    counts.added += 1;
  }
}

/**
 * Heartbeat merge: the same data, and a start from the last event's start to its end plus the pulse, both ends
 * counted. The gap is measured from the end. Null: the beat is an event of its own.
 *
 * ```
 * last  |------|.....pulse.....|        |----------|  duration grows, never shrinks
 * beat                 |-----|     =>
 * ```
 */
export function mergeBeat(
  last: StoredEvent,
  beat: { readonly startUs: number; readonly durationUs: number; readonly data: JsonObject },
  pulseUs: number,
): StoredEvent | null {
  if (beat.startUs < last.startUs || beat.startUs > last.startUs + last.durationUs + pulseUs)
    return null;
  if (canonicalJson(JSON.parse(last.data)) !== canonicalJson(beat.data)) return null;
  const durationUs = Math.max(last.durationUs, beat.startUs + beat.durationUs - last.startUs);
  return { ...last, durationUs };
}

/** An event that lies inside comes back as it was sent, also when its duration is negative. */
function clip(row: StoredEvent, { fromUs, toUs }: BucketRange): StoredEvent {
  const rowEndUs = row.startUs + row.durationUs;
  const startUs = Math.max(row.startUs, fromUs ?? row.startUs);
  const endUs = Math.min(rowEndUs, toUs ?? rowEndUs);
  if (startUs === row.startUs && endUs === rowEndUs) return row;
  return { ...row, startUs, durationUs: Math.max(0, endUs - startUs) };
}

function readBucket(id: string, body: unknown, hostname: string, nowUs: number): StoredBucket {
  if (!isObject(body)) throw new WireError("A bucket must be a JSON object.");
  const text = (key: "client" | "type" | "hostname"): string => {
    const value = body[key];
    if (typeof value !== "string") throw new WireError(`A bucket needs a "${key}".`);
    return value;
  };
  const host = text("hostname");
  const created = typeof body["created"] === "string" ? parseTimestamp(body["created"]) : null;
  const data = isObject(body["data"]) ? body["data"] : {};
  return {
    id,
    type: text("type"),
    client: text("client"),
    hostname: host === "!local" ? hostname : host,
    createdUs: created ?? nowUs,
    data: JSON.stringify(host === "!local" ? { ...data, device_id: deviceId(hostname) } : data),
  };
}

/** Stable for a machine, and no more of it than its name already tells. */
function deviceId(hostname: string): string {
  const hex = createHash("sha256").update(`activityd:${hostname}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
