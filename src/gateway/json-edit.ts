/**
 * Changes inside a JSON text that leave every other byte as it was: numbers keep their digits, duplicate keys
 * and white space stay. It promises linear time and no recursion, whatever the nesting.
 */

/** Half-open range of code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What stands at `span` gives way to `text`. An empty span inserts. */
export interface Edit {
  readonly span: Span;
  readonly text: string;
}

/**
 * Where the value at `path` stands in `json`, or null when there is none. Of duplicate keys the last counts,
 * as for `JSON.parse`. The text must be one that `JSON.parse` accepts; the path begins at the value that
 * stands at `from`.
 */
export function findValue(json: string, path: readonly (string | number)[], from = 0): Span | null {
  let start = skipSpace(json, from);
  for (const step of path) {
    const found =
      typeof step === "number" ? findItem(json, start, step) : findMember(json, start, step);
    if (found === null) return null;
    start = found;
  }
  return { start, end: valueEnd(json, start) };
}

/** Where the items of the array at `span` stand, in one pass over it; none when it is no array. */
export function findItems(json: string, span: Span): readonly Span[] {
  const items: Span[] = [];
  if (json[span.start] !== "[") return items;
  let at = skipSpace(json, span.start + 1);
  while (at < span.end && json[at] !== "]") {
    const end = valueEnd(json, at);
    items.push({ start: at, end });
    at = skipSpace(json, end);
    if (json[at] === ",") at = skipSpace(json, at + 1);
  }
  return items;
}

/** The text with all edits made. They must not overlap; their order does not matter. */
export function applyEdits(json: string, edits: readonly Edit[]): string {
  let result = "";
  let from = 0;
  for (const { span, text } of edits.toSorted((a, b) => a.span.start - b.span.start)) {
    result += json.slice(from, span.start) + text;
    from = span.end;
  }
  return result + json.slice(from);
}

/** An edit that puts `value` before all that stands in the array or object at `span`: an item, or a whole member. */
export function insertFirst(json: string, span: Span, value: string): Edit {
  const at = span.start + 1;
  const empty = skipSpace(json, at) === span.end - 1;
  return { span: { start: at, end: at }, text: empty ? value : `${value},` };
}

function findMember(json: string, start: number, key: string): number | null {
  if (json[start] !== "{") return null;
  let found: number | null = null;
  let at = skipSpace(json, start + 1);
  while (json[at] === '"') {
    const nameEnd = stringEnd(json, at);
    const name: unknown = JSON.parse(json.slice(at, nameEnd));
    // Behind the name come white space, a colon and white space again.
    const value = skipSpace(json, skipSpace(json, nameEnd) + 1);
    if (name === key) found = value;
    at = skipSpace(json, valueEnd(json, value));
    if (json[at] !== ",") break;
    at = skipSpace(json, at + 1);
  }
  return found;
}

function findItem(json: string, start: number, index: number): number | null {
  const items = findItems(json, { start, end: json.length });
  return items[index]?.start ?? null;
}

function valueEnd(json: string, start: number): number {
  const first = json[start];
  if (first === '"') return stringEnd(json, start);
  if (first !== "{" && first !== "[") {
    let at = start;
    while (at < json.length && !/[\s,\]}]/.test(json.charAt(at))) at += 1;
    return at;
  }
  let depth = 0;
  let at = start;
  do {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(json, at);
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth -= 1;
    at += 1;
  } while (depth > 0 && at < json.length);
  return at;
}

function stringEnd(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let slashes = 0;
    while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return json.length;
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (WHITE.has(json.charCodeAt(at))) at += 1;
  return at;
}

/** RFC 8259 §2: space, tab, line feed, carriage return. */
const WHITE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
