/**
 * Looks whether capture does what it should instead of whether the process runs. It promises that a source
 * which stalls is named within 15 seconds and begun anew, and that events which do not reach the store are
 * noticed by reading them back.
 */
import type { Clock } from "../clock.ts";
import { reasonForLog, type Log } from "../log.ts";
import type { SourceKeeper } from "./sources/keeper.ts";
import type { Blindness, SampleOf, SourceKind, SourceResult } from "./sources/source.ts";

const CHECK_INTERVAL_MS = 10_000;
/** A source that seems to stall is looked at again so soon, which keeps to 15 seconds in all. */
const RECHECK_MS = 3_000;
/** Sources tell a churning title once a second. */
const PATIENCE_US = 2_000_000;
/** So many answers in a row must fail before a source is begun anew: one may meet a busy desktop. */
const FAILURES_TO_RESTART = 2;
/** An open event is committed each 15 s; one that is older by more than a check did not arrive. */
const COMMIT_LIMIT_US = 25_000_000;

export interface Watchdog {
  /** What a source told by itself, to be compared with what it says when it is asked. */
  readonly told: (kind: SourceKind, result: SourceResult<unknown>) => void;
  /** What a source said when somebody else asked it. */
  readonly answered: (kind: SourceKind, result: SourceResult<unknown>) => void;
  readonly start: () => void;
  /** What is wrong now; empty when all is well. */
  readonly problems: () => readonly Blindness[];
  readonly close: () => void;
}

export interface WatchdogOptions {
  /** The sources, asked by the watchdog itself or, when `isPolled`, by somebody else who passes the answers on. */
  readonly keepers: readonly Watched[];
  /** The end of the event that goes on, as the store has it; null when no event goes on. */
  readonly committedEndUs: () => number | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when `problems` became others. */
  readonly onChange: () => void;
}

/** A keeper of any kind, as far as the watchdog needs it. */
export interface Watched {
  readonly kind: SourceKind;
  readonly isPolled: boolean;
  readonly snapshot: () => Promise<SourceResult<SampleOf[SourceKind]>>;
  readonly status: SourceKeeper<SourceKind>["status"];
  readonly restart: (why: Blindness) => void;
}

interface Health {
  /** What it told last by itself, as text; undefined before that. */
  told: string | undefined;
  /** An answer that differs from what was told, and has not been told since. */
  untold: { readonly text: string; readonly sinceUs: number } | null;
  failures: number;
  problem: Blindness | null;
}

export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { keepers, committedEndUs, clock, log, onChange } = options;
  const healthOf = new Map<SourceKind, Health>(
    keepers.map(({ kind }) => [
      kind,
      { told: undefined, untold: null, failures: 0, problem: null },
    ]),
  );
  let storeProblem: Blindness | null = null;
  let timer: NodeJS.Timeout | null = null;
  let recheckTimer: NodeJS.Timeout | null = null;
  let checking = false;

  async function check(): Promise<void> {
    // A source that takes its whole time-out is looked at again when it is through.
    if (checking) return;
    checking = true;
    try {
      checkStore();
      await Promise.all(keepers.filter(({ isPolled }) => !isPolled).map(ask));
    } catch (thrown) {
      log.error("the watchdog failed", { reason: reasonForLog(thrown) });
    } finally {
      checking = false;
    }
  }

  async function ask(keeper: Watched): Promise<void> {
    const { state, sinceUs } = keeper.status();
    const answer = state === "live" ? await keeper.snapshot() : null;
    const now = keeper.status();
    // Lost or changed meanwhile: the answer is not of this backend.
    judge(keeper, answer !== null && now.sinceUs === sinceUs ? answer : null);
  }

  /** Null: there is no answer to judge by, since the keeper is at work and its status says so. */
  function judge(keeper: Watched, answer: SourceResult<unknown> | null): void {
    const health = healthOf.get(keeper.kind);
    if (health === undefined || timer === null) return;
    const before = health.problem;
    if (answer === null || keeper.status().state !== "live") {
      Object.assign(health, { untold: null, failures: 0, problem: null });
    } else {
      const hasMissed = answer.ok && isMissed(health, answer);
      if (!answer.ok) complain(keeper, health, answer.reason, false);
      else if (hasMissed) complain(keeper, health, "it does not tell what changed.", true);
      else Object.assign(health, { failures: 0, problem: null });
      const isSuspect = health.untold !== null || health.failures > 0;
      if (isSuspect && !keeper.isPolled) recheckTimer ??= setTimeout(recheck, RECHECK_MS);
    }
    if (before?.reason !== health.problem?.reason) onChange();
  }

  function recheck(): void {
    recheckTimer = null;
    void check();
  }

  function complain(keeper: Watched, health: Health, wrong: string, isCertain: boolean): void {
    const { backend } = keeper.status();
    health.failures += 1;
    health.problem = {
      reason: `The ${keeper.kind} source ${backend ?? ""} stalls: ${wrong}`,
      remedy: "It is begun anew by itself; if that does not help, restart the desktop session.",
    };
    if (!isCertain && health.failures < FAILURES_TO_RESTART) return;
    log.warn(`${keeper.kind} source stalls and is begun anew`, { backend });
    Object.assign(health, { told: undefined, untold: null, failures: 0 });
    keeper.restart(health.problem);
  }

  /**
   * A source that reports by itself must have told what it says when it is asked; an answer that is still
   * untold seconds later is an event that was missed. A title that churns is another answer each time.
   */
  function isMissed(health: Health, answer: SourceResult<unknown>): boolean {
    const text = JSON.stringify(answer);
    if (health.told === undefined || health.told === text) health.untold = null;
    else if (health.untold?.text !== text) health.untold = { text, sinceUs: clock.monotonicUs() };
    const { untold } = health;
    return untold !== null && clock.monotonicUs() - untold.sinceUs >= PATIENCE_US;
  }

  function checkStore(): void {
    const before = storeProblem;
    const endUs = committedEndUs();
    const lateUs = endUs === null ? 0 : clock.nowUs() - endUs;
    storeProblem =
      lateUs > COMMIT_LIMIT_US
        ? {
            reason: `The newest event in the store ends ${Math.round(lateUs / 1_000_000)} s ago although it goes on.`,
            remedy: "Restart the daemon: activityd stop; activityd start --detach",
          }
        : null;
    if ((before === null) !== (storeProblem === null)) onChange();
  }

  function problems(): readonly Blindness[] {
    return [...[...healthOf.values()].map(({ problem }) => problem), storeProblem].filter(
      (problem) => problem !== null,
    );
  }

  return {
    told: (kind, result) => {
      const health = healthOf.get(kind);
      if (health !== undefined) health.told = JSON.stringify(result);
    },
    answered: (kind, result) => {
      const keeper = keepers.find((each) => each.kind === kind);
      if (keeper !== undefined) judge(keeper, result);
    },
    start: () => {
      timer ??= setInterval(() => void check(), CHECK_INTERVAL_MS);
    },
    problems,
    close: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      if (recheckTimer !== null) clearTimeout(recheckTimer);
      recheckTimer = null;
    },
  };
}
