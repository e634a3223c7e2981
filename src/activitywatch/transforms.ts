/**
 * The functions of ActivityWatch's query language on lists of events. Pure. They promise what the Python server
 * does, which is what published queries were written against.
 *
 * @see https://docs.activitywatch.net/en/latest/querying-data.html
 */
import { compilePythonRegex } from "./python-regex.ts";
import { canonicalJson, isObject, WireError, type JsonObject } from "./wire.ts";

/** An event inside a query. */
export interface QueryEvent {
  readonly id: number | null;
  readonly startUs: number;
  readonly durationUs: number;
  readonly data: JsonObject;
}

const endOf = ({ startUs, durationUs }: QueryEvent): number => startUs + durationUs;

export function sortByTimestamp(events: readonly QueryEvent[]): QueryEvent[] {
  return [...events].sort((a, b) => a.startUs - b.startUs);
}

export function sortByDuration(events: readonly QueryEvent[]): QueryEvent[] {
  return [...events].sort((a, b) => b.durationUs - a.durationUs);
}

/** Gaps up to this are taken for the rhythm of a watcher and filled. */
const FLOOD_PULSE_US = 5_000_000;
/** An overlap of less than this is a rounding of clocks. */
const TRIM_US = 100_000;

/**
 * Fills short gaps. Equal neighbours become one; between different ones the longer takes the whole gap.
 *
 * ```
 * |---A---| gap |--A--|   =>  |--------A--------|
 * |---A---| gap |--B--|   =>  |------A------|--B--|
 * ```
 */
export function flood(events: readonly QueryEvent[]): QueryEvent[] {
  const flooded = sortByTimestamp(events);
  const keyOf = perData(canonicalJson);
  const keys = flooded.map(({ data }) => keyOf(data));
  for (const [index, second] of flooded.entries()) {
    const first = flooded[index - 1];
    if (first === undefined) continue;
    const pair = floodPair(first, second, keys[index - 1] === keys[index]);
    if (pair !== null) [flooded[index - 1], flooded[index]] = pair;
  }
  return flooded.filter(({ durationUs }) => durationUs > 0);
}

/** What becomes of two neighbours; null: nothing. */
function floodPair(
  first: QueryEvent,
  second: QueryEvent,
  isSame: boolean,
): readonly [QueryEvent, QueryEvent] | null {
  const gapUs = second.startUs - endOf(first);
  if (gapUs === 0 && !isSame) return null;
  if (gapUs < 0 && isSame) {
    const endUs = Math.max(endOf(first), endOf(second));
    return [span(first, first.startUs, endUs), span(second, endUs, endUs)];
  }
  if (gapUs <= -TRIM_US || gapUs > FLOOD_PULSE_US || gapUs === 0) return null;
  const secondEndUs = endOf(second);
  if (first.durationUs >= second.durationUs) {
    return isSame
      ? [span(first, first.startUs, secondEndUs), span(second, secondEndUs, secondEndUs)]
      : [span(first, first.startUs, second.startUs), second];
  }
  return isSame
    ? [span(first, first.startUs, first.startUs), span(second, first.startUs, secondEndUs)]
    : [first, span(second, endOf(first), secondEndUs)];
}

function span(event: QueryEvent, startUs: number, endUs: number): QueryEvent {
  return { id: event.id, startUs, durationUs: endUs - startUs, data: event.data };
}

/** Events whose `data[key]` is one of `values`, compared deeply; with `keep` false the others. */
export function filterKeyvals(
  events: readonly QueryEvent[],
  key: string,
  values: readonly unknown[],
  keep: boolean,
): QueryEvent[] {
  const wanted = new Set(values.map((value) => canonicalJson(value)));
  return events.filter(
    ({ data }) => (key in data && wanted.has(canonicalJson(data[key]))) === keep,
  );
}

export function filterKeyvalsRegex(
  events: readonly QueryEvent[],
  key: string,
  pattern: string,
): QueryEvent[] {
  const regex = compileRegex(pattern, false);
  return events.filter(({ data }) => {
    const value = data[key];
    return typeof value === "string" && regex.test(value);
  });
}

