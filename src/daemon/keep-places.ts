/**
 * Looks from time to time whether what the daemon holds open is still under its name: a cleaner or a hand takes files
 * away, and whoever holds them open does not notice. It promises that what fails is told once, and tried again.
 */
import { ActivityError } from "../errors.ts";
import { reasonForLog, type Log } from "../log.ts";

/** Something under a name. */
export interface Place {
  /** What it is, for the log: "the socket". */
  readonly name: string;
  /** Sees to it that it is there, and says whether that was needed. */
  readonly keep: () => boolean | Promise<boolean>;
}

/** For so long nobody finds the socket at most. */
const LOOK_EVERY_MS = 10_000;

/** Keeps the places until the returned function is called. */
export function keepPlaces(
  places: readonly Place[],
  log: Log,
  everyMs = LOOK_EVERY_MS,
): () => void {
  const failing = new Set<string>();
  let looking: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    for (const { name, keep } of places) {
      try {
        if (await keep()) log.warn(`${name} was gone: it is there again`);
        failing.delete(name);
      } catch (thrown) {
        const reason = thrown instanceof ActivityError ? thrown.code : reasonForLog(thrown);
        if (!failing.has(name)) log.error(`${name} is gone`, { reason });
        failing.add(name);
      }
    }
    looking = null;
  };
  const timer = setInterval(() => {
    looking ??= look();
  }, everyMs);
  return () => clearInterval(timer);
}
