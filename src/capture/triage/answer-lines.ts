/**
 * From what a turn asks for to the lines that answer it. It promises that what was asked for by name and never recorded
 * is told as that.
 */
import { tokenBound } from "../../context/tokens.ts";
import { absenceLines } from "./absence-lines.ts";
import type { AskedMedium } from "./asked-medium.ts";
import { mainAbsence, startOfDay } from "./absences.ts";
import type { AnchorWindow } from "./anchors.ts";
import type { DigestLine, SpanLine } from "./fit.ts";
import { firstLines } from "./first-visit.ts";
import {
  endOfWindow,
  latestLines,
  type ReadingContext,
  type Window,
  windowLines,
} from "./readings.ts";
import { rankingLines } from "./most-used.ts";
import { resumeLines } from "./resume.ts";
import { type Subject, subjectLines, totalLines } from "./subject.ts";
import type { Intent, TurnReading } from "./turn/reading.ts";
import { asksOfNamed } from "./weigh.ts";

/** What the record holds for a turn. */
export interface Slots {
  readonly context: ReadingContext;
  readonly reading: TurnReading;
  readonly anchor: AnchorWindow | null;
  readonly subject: Subject | null;
  readonly phrase: string;
  /** The kind of thing that the turn asks for, such as calls; null: all count. */
  readonly medium: AskedMedium | null;
}

const MINUTE_US = 60_000_000;
/** This device alone. */
const HERE: ReadonlySet<number> = new Set([0]);

/** The lines that answer one reading of a turn. */
export function linesFor(intent: Intent, weight: number, slots: Slots): readonly DigestLine[] {
  const { context, medium } = slots;
  if (medium?.isLatest === true) return latestOf(context, medium, weight);
  const [first = null, ...joined] = timeWindows(slots.reading);
  const ranking = medium?.ranking ?? null;
  if (intent !== "none" && ranking !== null && first !== null) {
    const ranked = rankingLines(context, ranking, first, weight);
    if (ranked.length > 0) return ranked;
  }
  if (joined.length === 0) return linesWithin(intent, weight, slots, first, MAX_LINES);
  // "On Monday and Wednesday" asks about each.
  const limit = Math.max(2, Math.floor(8 / (joined.length + 1)));
  return [first, ...joined].flatMap((within) => linesWithin(intent, weight, slots, within, limit));
}

function linesWithin(
  intent: Intent,
  weight: number,
  slots: Slots,
  within: Window | null,
  limit: number,
): readonly DigestLine[] {
  const { context, reading, anchor, subject, phrase } = slots;
  const { nowUs } = context;
  switch (intent) {
    case "none":
      return [];
    case "now":
      return currentLine(context, weight);
    case "anchor":
      return anchor === null ? [] : anchorLines(context, anchor, weight);
    case "window": {
      const window = within ?? { fromUs: nowUs - 60 * MINUTE_US, toUs: nowUs };
      const { end } = reading;
      if (within !== null && end !== null) {
        return windowLines(context, endOfWindow(context, within, end), {
          limit: 4,
          score: weight,
          reason: end === "first" ? "first in the window" : "last in the window",
        });
      }
      const only = meantWithin(context, window, slots.medium);
      return windowLines(context, window, {
        limit,
        score: weight,
        reason: "time in the window",
        ...(only === null ? {} : { only }),
      });
    }
    case "resume":
      return resumeLines(context, weight);
    case "duration": {
      // "How long was I away?": "away" is no topic, though no title holds it.
      const away = subject === null ? absenceLines(context, reading, within, weight) : null;
      if (away !== null) return away;
      const { medium } = slots;
      if (medium !== null && !medium.isProgram && within !== null) {
        const meant = meantWithin(context, within, medium);
        if (meant === null) return [noneOf(context, medium, within, weight)];
        return sumOver(within, context, subjectOf([...meant]), medium.text, weight);
      }
      if (subject === null && phrase !== "") return [nothingLine(context, phrase, weight)];
      const isAll = reading.contentWords.some(({ folded }) => ALL_TIME.test(folded));
      const ever = { fromUs: context.history.firstUs() ?? 0, toUs: nowUs };
      const span = besideEvent(context, anchor, within) ?? (isAll ? ever : null);
      const called = phrase.replace(ALL_TIME_SAID, "").trim();
      return sumOver(span ?? lastWeek(context), context, subject, called, weight);
    }
    default:
      if (subject !== null) {
        if (intent === "lastseen" && reading.end === "first") {
          return firstLines(context, subject, within, weight);
        }
        const lines = subjectLines(context, subject, intent, within, weight);
        const isThen = (line: SpanLine): boolean =>
          within === null || (line.startUs < within.toUs && line.endUs > within.fromUs);
        // "Did I have it open today?": that it was not is the answer, and when it was the next best.
        if (within !== null && asksOfNamed(reading) && !lines.some(isThen)) {
          return [
            nothingLine(context, phrase, weight, pastWindow(reading, nowUs) ?? within),
            ...lines.slice(0, 1),
          ];
        }
        // A title that is only like what was named, and was not there at that time, may be another thing.
        if (within === null || subject.coverage >= SURE || lines.some(isThen)) return lines;
        const reason = "time in the window";
        const then = windowLines(context, within, { limit, score: weight, reason });
        return then.length > 0 ? [...then, ...lines.slice(0, 1)] : lines;
      }
      if (phrase === "") return [];
      // "When was I at lunch yesterday?": no title holds it, and the record does.
      return (
        absenceLines(context, reading, within, weight) ?? [nothingLine(context, phrase, weight)]
      );
  }
}

