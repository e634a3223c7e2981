/**
 * Cuts a turn into words, numbers and marks with their places in it. It hides how languages spell (case,
 * diacritics, elisions) and bounds the work for turns of any length.
 */

export interface Token {
  /** `word` starts with a letter, `number` is digits alone, `mark` any other character, `gap` the part of a long turn that is not read. */
  readonly type: "word" | "number" | "mark" | "gap";
  readonly text: string;
  /** Lower case without diacritics. */
  readonly folded: string;
  /** UTF-16 index into the turn. */
  readonly start: number;
  readonly end: number;
}

/** A turn is read at its head and its tail: what is asked stands before or after a pasted text. */
const READ_CHARS = 2000;
/** 2,000 characters of prose are about 350 words; more tokens than this are no prose. */
const READ_TOKENS = 400;

// "14h30", "20min" and "12th" are a number and a word; "Q4" and "XJ900" are one word.
const PIECE = /\d+|\p{L}[\p{L}\p{M}\d]*|[^\s\p{L}\d]/gu;

/**
 * The tokens of a turn. Apostrophes and hyphens inside a word cut it and are dropped: "what's" is "what", "s";
 * "d'hier" is "d", "hier"; "avant-hier" is "avant", "hier".
 */
export function tokenizeTurn(turn: string): readonly Token[] {
  const tokens: Token[] = [];
  if (turn.length <= 2 * READ_CHARS) cut(turn, 0, tokens);
  else {
    const tail = turn.length - READ_CHARS;
    cut(turn.slice(0, READ_CHARS), 0, tokens);
    tokens.push(gap(READ_CHARS, tail));
    cut(turn.slice(tail), tail, tokens);
  }
  if (tokens.length <= 2 * READ_TOKENS) return tokens;
  const head = tokens.slice(0, READ_TOKENS);
  const rest = tokens.slice(-READ_TOKENS);
  return [...head, gap(head.at(-1)?.end ?? 0, rest[0]?.start ?? 0), ...rest];
}

function gap(start: number, end: number): Token {
  return { type: "gap", text: "", folded: "", start, end };
}

function cut(text: string, offset: number, into: Token[]): void {
  for (const match of text.matchAll(PIECE)) {
    const piece = match[0];
    const first = piece.charCodeAt(0);
    const type = first >= 48 && first <= 57 ? "number" : isLetter(piece) ? "word" : "mark";
    const start = offset + match.index;
    if (type === "mark" && JOINT.test(piece) && isJoint(text, match.index)) continue;
    into.push({
      type,
      text: piece,
      folded: type === "word" ? foldWord(piece) : piece,
      start,
      end: start + piece.length,
    });
  }
}

const JOINT = /^['’\u2010\u2011-]$/;

function isJoint(text: string, index: number): boolean {
  return /^\p{L}.\p{L}$/su.test(text.slice(index - 1, index + 2));
}

function isLetter(piece: string): boolean {
  return /^\p{L}/u.test(piece);
}

/** Lower case without diacritics; "ß" is "ss", "œ" is "oe". */
export function foldWord(word: string): string {
  const lower = word.toLowerCase();
  // Plain ASCII needs no more, and is most of what is typed.
  if (!/[^ -~]/.test(lower)) return lower;
  return lower
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .replaceAll("ß", "ss")
    .replaceAll("œ", "oe")
    .replaceAll("æ", "ae");
}

export interface QuotedPiece {
  readonly text: string;
  readonly startIndex: number;
  readonly endIndex: number;
}

/** What stands in quotation marks or backticks, without the marks; at most 8 pieces of the parts that are read. */
export function quotedPieces(turn: string): readonly QuotedPiece[] {
  const found: QuotedPiece[] = [];
  const whole = turn.length <= 2 * READ_CHARS;
  quotedIn(whole ? turn : turn.slice(0, READ_CHARS), 0, found);
  if (!whole) quotedIn(turn.slice(-READ_CHARS), turn.length - READ_CHARS, found);
  return found;
}

const MAX_QUOTES = 8;
const MAX_QUOTED_CHARS = 300;
const CLOSERS: ReadonlyMap<string, RegExp> = new Map([
  ['"', /["\n]/g],
  ["“", /[”\n]/g],
  // German opens low and closes high, with either of the high marks.
  ["„", /[“”"\n]/g],
  ["«", /[»\n]/g],
  ["»", /[«\n]/g],
  ["`", /[`\n]/g],
  ["'", /'(?![\p{L}\d])|\n/gu],
]);

function quotedIn(text: string, offset: number, into: QuotedPiece[]): void {
  for (let at = 0; at < text.length && into.length < MAX_QUOTES; at++) {
    const mark = text[at] ?? "";
    const closer = CLOSERS.get(mark);
    // A single quote opens only after a space and closes only before one, so that apostrophes are left alone.
    if (closer === undefined || (mark === "'" && /[\p{L}\d]/u.test(text[at - 1] ?? " "))) continue;
    const inner = text.slice(at + 1, at + 2 + MAX_QUOTED_CHARS);
    const end = inner.search(closer);
    if (end < 1 || inner[end] === "\n" || inner.slice(0, end).trim() === "") continue;
    const startIndex = offset + at + 1;
    into.push({ text: inner.slice(0, end), startIndex, endIndex: startIndex + end });
    at += end + 1;
  }
}
