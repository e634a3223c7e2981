/** Which call a turn means: the newest whose title holds the names of the turn, else the newest there was. */
import type { ActivityHistory, Visit } from "../../store/history.ts";
import type { Projects } from "./projects.ts";
import type { Window } from "./readings.ts";
import type { Topic } from "./topic.ts";

const MINUTE_US = 60_000_000;

/** A call goes on while other windows are looked at for less than this. */
const CALL_BRIDGE_US = 6 * MINUTE_US;

interface CallSources {
  readonly history: ActivityHistory;
  readonly projects: Projects;
  readonly nowUs: number;
}

interface FoundCall {
  readonly event: Window;
  readonly documentId: number;
  readonly deviceKey: number;
  readonly named: boolean;
}

/** The newest call whose title holds the names of the turn; without names, the newest call. */
export function findCall(
  sources: CallSources,
  topic: Pick<Topic, "words">,
  within: Window | null,
): FoundCall | null {
  const calls = sources.projects.ofKind("call");
  if (calls.length === 0) return null;
  const isCall = new Set(calls);
  const named = new Map<number, number>();
  for (const { hits } of topic.words) {
    for (const [id, closeness] of hits.documents) {
      if (isCall.has(id)) named.set(id, (named.get(id) ?? 0) + hits.weight * closeness);
    }
  }
  const most = Math.max(0, ...named.values());
  const best = [...named].filter(([, sum]) => sum >= most * 0.97).map(([id]) => id);
  const wanted = best.length > 0 ? best : calls;
  const visits = sources.history.visitsOf(wanted, sources.nowUs, 120);
  const events = joinCalls(visits);
  const inside = events.filter(
    ({ event }) => within === null || (event.fromUs < within.toUs && event.toUs > within.fromUs),
  );
  const found = (inside.length > 0 ? inside : events)[0];
  return found === undefined ? null : { ...found, named: best.length > 0 };
}

function joinCalls(visits: readonly Visit[]): readonly Omit<FoundCall, "named">[] {
  const calls: {
    event: { fromUs: number; toUs: number };
    documentId: number;
    deviceKey: number;
  }[] = [];
  for (const { documentId, deviceKey, startUs, endUs } of visits) {
    const last = calls.at(-1);
    if (last?.documentId === documentId && last.event.fromUs - endUs < CALL_BRIDGE_US) {
      last.event.fromUs = startUs;
      last.event.toUs = Math.max(last.event.toUs, endUs);
    } else calls.push({ event: { fromUs: startUs, toUs: endUs }, documentId, deviceKey });
  }
  return calls;
}
