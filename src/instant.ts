/** Reads instants: those that a person types after `--since`, `--from`, `--to` and `--at`, and those of requests. */
import { ActivityError } from "./errors.ts";

const UNIT_US: Readonly<Record<string, number>> = {
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
  w: 604_800_000_000,
};

/**
 * The instant that `text` names, in microseconds: an age such as `45m`, `1h`, `7d` before `nowUs`, a time of
 * today such as `14:00`, or an ISO 8601 date or date-time (without a zone: the machine's).
 * Throws `bad_request` with the accepted forms.
 */
export function parseInstant(text: string, option: string, nowUs: number): number {
  const age = /^(\d{1,6}(?:\.\d+)?)([smhdw])$/.exec(text);
  const unitUs = UNIT_US[age?.[2] ?? ""];
  if (age !== null && unitUs !== undefined) return Math.round(nowUs - Number(age[1]) * unitUs);
  const clock = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (clock !== null) {
    const today = new Date(nowUs / 1000);
    return today.setHours(Number(clock[1]), Number(clock[2]), 0, 0) * 1000;
  }
  const atUs = readIsoInstant(text);
  if (atUs !== null) return atUs;
  throw new ActivityError(
    "bad_request",
    `Cannot read ${option} "${text}" as an instant.`,
    `Give an age (45m, 1h, 7d), a time of today (14:00) or a date (2026-11-27, 2026-11-27T14:00).`,
  );
}

/**
 * An ISO 8601 date or date-time in microseconds, without a zone the machine's; null for what is none. A date is midnight
 * where the owner sits, not in UTC.
 */
export function readIsoInstant(text: string): number | null {
  const [day = "", time] = /^(\d{4}-\d{2}-\d{2})(?:[T ](.+))?$/.exec(text)?.slice(1) ?? [];
  if (!isDay(day)) return null;
  const ms = Date.parse(time === undefined ? `${day}T00:00:00` : `${day}T${time}`);
  return Number.isNaN(ms) ? null : ms * 1000;
}

/** Whether the calendar has this day: V8 takes the 30 February for the 2 March. */
function isDay(text: string): boolean {
  const ms = Date.parse(`${text}T00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/**
 * The range between two instants that a person typed, as fields of a request; an end that was not given is left open.
 * Throws `bad_request` for what cannot be read, for a range that ends before it begins, and for one that has yet to begin.
 */
export function parseRange(
  [fromOption, from]: readonly [option: string, text: string | undefined],
  [toOption, to]: readonly [option: string, text: string | undefined],
  nowUs: number,
): { readonly fromUs?: number; readonly toUs?: number } {
  const fromUs = from === undefined ? undefined : parseInstant(from, fromOption, nowUs);
  const toUs = to === undefined ? undefined : parseInstant(to, toOption, nowUs);
  if (fromUs !== undefined && toUs !== undefined && toUs <= fromUs) {
    throw new ActivityError(
      "bad_request",
      `The range ends before it begins: ${fromOption} ${from}, ${toOption} ${to}.`,
      `Give ${fromOption} the earlier of the two.`,
    );
  }
  // Its end is now.
  if (fromUs !== undefined && toUs === undefined && fromUs > nowUs) {
    throw new ActivityError(
      "bad_request",
      `The range begins in the future: ${fromOption} ${from}.`,
      "Give an instant that has been, such as an age (1h, 7d), a time of today (14:00) or a date.",
    );
  }
  return {
    ...(fromUs === undefined ? {} : { fromUs }),
    ...(toUs === undefined ? {} : { toUs }),
  };
}
