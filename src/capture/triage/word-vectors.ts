/**
 * The table of word vectors: what it looks like on disk, and the few sums that are made with it. Written by
 * scripts/make-word-vectors.mjs.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ActivityError } from "../../errors.ts";
import { stemWord } from "./words.ts";

/** Vectors of English words, by stem. */
export interface WordVectors {
  /** Number of a word's vector, or -1 when it has none. */
  readonly find: (word: string) => number;
  /** How telling the word is, 0 to 1: common words little. */
  readonly weight: (index: number) => number;
  /** Cosines of one word with all words, by their numbers. */
  readonly likenessTo: (index: number) => Float32Array;
  /** Weighted mean of words, unscaled. */
  readonly meanOf: (indexes: readonly number[]) => Float32Array;
  /** Bytes of memory the table takes. */
  readonly bytes: number;
}

const FILE = fileURLToPath(new URL("./word-vectors.bin", import.meta.url));

/**
 * Reads the table. Layout, little endian: u32 count, u32 dimensions; count × u32 FNV-1a hash of the stem, ascending;
 * count × f32 length of the vector; count × u8 weight (255 is 1); count × dimensions × i8, each vector scaled to 127.
 */
export function openWordVectors(path = FILE): WordVectors {
  const bytes = readFileSync(path);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length < 8 ? 0 : view.getUint32(0, true);
  const dimensions = bytes.length < 8 ? 0 : view.getUint32(4, true);
  if (count === 0 || bytes.length !== 8 + count * (9 + dimensions)) {
    throw new ActivityError(
      "internal",
      `The table of word vectors ${path} is damaged.`,
      "Install activityd again, or switch digest.semantic off.",
    );
  }
  const hashes = Uint32Array.from({ length: count }, (_, i) => view.getUint32(8 + 4 * i, true));
  const lengths = Float32Array.from({ length: count }, (_, i) =>
    view.getFloat32(8 + 4 * count + 4 * i, true),
  );
  const weightsAt = 8 + 8 * count;
  const vectors = new Int8Array(
    bytes.buffer,
    bytes.byteOffset + weightsAt + count,
    count * dimensions,
  );
  const norms = new Float32Array(count);
  for (let index = 0; index < count; index += 1) {
    norms[index] = Math.sqrt(dot(vectors, index, index, dimensions)) || 1;
  }
  return {
    bytes: bytes.length + 12 * count,
    find: (word) => searchSorted(hashes, hashStem(stemWord(word))),
    weight: (index) => (bytes[weightsAt + index] ?? 0) / 255,
    likenessTo: (index) => {
      const cosines = new Float32Array(count);
      const own = norms[index] ?? 1;
      for (let other = 0; other < count; other += 1) {
        cosines[other] = dot(vectors, index, other, dimensions) / (own * (norms[other] ?? 1));
      }
      return cosines;
    },
    meanOf: (indexes) => {
      const sum = new Float32Array(dimensions);
      for (const index of indexes) {
        const weight = (bytes[weightsAt + index] ?? 0) / 255;
        const scale = (weight * (lengths[index] ?? 0)) / (norms[index] ?? 1);
        for (let k = 0; k < dimensions; k += 1) {
          sum[k] = (sum[k] ?? 0) + scale * (vectors[index * dimensions + k] ?? 0);
        }
      }
      return sum;
    },
  };
}

/** FNV-1a over the character codes of a stem, as the table is sorted by. */
function hashStem(stem: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < stem.length; i += 1) hash = Math.imul(hash ^ stem.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

function dot(vectors: Int8Array, a: number, b: number, dimensions: number): number {
  let sum = 0;
  for (let k = 0; k < dimensions; k += 1) {
    sum += (vectors[a * dimensions + k] ?? 0) * (vectors[b * dimensions + k] ?? 0);
  }
  return sum;
}

function searchSorted(sorted: Uint32Array, wanted: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const value = sorted[middle] ?? 0;
    if (value === wanted) return middle;
    if (value < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
