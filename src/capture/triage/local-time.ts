/**
 * Wall-clock arithmetic in one time zone. It hides daylight saving: a local day may have 23 or 25 hours, and
 * an hour may be missing or come twice.
 */

/** A calendar day; `month` is 1–12. */
export interface LocalDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export interface LocalMoment extends LocalDay {
  /** Minutes since local midnight as the clock on the wall shows them, 0–1439. */
  readonly minuteOfDay: number;
}

export interface LocalTime {
  readonly toLocal: (us: number) => LocalMoment;
  /**
   * The instant at which the wall shows `minuteOfDay` (may be negative or beyond 1440: earlier and later days).
   * A time that the clock skips becomes the moment of the skip; of one that comes twice `edge` says which.
   */
  readonly toUs: (day: LocalDay, minuteOfDay: number, edge?: "first" | "last") => number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** @param timeZone IANA name; a RangeError when the runtime does not know it. */
export function createLocalTime(timeZone: string): LocalTime {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    era: "short",
  });

  /** The wall clock at `ms`, as if it were UTC, in whole minutes. */
  const wallMs = (ms: number): number => {
    const field: Record<string, string> = {};
    for (const part of format.formatToParts(ms)) field[part.type] = part.value;
    const year = Number(field["year"]) * (field["era"] === "BC" ? -1 : 1);
    return Date.UTC(
      year,
      Number(field["month"]) - 1,
      Number(field["day"]),
      Number(field["hour"]),
      Number(field["minute"]),
    );
  };
  /** Formatting is slow, and one turn asks for the same hours again and again. */
  const offsets = new Map<number, number>();
  const offsetAt = (ms: number): number => {
    const minute = Math.floor(ms / MINUTE_MS);
    const known = offsets.get(minute);
    if (known !== undefined) return known;
    const offset = wallMs(ms) - minute * MINUTE_MS;
    offsets.set(minute, offset);
    return offset;
  };

  return {
    toLocal: (us) => {
      const wall = new Date(wallMs(us / 1000));
      return {
        year: wall.getUTCFullYear(),
        month: wall.getUTCMonth() + 1,
        day: wall.getUTCDate(),
        minuteOfDay: wall.getUTCHours() * 60 + wall.getUTCMinutes(),
      };
    },
    toUs: (day, minuteOfDay, edge = "first") => {
      const wall = Date.UTC(day.year, day.month - 1, day.day) + Math.round(minuteOfDay * MINUTE_MS);
      // The offsets in force a day earlier and later are the only two that can apply around one change.
      const early = wall - offsetAt(wall - DAY_MS);
      const late = wall - offsetAt(wall + DAY_MS);
      if (early === late) return early * 1000;
      const holds = [early, late].filter((ms) => ms + offsetAt(ms) === wall);
      if (holds.length > 0) {
        return (edge === "first" ? Math.min(...holds) : Math.max(...holds)) * 1000;
      }
      return skipMs(Math.min(early, late), Math.max(early, late), offsetAt) * 1000;
    },
  };
}

/** The moment of the change of offset between two instants, by halving. */
function skipMs(lowMs: number, highMs: number, offsetAt: (ms: number) => number): number {
  let low = lowMs;
  let high = highMs;
  const before = offsetAt(low);
  while (high - low > MINUTE_MS) {
    const middle = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS;
    if (middle <= low) break;
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** The calendar day `count` days later (earlier when negative). */
export function addDays(day: LocalDay, count: number): LocalDay {
  return fromUtcDate(new Date(Date.UTC(day.year, day.month - 1, day.day + count)));
}

/** The first day of the month `count` months later (earlier when negative). */
export function firstOfMonth(day: LocalDay, count = 0): LocalDay {
  return fromUtcDate(new Date(Date.UTC(day.year, day.month - 1 + count, 1)));
}

/** 0 for Sunday to 6 for Saturday. */
export function weekdayOf(day: LocalDay): number {
  return new Date(Date.UTC(day.year, day.month - 1, day.day)).getUTCDay();
}

/** Negative when `a` is earlier than `b`, in days. */
export function daysBetween(a: LocalDay, b: LocalDay): number {
  return (Date.UTC(a.year, a.month - 1, a.day) - Date.UTC(b.year, b.month - 1, b.day)) / DAY_MS;
}

/** The day, or null where the calendar has none such (31 April). */
export function validDay(year: number, month: number, day: number): LocalDay | null {
  const made = fromUtcDate(new Date(Date.UTC(year, month - 1, day)));
  return made.month === month && made.day === day ? made : null;
}

function fromUtcDate(date: Date): LocalDay {
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
  };
}
