/**
 * Looks whether capture does what it should instead of whether the process runs. It promises that a source
 * which stalls is named within 15 seconds and begun anew, and that events which do not reach the store are
 * noticed by reading them back.
 */
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { SourceKeeper } from "./sources/keeper.ts";
import type { Blindness, SampleOf, SourceKind, SourceResult } from "./sources/source.ts";

const CHECK_INTERVAL_MS = 5_000;
/** So many checks in a row must fail before a source is begun anew: one may meet a busy desktop. */
const FAILURES_TO_RESTART = 2;
/** An open event is committed each 15 s; one that is older by more than a check did not arrive. */
const COMMIT_LIMIT_US = 25_000_000;

export interface Watchdog {
  /** What a source told by itself, to be compared with what it says when it is asked. */
  readonly told: (kind: SourceKind, result: SourceResult<unknown>) => void;
  readonly start: () => void;
  /** What is wrong now; empty when all is well. */
  readonly problems: () => readonly Blindness[];
  readonly close: () => void;
}

export interface WatchdogOptions {
  /** The sources that can be asked. Their answers go nowhere else. */
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
  readonly snapshot: () => Promise<SourceResult<SampleOf[SourceKind]>>;
  readonly status: SourceKeeper<SourceKind>["status"];
  readonly restart: (why: Blindness) => void;
}

interface Health {
  /** What it told last by itself, as text; undefined before that. */
  told: string | undefined;
  /** An answer that differs from what was told, and has not been told since. */
  untold: string | null;
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
  let checking = false;

  async function check(): Promise<void> {
    // A source that takes its whole time-out is looked at again when it is through.
    if (checking) return;
    checking = true;
    const before = JSON.stringify(problems());
    checkStore();
    await Promise.all(keepers.map(checkSource));
    checking = false;
    if (timer !== null && JSON.stringify(problems()) !== before) onChange();
  }

  async function checkSource(keeper: Watched): Promise<void> {
    const health = healthOf.get(keeper.kind);
    if (health === undefined) return;
    const { state, backend, sinceUs } = keeper.status();
    if (state !== "live") {
      // Its status says so already, and the keeper is at work.
      Object.assign(health, { untold: null, failures: 0, problem: null });
      return;
    }
    const answer = await keeper.snapshot();
    const now = keeper.status();
    // It was lost or changed meanwhile: the answer is not of this backend.
    if (now.state !== "live" || now.sinceUs !== sinceUs) return;
    const name = `The ${keeper.kind} source ${backend ?? ""}`;
    const wrong = answer.ok ? missed(health, answer) : answer.reason;
    if (wrong === null) {
      Object.assign(health, { failures: 0, problem: null });
      return;
    }
    health.failures += 1;
    health.problem = {
      reason: `${name} stalls: ${wrong}`,
      remedy: "It is begun anew by itself; if that does not help, restart the desktop session.",
    };
    if (health.failures < FAILURES_TO_RESTART) return;
    log.warn(`${keeper.kind} source stalls and is begun anew`, { backend });
    Object.assign(health, { told: undefined, untold: null, failures: 0 });
    keeper.restart(health.problem);
  }

  /**
   * A source that reports by itself must have told what it says when it is asked; the same untold answer in
   * two checks is an event that was missed.
   */
  function missed(health: Health, answer: SourceResult<unknown>): string | null {
    const text = JSON.stringify(answer);
    const isUntold = health.told !== undefined && health.told !== text;
    const wasUntold = isUntold && health.untold === text;
    health.untold = isUntold ? text : null;
    return wasUntold ? "it does not tell what changed." : null;
  }

  function checkStore(): void {
    const endUs = committedEndUs();
    const lateUs = endUs === null ? 0 : clock.nowUs() - endUs;
    storeProblem =
      lateUs > COMMIT_LIMIT_US
        ? {
            reason: `The newest event in the store ends ${Math.round(lateUs / 1_000_000)} s ago although it goes on.`,
            remedy: "Restart the daemon: activityd stop; activityd start --detach",
          }
        : null;
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
    start: () => {
      timer ??= setInterval(() => {
        void check().catch((thrown: unknown) => {
          checking = false;
          log.error("the watchdog failed", { reason: String(thrown) });
        });
      }, CHECK_INTERVAL_MS);
    },
    problems,
    close: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}
