/** Which of many documents with the same words are told: those that had the most time, or those that were last there. */
import type { ReadingContext, Window } from "./readings.ts";

const TOLD = 3;
const DAY_US = 86_400_000_000;

/** Of many documents with the same words those that had the most time, in the order given otherwise. */
export function mostUsed(
  context: ReadingContext,
  documentIds: readonly number[],
  within: Window | null,
): readonly number[] {
  if (documentIds.length <= 1) return documentIds;
  const beforeUs = Math.min(within?.toUs ?? context.nowUs, context.nowUs);
  const spent = new Map<number, number>();
  for (const { documentId, activeUs } of context.history.visitsOf(documentIds, beforeUs, 400)) {
    spent.set(documentId, (spent.get(documentId) ?? 0) + activeUs);
  }
  return documentIds
    .filter((id) => spent.has(id))
    .sort((a, b) => (spent.get(b) ?? 0) - (spent.get(a) ?? 0))
    .slice(0, TOLD);
}

/** Those that were visited last, newest first; of the last two months where no time is named. */
export function lastVisited(
  { history, nowUs }: ReadingContext,
  documentIds: ReadonlySet<number>,
  within: Window | null,
): readonly number[] {
  const toUs = Math.min(within?.toUs ?? nowUs, nowUs);
  // Most are found in the last day: the rest is read only when it must be.
  for (const days of within === null ? [1, 8, 60] : [null]) {
    const fromUs = days === null ? (within?.fromUs ?? 0) : toUs - days * DAY_US;
    const visited = history
      .visitsBetween(fromUs, toUs)
      .filter(({ documentId }) => documentIds.has(documentId))
      .sort((a, b) => b.endUs - a.endUs)
      .map(({ documentId }) => documentId);
    if (visited.length > 0) return [...new Set(visited)].slice(0, TOLD);
  }
  return [];
}
