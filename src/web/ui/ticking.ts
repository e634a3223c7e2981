/** The time on a page that is looked at: a signal that moves on by itself while its component is there. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Microseconds since 1970 UTC, renewed every `everyMs`. */
export function useNowUs(everyMs: number): ReadonlySignal<number> {
  const nowUs = useSignal(Date.now() * 1000);
  useEffect(() => {
    const timer = setInterval(() => {
      nowUs.value = Date.now() * 1000;
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, nowUs]);
  return nowUs;
}
