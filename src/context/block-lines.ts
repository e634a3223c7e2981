/**
 * The lines inside a block, as values. They are written as tagged templates, so that what stands in the
 * source is trusted and whatever is put in must be a cleaned field or text this program formatted; each
 * line knows where its untrusted characters stand.
 */
import { ActivityError } from "../errors.ts";
import {
  cleanField,
  type FieldKind,
  LINE_BREAK,
  type TrustedText,
  type UntrustedSpan,
} from "./plain-text.ts";

declare const checked: unique symbol;

/** A piece of one line. `untrusted` are spans of `text`, in order, not overlapping. */
export interface Fragment {
  readonly text: string;
  readonly untrusted: readonly UntrustedSpan[];
  /** Only this module makes one. */
  readonly [checked]: "fragment";
}

/** A whole line of a heading block, without its line break: `- …`, or a day heading of trusted text. */
export interface BodyLine {
  readonly text: string;
  readonly untrusted: readonly UntrustedSpan[];
  readonly [checked]: "line";
}

/** What may be put into a template. */
export type LinePart = Fragment | TrustedText | number;

/** A field from a stranger, cleaned, without quotes: for application names and places. */
export function field(kind: FieldKind, raw: string): Fragment {
  const text = cleanField(kind, raw);
  return asFragment(text, text === "" ? [] : [{ start: 0, end: text.length }]);
}

/** A field from a stranger, cleaned and between `"`; no `"` can stand inside. */
export function quoted(kind: FieldKind, raw: string): Fragment {
  const text = cleanField(kind, raw);
  return asFragment(`"${text}"`, text === "" ? [] : [{ start: 1, end: text.length + 1 }]);
}

/**
 * A piece of a line.
 *
 * ```ts
 * fragment`${field("app", app)}: ${quoted("title", title)}`
 * ```
 */
export function fragment(literals: TemplateStringsArray, ...parts: readonly LinePart[]): Fragment {
  return assemble("", literals, parts);
}

/** Pieces one after another with a trusted separator between, such as `joinFragments(facts, "; ")`. */
export function joinFragments(
  fragments: readonly Fragment[],
  separator: ", " | "; " | " " | " · ",
): Fragment {
  let text = "";
  const untrusted: UntrustedSpan[] = [];
  for (const [index, piece] of fragments.entries()) {
    if (index > 0) text += separator;
    pushShifted(untrusted, piece.untrusted, text.length);
    text += piece.text;
  }
  return asFragment(text, untrusted);
}

/**
 * A body line; its `- ` comes by itself.
 *
 * ```ts
 * bodyLine`${local.clock(startUs)} ${field("app", app)}: ${quoted("title", title)}`
 * ```
 */
export function bodyLine(literals: TemplateStringsArray, ...parts: readonly LinePart[]): BodyLine {
  const { text, untrusted } = assemble("- ", literals, parts);
  return { text, untrusted } as BodyLine;
}

/**
 * A day heading, the one line of a body without `- `. Takes trusted text alone.
 *
 * ```ts
 * dayHeading`${local.day(startUs)} (yesterday):`
 * ```
 */
export function dayHeading(
  literals: TemplateStringsArray,
  ...parts: readonly (TrustedText | number)[]
): BodyLine {
  const { text } = assemble("", literals, parts);
  if (!/^[A-Z]/.test(text)) throw brokenLine(text);
  return { text, untrusted: [] as readonly UntrustedSpan[] } as BodyLine;
}

/** Adds `spans` moved by `offset` to `target`. */
export function pushShifted(
  target: UntrustedSpan[],
  spans: readonly UntrustedSpan[],
  offset: number,
): void {
  for (const span of spans) {
    const { start, end } = span;
    target.push(offset === 0 ? span : { start: start + offset, end: end + offset });
  }
}

function assemble(lead: string, literals: readonly string[], parts: readonly LinePart[]): Fragment {
  let text = lead;
  const untrusted: UntrustedSpan[] = [];
  for (const [index, literal] of literals.entries()) {
    text += literal;
    const part = parts[index];
    if (typeof part === "object") {
      pushShifted(untrusted, part.untrusted, text.length);
      text += part.text;
    } else if (part !== undefined) {
      text += String(part);
    }
  }
  // Fields are clean by type; this holds where types do not: for callers in JavaScript, and for literals.
  if (LINE_BREAK.test(text)) throw brokenLine(text);
  return asFragment(text, untrusted);
}

/** The one place that vouches for a piece: its text holds no line break and its spans cover every field. */
function asFragment(text: string, untrusted: readonly UntrustedSpan[]): Fragment {
  return { text, untrusted } as Fragment;
}

function brokenLine(text: string): ActivityError {
  return new ActivityError(
    "internal",
    `A line of a block is malformed (${text.length} characters).`,
  );
}
