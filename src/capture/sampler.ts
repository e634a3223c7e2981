/**
 * From samples to events. It hides the rules of presence, and promises that what
 * is recorded was attended: while the machine sleeps, is locked, is paused or its owner is away no window is
 * credited, and every such stretch is an event with its own name.
 */
import type { Clock } from "../clock.ts";
import type { EventStore } from "../store/events.ts";
import type { Log } from "../log.ts";
import {
  EVENT_KINDS,
  type EditorSample,
  type EventFacts,
  type GapReason,
  type InputSample,
  type MediaFacts,
  type MediaSample,
  type NotificationFacts,
  type NotificationSample,
  type SessionSample,
  type SystemFacts,
  type SystemSample,
  type WindowFacts,
  type WindowSample,
} from "./events.ts";
import { type PageReport, withPage } from "./page.ts";
import type { PrivacyGate } from "./privacy.ts";
import { createPoll } from "./poll.ts";
import { createRecorder, type OpenEvent, type Recorder } from "./recorder.ts";
import type { Blindness, SourceResult } from "./sources/source.ts";
import { createTimekeeper } from "./timekeeper.ts";
import { createTitlePacer } from "./title-pacer.ts";

/** How much of a running event a kill may cost. Each tick wakes a sleeping processor: that is most of what capture costs. */
const TICK_MS = 5_000;
/** Somebody who comes back is noticed so soon. */
const INPUT_POLL_MS = 5_000;
/** Going away counts from the last input, however late it is noticed. */
const INPUT_POLL_ACTIVE_MS = 10_000;
const SYSTEM_POLL_MS = 30_000;
/** Events drive the window source; a re-read finds what an event missed. */
const WINDOW_REREAD_MS = 45_000;
/** Without a sign from it for so long, an editor is no longer in use. */
const EDITOR_SILENCE_US = 60_000_000;

/** The sources that are asked by the sampler; the others only report. */
export interface PolledSources {
  readonly input: (() => Promise<SourceResult<InputSample>>) | null;
  readonly system: (() => Promise<SourceResult<SystemSample>>) | null;
  readonly window: (() => Promise<SourceResult<WindowSample>>) | null;
}

export type Presence = "active" | "away" | "passive" | "unknown";

/** What is so right now, for the snapshot. */
export interface Present {
  readonly window: OpenEvent | null | "unknown";
  readonly blind: Blindness | null;
  readonly presence: Presence;
  readonly presenceSinceUs: number | null;
  readonly locked: boolean | null;
  readonly open: Recorder["open"];
  readonly unwritten: Recorder["unwritten"];
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
   * Ends what goes on and is meant by `isForgotten` (null: all, which then begins anew), so that it can be
   * forgotten up to now. What is on the screen and meant is not recorded again until it changes to something
   * that is not.
   */
  readonly cut: (isForgotten: ((facts: EventFacts) => boolean) | null) => void;
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
}

