/**
 * ActivityWatch's query language: statements `NAME = expression;`, the answer in `RETURN`. It hides parsing and
 * calling, and promises one clear sentence for whatever is wrong.
 */
import type { BucketRange, StoredEvent } from "./port.ts";
import {
  categorize,
  filterKeyvals,
  filterKeyvalsRegex,
  filterPeriodIntersect,
  flood,
  mergeEventsByKeys,
  periodUnion,
  sortByDuration,
  sortByTimestamp,
  splitUrlEvents,
  tag,
  unionNoOverlap,
  type QueryEvent,
} from "./transforms.ts";
import {
  formatTimestamp,
  isObject,
  parseTimestamp,
  WireError,
  writeEvent,
  type JsonObject,
} from "./wire.ts";

/** Where queries read. */
export interface QuerySource {
  readonly list: () => readonly { readonly id: string; readonly hostname: string }[];
  readonly events: (bucket: string, range: BucketRange, limit: null) => readonly StoredEvent[];
  readonly count: (bucket: string, range: BucketRange) => number;
}

/** Answers a request `{query: [text…], timeperiods: ["start/end"…]}` with one result for each period. */
export function runQueries(body: unknown, source: QuerySource): readonly unknown[] {
  if (!isObject(body)) throw new WireError('A query must be {"query": […], "timeperiods": […]}.');
  const { query, timeperiods } = body;
  const lines = typeof query === "string" ? [query] : query;
  if (!Array.isArray(lines) || !lines.every((line) => typeof line === "string")) {
    throw new WireError('"query" must be a list of statements.');
  }
  if (!Array.isArray(timeperiods))
    throw new WireError('"timeperiods" must be a list of "start/end".');
  const program = parseProgram(lines.join("\n"));
  return timeperiods.map((period: unknown) =>
    toWire(runProgram(program, readPeriod(period), source)),
  );
}

function readPeriod(value: unknown): { readonly fromUs: number; readonly toUs: number } {
  const [start = "", end = ""] = typeof value === "string" ? value.split("/") : [];
  const fromUs = parseTimestamp(start);
  const toUs = parseTimestamp(end);
  if (fromUs === null || toUs === null)
    throw new WireError(`Cannot read the period ${JSON.stringify(value)}: write "start/end".`);
  return { fromUs, toUs };
}

// ---------------------------------------------------------------- parsing

type Expression =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  | { readonly kind: "dict"; readonly entries: readonly (readonly [string, Expression])[] }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expression[] };

interface Statement {
  readonly target: string;
  readonly expression: Expression;
}

/** Deeper than any query a person wrote; a bound on the stack. */
const MAX_DEPTH = 100;

const TOKEN =
  /\s+|#[^\n]*|"((?:\\"|[^"])*)"|'((?:\\'|[^'])*)'|(-?\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([=;,:()[\]{}])|(.)/gsu;

interface Token {
  readonly kind: "string" | "number" | "name" | "sign" | "end";
  readonly text: string;
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const [whole, double, single, number, name, sign, other] of text.matchAll(TOKEN)) {
    // The quote itself is all that is escaped: clients send patterns with their backslashes as they are.
    if (double !== undefined) tokens.push({ kind: "string", text: double.replaceAll('\\"', '"') });
    else if (single !== undefined)
      tokens.push({ kind: "string", text: single.replaceAll("\\'", "'") });
    else if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign });
    else if (other !== undefined)
      throw new WireError(`Cannot read the query at ${JSON.stringify(whole)}.`);
  }
  return [...tokens, { kind: "end", text: "" }];
}