/** A sum of nothing would look as if it were known that nothing was done. */
function sumOver(
  window: Window,
  context: ReadingContext,
  subject: Subject | null,
  called: string,
  weight: number,
): readonly DigestLine[] {
  const lines = totalLines(context, subject, called, window, weight);
  if (lines !== null) return lines;
  const toUs = Math.min(window.toUs, context.nowUs);
  return [nothingLine(context, "", weight, { fromUs: window.fromUs, toUs })];
}

function lastWeek({ nowUs, timeZone }: ReadingContext): Window {
  return { fromUs: startOfDay(nowUs - LATEST_US + DAY_US, timeZone), toUs: nowUs };
}

/** "How long was I on the essay before lunch?": of the day of the event, up to it or from it on. */
function besideEvent(
  { timeZone, nowUs }: ReadingContext,
  anchor: AnchorWindow | null,
  within: Window | null,
): Window | null {
  if (anchor === null || !anchor.certain || !anchor.named) return within;
  const { window, event } = anchor;
  const isBefore = window.toUs <= event.fromUs;
  if (!isBefore && window.fromUs < event.toUs) return within;
  const dayUs = startOfDay(event.fromUs, timeZone);
  const beside = isBefore
    ? { fromUs: Math.max(dayUs, within?.fromUs ?? dayUs), toUs: event.fromUs }
    : { fromUs: event.toUs, toUs: Math.min(nowUs, within?.toUs ?? nowUs) };
  return beside.toUs > beside.fromUs ? beside : within;
}

/** "How long was I on the thesis altogether?" is about all that was recorded. */
const ALL_TIME = /^(?:altogether|overall|total|insgesamt)$/u;
const ALL_TIME_SAID = /\s*\b(?:altogether|overall|in total|insgesamt)\b/giu;

const DAY_US = 24 * 60 * MINUTE_US;
const LATEST_US = 7 * DAY_US;

/** The last things of a kind in a week. */
function latestOf(
  context: ReadingContext,
  medium: AskedMedium,
  score: number,
): readonly DigestLine[] {
  const { nowUs } = context;
  const week = { fromUs: nowUs - LATEST_US, toUs: nowUs };
  const meant = meantWithin(context, week, medium);
  if (meant === null) return [noneOf(context, medium, week, score)];
  return latestLines(context, [...meant], { limit: 2, score, reason: "the last of its kind" });
}

/** That nothing of a kind was there in a time: it may have been in another, and there may have been nothing at all. */
function noneOf(
  context: ReadingContext,
  { text }: AskedMedium,
  { fromUs, toUs }: Window,
  score: number,
): DigestLine {
  const past = { fromUs, toUs: Math.min(toUs, context.nowUs) };
  const isEmpty = context.history.visitsBetween(past.fromUs, past.toUs).length === 0;
  return nothingLine(context, isEmpty ? "" : text, score, past);
}

/** Documents that answer for all that is asked. */
function subjectOf(documentIds: readonly number[]): Subject {
  const whole = { coverage: 1, documentCoverage: 1 };
  return { documentIds, allIds: documentIds, project: null, isProject: false, ...whole };
}

/** What of a time is of the kind that is asked for; null when nothing is: then all of it says more. */
function meantWithin(
  { history, nowUs }: ReadingContext,
  { fromUs, toUs }: Window,
  medium: AskedMedium | null,
): ReadonlySet<number> | null {
  if (medium === null) return null;
  const visits = history.visitsBetween(fromUs, Math.min(toUs, nowUs));
  const ids = [...new Set(visits.map(({ documentId }) => documentId))];
  const meant = history.documents(ids).filter(medium.isMeant);
  return meant.length === 0 ? null : new Set(meant.map(({ id }) => id));
}

