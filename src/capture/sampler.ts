/**
 * From samples to events. It hides how what the sources say is weighed against each other and against the clocks, and
 * promises that what is recorded was attended: while the machine sleeps, is locked, is paused or its owner is away no
 * window is credited, and every such stretch is an event with its own name.
 */
import type { Clock } from "../clock.ts";
import type { EventStore } from "../store/events.ts";
import type { Log } from "../log.ts";
import { createAbsence } from "./absence.ts";
import {
  EVENT_KINDS,
  type EditorSample,
  type EventFacts,
  type GapReason,
  type InputSample,
  type MediaSample,
  type NotificationFacts,
  type NotificationSample,
  type SessionSample,
  type SystemSample,
  type WindowSample,
} from "./events.ts";
import type { PageReport } from "./page.ts";
import { createPoll } from "./poll.ts";
import { createPresence, INPUT_POLL_MS, type PresenceState } from "./presence.ts";
import type { PrivacyGate } from "./privacy.ts";
import { createRecorder, type OpenEvent, type Recorder } from "./recorder.ts";
import type { Blindness, SourceResult } from "./sources/source.ts";
import { createSurroundings } from "./surroundings.ts";
import { createTimekeeper } from "./timekeeper.ts";
import { createWindowSight, type Forgotten } from "./window-sight.ts";

/** How much of a running event a kill may cost. Each tick wakes a sleeping processor: that is most of what capture costs. */
const TICK_MS = 5_000;
/** Going away counts from the last input, however late it is noticed. */
const INPUT_POLL_ACTIVE_MS = 10_000;
const SYSTEM_POLL_MS = 30_000;
/** Events drive the window source; a re-read finds what an event missed. */
const WINDOW_REREAD_MS = 45_000;
/** Without a sign from it for so long, an editor is no longer in use. */
const EDITOR_SILENCE_US = 60_000_000;

const UNKNOWN_SESSION: SessionSample = { locked: null, asleep: null, idleInhibited: null };

/** The sources that are asked by the sampler; the others only report. */
export interface PolledSources {
  readonly input: (() => Promise<SourceResult<InputSample>>) | null;
  readonly system: (() => Promise<SourceResult<SystemSample>>) | null;
  readonly window: (() => Promise<SourceResult<WindowSample>>) | null;
}

/** What is so right now, for the snapshot. */
export interface Present {
  readonly window: OpenEvent | null | "unknown";
  readonly blind: Blindness | null;
  readonly presence: PresenceState;
  readonly presenceSinceUs: number | null;
  readonly locked: boolean | null;
  readonly open: Recorder["open"];
  readonly unwritten: Recorder["unwritten"];
}

interface TimeSpan {
  readonly fromUs: number;
  readonly toUs: number;
}

export interface Sampler {
  readonly start: (sources: PolledSources) => void;
  /** Asks every polled source now instead of at its next turn. */
  readonly refresh: () => void;
  /** Takes what a source reported. */
  readonly take: {
    readonly window: (result: SourceResult<WindowSample>) => void;
    readonly input: (result: SourceResult<InputSample>) => void;
    readonly session: (result: SourceResult<SessionSample>) => void;
    readonly media: (result: SourceResult<readonly MediaSample[]>) => void;
    /** Gives what was recorded; null when nothing was, because of a rule or a pause. */
    readonly notification: (result: SourceResult<NotificationSample>) => NotificationFacts | null;
    /** What a browser's extension says of the tab in front: it tells more of the window, or hides it. */
    readonly page: (report: PageReport) => void;
    /** What an editor's plugin says is worked on; null: nothing. */
    readonly editor: (sample: EditorSample | null) => void;
  };
  /** Stops or resumes recording; what is paused has no events but the gap. */
  readonly setPaused: (paused: boolean) => void;
  /**
   * Ends what goes on and is meant by `isForgotten` (null: all, which then begins anew), so that it can be forgotten up to
   * now. What is on the screen and meant is not recorded again until it changes to something that is not. `span`: the
   * time of which it is forgotten; null: of all. Gives the ids of what goes on then, of which nothing is meant.
   */
  readonly cut: (isForgotten: Forgotten, span: TimeSpan | null) => readonly number[];
  /** The record is there again after it was recovered: what waited for it is written, and since when nothing was seen. */
  readonly recovered: () => void;
  readonly present: () => Present;
  readonly trouble: Recorder["trouble"];
  /** Monotonic time of the last turn of the sampling loop. */
  readonly lastTickUs: () => number;
  /** Ends all events now and stops polling. */
  readonly close: () => void;
}

export interface SamplerOptions {
  readonly store: EventStore;
  readonly gate: PrivacyGate;
  readonly clock: Clock;
  readonly log: Log;
  readonly idleAfterMs: number;
  /** Called after every change that a block could show. */
  readonly onChange: () => void;
  /** Called when the wall clock went on otherwise than the steady one, such as over a suspend. */
  readonly onLeap?: () => void;
}

