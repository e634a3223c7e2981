/**
 * Where the owner was before an interruption. It promises the right device: whoever came from another one is told
 * what was on it, and whoever was away altogether what was in front before.
 */
import { lastAbsence } from "./absences.ts";
import type { SpanLine } from "./fit.ts";
import { type ReadingContext, windowLines } from "./readings.ts";

const BACK_US = 15 * 60_000_000;
const HERE: ReadonlySet<number> = new Set([0]);

export function resumeLines(context: ReadingContext, score: number): readonly SpanLine[] {
  const { history, nowUs, asked } = context;
  const others = asked === null ? history.devices() : [];
  if (others.length === 0)
    return linesBefore(context, lastAbsence(history, nowUs)?.startUs ?? nowUs, score);
  const here = { ...context, history: history.only(HERE) };
  const away = lastAbsence(here.history, nowUs);
  if (away === null) return linesBefore(context, nowUs, score);
  const there = { ...context, history: history.only(new Set(others.map(({ key }) => key))) };
  const visits = there.history.visitsBetween(away.startUs, away.endUs);
  // The owner was not away, but at another device, until the last moment there.
  const leftUs = Math.max(...visits.map(({ endUs }) => Math.min(endUs, away.endUs)));
  if (visits.length === 0) return linesBefore(here, away.startUs, score);
  return [
    ...linesBefore(there, leftUs, score),
    ...linesBefore(here, away.startUs, score * 0.6).slice(0, 2),
  ];
}

function linesBefore(context: ReadingContext, endUs: number, score: number): readonly SpanLine[] {
  return windowLines(
    context,
    { fromUs: endUs - BACK_US, toUs: endUs },
    { limit: 3, score, reason: "before the last absence" },
  );
}