/** The time that is named with those that are joined to it. */
function timeWindows(reading: TurnReading): readonly Window[] {
  const times = reading.times.filter(({ kind }) => kind !== "now");
  return times.filter(({ joined }, index) => index === 0 || joined === true).slice(0, MAX_WINDOWS);
}

const MAX_WINDOWS = 4;
/** Below this share of the topic's words a title may be another thing. */
const SURE = 0.8;
/** Of one time. */
const MAX_LINES = 6;

/** The time that is named, but for the present; null when none is. */
export function timeWindow(reading: TurnReading): Window | null {
  const time = reading.times.find(({ kind }) => kind !== "now");
  return time === undefined ? null : { fromUs: time.fromUs, toUs: time.toUs };
}

/** What of the time that is named has passed; null when none is named, or all of it is to come. */
export function pastWindow(reading: TurnReading, nowUs: number): Window | null {
  const window = timeWindow(reading);
  if (window === null || window.fromUs >= nowUs) return null;
  return { fromUs: window.fromUs, toUs: Math.min(window.toUs, nowUs) };
}

/** The window in front of the owner, on this device unless one is named: the newest that is not the assistant's. */
function currentLine(context: ReadingContext, score: number): readonly SpanLine[] {
  const { nowUs, asked } = context;
  const history = asked === null ? context.history.only(HERE) : context.history;
  for (const backUs of [10 * MINUTE_US, 12 * 60 * MINUTE_US]) {
    const visits = history.visitsBetween(nowUs - backUs, nowUs);
    const newest = [...visits].sort((a, b) => b.endUs - a.endUs || b.startUs - a.startUs);
    const documents = new Map(
      history.documents(newest.map(({ documentId }) => documentId)).map((d) => [d.id, d]),
    );
    for (const { documentId, deviceKey, startUs, endUs, activeUs } of newest) {
      const document = documents.get(documentId);
      if (document === undefined || context.isHidden(document)) continue;
      const device = context.deviceOf(deviceKey);
      const span = { startUs, endUs, activeUs };
      return [{ kind: "span", document, device, ...span, score, reason: "in front now" }];
    }
  }
  return [];
}

function anchorLines(
  context: ReadingContext,
  anchor: AnchorWindow,
  score: number,
): readonly SpanLine[] {
  const beside = windowsOf(anchor).flatMap((window, index) =>
    windowLines(context, window, {
      limit: index === 0 ? 4 : 3,
      score: score * 0.9 ** index,
      reason: `beside ${anchor.reason}`,
    }),
  );
  const event = context.history.documents(anchor.documentId === null ? [] : [anchor.documentId])[0];
  if (event === undefined || beside.length === 0) return beside;
  const { fromUs, toUs } = anchor.event;
  const line: SpanLine = {
    kind: "span",
    document: event,
    device: context.deviceOf(anchor.deviceKey),
    startUs: fromUs,
    endUs: toUs,
    activeUs: toUs - fromUs,
    score: score * 0.75,
    reason: anchor.reason,
  };
  return [...beside.filter(({ document }) => document.id !== event.id), line];
}

/** "Since lunch" is about what came right after and about all that followed: each document may stand in both parts. */
function windowsOf({ window, event, reachUs }: AnchorWindow): readonly Window[] {
  const isSince = window.fromUs === event.toUs && window.toUs - window.fromUs > 1.5 * reachUs;
  if (!isSince) return [window];
  const middleUs = window.fromUs + reachUs;
  return [
    { fromUs: window.fromUs, toUs: middleUs },
    { fromUs: middleUs, toUs: window.toUs },
  ];
}

/** The absence of a topic or of a time, short enough to cost next to nothing. */
export function nothingLine(
  context: ReadingContext,
  phrase: string,
  score: number,
  window: Window | null = null,
): DigestLine {
  let subject = phrase;
  while (tokenBound(subject) > 14 && subject.includes(" ")) {
    subject = subject.slice(0, subject.lastIndexOf(" "));
  }
  if (tokenBound(subject) > 14) subject = Array.from(subject).slice(0, 12).join("");
  const sinceUs = context.history.firstUs();
  const device = context.asked?.name ?? null;
  const reason =
    subject === ""
      ? `nothing was recorded ${window === null ? "on that device" : "in that time"}`
      : "no document holds these words";
  const meanwhile =
    window === null || context.asked !== null
      ? null
      : mainAbsence(context.history, window.fromUs, window.toUs);
  return {
    kind: "nothing",
    subject: subject || null,
    device,
    window,
    meanwhile,
    sinceUs,
    score,
    reason,
  };
}
