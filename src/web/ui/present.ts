/**
 * The time and the zone of the machine, for a page that stays open over midnights, sleep and journeys. It promises that both
 * are right within seconds, and at once when somebody looks at the page again.
 */
import { signal, type ReadonlySignal } from "@preact/signals";

export interface Present {
  /** Microseconds since 1970 UTC, a few seconds old at most while the page is seen. */
  readonly nowUs: ReadonlySignal<number>;
  /** IANA zone that the machine is in now. */
  readonly timeZone: ReadonlySignal<string>;
}

const LOOK_EVERY_MS = 2000;

/** Looks for as long as the tab lives. */
export function createPresent(): Present {
  const nowUs = signal(readNowUs());
  const timeZone = signal(readTimeZone());
  const look = (): void => {
    nowUs.value = readNowUs();
    timeZone.value = readTimeZone();
  };
  setInterval(look, LOOK_EVERY_MS);
  // A tab that is not seen is given its turn once a minute.
  document.addEventListener("visibilitychange", look);
  return { nowUs, timeZone };
}

function readNowUs(): number {
  return Date.now() * 1000;
}

/** Asked anew each time: a formatter that was made before stays in the zone of then. */
function readTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