function parseProgram(text: string): readonly Statement[] {
  const tokens = tokenize(text);
  let at = 0;
  const peek = (): Token => tokens[at] ?? { kind: "end", text: "" };
  const take = (): Token => {
    const token = peek();
    at += 1;
    return token;
  };
  const expect = (sign: string): void => {
    const token = take();
    if (token.kind !== "sign" || token.text !== sign) {
      throw new WireError(
        `The query has ${JSON.stringify(token.text || "its end")} where ${JSON.stringify(sign)} should stand.`,
      );
    }
  };
  const isNext = (sign: string): boolean => peek().kind === "sign" && peek().text === sign;

  /** Items up to `close`; a comma after the last is allowed. */
  const parseItems = <T>(close: string, parse: () => T): T[] => {
    const items: T[] = [];
    while (!isNext(close)) {
      items.push(parse());
      if (!isNext(close)) expect(",");
    }
    expect(close);
    return items;
  };
  const parseExpression = (depth: number): Expression => {
    if (depth > MAX_DEPTH) throw new WireError("The query is nested too deeply.");
    const token = take();
    const inner = (): Expression => parseExpression(depth + 1);
    if (token.kind === "string") return { kind: "value", value: token.text };
    if (token.kind === "number") return { kind: "value", value: Number(token.text) };
    if (token.kind === "sign" && token.text === "[")
      return { kind: "list", items: parseItems("]", inner) };
    if (token.kind === "sign" && token.text === "{") {
      const entry = (): readonly [string, Expression] => {
        const key = take();
        if (key.kind !== "string") throw new WireError("The keys of a dict must be strings.");
        expect(":");
        return [key.text, inner()];
      };
      return { kind: "dict", entries: parseItems("}", entry) };
    }
    if (token.kind !== "name")
      throw new WireError(
        `The query has ${JSON.stringify(token.text || "its end")} where a value should stand.`,
      );
    if (isNext("(")) {
      take();
      return { kind: "call", name: token.text, args: parseItems(")", inner) };
    }
    const constant = CONSTANTS.get(token.text);
    return constant === undefined
      ? { kind: "name", name: token.text }
      : { kind: "value", value: constant };
  };

  const statements: Statement[] = [];
  while (peek().kind !== "end") {
    if (isNext(";")) {
      take();
      continue;
    }
    const name = take();
    if (name.kind !== "name")
      throw new WireError(`A statement cannot begin with ${JSON.stringify(name.text)}.`);
    if (name.text === "return") {
      statements.push({ target: "RETURN", expression: parseExpression(0) });
    } else {
      expect("=");
      statements.push({ target: name.text, expression: parseExpression(0) });
    }
    if (peek().kind !== "end") expect(";");
  }
  return statements;
}

const CONSTANTS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
]);

// ---------------------------------------------------------------- running

type Period = { readonly fromUs: number; readonly toUs: number };

function runProgram(program: readonly Statement[], period: Period, source: QuerySource): unknown {
  const start = formatTimestamp(period.fromUs);
  const end = formatTimestamp(period.toUs);
  const names = new Map<string, unknown>([
    ["NAME", ""],
    ["STARTTIME", start],
    ["ENDTIME", end],
    ["TIMEINTERVAL", `${start}/${end}`],
  ]);
  const evaluate = (expression: Expression): unknown => {
    switch (expression.kind) {
      case "value":
        return expression.value;
      case "name":
        if (!names.has(expression.name))
          throw new WireError(`There is no variable "${expression.name}".`);
        return names.get(expression.name);
      case "list":
        return expression.items.map(evaluate);
      case "dict":
        return Object.fromEntries(expression.entries.map(([key, value]) => [key, evaluate(value)]));
      case "call":
        return callFunction(expression.name, expression.args.map(evaluate), period, source);
    }
  };
  for (const { target, expression } of program) names.set(target, evaluate(expression));
  if (!names.has("RETURN")) throw new WireError("The query assigns nothing to RETURN.");
  return names.get("RETURN");
}

