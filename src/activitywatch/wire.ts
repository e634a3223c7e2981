/**
 * How ActivityWatch's clients write times, durations and events, and how they read them. It promises to take
 * everything they really send and to keep microseconds.
 *
 * @see https://docs.activitywatch.net/en/latest/buckets-and-events.html
 */

/** Any JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

/** An event as it came in. `id` null: it is new. */
export interface WireEvent {
  readonly id: number | null;
  readonly startUs: number;
  readonly durationUs: number;
  readonly data: JsonObject;
}

/** What is wrong with a request, for the body of a 400. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/**
 * The instant of an ISO 8601 text: zone as `Z`, `+01:00` or `+0100`, also after the `+` of a query string became
 * a space; 0 to 9 digits of a fraction; a space for the `T`. Without a zone it is UTC. Null when it is none.
 */
export function parseTimestamp(text: string): number | null {
  const match = TIMESTAMP.exec(text.trim());
  if (match === null) return null;
  const [, date = "", time = "00:00:00", fraction = "", zone = "Z"] = match;
  const wall = Date.parse(`${date}T${time.length === 5 ? `${time}:00` : time}Z`);
  // V8 takes the 30 February for the 2 March, and midnight at the end of a day for the next.
  if (Number.isNaN(wall) || !new Date(wall).toISOString().startsWith(date)) return null;
  const us = wall * 1000 + Number(fraction.slice(0, 6).padEnd(6, "0")) - offsetUs(zone);
  return isInstant(us) ? us : null;
}

/** Whole microseconds that a double holds exactly: years 1696 to 2243. */
function isInstant(us: number): boolean {
  return Math.abs(us) <= LAST_INSTANT_US;
}

const LAST_INSTANT_US = 8_640_000_000_000_000;

const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?)? ?(Z|[+-]?(?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/i;

function offsetUs(zone: string): number {
  const match = /^([+-]?)(\d{2}):?(\d{2})?$/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === "-" ? -minutes : minutes) * 60_000_000;
}

/** `2026-01-01T00:00:10.123000Z`, six digits of a fraction or none. */
export function formatTimestamp(us: number): string {
  const seconds = Math.floor(us / 1_000_000);
  const fraction = us - seconds * 1_000_000;
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return fraction === 0 ? `${whole}Z` : `${whole}.${String(fraction).padStart(6, "0")}Z`;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The event in a parsed body. A missing duration is 0, missing data is empty. Throws `WireError`. */
export function readEvent(value: unknown): WireEvent {
  if (!isObject(value)) throw new WireError("An event must be a JSON object.");
  const { id = null, timestamp, duration = null, data = null } = value;
  const startUs = typeof timestamp === "string" ? parseTimestamp(timestamp) : null;
  if (startUs === null) throw new WireError("An event needs a timestamp in ISO 8601.");
  if (id !== null && !Number.isSafeInteger(id))
    throw new WireError("The id of an event must be an integer or null.");
  if (duration !== null && (typeof duration !== "number" || !Number.isFinite(duration))) {
    throw new WireError("The duration of an event must be a number of seconds.");
  }
  if (data !== null && !isObject(data))
    throw new WireError("The data of an event must be a JSON object.");
  const durationUs = Math.round((duration ?? 0) * 1_000_000);
  if (!isInstant(startUs + durationUs) || !isInstant(durationUs))
    throw new WireError("An event must end before the year 2243.");
  return { id: typeof id === "number" ? id : null, startUs, durationUs, data: data ?? {} };
}

/** The event as clients read it. */
export function writeEvent(row: {
  readonly id: number | null;
  readonly startUs: number;
  readonly durationUs: number;
  readonly data: unknown;
}): JsonObject {
  return {
    id: row.id,
    timestamp: formatTimestamp(row.startUs),
    duration: row.durationUs / 1_000_000,
    data: row.data,
  };
}

/** JSON with the keys of every object in order: equal texts exactly for equal values. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
