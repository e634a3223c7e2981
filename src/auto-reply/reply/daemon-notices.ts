/**
 * What the daemon says of itself to the conversations that are going on, for owners who ask for it. It promises
 * one notice for each change, however often a state is reported, and nothing of what strangers wrote.
 */

/** Which notices the owner asks for. */
export interface DaemonNoticeWishes {
  /** Recording was paused, or goes on. */
  readonly pause: boolean;
  /** A source of capture was lost, or is back. */
  readonly source: boolean;
  /** The battery runs low. */
  readonly battery: boolean;
}

export interface DaemonNotices {
  readonly paused: (isPaused: boolean) => void;
  readonly source: (kind: string, state: "live" | "lost" | "blind" | "off") => void;
  /** `percent` 0–100; null where there is no battery. */
  readonly battery: (percent: number | null, power: "ac" | "battery" | null) => void;
}

/** `say` tells one line to every conversation that is going on. */
export function createDaemonNotices(
  wishes: DaemonNoticeWishes,
  say: (text: string) => void,
): DaemonNotices {
  let isPaused = false;
  const lost = new Set<string>();
  let isLowTold = false;
  return {
    paused: (now) => {
      if (now === isPaused) return;
      isPaused = now;
      if (wishes.pause) say(now ? "Recording is paused" : "Recording goes on");
    },
    source: (kind, state) => {
      if (state === "lost" && !lost.has(kind)) {
        lost.add(kind);
        if (wishes.source)
          say(`The ${kind} source is lost: it is sought again, and nothing of it is recorded`);
      }
      if (state === "live" && lost.delete(kind) && wishes.source) say(`The ${kind} source is back`);
    },
    battery: (percent, power) => {
      if (percent === null || power !== "battery" || percent >= RESET_PERCENT) {
        isLowTold = false;
        return;
      }
      if (percent > LOW_PERCENT || isLowTold) return;
      isLowTold = true;
      if (wishes.battery) say(`The battery is at ${Math.round(percent)} %`);
    },
  };
}

const LOW_PERCENT = 20;
/** A battery that hovers around the limit is told of once. */
const RESET_PERCENT = 25;
