/**
 * Finds the time between two events, or between an event and a time: "between the stand-up and lunch", "von der
 * Mittagspause bis 15 Uhr". It promises null unless both ends stand in the record and in this order.
 */
import { type AnchorSources, type AnchorWindow, eventOf } from "./anchors.ts";
import type { Window } from "./readings.ts";
import type { Topic } from "./topic.ts";
import type { AnchorMention, TimeMention, TurnReading } from "./turn/reading.ts";

const DAY_US = 86_400_000_000;

type End =
  | { readonly type: "event"; readonly mention: AnchorMention }
  | { readonly type: "time"; readonly mention: TimeMention };

/** The window from the end of the first event to the beginning of the second, or null when the turn names no two. */
export function resolveBetween(
  sources: AnchorSources,
  reading: TurnReading,
  topic: Topic,
): AnchorWindow | null {
  const ends = namedEnds(reading);
  for (const [index, first] of ends.entries()) {
    const second = ends[index + 1];
    if (second === undefined || !spans(sources.turn, first, second)) continue;
    const joinAt = joinIndex(sources.turn, first, second);
    const from = placeOf(sources, reading, topic, first, {
      fromIndex: openIndex(sources.turn, first),
      toIndex: joinAt,
    });
    const to = placeOf(sources, reading, topic, second, { fromIndex: joinAt, toIndex: Infinity });
    if (from === null || to === null) return null;
    const window = { fromUs: from.toUs, toUs: Math.min(to.fromUs, sources.nowUs) };
    // "Between the call and lunch" of different days is no stretch of one.
    if (window.toUs <= window.fromUs || window.toUs - window.fromUs > DAY_US) return null;
    return {
      window,
      event: { fromUs: window.toUs, toUs: window.toUs },
      reachUs: window.toUs - window.fromUs,
      documentId: null,
      deviceKey: 0,
      certain: true,
      named: true,
      reason: "what is named on both sides",
    };
  }
  return null;
}

/** Events and times on the clock in the order of the turn; at least one event is among two that count. */
function namedEnds({ anchors, times }: TurnReading): readonly End[] {
  const events = anchors
    .filter(({ kind }) => kind !== "that")
    .map((mention) => ({ type: "event" as const, mention }));
  const clocks = times
    .filter(({ pointUs, kind }) => pointUs !== null && kind !== "now" && kind !== "relative")
    .map((mention) => ({ type: "time" as const, mention }));
  return [...events, ...clocks].sort((a, b) => a.mention.startIndex - b.mention.startIndex);
}

const OPENER = /\b(between|from|zwischen|von|vom)\b/i;
const JOINER = /\b(and|to|until|till|til|und|bis)\b/i;

/** "between X and Y": the opener before or within the first, the joining word between them or within the second. */
function spans(turn: string, first: End, second: End): boolean {
  if (first.type === "time" && second.type === "time") return false;
  const { startIndex, endIndex } = first.mention;
  const opening = turn.slice(Math.max(0, startIndex - OPENING), endIndex);
  const joining = turn.slice(
    endIndex,
    second.type === "time" ? second.mention.endIndex : second.mention.startIndex,
  );
  return (
    OPENER.test(opening) && JOINER.test(joining) && !/[.?!;]/.test(joining.trimEnd().slice(0, -1))
  );
}

/** Of what stands between "between" and the event: "between the long Monday call …", "between Ines's call …". */
const OPENING = 40;

function openIndex(turn: string, { mention: { startIndex, endIndex } }: End): number {
  const start = Math.max(0, startIndex - OPENING);
  return start + Math.max(0, turn.slice(start, endIndex).search(OPENER));
}

function joinIndex(turn: string, first: End, second: End): number {
  const { endIndex } = first.mention;
  return endIndex + Math.max(0, turn.slice(endIndex, second.mention.endIndex).search(JOINER));
}

function placeOf(
  sources: AnchorSources,
  reading: TurnReading,
  topic: Topic,
  end: End,
  { fromIndex, toIndex }: { readonly fromIndex: number; readonly toIndex: number },
): Window | null {
  if (end.type === "time") {
    const { pointUs } = end.mention;
    return pointUs === null ? null : { fromUs: pointUs, toUs: pointUs };
  }
  const { mention } = end;
  const words = topic.words.filter(
    ({ word }) => word.startIndex >= fromIndex && word.startIndex < toIndex,
  );
  // "between lunch and 3 yesterday": the time says which day, be it of the clock or not.
  const time = reading.times.find(({ kind }) => kind !== "now" && kind !== "recent");
  const within = time === undefined ? null : { fromUs: time.fromUs, toUs: time.toUs };
  return eventOf(sources, reading, { ...topic, words }, mention, within);
}
