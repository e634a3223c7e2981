/**
 * What came near a turn and is not told, for the owner who asks why. It promises that a line which is told is never
 * among them, and that each says why it is not.
 */
import type { UntrustedSpan } from "../../context/plain-text.ts";
import { tokenBound } from "../../context/tokens.ts";
import { bodyOfLine, type DigestLine } from "./fit.ts";

/** A line that an answer does without. */
export interface LeftOutLine {
  /** As it would have stood in the block, `- ` and all. */
  readonly text: string;
  /** Where in `text` stand characters that strangers wrote. */
  readonly untrustedSpans: readonly UntrustedSpan[];
  /** When what it tells of began; null for a line that speaks of no single time. */
  readonly startUs: number | null;
  /** What it would have cost. */
  readonly tokens: number;
  /** Why it was thought of and why it is not told, free of words from strangers. */
  readonly reason: string;
  readonly eventIds: readonly number[];
}

/** Lines that were considered, each group with why its lines are not told. */
export interface Considered {
  readonly lines: readonly DigestLine[];
  readonly why: string;
}

/** More than anybody reads. */
const MAX_LEFT_OUT = 40;
/** Lines of one document, those that are told included. */
const MAX_OF_ONE = 3;

/** What of `considered` is not among `told`, in the order of the groups; no line twice. */
export function leftOutLines(
  considered: readonly Considered[],
  told: readonly DigestLine[],
  timeZone: string,
  eventIdsOf: (line: DigestLine) => readonly number[],
): readonly LeftOutLine[] {
  const seen = [...told];
  const left: LeftOutLine[] = [];
  for (const { lines, why } of considered) {
    for (const line of lines) {
      if (left.length >= MAX_LEFT_OUT) return left;
      if (seen.some((other) => isRepeat(other, line))) continue;
      // One document that was looked at again and again would be all there is to see.
      if (seen.filter((other) => isSameDocument(other, line)).length >= MAX_OF_ONE) continue;
      seen.push(line);
      const { text, untrusted } = bodyOfLine(line, timeZone);
      left.push({
        text,
        untrustedSpans: untrusted,
        startUs: line.kind === "span" ? line.startUs : null,
        tokens: tokenBound(`${text}\n`),
        reason: `${line.reason}; ${why}`,
        eventIds: eventIdsOf(line),
      });
    }
  }
  return left;
}

/** Whether two lines tell the same: of one document, those that overlap do. */
function isRepeat(a: DigestLine, b: DigestLine): boolean {
  if (a.kind !== "span" || b.kind !== "span") return a.kind === b.kind;
  return isSameDocument(a, b) && a.startUs < b.endUs && b.startUs < a.endUs;
}

function isSameDocument(a: DigestLine, b: DigestLine): boolean {
  return (
    a.kind === "span" &&
    b.kind === "span" &&
    a.document.id === b.document.id &&
    a.device === b.device
  );
}