export function createSampler(options: SamplerOptions): Sampler {
  const { store, gate, clock, log, idleAfterMs, onChange } = options;
  const recorder = createRecorder({ store, clock, log });
  const pacer = createTitlePacer();
  const time = createTimekeeper(clock);
  const polls = {
    input: createPoll("input", takeInput, log),
    system: createPoll("system", takeSystem, log),
    window: createPoll("window", takeWindow, log),
  };
  let timer: NodeJS.Timeout | null = null;
  let tickCount = 0;

  let window: WindowFacts | null = null;
  /** The facts of the last sample; `window` may lag behind a title that changes all the time. */
  let seen: WindowFacts | null = null;
  let windowState: "unseen" | "seen" | "filtered" | "lost" = "unseen";
  let blind: Blindness | null = { reason: "no window source has answered yet", remedy: "" };
  let presence: Presence = "unknown";
  let presenceSinceUs: number | null = null;
  let session: SessionSample = { locked: null, asleep: null, idleInhibited: null };
  let playing = false;
  /** The last word of the window source, to be judged again when a browser says more of it. */
  let windowResult: SourceResult<WindowSample> | null = null;
  let page: PageReport | null = null;
  let editorBeatUs = 0;
  let media: MediaFacts | null = null;
  let paused = false;
  let system: SystemFacts | null = null;
  /** Whether everything was ended by a jump of the clocks and nothing was begun since. */
  let isBroken = false;
  /** What the owner had forgotten while it was on the screen, or playing. */
  let forgotten: {
    window: ((facts: EventFacts) => boolean) | null;
    media: ((facts: EventFacts) => boolean) | null;
  } = { window: null, media: null };

  return {
    start: (polled) => {
      polls.input.use(polled.input);
      polls.system.use(polled.system);
      polls.window.use(polled.window);
      namePause(checkClocks());
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
    cut: (isForgotten) => {
      const nowUs = checkClocks();
      if (isForgotten === null) recorder.endAll(nowUs);
      for (const kind of EVENT_KINDS) {
        const running = recorder.open(kind);
        if (running !== null && isForgotten?.(running.facts) === true)
          recorder.set(kind, null, nowUs);
      }
      recorder.forgetWaiting(isForgotten);
      forgotten = {
        window: isForgottenWindow(isForgotten) ? isForgotten : null,
        media: media !== null && isForgotten?.(media) === true ? isForgotten : null,
      };
      settle(nowUs);
    },
    present: () => ({
      window:
        windowState === "unseen" || windowState === "lost" ? "unknown" : recorder.open("window"),
      blind,
      presence,
      presenceSinceUs,
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
    const paced = pacer.settle(wallUs);
    if (paced !== window) {
      window = paced;
      settle(wallUs);
    }
    recorder.advance(wallUs);
    endSilentEditor(wallUs);
    const elapsedMs = tickCount * TICK_MS;
    const inputPollMs = presence === "active" ? INPUT_POLL_ACTIVE_MS : INPUT_POLL_MS;
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
    if (presenceSinceUs !== null) presenceSinceUs -= byUs;
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

  /** Between the last run and this one nothing was seen, and the record says so. */
  function namePause(nowUs: number): void {
    const [last] = (["window", "idle", "system", "gap", "lock", "sleep"] as const)
      .flatMap((kind) => store.latest(kind, 1))
      .sort((a, b) => b.endUs - a.endUs);
    if (last === undefined) return;
    const met = time.meet(last.endUs, nowUs);
    if (met?.kind === "ahead") recorder.redate(met.byUs, nowUs);
    else if (met?.kind === "paused") {
      recorder.add({ kind: "gap", reason: "not-running" }, last.endUs, nowUs);
    }
  }

  // ------------------------------------------------------------ samples

  function takePage(report: PageReport): void {
    page = report;
    if (windowResult !== null) takeWindow(windowResult);
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
    windowResult = result;
    const nowUs = checkClocks();
    const before = { windowState, blind };
    if (!result.ok) {
      windowState = windowState === "unseen" ? "unseen" : "lost";
      window = pacer.see(null, nowUs);
      blind = { reason: result.reason, remedy: result.remedy };
    } else {
      blind = null;
      const gated =
        result.value === null ? null : gate.window(withPage(result.value, page, nowUs), nowUs);
      seen = gated?.verdict === "store" ? gated.facts : null;
      window = pacer.see(seen, nowUs, result.value?.window);
      windowState = gated?.verdict === "drop" ? "filtered" : "seen";
    }
    settle(nowUs);
    if (before.windowState !== windowState || before.blind?.reason !== blind?.reason) onChange();
  }

  function isForgottenWindow(isForgotten: ((facts: EventFacts) => boolean) | null): boolean {
    return [seen, window].some((facts) => facts !== null && isForgotten?.(facts) === true);
  }

  function takeSession(result: SourceResult<SessionSample>): void {
    const nowUs = checkClocks();
    session =
      result.ok && result.value !== null
        ? result.value
        : { locked: null, asleep: null, idleInhibited: null };
    settle(nowUs);
    if (session.asleep === false) polls.window.ask();
  }

  function takeInput(result: SourceResult<InputSample>): void {
    const nowUs = resumeAfterBreak();
    if (!result.ok || result.value === null) return changePresence("unknown", nowUs, nowUs);
    const lastInputUs = nowUs - result.value.idleMs * 1000;
    if (result.value.idleMs < idleAfterMs) return changePresence("active", lastInputUs, nowUs);
    const watched = playing || session.idleInhibited === true;
    changePresence(watched ? "passive" : "away", lastInputUs, nowUs);
  }

  /** `sinceUs` lies in the past: away begins with the last input, and so does being back. */
  function changePresence(next: Presence, sinceUs: number, nowUs: number): void {
    if (presence === next) return;
    const turnedAway = next === "away" || next === "passive";
    // Only stillness reaches back; a return cannot be earlier than the last poll that found nobody.
    const atUs = turnedAway ? sinceUs : Math.max(sinceUs, nowUs - INPUT_POLL_MS * 1000);
    presence = next;
    presenceSinceUs = atUs;
    settle(turnedAway ? Math.max(atUs, recorder.open("window")?.startUs ?? atUs) : atUs);
    onChange();
  }

  function takeSystem(result: SourceResult<SystemSample>): void {
    if (!result.ok || result.value === null) return;
    const next: SystemFacts = { kind: "system", ...result.value };
    if (system !== null && !isWorthRecording(system, next)) return;
    system = next;
    settle(checkClocks());
  }

  function takeMedia(result: SourceResult<readonly MediaSample[]>): void {
    const nowUs = checkClocks();
    const player = result.ok ? result.value?.find((sample) => sample.playing) : undefined;
    playing = player !== undefined;
    const gated = player === undefined ? null : gate.media(player, nowUs);
    media = gated?.verdict === "store" ? gated.facts : null;
    if (media !== null && forgotten.media?.(media) !== true) forgotten.media = null;
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
    // What is paced may still be what was forgotten when something else is seen already.
    if (seen !== null && !isForgottenWindow(forgotten.window)) forgotten.window = null;
    const asleep = session.asleep === true;
    const locked = session.locked === true && !asleep;
    const away = (presence === "away" || presence === "passive") && !asleep && !locked;
    const attended = !asleep && !locked && !paused && presence !== "away";
    const gap = gapReason();
    const changes = [
      recorder.set("sleep", asleep && !paused ? { kind: "sleep" } : null, atUs),
      recorder.set("lock", locked && !paused ? { kind: "lock" } : null, atUs),
      recorder.set("idle", away && !paused ? idleFacts() : null, atUs),
      recorder.set("gap", gap === null ? null : { kind: "gap", reason: gap }, atUs),
      recorder.set("window", attended && gap === null ? window : null, atUs),
      recorder.set("media", paused || asleep || forgotten.media !== null ? null : media, atUs),
      recorder.set("system", paused || asleep ? null : system, atUs),
      !attended && recorder.set("editor", null, atUs),
    ];
    if (changes.includes(true)) onChange();
  }

  function idleFacts(): EventFacts {
    return { kind: "idle", state: presence === "passive" ? "passive" : "away" };
  }

  function gapReason(): GapReason | null {
    if (paused) return "paused";
    // What happens behind a lock screen or in a suspend needs no other name.
    if (session.asleep === true || session.locked === true) return null;
    if (windowState === "lost") return "source-lost";
    return windowState === "filtered" || forgotten.window !== null ? "filtered" : null;
  }
}

/** Load and memory never stand still; only what a person would call a change makes a row. */
function isWorthRecording(old: SystemFacts, next: SystemFacts): boolean {
  return (
    old.power !== next.power ||
    old.online !== next.online ||
    old.displayCount !== next.displayCount ||
    differs(old.batteryPercent, next.batteryPercent, 5) ||
    differs(old.cpuLoad, next.cpuLoad, 0.25) ||
    differs(old.memoryUsed, next.memoryUsed, 0.1)
  );
}

function differs(a: number | null, b: number | null, atLeast: number): boolean {
  return a === null || b === null ? a !== b : Math.abs(a - b) >= atLeast;
}