export function createSampler(options: SamplerOptions): Sampler {
  const { store, gate, clock, log, idleAfterMs, onChange, onLeap } = options;
  const recorder = createRecorder({ store, clock, log });
  const sight = createWindowSight(gate);
  const presence = createPresence(idleAfterMs);
  const surroundings = createSurroundings(gate);
  const time = createTimekeeper(clock);
  const absence = createAbsence({ store, recorder, time });
  const polls = {
    input: createPoll("input", takeInput, log),
    system: createPoll("system", takeSystem, log),
    window: createPoll("window", takeWindow, log),
  };
  let timer: NodeJS.Timeout | null = null;
  let tickCount = 0;

  let session = UNKNOWN_SESSION;
  let editorBeatUs = 0;
  let paused = false;
  /** Whether everything was ended by a jump of the clocks and nothing was begun since. */
  let isBroken = false;

  return {
    start: (polled) => {
      polls.input.use(polled.input);
      polls.system.use(polled.system);
      polls.window.use(polled.window);
      absence.begin(checkClocks());
      timer = setInterval(tick, TICK_MS);
    },
    refresh: () => {
      polls.window.ask();
      polls.input.ask();
      polls.system.ask();
    },
    take: {
      window: takeWindow,
      input: takeInput,
      session: takeSession,
      media: takeMedia,
      notification: takeNotification,
      page: takePage,
      editor: takeEditor,
    },
    setPaused: (next) => {
      if (paused === next) return;
      paused = next;
      settle(checkClocks());
    },
    cut: (isForgotten, span) => {
      const nowUs = checkClocks();
      if (isForgotten === null) recorder.endAll(nowUs);
      for (const kind of EVENT_KINDS) {
        const running = recorder.open(kind);
        if (running !== null && isForgotten?.(running.facts) === true)
          recorder.set(kind, null, nowUs);
      }
      recorder.forgetWaiting(isForgotten);
      sight.forget(isForgotten);
      surroundings.forget(isForgotten);
      settle(isForgotten === null ? believeClock(span, nowUs) : nowUs);
      return recorder.openIds();
    },
    recovered: () => {
      recorder.flush();
      absence.recovered();
    },
    present: () => ({
      window: sight.isKnown() ? recorder.open("window") : "unknown",
      blind: sight.blind(),
      presence: presence.state(),
      presenceSinceUs: presence.sinceUs(),
      locked: session.locked,
      open: recorder.open,
      unwritten: recorder.unwritten,
    }),
    trouble: recorder.trouble,
    lastTickUs: time.lastLookUs,
    close: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      for (const poll of Object.values(polls)) poll.use(null);
      recorder.endAll(checkClocks());
    },
  };

  // ------------------------------------------------------------ time

  function tick(): void {
    const wallUs = resumeAfterBreak();
    tickCount += 1;
    if (sight.pace(wallUs)) settle(wallUs);
    recorder.advance(wallUs);
    endSilentEditor(wallUs);
    const elapsedMs = tickCount * TICK_MS;
    const inputPollMs = presence.state() === "active" ? INPUT_POLL_ACTIVE_MS : INPUT_POLL_MS;
    if (elapsedMs % inputPollMs === 0) polls.input.ask();
    if (elapsedMs % SYSTEM_POLL_MS === 0) polls.system.ask();
    if (elapsedMs % WINDOW_REREAD_MS === 0) polls.window.ask();
  }

  /** The time to record with, after what the clocks went through since the last look is in the record. */
  function checkClocks(): number {
    const { nowUs, setBack, jump } = time.look();
    if (setBack !== null) moveBack(setBack.byUs, setBack.wasUs, nowUs);
    if (jump?.kind === "stalled") breakOff({ kind: "gap", reason: "stalled" }, jump.fromUs, nowUs);
    else if (jump?.kind === "sleep") breakOff({ kind: "sleep" }, jump.fromUs, nowUs);
    else if (jump?.kind === "step") {
      recorder.endAll(jump.fromUs);
      isBroken = true;
    }
    if (setBack !== null || jump !== null) onLeap?.();
    return nowUs;
  }

  /** The time, as `checkClocks` gives it; what was ended by a jump of the clocks begins anew. */
  function resumeAfterBreak(): number {
    const nowUs = checkClocks();
    if (isBroken) settle(nowUs);
    return nowUs;
  }

  /** The clock was ahead by so much: what was recorded under it moves, so that no time is told twice. */
  function moveBack(byUs: number, wasUs: number, nowUs: number): void {
    if (!recorder.redate(byUs, nowUs)) {
      recorder.endAll(wasUs);
      isBroken = true;
    }
    editorBeatUs -= byUs;
    presence.moveBack(byUs);
  }

  /**
   * Who has all forgotten that lies ahead of the wall clock says that the clock is right: time went on ahead of it for the
   * sake of that record alone. Gives the time of now.
   */
  function believeClock(span: TimeSpan | null, nowUs: number): number {
    if (span === null || clock.nowUs() < span.fromUs || nowUs > span.toUs) return nowUs;
    const byUs = time.believe();
    editorBeatUs -= byUs;
    presence.moveBack(byUs);
    if (byUs > 0) onLeap?.();
    return nowUs - byUs;
  }

  /** Nothing is known of the time in between: it is credited to nobody. */
  function breakOff(facts: EventFacts, fromUs: number, toUs: number): void {
    // A suspend that was announced is open already, and ends with its own signal.
    if (session.asleep !== true) {
      recorder.endAll(fromUs);
      recorder.add(facts, fromUs, toUs);
    }
    isBroken = true;
    polls.window.ask();
    polls.input.ask();
  }

  // ------------------------------------------------------------ samples

  function takePage(report: PageReport): void {
    const last = sight.takePage(report);
    if (last !== null) takeWindow(last);
  }

  function takeEditor(sample: EditorSample | null): void {
    const nowUs = resumeAfterBreak();
    editorBeatUs = nowUs;
    const gated = sample === null || paused ? null : gate.editor(sample, nowUs);
    if (recorder.set("editor", gated?.verdict === "store" ? gated.facts : null, nowUs)) onChange();
  }

  /** An editor only says when something is done in it: its silence is the end. */
  function endSilentEditor(nowUs: number): void {
    if (recorder.open("editor") === null || nowUs - editorBeatUs < EDITOR_SILENCE_US) return;
    if (recorder.set("editor", null, editorBeatUs)) onChange();
  }

  function takeWindow(result: SourceResult<WindowSample>): void {
    polls.window.outdate();
    const nowUs = checkClocks();
    const isToldOtherwise = sight.take(result, nowUs);
    settle(nowUs);
    if (isToldOtherwise) onChange();
  }

  function takeSession(result: SourceResult<SessionSample>): void {
    const nowUs = checkClocks();
    session = (result.ok ? result.value : null) ?? UNKNOWN_SESSION;
    settle(nowUs);
    if (session.asleep === false) polls.window.ask();
  }

  function takeInput(result: SourceResult<InputSample>): void {
    const nowUs = resumeAfterBreak();
    const isWatched = surroundings.isPlaying() || session.idleInhibited === true;
    const change = presence.take(result, isWatched, nowUs);
    if (change === null) return;
    const { atUs, isTurnedAway } = change;
    settle(isTurnedAway ? Math.max(atUs, recorder.open("window")?.startUs ?? atUs) : atUs);
    onChange();
  }

  function takeSystem(result: SourceResult<SystemSample>): void {
    if (surroundings.takeSystem(result)) settle(checkClocks());
  }

  function takeMedia(result: SourceResult<readonly MediaSample[]>): void {
    const nowUs = checkClocks();
    surroundings.takeMedia(result, nowUs);
    settle(nowUs);
  }

  /** A notification has no duration: it is told and over. */
  function takeNotification(result: SourceResult<NotificationSample>): NotificationFacts | null {
    if (!result.ok || result.value === null || paused) return null;
    const nowUs = resumeAfterBreak();
    const gated = gate.notification(result.value, nowUs);
    if (gated.verdict === "drop") return null;
    recorder.add(gated.facts, nowUs, nowUs);
    return gated.facts;
  }

  // ------------------------------------------------------------ what goes on

  /** Brings the open events in line with what is known, as of `atUs`. */
  function settle(atUs: number): void {
    isBroken = false;
    const state = presence.state();
    const asleep = session.asleep === true;
    const locked = session.locked === true && !asleep;
    const idle = state === "away" || state === "passive" ? state : null;
    const away = idle !== null && !asleep && !locked && !paused;
    const attended = !asleep && !locked && !paused && state !== "away";
    const gap = gapReason();
    const changes = [
      recorder.set("sleep", asleep && !paused ? { kind: "sleep" } : null, atUs),
      recorder.set("lock", locked && !paused ? { kind: "lock" } : null, atUs),
      recorder.set("idle", away ? { kind: "idle", state: idle } : null, atUs),
      recorder.set("gap", gap === null ? null : { kind: "gap", reason: gap }, atUs),
      recorder.set("window", attended && gap === null ? sight.facts() : null, atUs),
      recorder.set("media", paused || asleep ? null : surroundings.media(), atUs),
      recorder.set("system", paused || asleep ? null : surroundings.system(), atUs),
      !attended && recorder.set("editor", null, atUs),
    ];
    if (changes.includes(true)) onChange();
  }

  function gapReason(): GapReason | null {
    if (paused) return "paused";
    // What happens behind a lock screen or in a suspend needs no other name.
    if (session.asleep === true || session.locked === true) return null;
    return sight.gap();
  }
}
