// @ts-check
/**
 * The file of a ranked table as src/context/ranked-table.ts reads it: with its hash table, so that whoever reads it
 * has nothing to build.
 */

/** @param {readonly Uint8Array[]} entries in order of rank; each of 1 to 255 bytes, at most 65,535 of them */
export function layOutRankedTable(entries) {
  const size = 1 << (33 - Math.clz32(entries.length));
  const slots = Buffer.alloc(2 * size);
  const offsets = Buffer.alloc(4 * entries.length);
  let offset = 0;
  for (const [index, entry] of entries.entries()) {
    offsets.writeUInt32LE(offset, 4 * index);
    offset += 1 + entry.length;
    let slot = hash(entry) & (size - 1);
    while (slots.readUInt16LE(2 * slot) !== 0) slot = (slot + 1) & (size - 1);
    slots.writeUInt16LE(index + 1, 2 * slot);
  }
  const head = Buffer.alloc(8);
  head.writeUInt32LE(entries.length, 0);
  head.writeUInt32LE(size, 4);
  const records = entries.flatMap((entry) => [Buffer.of(entry.length), entry]);
  return Buffer.concat([head, slots, offsets, ...records]);
}

/** As in ranked-table.ts. @param {Uint8Array} bytes */
function hash(bytes) {
  let value = 0x811c9dc5;
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193);
  return value ^ (value >>> 15);
}
