/**
 * Finds what a turn leans on that asks beside the answer to the turn before: "when did I read about the fence? — and right
 * after that?". It promises null where that answer told nothing.
 */
import { type AnchorSources, type AnchorWindow, besideEvent } from "./anchors.ts";
import type { DigestLine, SpanLine } from "./fit.ts";
import type { Intent } from "./turn/reading.ts";

/** What was answered to the turn before. */
export interface AnsweredBefore {
  readonly intent: Intent;
  readonly anchor: AnchorWindow | null;
  readonly lines: readonly DigestLine[];
}

/** When what was told best was; null where nothing was told. */
export function toldAtUs({ lines }: Pick<AnsweredBefore, "lines">): number | null {
  return bestOf(lines)?.startUs ?? null;
}

export function resolveBeside(
  sources: AnchorSources,
  { intent, anchor, lines }: AnsweredBefore,
  side: "before" | "after",
): AnchorWindow | null {
  if (intent === "anchor" && anchor !== null) {
    // "Before the call? — and after?" is about the call; "and before that?" about what was before it.
    const isFurther = anchor.window.toUs <= anchor.event.fromUs === (side === "before");
    const event = isFurther ? anchor.window : anchor.event;
    return besideEvent(sources, event, side, isFurther ? null : anchor);
  }
  const best = bestOf(lines);
  if (best === undefined) return null;
  const event = { fromUs: best.startUs, toUs: best.endUs };
  return besideEvent(sources, event, side, null);
}

function bestOf(lines: readonly DigestLine[]): SpanLine | undefined {
  const [best] = lines
    .filter((line) => line.kind === "span")
    .sort((a, b) => b.score - a.score || b.endUs - a.endUs);
  return best;
}
