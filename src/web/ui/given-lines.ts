/**
 * The bytes that an assistant was given, made ready to be looked at: line by line, with what strangers wrote kept
 * apart, with the reason of each line beside it, and with what a reader does not see made visible. It promises that
 * the pieces put together are the bytes again, up to where they were cut.
 */
import type { ContextAnswer } from "../../api.ts";

/** A stretch of UTF-16 code units, half open, that holds characters strangers wrote. */
export type UntrustedSpan = ContextAnswer["untrustedSpans"][number];

/** A run of characters of one sort. */
export interface GivenPiece {
  readonly text: string;
  /** Whether strangers wrote it, such as the title of a window. */
  readonly untrusted: boolean;
  /**
   * `blank`: white space that matters (it begins or ends the line, or is more than one space). `hidden`: characters
   * that show nothing or turn the direction of reading.
   */
  readonly sort: "text" | "blank" | "hidden";
}

export interface GivenLine {
  /** Without the break that ends the line. */
  readonly pieces: readonly GivenPiece[];
  /** Whether a line break follows. */
  readonly ends: boolean;
  /** Why the line was told; null for a line without a reason of its own, such as a heading. */
  readonly reason: string | null;
}

export interface Given {
  readonly lines: readonly GivenLine[];
  /** Reasons that belong to no line that is shown. */
  readonly moreReasons: readonly string[];
  /** How many UTF-16 code units were left out at the end. */
  readonly cutChars: number;
}

/**
 * Reads what was given. `spans` are those of `text` in any order; what reaches out of it is ignored. `reasons` stand
 * for the lines that begin with `- `, in their order. At most `maxChars` code units are read.
 */
export function readGiven(
  text: string,
  spans: readonly UntrustedSpan[],
  reasons: readonly string[],
  maxChars = Number.POSITIVE_INFINITY,
): Given {
  const shown = cutBetweenCharacters(text, maxChars);
  const stretches = joinSpans(spans, shown.length);
  const lines: GivenLine[] = [];
  let used = 0;
  for (let from = 0; from < shown.length;) {
    const found = shown.indexOf("\n", from);
    const ends = found !== -1;
    const to = ends ? found : shown.length;
    const hasReason = shown.startsWith("- ", from) && used < reasons.length;
    lines.push({
      pieces: piecesOf(shown, from, to, stretches),
      ends,
      reason: hasReason ? (reasons[used] ?? null) : null,
    });
    if (hasReason) used += 1;
    from = to + 1;
  }
  // What belongs to lines that were cut off is not told either.
  const moreReasons = shown.length < text.length ? [] : reasons.slice(used);
  return { lines, moreReasons, cutChars: text.length - shown.length };
}

/** How hidden characters are written: `U+202E`. */
export function nameHidden(text: string): string {
  return Array.from(text, (character) => {
    const point = character.codePointAt(0) ?? 0;
    return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  }).join(" ");
}

function cutBetweenCharacters(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  // Half of a pair says nothing.
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars);
}

function joinSpans(spans: readonly UntrustedSpan[], length: number): readonly UntrustedSpan[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const clipped = { start: Math.max(0, start), end: Math.min(end, length) };
    if (!(clipped.end > clipped.start)) continue;
    const last = joined.at(-1);
    if (last !== undefined && clipped.start <= last.end) last.end = Math.max(last.end, clipped.end);
    else joined.push(clipped);
  }
  return joined;
}

/** The characters from `from` to `to`, cut where a span begins or ends and where the sort changes. */
function piecesOf(
  text: string,
  from: number,
  to: number,
  spans: readonly UntrustedSpan[],
): readonly GivenPiece[] {
  const pieces: GivenPiece[] = [];
  let at = from;
  for (const { start, end } of spans) {
    if (end <= at || start >= to) continue;
    if (start > at) pushSorted(pieces, text, at, start, from, to, false);
    pushSorted(pieces, text, Math.max(at, start), Math.min(end, to), from, to, true);
    at = Math.min(end, to);
  }
  if (at < to) pushSorted(pieces, text, at, to, from, to, false);
  return pieces;
}

/** White space, what shows nothing or turns the direction, and halves of pairs. */
const ODD =
  /(?<blank>\s+)|(?<hidden>[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]+)/gu;

function pushSorted(
  pieces: GivenPiece[],
  text: string,
  start: number,
  end: number,
  lineStart: number,
  lineEnd: number,
  untrusted: boolean,
): void {
  const part = text.slice(start, end);
  let told = 0;
  const push = (from: number, to: number, sort: GivenPiece["sort"]): void => {
    if (to > from) pieces.push({ text: part.slice(from, to), untrusted, sort });
  };
  for (const found of part.matchAll(ODD)) {
    const [odd] = found;
    const from = found.index;
    const to = from + odd.length;
    const isEdge = start + from === lineStart || start + to === lineEnd;
    const isBlank = found.groups?.["blank"] !== undefined;
    // A single space between words is what everybody takes it for.
    if (isBlank && odd === " " && !isEdge) continue;
    push(told, from, "text");
    // Of white space only spaces show as such; a tab or a line separator needs its name.
    push(from, to, isBlank && /^ +$/.test(odd) ? "blank" : "hidden");
    told = to;
  }
  push(told, part.length, "text");
}
