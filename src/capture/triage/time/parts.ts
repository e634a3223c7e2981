/** When the parts of a day begin and end, as people mean them. */
import type { PartOfDay, Shade } from "./words.ts";

/** Minutes since midnight; beyond 1440 it runs into the next day. Evening and night run late, as people do. */
const PARTS: Readonly<Record<PartOfDay, readonly [number, number]>> = {
  morning: [6 * 60, 12 * 60],
  midday: [11 * 60 + 30, 14 * 60],
  afternoon: [12 * 60, 18 * 60],
  "day-end": [15 * 60 + 30, 20 * 60],
  // Spanish "tarde" lasts until nightfall.
  siesta: [12 * 60, 20 * 60],
  evening: [18 * 60, 24 * 60],
  night: [18 * 60, 28 * 60],
  // German "Nacht" and French "nuit" leave the evening out.
  "late-night": [20 * 60, 30 * 60],
  "small-hours": [0, 6 * 60],
};

/** Of a day without a part: "early yesterday". */
const SHADES: Readonly<Record<Shade, readonly [number, number]>> = {
  early: [5 * 60, 10 * 60],
  mid: [10 * 60, 16 * 60],
  late: [18 * 60, 24 * 60],
};

/** Where the middle is not that of the whole: nobody means half past seven by the middle of the morning. */
const MIDDLES: Partial<Record<PartOfDay, readonly [number, number]>> = {
  morning: [9 * 60, 11 * 60 + 30],
  siesta: [16 * 60, 19 * 60],
};

/** Minutes since midnight, half-open; of a whole day where no part is named. */
export function shaded(part: PartOfDay | null, shade: Shade | null): readonly [number, number] {
  if (part === null) return SHADES[shade ?? "mid"];
  const [start, end] = PARTS[part];
  if (shade === null) return [start, end];
  if (shade === "mid") return MIDDLES[part] ?? [start + (end - start) / 4, end - (end - start) / 4];
  const half = (start + end) / 2;
  return shade === "early" ? [part === "morning" ? start - 60 : start, half] : [half, end];
}
