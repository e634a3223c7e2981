/**
 * Finds the event that a turn leans on ("before the call with Ines", "after lunch", "since I got up") in the
 * record and turns it into a window on the right side of it.
 */
import type { ActivityHistory } from "../../store/history.ts";
import { type Away, AWAY_MIN_US, lastAbsence, longestWithin, nightNear } from "./absences.ts";
import { findCall } from "./calls.ts";
import { findMeal } from "./meals.ts";
import type { Projects } from "./projects.ts";
import type { Window } from "./readings.ts";
import { COVERAGE_FLOOR, type Topic } from "./topic.ts";
import { foldedWords, foldWord } from "./words.ts";
import type { AnchorMention, Side, SideMention, TimeMention, TurnReading } from "./turn/reading.ts";

/** An event of the past and the window around it that the turn asks for. */
export interface AnchorWindow {
  readonly window: Window;
  readonly event: Window;
  /** How far beside the event the window reaches where the turn sets no other end. */
  readonly reachUs: number;
  /** The document whose visit was the event, to be told beside the window; null for absences. */
  readonly documentId: number | null;
  /** Where that visit was; 0 for absences. */
  readonly deviceKey: number;
  /** Whether the turn named the event beyond doubt, or it was only the likeliest one. */
  readonly certain: boolean;
  /** Whether the turn said which one: a name, a meal, a day; not merely "the call". */
  readonly named: boolean;
  readonly reason: string;
}

const MINUTE_US = 60_000_000;
const HOUR_US = 60 * MINUTE_US;

/** How far a window reaches from its event. */
const REACH_US = {
  call: 20,
  event: 20,
  lunch: 30,
  breakfast: 30,
  dinner: 30,
  break: 15,
  away: 15,
  sleep: 60,
};

/** The most telling kind of event first. */
const TELLING: Readonly<Record<AnchorMention["kind"], number>> = {
  lunch: 0,
  breakfast: 0,
  dinner: 0,
  call: 1,
  sleep: 2,
  break: 3,
  away: 4,
  that: 5,
};

export interface AnchorSources {
  readonly turn: string;
  readonly history: ActivityHistory;
  readonly projects: Projects;
  readonly nowUs: number;
  readonly timeZone: string;
}

/** The event that the turn leans on, or null when it names none or none such was recorded. */
export function resolveAnchor(
  sources: AnchorSources,
  reading: TurnReading,
  topic: Topic,
): AnchorWindow | null {
  const within = anchorTime(reading.times);
  // "Back from lunch" is about lunch; being away is all that the others have in common.
  const ranked = [...reading.anchors].sort((a, b) => TELLING[a.kind] - TELLING[b.kind]);
  for (const anchor of ranked) {
    const found = byKind(sources, reading, topic, anchor, within);
    if (found !== null) return found;
  }
  return byName(sources, reading, topic, within);
}

/** The time beside an event that was found before, told with it where it was `known` as a document's. */
export function besideEvent(
  sources: AnchorSources,
  event: Window,
  side: Side,
  known: Pick<AnchorWindow, "documentId" | "deviceKey"> | null,
): AnchorWindow {
  return around(event, side, REACH_US.event, sources, {
    documentId: known?.documentId ?? null,
    deviceKey: known?.deviceKey ?? 0,
    certain: true,
    named: true,
    reason: "what was asked about before",
  });
}

/** The event that one mention means, or null when none such was recorded. */
export function eventOf(
  sources: AnchorSources,
  reading: TurnReading,
  topic: Topic,
  anchor: AnchorMention,
  within: Window | null,
): Window | null {
  return byKind(sources, reading, topic, anchor, within, "during")?.event ?? null;
}

