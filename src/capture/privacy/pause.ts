/**
 * Whether the owner has paused recording, and until when. It promises that a pause outlives the daemon, that
 * it ends by itself at its time, and that a record of it which cannot be read counts as paused.
 */
import { readFileSync, rmSync } from "node:fs";

import type { Clock } from "../../clock.ts";
import { ActivityError, whyRefused } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { writeWhole } from "../../whole-file.ts";

/** A pause that is in force. */
export interface PauseState {
  readonly sinceUs: number;
  /** When it ends by itself; null: it lasts until `resume`. */
  readonly untilUs: number | null;
}

export interface Pause {
  /** The pause in force, or null while recording goes on. */
  readonly state: () => PauseState | null;
  /**
   * Pauses until `untilUs` (null: until `resume`). A pause that is in force already keeps its beginning.
   * Throws `bad_request` for an end that is not in the future, `database_unwritable` when the pause is in
   * force but would not outlive the daemon.
   */
  readonly pause: (untilUs: number | null) => PauseState;
  /**
   * Ends the pause; nothing happens when there is none. Throws `database_unwritable` when recording goes on, but a daemon
   * that starts would be paused again.
   */
  readonly resume: () => void;
  readonly close: () => void;
}

export interface OpenPauseOptions {
  /** Where the pause is kept while it lasts. */
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after recording was paused or resumed, also when a pause ran out. */
  readonly onChange: (state: PauseState | null) => void;
}

/** How late a pause may end: the wall clock is asked, since timers stand still while the machine sleeps. */
const CHECK_MS = 1_000;

/** Name of the file in the data folder. */
export const PAUSE_FILE = "pause.json";

/** Opens the pause of a data folder. `onChange` is not called for the state it finds. */
export function openPause({ file, clock, log, onChange }: OpenPauseOptions): Pause {
  let state = readPause(file, clock.nowUs(), log);
  let timer: NodeJS.Timeout | null = null;

  const end = (): void => {
    state = null;
    schedule();
    onChange(null);
  };

  const runOut = (): void => {
    end();
    try {
      rmSync(file, { force: true });
    } catch (error) {
      // The file names its end, which a daemon that starts goes by.
      log.warn("cannot remove the pause file", { reason: whyRefused(error) });
    }
  };

  const current = (): PauseState | null => {
    if (state !== null) state = putRight(state, clock.nowUs());
    if (state !== null && state.untilUs !== null && clock.nowUs() >= state.untilUs) runOut();
    return state;
  };

  function schedule(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
    if (state === null || state.untilUs === null) return;
    timer = setInterval(current, CHECK_MS);
    timer.unref();
  }

  schedule();
  return {
    state: current,
    pause: (untilUs) => {
      const nowUs = clock.nowUs();
      requireFuture(untilUs, nowUs);
      const next = { sinceUs: current()?.sinceUs ?? nowUs, untilUs };
      const wasPaused = state !== null;
      // In force before it is written: a full disk must not keep the owner from pausing.
      state = next;
      schedule();
      if (!wasPaused) onChange(next);
      writePause(file, next, "Recording is paused, but the pause");
      return next;
    },
    resume: () => {
      if (state !== null) end();
      // Also where nothing is paused any more: an earlier end may not have been kept.
      removePause(file, "Recording goes on, but the pause");
    },
    close: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

/** Farther ahead no pause can begin by the few minutes that clocks are put right by. */
const FAR_US = 36 * 3_600_000_000;
/** When this was written: a clock that says less is lost, and nothing is put right by it. */
const WRITTEN_US = Date.UTC(2026, 0, 1) * 1000;

/** A pause that was begun under a clock which was years ahead, and is not any more, would last for years: it begins now. */
function putRight(pause: PauseState, nowUs: number): PauseState {
  const byUs = pause.sinceUs - nowUs;
  if (byUs < FAR_US || nowUs < WRITTEN_US) return pause;
  return { sinceUs: nowUs, untilUs: pause.untilUs === null ? null : pause.untilUs - byUs };
}

/** The pause that a file describes; null when there is none or it is over. */
function readPause(file: string, nowUs: number, log: Log): PauseState | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    log.warn("cannot read the pause file: recording is paused", { reason: whyRefused(error) });
    return { sinceUs: nowUs, untilUs: null };
  }
  const pause = parsePause(text);
  if (pause === null) {
    // Whoever wrote it wanted a pause: half a file is no reason to record.
    log.warn("the pause file is damaged: recording is paused until it is resumed");
    return { sinceUs: nowUs, untilUs: null };
  }
  return pause.untilUs !== null && nowUs >= pause.untilUs ? null : pause;
}

function parsePause(text: string): PauseState | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Told by the caller.
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  if (!("sinceUs" in value) || !("untilUs" in value)) return null;
  const { sinceUs, untilUs } = value;
  if (typeof sinceUs !== "number" || !Number.isFinite(sinceUs)) return null;
  if (untilUs !== null && (typeof untilUs !== "number" || !Number.isFinite(untilUs))) return null;
  return { sinceUs, untilUs };
}

/**
 * A pause that has not ended by `nowUs`; null has no end.
 *
 * @throws ActivityError `bad_request`
 */
export function requireFuture(untilUs: number | null, nowUs: number): void {
  if (untilUs === null || untilUs > nowUs) return;
  throw new ActivityError(
    "bad_request",
    "The pause would end before it begins.",
    "Give an end in the future: activityd pause 1h, or activityd pause until-resume.",
  );
}

/**
 * Keeps a pause in its file, whole or not at all. Also for the command line while no daemon runs: the next
 * one starts paused. Throws `database_unwritable`, which says of `what` that it cannot be kept.
 */
export function writePause(file: string, state: PauseState, what: string): void {
  try {
    writeWhole(file, `${JSON.stringify(state)}\n`);
  } catch (cause) {
    throw new ActivityError(
      "database_unwritable",
      `${what} cannot be kept in ${file}: ${whyRefused(cause)}.`,
      "Make room or give write access; until then a daemon that starts records.",
      { cause },
    );
  }
}

/** Ends a pause for the next daemon. Throws `database_unwritable`, which says of `what` that it cannot be ended. */
export function removePause(file: string, what: string): void {
  try {
    rmSync(file, { force: true });
  } catch (cause) {
    throw new ActivityError(
      "database_unwritable",
      `${what} cannot be ended, in ${file}: ${whyRefused(cause)}.`,
      "Give write access; until then a daemon that starts is paused.",
      { cause },
    );
  }
}
