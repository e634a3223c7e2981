/**
 * Which absence a meal was. It hides that people mean different meals by one word, and promises the newest that was
 * recorded where the turn names no day.
 */
import type { ActivityHistory } from "../../store/history.ts";
import { type Away, type Meal, mealOn, startOfDay } from "./absences.ts";
import type { Window } from "./readings.ts";

const HOUR_US = 3_600_000_000;
const DAY_US = 24 * HOUR_US;

interface MealSources {
  readonly history: ActivityHistory;
  readonly nowUs: number;
  readonly timeZone: string;
}

/**
 * @param within The day or part of it that is named, or null.
 * @param isRecent Whether the turn says that it was not long ago.
 */
export function findMeal(
  sources: MealSources,
  meal: Meal,
  within: Window | null,
  isRecent: boolean,
): Away | null {
  const { history, nowUs, timeZone } = sources;
  const meant = mealMeant(sources, meal, within, isRecent);
  if (within !== null) return mealOn(history, meant, within.fromUs, nowUs, timeZone);
  // Today's, or that of the last day that had one.
  for (let back = 0; back < 5; back += 1) {
    const found = mealOn(history, meant, nowUs - back * DAY_US, nowUs, timeZone);
    if (found !== null) return found;
  }
  return null;
}

/** "Dîner" and "dinner" are lunch in half of the places that have the word: there the turn or the record says so. */
function mealMeant(
  { history, nowUs, timeZone }: MealSources,
  meal: Meal,
  within: Window | null,
  isRecent: boolean,
): Meal {
  if (meal !== "dinner") return meal;
  const hourOf = (us: number): number => (us - startOfDay(us, timeZone)) / HOUR_US;
  if (within !== null) {
    const isShort = within.toUs - within.fromUs < 8 * HOUR_US;
    return isShort && hourOf(within.fromUs) >= 10 && hourOf(within.toUs) <= 16 ? "lunch" : meal;
  }
  if (hourOf(nowUs) >= EVENING_HOUR) return meal;
  if (!isRecent && mealOn(history, meal, nowUs - DAY_US, nowUs, timeZone) !== null) return meal;
  return mealOn(history, "lunch", nowUs, nowUs, timeZone) === null ? meal : "lunch";
}

const EVENING_HOUR = 17;