function callFunction(
  name: string,
  args: readonly unknown[],
  period: Period,
  source: QuerySource,
): unknown {
  const text = (index: number): string => {
    const value = args[index];
    if (typeof value === "string") return value;
    throw new WireError(`${name}: argument ${index + 1} must be a string.`);
  };
  const list = (index: number): readonly unknown[] => {
    const value = args[index];
    if (Array.isArray(value)) return value;
    throw new WireError(`${name}: argument ${index + 1} must be a list.`);
  };
  const events = (index: number): readonly QueryEvent[] => {
    const value = list(index);
    if (value.every((each) => isQueryEvent(each))) return value;
    throw new WireError(`${name}: argument ${index + 1} must be a list of events.`);
  };
  const count = (index: number): number => {
    const value = args[index];
    if (typeof value === "number") return value;
    throw new WireError(`${name}: argument ${index + 1} must be a number.`);
  };
  switch (name) {
    case "query_bucket":
      return readBucket(text(0), period, source);
    case "query_bucket_eventcount":
      return source.count(requireBucket(text(0), source), period);
    case "query_bucket_names":
      return source.list().map(({ id }) => id);
    case "find_bucket":
      return findBucket(text(0), args[1], source);
    case "flood":
      return flood(events(0));
    case "filter_keyvals":
    case "exclude_keyvals":
      return filterKeyvals(events(0), text(1), list(2), name === "filter_keyvals");
    case "filter_keyvals_regex":
      return filterKeyvalsRegex(events(0), text(1), text(2));
    case "filter_period_intersect":
      return filterPeriodIntersect(events(0), events(1));
    case "period_union":
      return periodUnion(events(0), events(1));
    case "union_no_overlap":
      return unionNoOverlap(events(0), events(1));
    case "concat":
      return args.flatMap((_, index) => events(index));
    case "merge_events_by_keys":
      return mergeEventsByKeys(events(0), list(1).map(String));
    case "sort_by_timestamp":
      return sortByTimestamp(events(0));
    case "sort_by_duration":
      return sortByDuration(events(0));
    case "limit_events":
      return events(0).slice(0, Math.max(0, count(1)));
    case "sum_durations":
      return events(0).reduce((sum, { durationUs }) => sum + durationUs, 0) / 1_000_000;
    case "split_url_events":
      return splitUrlEvents(events(0));
    case "categorize":
      return categorize(events(0), args[1]);
    case "tag":
      return tag(events(0), args[1]);
    default:
      throw new WireError(`There is no function "${name}".`);
  }
}

function readBucket(bucket: string, period: Period, source: QuerySource): readonly QueryEvent[] {
  // Equal data become one object, so that whoever looks at it need not look twice.
  const parsedOf = new Map<string, JsonObject>();
  const parse = (json: string): JsonObject => {
    const known = parsedOf.get(json);
    if (known !== undefined) return known;
    const value: unknown = JSON.parse(json);
    const data = isObject(value) ? value : {};
    parsedOf.set(json, data);
    return data;
  };
  return source
    .events(requireBucket(bucket, source), period, null)
    .map(({ id, startUs, durationUs, data }) => {
      const from = Math.max(startUs, period.fromUs);
      const to = Math.min(startUs + durationUs, period.toUs);
      // What lies inside is as it was sent, also when its duration is negative.
      const isInside = from === startUs && to === startUs + durationUs;
      return {
        id,
        startUs: from,
        durationUs: isInside ? durationUs : Math.max(0, to - from),
        data: parse(data),
      };
    });
}

function requireBucket(bucket: string, source: QuerySource): string {
  if (source.list().some(({ id }) => id === bucket)) return bucket;
  throw new WireError(`There is no bucket "${bucket}".`);
}

/** An exact id wins, then a beginning, then any part. */
function findBucket(wanted: string, host: unknown, source: QuerySource): string {
  const buckets = source
    .list()
    .filter(({ hostname }) => typeof host !== "string" || hostname === host);
  const found =
    buckets.find(({ id }) => id === wanted) ??
    buckets.find(({ id }) => id.startsWith(wanted)) ??
    buckets.find(({ id }) => id.includes(wanted));
  if (found === undefined) throw new WireError(`There is no bucket like "${wanted}".`);
  return found.id;
}

function isQueryEvent(value: unknown): value is QueryEvent {
  return (
    isObject(value) &&
    typeof value["startUs"] === "number" &&
    typeof value["durationUs"] === "number"
  );
}

function toWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWire);
  if (isQueryEvent(value)) return writeEvent(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toWire(each)]));
}
