/**
 * A fixed list of short byte strings that is asked for the rank of one. It hides how the list is kept: end to end
 * as it was read, with a hash table of the ranks, a tenth of what a `Map` of strings would take.
 */
import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";

export interface RankedTable {
  /** The rank of `bytes[from, to)`, counted from 0, or -1 when the list does not have it. */
  readonly rank: (bytes: Uint8Array, from: number, to: number) => number;
}

/** Reads a table: deflated records in order of rank, each a length byte and its bytes; at most 65,535 of them. */
export function openRankedTable(file: URL): RankedTable {
  const records = inflateRawSync(readFileSync(file));
  // Counted first: an array that grows would leave twice its size in garbage.
  let count = 0;
  for (let at = 0; at < records.length; at += 1 + (records[at] ?? 0)) count += 1;
  const offsets = new Uint32Array(count);
  for (let at = 0, index = 0; at < records.length; at += 1 + (records[at] ?? 0))
    offsets[index++] = at;
  const mask = (1 << (33 - Math.clz32(offsets.length))) - 1;
  // 0 is an empty slot, n is entry n - 1.
  const slots = new Uint16Array(mask + 1);
  for (const [index, start] of offsets.entries()) {
    const from = start + 1;
    let slot = hash(records, from, from + (records[start] ?? 0)) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = index + 1;
  }

  function isEntry(index: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = offsets[index] ?? 0;
    if (records[start] !== to - from) return false;
    for (let at = from; at < to; at += 1) {
      if (bytes[at] !== records[start + 1 + at - from]) return false;
    }
    return true;
  }

  return {
    rank: (bytes, from, to) => {
      for (let slot = hash(bytes, from, to) & mask; ; slot = (slot + 1) & mask) {
        const found = slots[slot] ?? 0;
        if (found === 0) return -1;
        if (isEntry(found - 1, bytes, from, to)) return found - 1;
      }
    },
  };
}

/** FNV-1a, folded so that the low bits carry the high ones. */
function hash(bytes: Uint8Array, from: number, to: number): number {
  let value = 0x811c9dc5;
  for (let at = from; at < to; at += 1) value = Math.imul(value ^ (bytes[at] ?? 0), 0x01000193);
  return value ^ (value >>> 15);
}
