/** What stands before and between the parts of a time expression: prepositions, articles and fillers. */
import { readCount } from "./count.ts";
import type { Lexed } from "./lexer.ts";
import type { Link, TimeWord } from "./words.ts";

/** `onward`: from a time within a day until the day ends ("yesterday from 3"). */
export type Bound = "since" | "onward" | "before" | "after" | "until";

export interface Lead {
  readonly next: number;
  readonly links: readonly Link[];
  readonly bound: Bound | null;
  readonly opener: "from" | "between" | null;
  readonly close: boolean;
}

const MAX_LEAD_WORDS = 5;

/** Reads over prepositions and fillers; `inside` a moment a comma may stand between, too. */
export function readLead(lexed: Lexed, start: number, inside: boolean): Lead {
  let next = start;
  const links: Link[] = [];
  let close = false;
  for (let count = 0; count < MAX_LEAD_WORDS; count++) {
    const token = lexed.tokens[next];
    const word = lexed.word(next);
    // "last week's Tuesday", "Monday, at 3"
    const joins = token?.type === "mark" ? /^[,(]$/.test(token.text) : token?.folded === "s";
    // "mid-morning"
    const hyphen = token?.text === "-" && lexed.word(next - 1).shade !== undefined;
    if (inside && (joins || hyphen)) {
      next++;
      continue;
    }
    // "the day before yesterday" and "a las" are phrases already; a word that is more than a link ends the lead.
    if (isCore(word)) break;
    if (
      word.links === undefined &&
      word.fill === undefined &&
      word.close === undefined &&
      word.dayArticle === undefined
    ) {
      break;
    }
    // "and yesterday": the conjunction is the turn's.
    if (!inside && word.links?.every((link) => link === "and") === true) break;
    const counted = readCount(lexed, skipFill(lexed, lexed.after(next)));
    if (word.ago === "before" && counted?.unit != null) break;
    links.push(...(word.links ?? []));
    close ||= word.close === true;
    next = lexed.after(next);
  }
  const bound = BOUNDS.find((side) => links.includes(side)) ?? null;
  // "von 2 bis 4" opens a range, "seit" does not; Spanish "desde" does both.
  const opener = links.includes("between") ? "between" : links.includes("from") ? "from" : null;
  return { next, links, bound, opener, close };
}

const BOUNDS = ["since", "before", "after", "until"] as const satisfies readonly Bound[];

/** Whether a word names a time by itself, rather than leading to one. */
export function isCore(word: TimeWord): boolean {
  return (
    word.weekday !== undefined ||
    word.month !== undefined ||
    word.part !== undefined ||
    word.back !== undefined ||
    word.clock !== undefined ||
    word.clockNow === true ||
    word.unit !== undefined ||
    word.which !== undefined ||
    word.shade !== undefined
  );
}

/** The index after words that mean nothing by themselves: "the last *whole* week". */
export function skipFill(lexed: Lexed, start: number): number {
  let next = start;
  for (let count = 0; count < 2; count++) {
    const word = lexed.word(next);
    if (word.fill !== true || isCore(word) || word.num !== undefined || word.few !== undefined) {
      if (word.links?.includes("around") !== true) break;
    }
    next = lexed.after(next);
  }
  return next;
}

/** The index after "to", "until", "bis" or a dash; of "and" only after "between". */
export function readConnector(lexed: Lexed, start: number, between: boolean): number | null {
  const token = lexed.tokens[start];
  if (token?.type === "mark" && /^[-–—]$/.test(token.text)) return start + 1;
  const links = lexed.word(start).links ?? [];
  const joins =
    links.includes("to") || links.includes("until") || (between && links.includes("and"));
  return joins ? lexed.after(start) : null;
}
