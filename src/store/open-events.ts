/**
 * The events that go on, and what a kill leaves of them. It hides the pulse file and which ends were committed, and
 * promises that the pulse of a killed process is kept until its events were brought to it.
 */
import type { Log } from "../log.ts";
import { openPulseFile, readPulse, type PulseEntry } from "./pulse.ts";

export interface OpenEvents {
  readonly ids: () => ReadonlySet<number>;
  /** Says which events go on from now. */
  readonly set: (ids: readonly number[]) => void;
  /** The committed end of an event of this process: a pulse counts for it as long as that is its end. */
  readonly noteEnd: (id: number, endUs: number) => void;
  /** Events got new ids, by the old ones, and their ends moved with them. */
  readonly noteMoved: (moved: ReadonlyMap<number, number>) => void;
  /** Says that the events of these ids go on. False while the pulse of the process before has to be kept. */
  readonly pulse: (nowUs: number, ids: readonly number[]) => boolean;
  /** Gives the pulse of the process before, entry by entry, until `take` was through all of it once. */
  readonly takeUp: (take: (entry: PulseEntry, pulseUs: number) => void) => void;
  /** Lets go of the file; the next pulse opens it anew. */
  readonly release: () => void;
}

/** Twice what can be open at once: idle, lock, sleep, system, a window, a gap, some media. */
const REMEMBERED_ENDS = 64;

export function createOpenEvents(pulsePath: string, log: Log): OpenEvents {
  const file = openPulseFile(pulsePath, log);
  /** The pulse of the process before, until its events could be extended. */
  let lastPulse = readPulse(pulsePath);
  /** Committed ends of the events that this process last had to do with, newest last. */
  const committedEnds = new Map<number, number>();
  let openIds: ReadonlySet<number> = new Set();

  const noteEnd = (id: number, endUs: number): void => {
    committedEnds.delete(id);
    committedEnds.set(id, endUs);
    for (const oldest of committedEnds.keys()) {
      if (committedEnds.size <= REMEMBERED_ENDS) break;
      committedEnds.delete(oldest);
    }
  };

  return {
    ids: () => openIds,
    set: (ids) => {
      openIds = new Set(ids);
    },
    noteEnd,
    noteMoved: (moved) => {
      for (const [old, id] of moved) {
        const endUs = committedEnds.get(old);
        committedEnds.delete(old);
        if (endUs !== undefined) noteEnd(id, endUs - old + id);
      }
    },
    pulse: (nowUs, ids) => {
      openIds = new Set(ids);
      if (lastPulse !== null) return false;
      const entries = ids.flatMap((id) => {
        const committedEndUs = committedEnds.get(id);
        if (committedEndUs === undefined) return [];
        noteEnd(id, committedEndUs);
        return [{ id, committedEndUs }];
      });
      file.write({ nowUs: Math.round(nowUs), entries });
      return true;
    },
    takeUp: (take) => {
      if (lastPulse === null) return;
      for (const entry of lastPulse.entries) take(entry, lastPulse.nowUs);
      lastPulse = null;
    },
    release: file.close,
  };
}
