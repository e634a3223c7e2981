/**
 * How many tokens a text costs at most, in the o200k vocabulary in which budgets are counted, without
 * carrying that vocabulary. It promises a number that is never below the exact one, for any text, and near
 * it for ordinary lines.
 */
import { openRankedTable } from "./ranked-table.ts";

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
  const pattern = PLAIN.test(text) ? PLAIN_PIECE : anyPiece();
  pattern.lastIndex = 0;
  for (let piece = pattern.exec(text); piece !== null; piece = pattern.exec(text)) {
    tokens += pieceBound(piece[0]);
  }
  return tokens;
}

/** Bytes of the longest piece that is merged; a longer one counts a token for every byte, which bounds any. */
const MAX_MERGED_BYTES = 640;

// How o200k cuts a text before it merges: words with one leading sign and an English suffix, numbers by three
// digits, signs with the line breaks behind them, white space. The pattern is that of tiktoken's o200k_base.
const SUFFIX = String.raw`(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?`;
function anyPiece(): RegExp {
  const kept =
    pieces[0] ??
    pieceOf({
      upper: String.raw`\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}`,
      lower: String.raw`\p{Ll}\p{Lm}\p{Lo}\p{M}`,
      letter: String.raw`\p{L}`,
      digit: String.raw`\p{N}`,
    });
  pieces[0] = kept;
  return kept;
}

// A memo, no state: what all letters of all scripts are takes 2 ms to look up, and 8 ms to compile.
const pieces: RegExp[] = [];

/** ASCII and the signs that are frequent in titles and in lines of ours: of these only ASCII letters and digits are any. */
const PLAIN = /^[\t\n\r -~·–—‘’“”…]*$/;
/** The same for such text, for which most blocks need not wait. */
const PLAIN_PIECE = pieceOf({ upper: "A-Z", lower: "a-z", letter: "A-Za-z", digit: "0-9" });

/** The pattern over what is upper case, lower case, a letter at all and a digit. */
function pieceOf(is: Record<"upper" | "lower" | "letter" | "digit", string>): RegExp {
  const { upper, lower, letter, digit } = is;
  return new RegExp(
    [
      String.raw`[^\r\n${letter}${digit}]?[${upper}]*[${lower}]+${SUFFIX}`,
      String.raw`[^\r\n${letter}${digit}]?[${upper}]+[${lower}]*${SUFFIX}`,
      `[${digit}]{1,3}`,
      String.raw` ?[^\s${letter}${digit}]+[\r\n/]*`,
      String.raw`\s*[\r\n]+`,
      String.raw`\s+(?!\S)`,
      String.raw`\s+`,
    ].join("|"),
    "gu",
  );
}

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

const MERGES = openRankedTable(new URL("./token-merges.bin", import.meta.url));
