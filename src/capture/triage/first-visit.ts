/** When a subject was first there, for turns that ask for the first time. It promises one line at most. */
import type { SpanLine } from "./fit.ts";
import type { ReadingContext, Window } from "./readings.ts";
import type { Subject } from "./subject.ts";

/** The first visit within a time, or of all; empty where there was none. */
export function firstLines(
  context: ReadingContext,
  { documentIds, project }: Subject,
  within: Window | null,
  score: number,
): readonly SpanLine[] {
  const { history, nowUs } = context;
  const ids = documentIds.length > 0 ? documentIds : (project?.documentIds ?? []);
  const beforeUs = Math.min(within?.toUs ?? nowUs, nowUs);
  const oldest = history
    .visitsOf(ids, beforeUs, MAX_VISITS)
    .findLast(({ endUs }) => endUs > (within?.fromUs ?? 0));
  const [document] = oldest === undefined ? [] : history.documents([oldest.documentId]);
  if (oldest === undefined || document === undefined || context.isHidden(document)) return [];
  const device = context.deviceOf(oldest.deviceKey);
  const { startUs, endUs, activeUs } = oldest;
  return [
    { kind: "span", document, device, startUs, endUs, activeUs, score, reason: "the first visit" },
  ];
}

/** Reading more would take longer than an answer may. */
const MAX_VISITS = 20_000;
