/**
 * A history as ActivityWatch keeps it, wherever it is read from: buckets with their events, oldest first. This
 * file reads exports; `databases.ts` reads the servers' own files.
 */
import { ActivityError } from "../errors.ts";
import { isObject, parseTimestamp, readEvent, type JsonObject, type WireEvent } from "./wire.ts";

export interface History {
  /** What was read, in a word or two for a person: "an export", "aw-server-rust". */
  readonly kind: string;
  readonly buckets: readonly HistoryBucket[];
  /** JSON by name. */
  readonly settings: ReadonlyMap<string, string>;
}

export interface HistoryBucket {
  readonly id: string;
  readonly type: string;
  readonly client: string;
  readonly hostname: string;
  /** Null when it is not told. */
  readonly createdUs: number | null;
  readonly data: JsonObject;
  readonly eventCount: number;
  /** By start, each time anew. What cannot be read comes as the reason. */
  readonly events: () => Iterable<WireEvent | Unreadable>;
}

/** Why an event could not be read, in words that count alike for events of the same fault. */
export interface Unreadable {
  readonly unreadable: string;
}

/**
 * The history in the parsed JSON of an export (`{"buckets": {id: {type, events}}}`), of either server.
 *
 * @throws ActivityError `bad_request` when the value is no export
 * @see https://docs.activitywatch.net/en/latest/buckets-and-events.html
 */
export function readExport(source: unknown): History {
  const buckets = isObject(source) ? source["buckets"] : undefined;
  // Written as an object by both servers; as a list in their published schema.
  if (!isObject(buckets) && !Array.isArray(buckets)) {
    throw new ActivityError(
      "bad_request",
      'This is no ActivityWatch export: it has no "buckets".',
      "Export with ActivityWatch: Raw Data, Export all buckets as JSON.",
    );
  }
  return {
    kind: "an export",
    settings: new Map(),
    buckets: Object.entries<unknown>(buckets).flatMap(([key, value]) =>
      isObject(value) ? [readBucket(Array.isArray(buckets) ? `bucket-${key}` : key, value)] : [],
    ),
  };
}

function readBucket(key: string, value: JsonObject): HistoryBucket {
  const raw: readonly unknown[] = Array.isArray(value["events"]) ? value["events"] : [];
  const created = value["created"];
  return {
    id: textOf(value, "id") ?? key,
    type: textOf(value, "type") ?? "unknown",
    client: textOf(value, "client") ?? "unknown",
    hostname: textOf(value, "hostname") ?? "unknown",
    createdUs: typeof created === "string" ? parseTimestamp(created) : null,
    data: isObject(value["data"]) ? value["data"] : {},
    eventCount: raw.length,
    events: () => raw.map(readOrTell).sort((a, b) => startOf(a) - startOf(b)),
  };
}

/** One event, or why not. */
export function readOrTell(value: unknown): WireEvent | Unreadable {
  try {
    return readEvent(value);
  } catch (thrown) {
    // One event that cannot be read must not cost the rest of a history.
    return { unreadable: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function startOf(event: WireEvent | Unreadable): number {
  return "unreadable" in event ? -Infinity : event.startUs;
}

function textOf(value: JsonObject, key: string): string | null {
  const text = value[key];
  return typeof text === "string" && text !== "" ? text : null;
}
