/**
 * What was given in other forms than a block, as one text for the ledger, with the spans of what strangers wrote. Pure.
 */
import type { LeftOutLine, SearchAnswer } from "../api.ts";
import type { UntrustedSpan } from "../context/plain-text.ts";

/** A text that was given, and where in it stand characters that strangers wrote. */
export interface GivenText {
  readonly text: string;
  readonly untrustedSpans: readonly UntrustedSpan[];
}

/** Lines one below the other, each with its break. */
export function joinLines(lines: readonly Pick<LeftOutLine, keyof GivenText>[]): GivenText {
  return join(lines.map(({ text, untrustedSpans }) => ({ text: `${text}\n`, untrustedSpans })));
}

/** Hits of a search as their JSON; within it the values of the fields that tell what was seen are strangers'. */
export function writeHits(hits: SearchAnswer["hits"]): GivenText {
  const own = (text: string): GivenText => ({ text, untrustedSpans: [] });
  const parts = hits.flatMap((hit, index) => (index === 0 ? [] : [own(",")]).concat(writeHit(hit)));
  return join([own("["), ...parts, own("]")]);
}

const STRANGERS = ["app", "title", "place"] as const;

function writeHit(hit: SearchAnswer["hits"][number]): GivenText {
  const text = JSON.stringify(hit);
  const untrustedSpans = STRANGERS.flatMap((name) => {
    const value = hit[name];
    if (value === null) return [];
    const written = JSON.stringify(value);
    // No value can hold this: its own quotes are escaped.
    const lead = `"${name}":`;
    const start = text.indexOf(lead + written) + lead.length + 1;
    return [{ start, end: start + written.length - 2 }];
  });
  return { text, untrustedSpans };
}

function join(parts: readonly GivenText[]): GivenText {
  let text = "";
  const untrustedSpans: UntrustedSpan[] = [];
  for (const part of parts) {
    const at = text.length;
    text += part.text;
    for (const { start, end } of part.untrustedSpans) {
      untrustedSpans.push({ start: start + at, end: end + at });
    }
  }
  return { text, untrustedSpans };
}
