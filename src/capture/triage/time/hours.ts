/** Which of its two readings a bare hour has: "at 3", "9 to 5", "11 to 1". */
import type { ClockNode } from "./clock.ts";
import type { PartOfDay } from "./words.ts";

const DAY_MIN = 1440;
const NIGHT_END_MIN = 6 * 60;

/** The readings of "at 3" in the order of likelihood: the part of the day decides, else waking hours. */
export function clockReadings(
  clock: ClockNode,
  part: PartOfDay | null,
  dated: boolean,
  nowMinute: number,
): readonly number[] {
  if (clock.settled)
    return (part === "night" || part === "late-night") && clock.minute < 6 * 60
      ? [clock.minute + DAY_MIN, clock.minute]
      : [clock.minute];
  const morning = clock.minute;
  const later = clock.minute + 720;
  switch (part) {
    case "small-hours":
      return [morning];
    case "morning":
      return [clock.minute < 60 ? later : morning];
    case "afternoon":
    case "evening":
    case "day-end":
    case "midday":
    case "siesta":
      return [later];
    case "night":
    case "late-night":
      return clock.minute >= 6 * 60 ? [later, morning] : [morning + DAY_MIN, morning];
    case null: {
      if (clock.minute < 7 * 60) return dated ? [later, morning] : [later];
      const sinceLater = nowMinute - later;
      return !dated && sinceLater > 0 && sinceLater < 4 * 60 ? [later, morning] : [morning, later];
    }
  }
}

/** "9 to 5", "11 to 1", "10 to 12 pm", "22 to 2": both ends as minutes since the midnight before the first. */
export function orderClocks(
  from: ClockNode,
  to: ClockNode,
  part: PartOfDay | null,
): readonly [number, number] {
  const readings = (clock: ClockNode): readonly number[] =>
    clock.settled ? [clock.minute] : [clock.minute, clock.minute + 720];
  const isNight = part === "night" || part === "late-night";
  if (!from.settled && to.settled && !(isNight && from.minute < NIGHT_END_MIN)) {
    const start = readings(from).filter((minute) => minute < to.minute);
    const last = start[start.length - 1];
    return last === undefined ? [from.minute + 720, to.minute + DAY_MIN] : [last, to.minute];
  }
  const late = part !== null && part !== "morning" && part !== "small-hours";
  const start = startMinute(from, part, late);
  const end = [...readings(to), ...readings(to).map((minute) => minute + DAY_MIN)].find(
    (minute) => minute > start,
  );
  return [start, end ?? start + 60];
}

/** "Last night between 1 and 3" is after the midnight of that night, "between 9 and 11" before it. */
function startMinute(from: ClockNode, part: PartOfDay | null, late: boolean): number {
  const isNight = part === "night" || part === "late-night";
  if (isNight && from.minute < NIGHT_END_MIN) return from.minute + DAY_MIN;
  if (from.settled) return from.minute;
  return late || from.minute < 7 * 60 ? from.minute + 720 : from.minute;
}
