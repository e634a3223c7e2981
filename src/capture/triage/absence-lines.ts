/**
 * How long the owner was away, asleep or at a meal, for turns that ask that. It promises to tell absences that stand in
 * the record, and null where the turn asks for something else or none was.
 */
import {
  type Away,
  lastAbsence,
  mainAbsence,
  mealOn,
  nightNear,
  readAbsences,
} from "./absences.ts";
import type { NothingLine } from "./fit.ts";
import type { ReadingContext, Window } from "./readings.ts";
import type { AnchorMention, TurnReading } from "./turn/reading.ts";

/** Most absences told of one time. */
const MAX_LINES = 4;
const DAY_US = 86_400_000_000;

/** One line for each absence that is meant, with its beginning and its end. */
export function absenceLines(
  context: ReadingContext,
  reading: TurnReading,
  within: Window | null,
  score: number,
): readonly NothingLine[] | null {
  // "How long did I work before lunch?" asks for what was beside it.
  const anchors = reading.anchors.filter(
    ({ kind, side }) => ABSENT.has(kind) && (side === null || side.side === "during"),
  );
  const anchor = anchors.find(({ kind }) => kind !== "away" && kind !== "break") ?? anchors[0];
  if (anchor === undefined) return null;
  const found = absencesMeant(context, anchor.kind, within);
  if (found.length === 0) return null;
  return found.map(({ startUs, endUs }, index) => ({
    kind: "nothing",
    subject: null,
    device: null,
    window: { fromUs: startUs, toUs: endUs },
    meanwhile: mainAbsence(context.history, startUs, endUs),
    sinceUs: context.history.firstUs(),
    score: score * 0.9 ** index,
    reason: "an absence that was asked for",
  }));
}

const ABSENT: ReadonlySet<AnchorMention["kind"]> = new Set([
  "lunch",
  "breakfast",
  "dinner",
  "break",
  "away",
  "sleep",
]);

function absencesMeant(
  { history, nowUs, timeZone }: ReadingContext,
  kind: AnchorMention["kind"],
  within: Window | null,
): readonly Away[] {
  const one = (away: Away | null): readonly Away[] => (away === null ? [] : [away]);
  switch (kind) {
    case "lunch":
    case "breakfast":
    case "dinner":
      return one(mealOn(history, kind, within?.fromUs ?? nowUs, nowUs, timeZone));
    case "sleep":
      return one(nightNear(history, within, "either", nowUs));
    default:
      if (within === null) return one(lastAbsence(history, nowUs));
      return longestWithin(history, within, nowUs);
  }
}

/** In the order of time the longest that lie within; those that only reach into it when no other does. */
function longestWithin(
  history: ReadingContext["history"],
  { fromUs, toUs }: Window,
  nowUs: number,
): readonly Away[] {
  const all = readAbsences(history, fromUs - DAY_US / 2, Math.min(toUs + DAY_US / 2, nowUs));
  const inside = ({ startUs, endUs }: Away): number =>
    Math.min(endUs, toUs) - Math.max(startUs, fromUs);
  const mostly = all.filter((away) => inside(away) >= (away.endUs - away.startUs) / 2);
  const met = mostly.length > 0 ? mostly : all.filter((away) => inside(away) > 0);
  return [...met]
    .sort((a, b) => b.endUs - b.startUs - (a.endUs - a.startUs))
    .slice(0, MAX_LINES)
    .sort((a, b) => a.startUs - b.startUs);
}