function byKind(
  sources: AnchorSources,
  reading: TurnReading,
  topic: Topic,
  anchor: AnchorMention,
  within: Window | null,
  side: Side | null = sideOf(sources.turn, anchor, reading),
): AnchorWindow | null {
  const { history, nowUs } = sources;
  switch (anchor.kind) {
    case "that":
    case "call": {
      const call = side === null ? null : findCall(sources, topic, within);
      if (side === null || call === null) return null;
      // "Ines rang, and before that …" says which; without a name "that" is the turn before.
      if (anchor.kind === "that" && !call.named) return null;
      const titled = call.named ? null : byTitle(sources, topic, anchor, side, within);
      if (titled !== null) return titled;
      return around(call.event, side, REACH_US.call, sources, {
        documentId: call.documentId,
        deviceKey: call.deviceKey,
        certain: true,
        named: call.named,
        reason: call.named ? "the last call with that name" : "the last call",
      });
    }
    case "lunch":
    case "breakfast":
    case "dinner": {
      if (side === null) return null;
      const meal = findMeal(
        sources,
        anchor.kind,
        within,
        reading.times.some(({ kind }) => kind === "recent"),
      );
      if (meal === null) return null;
      return around(meal, side, REACH_US[anchor.kind], sources, {
        documentId: null,
        deviceKey: 0,
        certain: true,
        named: true,
        reason: `the absence around ${anchor.kind}`,
      });
    }
    case "sleep": {
      // "Sheets for the double bed" is about no night.
      if (side === null && anchor.edge === null) return null;
      const edged = side ?? (anchor.edge === "start" ? "before" : "since");
      const isBefore = edged === "before" || edged === "until" || anchor.edge === "start";
      const night = nightNear(history, within, isBefore ? "start" : "end", nowUs);
      if (night === null) return null;
      return around(night, edged, REACH_US.sleep, sources, {
        documentId: null,
        deviceKey: 0,
        certain: true,
        named: true,
        reason: "the last night",
      });
    }
    default: {
      const away =
        within === null
          ? lastAbsence(history, nowUs)
          : longestWithin(history, within.fromUs, Math.min(within.toUs, nowUs));
      if (away === null) return null;
      const edged = side ?? (anchor.edge === "end" ? "since" : "before");
      return around(away, edged, REACH_US[anchor.kind], sources, {
        documentId: null,
        deviceKey: 0,
        // "Where I left off" leans on nothing by itself.
        certain: side !== null,
        named: false,
        reason: `the last absence of ${AWAY_MIN_US / MINUTE_US} min and more`,
      });
    }
  }
}

/** A side word in front of a person or a document: "before Ines", "after the design review". */
function byName(
  sources: AnchorSources,
  reading: TurnReading,
  topic: Topic,
  within: Window | null,
): AnchorWindow | null {
  const side = reading.sides.find(
    (mention) => !reading.anchors.some((anchor) => anchor.side === mention),
  );
  if (side === undefined) return null;
  const behind = topic.words.filter(({ word }) => word.startIndex >= side.endIndex);
  if (behind.length === 0) return null;
  const call = findCall(sources, { ...topic, words: behind }, within);
  if (call !== null && call.named) {
    return around(call.event, side.side, REACH_US.call, sources, {
      documentId: call.documentId,
      deviceKey: call.deviceKey,
      certain: true,
      named: true,
      reason: "the last call with that name",
    });
  }
  return besideBest(sources, topic, side.side, within);
}

/** "After the training": a document that is called so, where no call is. */
function byTitle(
  sources: AnchorSources,
  topic: Topic,
  { startIndex, endIndex }: AnchorMention,
  side: Side,
  within: Window | null,
): AnchorWindow | null {
  const [word = ""] = foldWord(sources.turn.slice(startIndex, endIndex)).split(" ").slice(-1);
  const ids = topic.matches.slice(0, 1).map(({ documentId }) => documentId);
  const title = sources.history.documents(ids)[0]?.title ?? "";
  const isCalled = foldedWords(title).some(({ text }) => text === word);
  return isCalled ? besideBest(sources, topic, side, within) : null;
}

function besideBest(
  sources: AnchorSources,
  { matches: [best] }: Topic,
  side: Side,
  within: Window | null,
): AnchorWindow | null {
  if (best === undefined || best.coverage < COVERAGE_FLOOR) return null;
  const visits = sources.history.visitsOf([best.documentId], sources.nowUs, 20);
  const visit =
    visits.find(
      ({ startUs, endUs }) => within !== null && startUs < within.toUs && endUs > within.fromUs,
    ) ?? visits[0];
  if (visit === undefined) return null;
  return around(visit, side, REACH_US.event, sources, {
    documentId: best.documentId,
    deviceKey: visit.deviceKey,
    certain: false,
    named: true,
    reason: "the last visit to what was named",
  });
}