/** The parts of `events` inside the periods of `filters`, one for each overlap; touching is no overlap. */
export function filterPeriodIntersect(
  events: readonly QueryEvent[],
  filters: readonly QueryEvent[],
): QueryEvent[] {
  const sorted = sortByTimestamp(events);
  const periods = sortByTimestamp(filters);
  const cut: QueryEvent[] = [];
  let eventAt = 0;
  let periodAt = 0;
  for (;;) {
    const event = sorted[eventAt];
    const period = periods[periodAt];
    if (event === undefined || period === undefined) return cut;
    const startUs = Math.max(event.startUs, period.startUs);
    const endUs = Math.min(endOf(event), endOf(period));
    // Heartbeats that were never extended have no length, and lie inside of a period all the same.
    const isPoint = event.durationUs === 0 || period.durationUs === 0;
    if (endUs > startUs || (isPoint && endUs === startUs)) cut.push(span(event, startUs, endUs));
    if (endOf(event) <= endOf(period)) eventAt += 1;
    else periodAt += 1;
  }
}

/** The time that `a` or `b` covers, as periods without data; touching ones are one. */
export function periodUnion(a: readonly QueryEvent[], b: readonly QueryEvent[]): QueryEvent[] {
  const union: QueryEvent[] = [];
  for (const event of sortByTimestamp([...a, ...b])) {
    const last = union.at(-1);
    if (last !== undefined && event.startUs <= endOf(last)) {
      union[union.length - 1] = span(last, last.startUs, Math.max(endOf(last), endOf(event)));
    } else {
      union.push({ id: null, startUs: event.startUs, durationUs: event.durationUs, data: {} });
    }
  }
  return union;
}

/** All of `a`, and of `b` what lies around it. */
export function unionNoOverlap(a: readonly QueryEvent[], b: readonly QueryEvent[]): QueryEvent[] {
  const covers = periodUnion(a, []);
  const rest: QueryEvent[] = [];
  let from = 0;
  for (const event of sortByTimestamp(b)) {
    while (from < covers.length && endOf(covers[from] ?? event) <= event.startUs) from += 1;
    let atUs = event.startUs;
    for (let index = from; index < covers.length; index += 1) {
      const cover = covers[index];
      if (cover === undefined || cover.startUs > event.startUs + Math.max(0, event.durationUs - 1))
        break;
      if (cover.startUs > atUs) rest.push(span(event, atUs, cover.startUs));
      atUs = Math.max(atUs, endOf(cover));
    }
    const isUncovered = atUs === event.startUs && event.durationUs === 0;
    if (atUs < endOf(event) || isUncovered) rest.push(span(event, atUs, endOf(event)));
  }
  return sortByTimestamp([...a, ...rest]);
}

/** One event for each combination of the values of `keys`: the sum of durations, the first start, those keys alone. */
export function mergeEventsByKeys(
  events: readonly QueryEvent[],
  keys: readonly string[],
): QueryEvent[] {
  if (keys.length === 0) return [...events];
  const merged = new Map<string, Sum>();
  // Equal data are one sum: what it is filed under is looked up once for each.
  const sumOf = perData((whole) => {
    const data = Object.fromEntries(
      keys.filter((key) => key in whole).map((key) => [key, whole[key]]),
    );
    const group = canonicalJson(data);
    const sum = merged.get(group) ?? { data, startUs: null, durationUs: 0 };
    merged.set(group, sum);
    return sum;
  });
  for (const { data, startUs, durationUs } of events) {
    const sum = sumOf(data);
    sum.startUs ??= startUs;
    sum.durationUs += durationUs;
  }
  return [...merged.values()].map(({ data, startUs, durationUs }) => ({
    id: null,
    startUs: startUs ?? 0,
    durationUs,
    data,
  }));
}

interface Sum {
  readonly data: JsonObject;
  /** Of the first event that came. */
  startUs: number | null;
  durationUs: number;
}

/** Adds the parts of `data.url`: `$protocol`, `$domain` without `www.`, `$path`, `$params`, `$options`, `$identifier`. */
export function splitUrlEvents(events: readonly QueryEvent[]): QueryEvent[] {
  return events.map((event) => {
    const { url } = event.data;
    if (typeof url !== "string") return event;
    const [, protocol = "", host = "", path = "", options = "", identifier = ""] =
      /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(url) ??
      [];
    const [route, params] = splitParams(path, protocol.toLowerCase());
    return {
      ...event,
      data: {
        ...event.data,
        $protocol: protocol.toLowerCase(),
        // A file or a page of the browser itself has no host: they are one domain by their scheme.
        $domain: host === "" ? protocol.toLowerCase() : host.replace(/^www\./, ""),
        $path: route,
        $params: params,
        $options: options,
        $identifier: identifier,
      },
    };
  });
}

