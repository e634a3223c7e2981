/**
 * Days and hours of wall clocks. It promises that the pieces of a span add up to the span, whatever
 * daylight saving or travel does to the clock within it.
 */

/** A part of a span that lies within one local day. */
export interface DayPart {
  /** 20261127 for 27 November 2026. */
  readonly localDay: number;
  readonly fromUs: number;
  readonly toUs: number;
}

export interface LocalDays {
  /** The whole local day around an instant. */
  readonly rangeAt: (atUs: number, timeZone: string) => DayPart;
  /** The local day of an instant in an IANA zone. An unknown zone counts as UTC. */
  readonly dayAt: (atUs: number, timeZone: string) => number;
  /** The span cut at the local midnights of a zone, in order. Empty for an empty span. */
  readonly parts: (fromUs: number, toUs: number, timeZone: string) => readonly DayPart[];
}

/** Remembers the last day of each zone, since nearly every question is about today. */
export function createLocalDays(): LocalDays {
  const lastDays = new Map<string, DayPart>();
  const formats = new Map<string, Intl.DateTimeFormat>();

  const dayRange = (atUs: number, timeZone: string): DayPart => {
    const last = lastDays.get(timeZone);
    if (last !== undefined && atUs >= last.fromUs && atUs < last.toUs) return last;
    const day = findDay(atUs, formatFor(timeZone));
    lastDays.set(timeZone, day);
    return day;
  };

  const formatFor = (timeZone: string): Intl.DateTimeFormat => {
    const known = formats.get(timeZone);
    if (known !== undefined) return known;
    const made = createFormat(timeZone);
    formats.set(timeZone, made);
    return made;
  };

  return {
    rangeAt: dayRange,
    dayAt: (atUs, timeZone) => dayRange(atUs, timeZone).localDay,
    parts: (fromUs, toUs, timeZone) => {
      const parts: DayPart[] = [];
      for (let atUs = fromUs; atUs < toUs;) {
        const day = dayRange(atUs, timeZone);
        const endUs = Math.min(day.toUs, toUs);
        parts.push({ localDay: day.localDay, fromUs: atUs, toUs: endUs });
        atUs = endUs;
      }
      return parts;
    },
  };
}

/** 20261127 from "2026-11-27"; null when it is no date. */
export function parseLocalDay(text: string): number | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return match === null ? null : Number(`${match[1]}${match[2]}${match[3]}`);
}

const HOUR_US = 3_600_000_000;
const SECOND_US = 1_000_000;

function createFormat(timeZone: string): Intl.DateTimeFormat {
  const fields = {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    calendar: "iso8601",
  } as const;
  try {
    return new Intl.DateTimeFormat("en-US", { ...fields, timeZone });
  } catch {
    // A zone that this system's tables do not know, such as one from an import.
    return new Intl.DateTimeFormat("en-US", { ...fields, timeZone: "UTC" });
  }
}

/**
 * The stretch around an instant within which the local date is the same. The edges are found by halving, so
 * that no rule about offsets is needed: a day may have 23, 24, 25 or 24.5 hours, or begin at 01:00.
 */
function findDay(atUs: number, format: Intl.DateTimeFormat): DayPart {
  const localDay = localDayNumber(atUs, format);
  const isSame = (us: number): boolean => localDayNumber(us, format) === localDay;
  const toUs = firstOther(atUs, SECOND_US, isSame);
  const fromUs = firstOther(atUs, -SECOND_US, isSame);
  return { localDay, fromUs, toUs };
}

/**
 * The whole second at which the day ends (step > 0) or begins (step < 0): zones change on whole seconds.
 */
function firstOther(atUs: number, stepUs: number, isSame: (us: number) => boolean): number {
  const reach = (26 * HOUR_US) / SECOND_US;
  const base = Math.floor(atUs / SECOND_US) * SECOND_US;
  let same = 0;
  let other = reach;
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (isSame(base + middle * stepUs)) same = middle;
    else other = middle;
  }
  return stepUs > 0 ? base + other * stepUs : base + same * stepUs;
}

function localDayNumber(us: number, format: Intl.DateTimeFormat): number {
  let localDay = 0;
  let year = 0;
  for (const { type, value } of format.formatToParts(us / 1000)) {
    if (type === "year") year = Number(value);
    else if (type === "month") localDay += Number(value) * 100;
    else if (type === "day") localDay += Number(value);
  }
  return year * 10_000 + localDay;
}