/** The side word that governs an anchor, or the only one there is, or what is said of its end. */
function sideOf(turn: string, anchor: AnchorMention, reading: TurnReading): Side | null {
  const side = wordedSide(anchor, reading);
  if (side === null) return OVER.test(turn.slice(anchor.endIndex)) ? "after" : null;
  // "When I came back from lunch" is after it, "when Ines called" is before.
  const isEnd = reading.anchors.some(({ edge }) => edge === "end");
  return side === "when" && isEnd ? "after" : side;
}

/** "Once the call was over", "als das Gespräch vorbei war". */
const OVER =
  /\b(?:over|ended|finished|done|hung up|vorbei|zu ende|beendet|fertig|aufgelegt|termin[óo]|acab[óo]|colgu[ée]|finie?|termin[ée]e?|raccroch[ée])(?![\p{L}])/iu;

function wordedSide(anchor: AnchorMention, reading: TurnReading): Side | null {
  if (anchor.side !== null) return anchor.side.side;
  const free = reading.sides.filter(
    (side) => !reading.anchors.some((other) => other.side === side),
  );
  return (nearest(free, anchor) ?? nearest(reading.sides, anchor))?.side ?? null;
}

function nearest(sides: readonly SideMention[], anchor: AnchorMention): SideMention | null {
  let best: SideMention | null = null;
  for (const side of sides) {
    const distance = Math.abs(anchor.startIndex - side.endIndex);
    if (best === null || distance < Math.abs(anchor.startIndex - best.endIndex)) best = side;
  }
  return best;
}

/** The day or span in which the event is meant: "yesterday's call", "before lunch on Tuesday". */
function anchorTime(times: readonly TimeMention[]): Window | null {
  const time = times.find(({ kind }) => kind !== "now" && kind !== "recent");
  return time === undefined ? null : { fromUs: time.fromUs, toUs: time.toUs };
}

function around(
  event: Away | Window,
  side: Side,
  reachMinutes: number,
  { history, nowUs }: AnchorSources,
  rest: Omit<AnchorWindow, "window" | "event" | "reachUs">,
): AnchorWindow {
  const fromUs = "fromUs" in event ? event.fromUs : event.startUs;
  const toUs = "toUs" in event ? event.toUs : event.endUs;
  const reachUs = reachMinutes * MINUTE_US;
  const beside = windowBeside({ fromUs, toUs }, side, reachUs, nowUs);
  const window = side === "since" ? beside : overAbsence(history, beside, side, nowUs);
  return { window, event: { fromUs, toUs }, reachUs, ...rest };
}

/** Nobody calls what was on the day before "before the call". */
const OVER_US = 6 * HOUR_US;

/** Lunch between an event and what was done before or after it is no part of the answer. */
function overAbsence(history: ActivityHistory, beside: Window, side: Side, nowUs: number): Window {
  if (side === "during" || beside.toUs <= beside.fromUs) return beside;
  if (history.visitsBetween(beside.fromUs, beside.toUs).length > 0) return beside;
  const reachUs = beside.toUs - beside.fromUs;
  if (side === "after") {
    const visits = history.visitsBetween(beside.toUs, Math.min(nowUs, beside.toUs + OVER_US));
    const fromUs = Math.min(...visits.map(({ startUs }) => startUs));
    return visits.length === 0 ? beside : { fromUs, toUs: Math.min(nowUs, fromUs + reachUs) };
  }
  const visits = history.visitsBetween(beside.fromUs - OVER_US, beside.fromUs);
  const toUs = Math.max(...visits.map(({ endUs }) => endUs));
  return visits.length === 0 ? beside : { fromUs: toUs - reachUs, toUs };
}

function windowBeside(
  { fromUs, toUs }: Window,
  side: Side,
  reachUs: number,
  nowUs: number,
): Window {
  switch (side) {
    case "before":
    case "when":
    case "until":
      return { fromUs: fromUs - reachUs, toUs: fromUs };
    case "after":
      return { fromUs: toUs, toUs: Math.min(nowUs, toUs + reachUs) };
    case "since":
      return { fromUs: toUs, toUs: nowUs };
    default:
      return { fromUs, toUs };
  }
}
