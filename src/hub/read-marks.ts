/**
 * Which records of which logs were given on: ranges per device and epoch, as text that outlives the process. It
 * promises that a record which arrives late, after later ones, is not taken for one that was there.
 */
import type { LogPosition } from "./driver.ts";
import { z } from "../shapes.ts";

export interface ReadMarks {
  readonly has: (device: string, position: LogPosition) => boolean;
  /** Whether all of `[fromSeq, toSeq]` is marked. */
  readonly hasAll: (device: string, epoch: number, fromSeq: number, toSeq: number) => boolean;
  readonly add: (device: string, position: LogPosition) => void;
  readonly write: () => string;
}

/** Reads marks back; text that is none gives none. */
export function readMarks(text: string | null): ReadMarks {
  const marks = new Map<string, [number, number][]>(parse(text));

  const rangeAt = (device: string, epoch: number, seq: number): [number, number] | undefined =>
    marks.get(`${device}/${epoch}`)?.find(([from, to]) => seq >= from && seq <= to);

  return {
    has: (device, { epoch, seq }) => rangeAt(device, epoch, seq) !== undefined,
    hasAll: (device, epoch, fromSeq, toSeq) => {
      const range = rangeAt(device, epoch, fromSeq);
      return range !== undefined && range[1] >= toSeq;
    },
    add: (device, { epoch, seq }) => {
      const key = `${device}/${epoch}`;
      const ranges = marks.get(key) ?? [];
      marks.set(key, ranges);
      // Nearly always the last range grows by one.
      const last = ranges.at(-1);
      if (last !== undefined && seq === last[1] + 1) last[1] = seq;
      else if (rangeAt(device, epoch, seq) === undefined) {
        ranges.push([seq, seq]);
        marks.set(key, joined(ranges));
      }
    },
    write: () => JSON.stringify([...marks]),
  };
}

const schema = z.array(z.tuple([z.string(), z.array(z.tuple([z.int(), z.int()]))]));

function parse(text: string | null): [string, [number, number][]][] {
  if (text === null) return [];
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : [];
  } catch {
    // Of another driver: everything is read anew.
    return [];
  }
}

function joined(ranges: [number, number][]): [number, number][] {
  const result: [number, number][] = [];
  for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}
