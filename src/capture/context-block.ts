/**
 * The real-time block: as many of a snapshot's lines as the budget has room for. Pure. It promises that within one minute
 * and one state the bytes are the same, and that the budget holds for any text.
 */
import { createHash } from "node:crypto";
import { headingBlock, type InjectedBlock } from "../context/markers.ts";
import type { UntrustedSpan } from "../context/plain-text.ts";
import { tokenBound } from "../context/tokens.ts";
import { counted } from "../counted.ts";
import { contextLines, type WeighedLine } from "./context-lines.ts";
import type { Snapshot } from "./events.ts";

export interface RenderedContext {
  /** Null when not even the heading and the time fit into the budget. */
  readonly block: InjectedBlock | null;
  readonly untrustedSpans: readonly UntrustedSpan[];
  /** Ids of the events the lines were made of. */
  readonly eventIds: readonly number[];
  /** Why each line is told, in their order, and how many were left out. */
  readonly reasons: readonly string[];
  readonly tokens: number;
  readonly etag: string;
}

/** Renders `snapshot` in at most `budgetTokens` tokens of o200k. */
export function renderContextBlock(snapshot: Snapshot, budgetTokens: number): RenderedContext {
  const all = contextLines(snapshot);
  for (let kept = all; kept.length > 0; kept = withoutLeast(kept)) {
    const { block, untrustedSpans } = headingBlock(
      "realtime",
      kept.map(({ line }) => line),
    );
    const tokens = tokenBound(block);
    if (tokens > budgetTokens) continue;
    const eventIds = [...new Set(kept.flatMap((line) => line.eventIds))];
    const reasons = kept.map(({ why }) => why);
    const left = all.length - kept.length;
    if (left > 0) {
      reasons.push(
        `${counted(left, "line")} of less worth did not fit into ${budgetTokens} tokens`,
      );
    }
    return { block, untrustedSpans, eventIds, reasons, tokens, etag: etagOf(block) };
  }
  const reasons = [`nothing fits into ${budgetTokens} tokens`];
  return { block: null, untrustedSpans: [], eventIds: [], reasons, tokens: 0, etag: etagOf("") };
}

/** Drops the line that is worth least; of equals the later one. The time alone is no answer and goes last. */
function withoutLeast(lines: readonly WeighedLine[]): WeighedLine[] {
  const least = Math.min(...lines.map(({ worth }) => worth));
  const index = lines.findLastIndex(({ worth }) => worth === least);
  return lines.filter((_, at) => at !== index);
}

/** A name for the bytes of a block: equal exactly when they are. */
export function etagOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
