/** What a moment is made of once it is read: the day, the week, the part of the day, the time on the clock. */
import type { ClockNode } from "./clock.ts";
import type { DateNode } from "./date.ts";
import type { PartOfDay, Shade } from "./words.ts";

export type DayNode =
  | { readonly type: "back"; readonly days: number }
  | { readonly type: "weekday"; readonly weekday: number; readonly which: "last" | "this" | null }
  | DateNode;

export interface PeriodNode {
  readonly unit: "week" | "weekend" | "month" | "quarter" | "year";
  /** Which quarter of its year or week of its month (-1 for the last) is meant; of weeks without a month, of the year. */
  readonly number?: number;
  /** How many back from the present one; null when `month` or `year` names it. */
  readonly back: number | null;
  readonly month: number | null;
  readonly year: number | null;
  /** "a week ago" is a day or so around, "last week" is the week. */
  readonly loose: boolean;
}

/** What can be said about one moment, in any order: "around 3 on Tuesday", "gestern Nachmittag". */
export interface MomentNode {
  readonly day: DayNode | null;
  readonly period: PeriodNode | null;
  readonly part: PartOfDay | null;
  readonly shade: Shade | null;
  readonly clock: ClockNode | null;
  /** The clock is what it shows now: "this time yesterday". */
  readonly clockNow: boolean;
  /** End of a range of clock times within the moment. */
  readonly clockEnd: ClockNode | null;
  readonly around: boolean;
  /** The day was only named as a whole ("all day"); another name for it takes its place. */
  readonly whole: boolean;
}

export const EMPTY_MOMENT: MomentNode = {
  day: null,
  period: null,
  part: null,
  shade: null,
  clock: null,
  clockNow: false,
  clockEnd: null,
  around: false,
  whole: false,
};