/** Parameters are what follows the first semicolon of the last part of a path, where a scheme has them. */
function splitParams(path: string, scheme: string): readonly [route: string, params: string] {
  const mark = path.indexOf(";", path.lastIndexOf("/") + 1);
  if (mark === -1 || !SCHEMES_WITH_PARAMS.has(scheme)) return [path, ""];
  return [path.slice(0, mark), path.slice(mark + 1)];
}

/** `uses_params` of Python's urllib.parse, which the server's function goes by. */
const SCHEMES_WITH_PARAMS = new Set(
  [
    "",
    "ftp",
    "hdl",
    "prospero",
    "http",
    "https",
    "shttp",
    "rtsp",
    "rtsps",
    "rtspu",
    "sip",
    "sips",
  ].concat(["mms", "sftp", "tel"]),
);

/** A rule of a category or tag: which texts of an event it looks at, and for what. */
interface Rule {
  readonly regex: RegExp | null;
  readonly keys: readonly string[] | null;
}

/** `$category`: the deepest that matches, the later of equals; `["Uncategorized"]` when none does. */
export function categorize(events: readonly QueryEvent[], classes: unknown): QueryEvent[] {
  const rules = readClasses(
    classes,
    (name) => Array.isArray(name) && name.every((part) => typeof part === "string"),
  );
  const known = perData((data) => {
    let best: unknown = ["Uncategorized"];
    let depth = 1;
    for (const [name, rule] of rules) {
      if (!Array.isArray(name) || name.length < depth || !matches(rule, data)) continue;
      best = name;
      depth = name.length;
    }
    return { ...data, $category: best };
  });
  return events.map((event) => withData(event, known(event.data)));
}

/** `$tags`: the names of all rules that match, in their order. */
export function tag(events: readonly QueryEvent[], classes: unknown): QueryEvent[] {
  const rules = readClasses(classes, (name) => typeof name === "string");
  const known = perData((data) => ({
    ...data,
    $tags: rules.filter(([, rule]) => matches(rule, data)).map(([name]) => name),
  }));
  return events.map((event) => withData(event, known(event.data)));
}

/**
 * Thousands of events share some hundreds of data, which are one object each when they come out of a bucket: each
 * is judged once. What is equal and not the same is judged again, which costs time alone.
 */
function perData<T>(judge: (data: JsonObject) => T): (data: JsonObject) => T {
  const known = new Map<JsonObject, T>();
  return (data) => {
    const found = known.get(data);
    if (found !== undefined) return found;
    const made = judge(data);
    known.set(data, made);
    return made;
  };
}

function withData({ id, startUs, durationUs }: QueryEvent, data: JsonObject): QueryEvent {
  return { id, startUs, durationUs, data };
}

function readClasses(
  value: unknown,
  isName: (name: unknown) => boolean,
): readonly (readonly [unknown, Rule])[] {
  if (!Array.isArray(value)) throw new WireError("Classes must be a list of [name, rule].");
  return value.map((pair: unknown) => {
    const [name, rule]: unknown[] = Array.isArray(pair) ? pair : [];
    if (!isName(name) || !isObject(rule)) throw new WireError("A class must be [name, rule].");
    const { regex, ignore_case: ignoreCase, select_keys: keys } = rule;
    return [
      name,
      {
        regex:
          typeof regex === "string" && regex !== ""
            ? compileRegex(regex, ignoreCase === true)
            : null,
        // An empty list selects nothing less than everything.
        keys:
          Array.isArray(keys) && keys.length > 0
            ? keys.filter((key) => typeof key === "string")
            : null,
      },
    ];
  });
}

function matches({ regex, keys }: Rule, data: JsonObject): boolean {
  if (regex === null) return false;
  const values = keys === null ? Object.values(data) : keys.map((key) => data[key]);
  return values.some((value) => typeof value === "string" && regex.test(value));
}

function compileRegex(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return compilePythonRegex(pattern, ignoreCase);
  } catch {
    throw new WireError(`Cannot use the pattern ${JSON.stringify(pattern.slice(0, 100))}.`);
  }
}
