/** How long recording can be paused from the page, and how what is left of a pause is told. Pure. */
import type { PauseRequest } from "../../../api.ts";

export interface PauseChoice {
  readonly label: string;
  readonly request: PauseRequest;
}

/** An hour at which nobody works on "today" any more. */
const MORNING_HOUR = 6;

/**
 * The choices at an instant. `tell` words the end of the one that lasts until tomorrow, which is 6 o'clock of the
 * next day on the clock of this machine.
 */
export function pauseChoices(
  nowUs: number,
  tell: (untilUs: number) => string,
): readonly PauseChoice[] {
  const morning = nextMorning(nowUs);
  return [
    { label: "15 minutes", request: { minutes: 15 } },
    { label: "1 hour", request: { minutes: 60 } },
    {
      label: `Until tomorrow, ${tell(morning.getTime() * 1000)}`,
      request: { until: morning.toISOString() },
    },
    { label: "Until I resume", request: {} },
  ];
}

/** What is left of a pause: `1:04:09`, `14:32`; null when it has no end, `0:00` when it is over. */
export function countdown(untilUs: number | null, nowUs: number): string | null {
  if (untilUs === null) return null;
  // A second that has begun is still there.
  const seconds = Math.max(0, Math.ceil((untilUs - nowUs) / 1_000_000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** The next day of the calendar may be 23 or 25 hours away. */
function nextMorning(nowUs: number): Date {
  const day = new Date(nowUs / 1000);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1, MORNING_HOUR);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
