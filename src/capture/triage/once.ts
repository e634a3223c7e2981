/**
 * Active time over several devices. It promises that a minute in which two of them were in use counts once, and that
 * of one device alone the sum is what its visits say.
 */
import type { ActivityHistory, Visit } from "../../store/history.ts";
import { clipSpan } from "../events.ts";
import { activeWithin, type Window } from "./readings.ts";

/**
 * Active time of `visits` within `window`; where visits of two devices overlap, the time that was counted twice is
 * found among their events and taken off. `members`: the documents of the visits, null for all there are.
 */
export function activeOnce(
  history: ActivityHistory,
  visits: readonly Visit[],
  window: Window,
  members: ReadonlySet<number> | null,
): number {
  let activeUs = activeWithin(visits, window);
  // Windows of one device do not meet: what is more than the whole is time of two.
  for (const { fromUs, toUs } of joinNear(sharedStretches(visits, window))) {
    const spans = history
      .focusBetween(fromUs, toUs)
      .filter(({ documentId }) => members?.has(documentId) ?? true)
      .flatMap((focus) => clipSpan(focus, fromUs, toUs) ?? []);
    const sumUs = spans.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);
    activeUs -= sumUs - unionUs(spans);
  }
  return Math.max(0, activeUs);
}

interface Span {
  readonly startUs: number;
  readonly endUs: number;
}

/** How much time spans cover together. */
export function unionUs(spans: readonly Span[]): number {
  let coveredUs = 0;
  let reachUs = Number.NEGATIVE_INFINITY;
  for (const { startUs, endUs } of spans.toSorted((a, b) => a.startUs - b.startUs)) {
    coveredUs += Math.max(0, endUs - Math.max(startUs, reachUs));
    reachUs = Math.max(reachUs, endUs);
  }
  return coveredUs;
}

/** Few reads of much rather than many of little: each looks half a day back for what began before. */
const NEAR_US = 12 * 3_600_000_000;

function joinNear(stretches: readonly Window[]): readonly Window[] {
  const joined: { fromUs: number; toUs: number }[] = [];
  for (const { fromUs, toUs } of stretches) {
    const last = joined.at(-1);
    if (last !== undefined && fromUs - last.toUs < NEAR_US) last.toUs = toUs;
    else joined.push({ fromUs, toUs });
  }
  return joined;
}

/** Where visits of two devices and more overlap, in order and apart from each other. */
function sharedStretches(visits: readonly Visit[], { fromUs, toUs }: Window): readonly Window[] {
  const [first] = visits;
  // Nearly always: one device, and nothing to take off.
  if (visits.every(({ deviceKey }) => deviceKey === first?.deviceKey)) return [];
  const edges = visits
    .flatMap((visit) => {
      const clipped = clipSpan(visit, fromUs, toUs);
      if (clipped === null) return [];
      const { deviceKey, startUs, endUs } = clipped;
      return [
        { atUs: startUs, deviceKey, change: 1 },
        { atUs: endUs, deviceKey, change: -1 },
      ];
    })
    .sort((a, b) => a.atUs - b.atUs || a.change - b.change);
  const open = new Map<number, number>();
  const shared: Window[] = [];
  let sinceUs: number | null = null;
  for (const { atUs, deviceKey, change } of edges) {
    const count = (open.get(deviceKey) ?? 0) + change;
    if (count === 0) open.delete(deviceKey);
    else open.set(deviceKey, count);
    if (open.size > 1) sinceUs ??= atUs;
    else if (sinceUs !== null) {
      if (atUs > sinceUs) shared.push({ fromUs: sinceUs, toUs: atUs });
      sinceUs = null;
    }
  }
  return shared;
}
