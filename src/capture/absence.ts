/**
 * The time before this start, of which nothing was seen. It promises that the record says so once, also where it is not to
 * be had yet when recording begins, and that a record which lies ahead of the clock is moved, not taken for a pause.
 */
import type { EventStore } from "../store/events.ts";
import type { Recorder } from "./recorder.ts";
import { isPause, LONGEST_STEP_BACK_US, type Timekeeper } from "./timekeeper.ts";

export interface Absence {
  /** Recording begins at `nowUs`. */
  readonly begin: (nowUs: number) => void;
  /** The record is there again after it was recovered, with all that waited for it. */
  readonly recovered: () => void;
}

export interface AbsenceOptions {
  readonly store: Pick<EventStore, "latest" | "between" | "readIfThere">;
  readonly recorder: Pick<Recorder, "add" | "redate">;
  readonly time: Pick<Timekeeper, "meet">;
}

/** Of one of these there is always an event while anything is seen. */
const SEEN_KINDS = ["window", "idle", "system", "gap", "lock", "sleep"] as const;

export function createAbsence({ store, recorder, time }: AbsenceOptions): Absence {
  /** When recording began beside a record that was not to be had; null: what lies before it is named. */
  let unnamedUs: number | null = null;

  return {
    begin: (nowUs) => {
      const found = store.readIfThere(() => {
        const lastUs = lastSeen();
        return { lastUs, didLeap: lastUs !== null && didLeap(nowUs, lastUs) };
      });
      if (found === null) unnamedUs = nowUs;
      else if (found.lastUs !== null) name(found.lastUs, nowUs, found.didLeap);
    },
    recovered: () => {
      const startUs = unnamedUs;
      unnamedUs = null;
      if (startUs === null) return;
      // Of two clocks the present one is believed: time went on by it since.
      const lastUs = lastSeen(startUs);
      if (lastUs !== null && isPause(lastUs, startUs)) addGap(lastUs, startUs);
    },
  };

  function name(lastUs: number, nowUs: number, didLeap: boolean): void {
    const met = time.meet(lastUs, nowUs, didLeap);
    if (met?.kind === "ahead") recorder.redate(met.byUs, nowUs);
    else if (met?.kind === "paused") addGap(lastUs, nowUs);
  }

  function addGap(fromUs: number, toUs: number): void {
    recorder.add({ kind: "gap", reason: "not-running" }, fromUs, toUs);
  }

  /** Until when anything was seen, of what began before `beforeUs`; null: never. */
  function lastSeen(beforeUs?: number): number | null {
    const ends = SEEN_KINDS.flatMap((kind) => store.latest(kind, 1, beforeUs)).map(
      ({ endUs }) => endUs,
    );
    return ends.length === 0 ? null : Math.max(...ends);
  }

  /** Whether the record goes on to before `nowUs`, and from there to its newest stretch nothing was ever seen. */
  function didLeap(nowUs: number, endUs: number): boolean {
    const stretchUs = endUs - LONGEST_STEP_BACK_US;
    if (stretchUs <= nowUs || store.latest("window", 1, nowUs).length === 0) return false;
    const kinds = ["window", "idle", "lock", "system"] as const;
    return store.between(nowUs, stretchUs, { kinds, limit: 1 }).events.length === 0;
  }
}
