/**
 * How many tokens a text costs at most, in the o200k vocabulary in which budgets are counted, without
 * carrying that vocabulary. It promises a number that is never below the exact one, for any text, and near
 * it for ordinary lines.
 */
import { inflateRawSync } from "node:zlib";
import { TOKEN_MERGES } from "./token-merges.ts";

/**
 * An upper bound of the o200k tokens of `text`; 0 for the empty text.
 *
 * A byte-pair tokenizer applies the merge of lowest rank until none is left. Here are only the first merges
 * of its list: the same steps in the same order, stopped early, so that what is counted can only be more.
 *
 * Lines of a block add up: `tokenBound(a + b)` is `tokenBound(a) + tokenBound(b)` when `a` ends with a line
 * break and `b` begins with a letter or a dash.
 */
export function tokenBound(text: string): number {
  let tokens = 0;
  PIECE.lastIndex = 0;
  for (let piece = PIECE.exec(text); piece !== null; piece = PIECE.exec(text)) {
    tokens += pieceBound(piece[0]);
  }
  return tokens;
}

/** Bytes of the longest piece that is merged; a longer one counts a token for every byte, which bounds any. */
const MAX_MERGED_BYTES = 640;

// How o200k cuts a text before it merges: words with one leading sign and an English suffix, numbers by three
// digits, signs with the line breaks behind them, white space. The pattern is that of tiktoken's o200k_base.
const SUFFIX = String.raw`(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?`;
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const PIECE = new RegExp(
  [
    String.raw`[^\r\n\p{L}\p{N}]?${UPPER}*${LOWER}+${SUFFIX}`,
    String.raw`[^\r\n\p{L}\p{N}]?${UPPER}+${LOWER}*${SUFFIX}`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
    String.raw`\s*[\r\n]+`,
    String.raw`\s+(?!\S)`,
    String.raw`\s+`,
  ].join("|"),
  "gu",
);

function pieceBound(piece: string): number {
  if (piece.length === 1 && piece.charCodeAt(0) < 0x80) return 1;
  // A code unit takes at least one byte and at most three.
  if (piece.length > MAX_MERGED_BYTES) return Buffer.byteLength(piece);
  // Tokenizers disagree on a byte order mark: some decoded their vocabulary in a way that lost its tokens.
  if (piece.includes("\ufeff")) return Buffer.byteLength(piece);
  const bytes = Buffer.from(piece);
  return bytes.length > MAX_MERGED_BYTES ? bytes.length : countMerged(bytes);
}

/** The number of parts that are left when every known merge was applied, lowest rank first. */
function countMerged(bytes: Uint8Array): number {
  if (MERGES.rank(bytes, 0, bytes.length) !== -1) return 1;
  // `starts[i]` is where part i begins; `ranks[i]` the rank of part i joined with part i + 1.
  const starts: number[] = [];
  const ranks: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    starts.push(at);
    ranks.push(at + 1 < bytes.length ? MERGES.rank(bytes, at, at + 2) : -1);
  }
  starts.push(bytes.length);
  for (;;) {
    let best = -1;
    for (let part = 0; part < ranks.length; part += 1) {
      const rank = ranks[part] ?? -1;
      if (rank !== -1 && (best === -1 || rank < (ranks[best] ?? -1))) best = part;
    }
    if (best === -1) return ranks.length;
    starts.splice(best + 1, 1);
    ranks.splice(best + 1, 1);
    for (const part of best === 0 ? [0] : [best - 1, best]) {
      const end = starts[part + 2];
      ranks[part] = end === undefined ? -1 : MERGES.rank(bytes, starts[part] ?? 0, end);
    }
  }
}

interface MergeTable {
  /** The rank of `bytes[from, to)` as a token, or -1 when it is none. */
  readonly rank: (bytes: Uint8Array, from: number, to: number) => number;
}

/** Tokens laid end to end with a hash table of their numbers: half a megabyte, where a Map would take six. */
function openMergeTable(packed: string): MergeTable {
  const records = inflateRawSync(Buffer.from(packed, "base64"));
  // Counted first: an array that grows would leave twice its size in garbage.
  let count = 0;
  for (let at = 0; at < records.length; at += 1 + (records[at] ?? 0)) count += 1;
  const offsets = new Uint32Array(count);
  for (let at = 0, index = 0; at < records.length; at += 1 + (records[at] ?? 0))
    offsets[index++] = at;
  const mask = (1 << (33 - Math.clz32(offsets.length))) - 1;
  // 0 is an empty slot, n is token n - 1.
  const slots = new Uint16Array(mask + 1);
  for (const [index, start] of offsets.entries()) {
    const from = start + 1;
    let slot = hash(records, from, from + (records[start] ?? 0)) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = index + 1;
  }

  function isToken(index: number, bytes: Uint8Array, from: number, to: number): boolean {
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
        if (isToken(found - 1, bytes, from, to)) return found - 1;
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

const MERGES = openMergeTable(TOKEN_MERGES);
