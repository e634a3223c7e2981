/**
 * The record up to this moment. The store has the ends of what goes on some seconds late, and while the disk refuses it
 * lacks what happens: both are told from memory.
 */
import type { EventStore } from "../store/events.ts";
import { EVENT_KINDS, type ActivityEvent } from "./events.ts";
import type { Present } from "./sampler.ts";

/** {@link EventStore.between}, with what goes on lasting until `nowUs` and with what is not written yet. */
export function readUpToNow(
  store: Pick<EventStore, "between">,
  present: Present,
  nowUs: number,
): EventStore["between"] {
  return (fromUs, toUs, options = {}) => {
    const { kinds, limit } = options;
    const stored = store.between(fromUs, toUs, options);
    const newer = [...present.unwritten(), ...running(present, nowUs)].filter(
      ({ kind, startUs, endUs }) =>
        startUs < toUs && (endUs > fromUs || startUs >= fromUs) && kinds?.includes(kind) !== false,
    );
    const events = [
      ...new Map([...stored.events, ...newer].map((event) => [event.id, event])).values(),
    ].sort((a, b) => a.startUs - b.startUs);
    const kept = limit === undefined ? events : events.slice(-limit);
    return { events: kept, truncated: stored.truncated || kept.length < events.length };
  };
}

/** What goes on, lasting until `nowUs`. */
export function running({ open }: Present, nowUs: number): readonly ActivityEvent[] {
  return EVENT_KINDS.flatMap((kind) => {
    const event = open(kind);
    if (event === null) return [];
    const { id, facts, startUs, utcOffsetMinutes, timeZone } = event;
    const endUs = Math.max(nowUs, startUs);
    return [{ id: id ?? startUs, startUs, endUs, utcOffsetMinutes, timeZone, ...facts }];
  });
}

/**
 * Events of the store as they stand at `nowUs`: of now, what goes on lasts until then and what is not written yet is
 * among them; of the past (`present` is null), what reaches beyond ends there.
 */
export function upToNow(
  stored: readonly ActivityEvent[],
  present: Present | null,
  nowUs: number,
): readonly ActivityEvent[] {
  return withUnwritten(stored, present).map((event) => withOpenEnd(event, present, nowUs));
}

function withUnwritten(
  stored: readonly ActivityEvent[],
  present: Present | null,
): readonly ActivityEvent[] {
  const unwritten = present?.unwritten() ?? [];
  if (unwritten.length === 0) return stored;
  const newer = new Set(unwritten.map(({ id }) => id));
  return [...stored.filter(({ id }) => !newer.has(id)), ...unwritten].sort(
    (a, b) => a.startUs - b.startUs,
  );
}

function withOpenEnd(event: ActivityEvent, present: Present | null, nowUs: number): ActivityEvent {
  const open = present?.open(event.kind);
  const isRunning = open !== null && open !== undefined && (open.id ?? open.startUs) === event.id;
  return isRunning || event.endUs > nowUs ? { ...event, endUs: nowUs } : event;
}
