/**
 * An export of ActivityWatch, read while it arrives. It hides the parser, and promises that a history of any size
 * takes the memory of some hundred events.
 */
import { JSONParser } from "@streamparser/json";
import { isObject, WireError, type JsonObject } from "./wire.ts";

/** Events of one bucket that follow each other. */
export interface ExportPart {
  /** What the bucket stands under: its id, or its place in a list. */
  readonly key: string | number;
  /** What is told of the bucket, as far as it was read. */
  readonly bucket: JsonObject;
  readonly events: readonly unknown[];
}

/** What a bucket says of itself besides its events. */
const FIELDS = ["id", "type", "client", "hostname", "created", "data"];
/** Without these nobody knows what an event may be: those before are held. */
const NEEDED = ["type", "client", "hostname"];
/** Some milliseconds of work. */
const EVENTS_PER_PART = 250;
/** A body without any bucket is looked at as a whole. */
const MOST_WITHOUT_BUCKET = 65_536;

/**
 * The buckets of `{"buckets": {id: {…, "events": […]}}}`, or of a list in its place, a part at a time; every bucket
 * gives one at least. What was read before a fault is given all the same.
 *
 * @throws WireError when it is no JSON, or no export
 */
export async function* readExportParts(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ExportPart, void, undefined> {
  const paths = ["events.*", ...FIELDS].map((field) => `$.buckets.*.${field}`);
  const parser = new JSONParser({ paths, keepStack: false });
  const assembly = createAssembly();
  parser.onValue = ({ value, key, stack }) => {
    // The keys are those of the document, "buckets", the bucket, and for an event its list.
    const bucketKey = stack[2]?.key ?? "";
    if (stack.length > 3) assembly.addEvent(bucketKey, value);
    else assembly.addField(bucketKey, String(key), value);
  };
  let head = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head.length <= MOST_WITHOUT_BUCKET) head = Buffer.concat([head, chunk]);
    asJson(() => parser.write(chunk));
    yield* assembly.take();
  }
  asJson(() => {
    if (!parser.isEnded) parser.end();
  });
  yield* assembly.finish();
  if (assembly.isEmpty()) assertExport(head);
}

interface OpenBucket {
  readonly key: string | number;
  readonly bucket: Record<string, unknown>;
  events: unknown[];
}

/** Puts values of a bucket together to parts. */
function createAssembly() {
  let open: OpenBucket | null = null;
  let parts: ExportPart[] = [];
  let isEmpty = true;

  const close = (): void => {
    if (open === null) return;
    const { key, bucket, events } = open;
    open = null;
    // Those that had to be held may be many.
    for (let from = 0; from === 0 || from < events.length; from += EVENTS_PER_PART)
      parts.push({ key, bucket, events: events.slice(from, from + EVENTS_PER_PART) });
  };
  const of = (key: string | number): OpenBucket => {
    isEmpty = false;
    if (open?.key !== key) close();
    open ??= { key, bucket: {}, events: [] };
    return open;
  };
  const take = (): readonly ExportPart[] => {
    const taken = parts;
    parts = [];
    return taken;
  };
  return {
    addField: (key: string | number, field: string, value: unknown): void => {
      of(key).bucket[field] = value;
    },
    addEvent: (key: string | number, event: unknown): void => {
      const { bucket, events } = of(key);
      events.push(event);
      if (events.length < EVENTS_PER_PART || NEEDED.some((field) => !(field in bucket))) return;
      parts.push({ key, bucket: { ...bucket }, events });
      of(key).events = [];
    },
    /** What is ready. */
    take,
    /** What is left. */
    finish: () => {
      close();
      return take();
    },
    isEmpty: () => isEmpty,
  };
}

/** Nothing of a bucket was found: there is none, or it is no export. */
function assertExport(body: Buffer): void {
  const whole: unknown =
    body.length > MOST_WITHOUT_BUCKET ? null : asJson(() => JSON.parse(body.toString("utf8")));
  const buckets = isObject(whole) ? whole["buckets"] : null;
  if (!isObject(buckets) && !Array.isArray(buckets))
    throw new WireError('An import must be {"buckets": {id: {…, "events": […]}}}.');
  for (const [key, value] of Object.entries<unknown>(buckets))
    if (!isObject(value)) throw new WireError(`The bucket "${key}" is no JSON object.`);
}

function asJson<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new WireError("The body is no JSON.");
  }
}
