/**
 * A fixed list of short byte strings that is asked for the rank of one. It hides how the list is kept: in its file
 * stands a hash table of the ranks, which is read as it is, so that opening it builds nothing.
 */
import { readFileSync } from "node:fs";

export interface RankedTable {
  /** The rank of `bytes[from, to)`, counted from 0, or -1 when the list does not have it. */
  readonly rank: (bytes: Uint8Array, from: number, to: number) => number;
}

/**
 * Reads a table as scripts/ranked-table.mjs lays it out, little endian: u32 number of entries, u32 number of slots (a
 * power of two); slots × u16 (0 is empty, n is entry n - 1, found by linear probing); entries × u32 where the record
 * begins; the records in order of rank, each a length byte and its bytes.
 */
export function openRankedTable(file: URL): RankedTable {
  // Read byte by byte below: that is as fast as a view, and the same on machines of either byte order.
  const table = readFileSync(file);
  const count = table.readUInt32LE(0);
  const size = table.readUInt32LE(4);
  const mask = size - 1;
  const offsetsAt = 8 + 2 * size;
  const recordsAt = offsetsAt + 4 * count;

  function isEntry(index: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = recordsAt + table.readUInt32LE(offsetsAt + 4 * index);
    if (table[start] !== to - from) return false;
    for (let at = from; at < to; at += 1) {
      if (bytes[at] !== table[start + 1 + at - from]) return false;
    }
    return true;
  }

  return {
    rank: (bytes, from, to) => {
      for (let slot = hash(bytes, from, to) & mask; ; slot = (slot + 1) & mask) {
        const at = 8 + 2 * slot;
        const found = (table[at] ?? 0) | ((table[at + 1] ?? 0) << 8);
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
