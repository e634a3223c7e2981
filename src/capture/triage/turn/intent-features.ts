/**
 * Turns a turn into the hashed features of the intent model: its small words with everything of the day taken
 * out (the skeleton), its words, and the letters of its words. Training and reading share this file.
 */
import type { Cues } from "./cues.ts";
import { askingShape } from "./intent-shape.ts";
import { isAskingWord, isFunctionWord, isMediumWord } from "./languages.ts";
import type { TimeMention, TurnLanguage } from "./reading.ts";
import type { QuotedPiece, Token } from "./tokens.ts";

/** Features are counted in this many buckets. */
export const FEATURE_BUCKETS = 1 << 14;

export interface IntentInput {
  readonly tokens: readonly Token[];
  readonly language: TurnLanguage;
  readonly times: readonly TimeMention[];
  /** Indexes of the tokens of times, also future ones. */
  readonly timeTokens: ReadonlySet<number>;
  readonly cues: Cues;
  readonly quoted: readonly QuotedPiece[];
}

/** Distinct buckets and their weight in the turn. Each group of features has length 1, however long the turn. */
export type FeatureVector = ReadonlyMap<number, number>;

/**
 * @param keepWord Which content words may lend their own letters; training drops some, so that the model
 *   leans on how people ask rather than on what about.
 */
export function intentFeatures(
  input: IntentInput,
  keepWord: (folded: string) => boolean = () => true,
): FeatureVector {
  const vector = new Map<number, number>();
  const symbols = skeleton(input);
  addGroup(vector, 1, (add) => addSkeleton(symbols, add));
  addGroup(vector, 1, (add) => addWords(symbols, keepWord, add));
  addGroup(vector, 0.7, (add) => addLetters(symbols, keepWord, add));
  addGroup(vector, 1, (add) => addShape(input, symbols, add));
  addGroup(vector, 1, (add) => addAsking(input, symbols, add));
  return vector;
}

/** Counts what `fill` names and scales the counts to length `weight`, so that many letters cannot drown few signs. */
function addGroup(
  vector: Map<number, number>,
  weight: number,
  fill: (add: (feature: string) => void) => void,
): void {
  const counts = new Map<number, number>();
  fill((feature) => {
    const bucket = hash(feature) % FEATURE_BUCKETS;
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  });
  let squares = 0;
  for (const count of counts.values()) squares += count * count;
  if (squares === 0) return;
  const scale = weight / Math.sqrt(squares);
  for (const [bucket, count] of counts) {
    vector.set(bucket, (vector.get(bucket) ?? 0) + count * scale);
  }
}

interface Symbol {
  /** What stands in the skeleton: a small word, or a sign for a time, an event, a number or a matter. */
  readonly sign: string;
  /** The word itself, or null for signs of several words. */
  readonly folded: string | null;
  readonly content: boolean;
}

/** Long turns carry pasted text; how they begin and end says what is asked. */
const MAX_SYMBOLS = 40;

function skeleton(input: IntentInput): readonly Symbol[] {
  const symbols: Symbol[] = [];
  let last = "";
  const push = (sign: string, folded: string | null, content: boolean): void => {
    // Several words for one matter or time are one sign.
    if (folded === null && sign === last) return;
    last = sign;
    symbols.push({ sign, folded, content });
  };
  input.tokens.forEach((token, index) => {
    if (input.quoted.some((q) => token.start >= q.startIndex && token.end <= q.endIndex)) {
      push("<Q>", null, false);
      return;
    }
    if (input.timeTokens.has(index)) {
      push(timeSign(input, token), null, false);
      return;
    }
    const anchor = input.cues.anchors.find(
      (a) =>
        token.start >= a.startIndex &&
        token.end <= a.endIndex &&
        (a.side !== null || a.edge !== null),
    );
    if (anchor !== undefined) {
      push(`<A:${anchor.kind}${anchor.edge === null ? "" : `/${anchor.edge}`}>`, null, false);
      return;
    }
    pushToken(token, input.language, push);
  });
  if (symbols.length <= 2 * MAX_SYMBOLS) return symbols;
  return [
    ...symbols.slice(0, MAX_SYMBOLS),
    { sign: "<LONG>", folded: null, content: false },
    ...symbols.slice(-MAX_SYMBOLS),
  ];
}

function timeSign(input: IntentInput, token: Token): string {
  const time = input.times.find((t) => token.start >= t.startIndex && token.end <= t.endIndex);
  if (time === undefined) return "<F>";
  return time.kind === "now" || time.kind === "recent" ? `<T:${time.kind}>` : "<T>";
}

function pushToken(
  token: Token,
  language: TurnLanguage,
  push: (sign: string, folded: string | null, content: boolean) => void,
): void {
  const { folded } = token;
  switch (token.type) {
    case "gap":
      push("<GAP>", null, false);
      return;
    case "number":
      push("<N>", null, false);
      return;
    case "mark":
      if (/^[?!:¿"]$/.test(folded)) push(folded, null, false);
      else if (/^[{}()[\]=<>;+*/\\$#@%^&|~_]$/.test(folded)) push("<C>", null, false);
      return;
    case "word":
      if (isFunctionWord(folded, language) || isAskingWord(folded, language))
        push(folded, folded, false);
      else if (isMediumWord(folded, language)) {
        push("<M>", folded, false);
      } else push("<X>", folded, true);
  }
}

function addSkeleton(symbols: readonly Symbol[], add: (feature: string) => void): void {
  const signs = ["<s>"];
  for (const { sign } of symbols) if (sign !== "<X>" || signs.at(-1) !== "<X>") signs.push(sign);
  signs.push("</s>");
  for (let size = 1; size <= 4; size++) {
    for (let at = 0; at + size <= signs.length; at++) {
      add(`k${size} ${signs.slice(at, at + size).join(" ")}`);
    }
  }
}

function addWords(
  symbols: readonly Symbol[],
  keepWord: (folded: string) => boolean,
  add: (feature: string) => void,
): void {
  let before = "<s>";
  for (const { sign, folded, content } of symbols) {
    if (folded === null || (content && !keepWord(folded))) {
      before = sign;
      continue;
    }
    add(`w ${folded}`);
    add(`b ${before} ${folded}`);
    before = folded;
  }
}

/** Three and four letters in a row, so that inflected and misspelt words still tell. */
function addLetters(
  symbols: readonly Symbol[],
  keepWord: (folded: string) => boolean,
  add: (feature: string) => void,
): void {
  for (const { folded, content } of symbols) {
    if (folded === null || folded.length < 4 || (content && !keepWord(folded))) continue;
    const padded = `^${folded.slice(0, 24)}$`;
    for (let size = 3; size <= 4; size++) {
      for (let at = 0; at + size <= padded.length; at++) add(`c ${padded.slice(at, at + size)}`);
    }
  }
}

function addShape(
  input: IntentInput,
  symbols: readonly Symbol[],
  add: (feature: string) => void,
): void {
  const words = symbols.length;
  const kinds = new Set(input.times.map(({ kind }) => kind));
  const time = kinds.size === 0 ? "no time" : "time";
  const matters = symbols.filter(({ content }) => content).length;
  const event = input.cues.anchors.some(({ side }) => side !== null) ? "event" : "no event";
  add(`s length ${words === 0 ? 0 : Math.min(7, Math.ceil(Math.log2(words + 1)))}`);
  add(`s language ${input.language}`);
  add(`s ${time}`);
  add(`s ${event}`);
  add(`s matters ${Math.min(matters, 3)}`);
  add(`s ${time} ${event} ${matters === 0 ? "no matter" : "matter"}`);
  for (const kind of kinds) add(`s time ${kind}`);
  for (const { kind, edge, side } of input.cues.anchors) {
    if (side !== null) add(`s ${side.side} ${kind}`);
    if (edge !== null) add(`s edge ${kind} ${edge}`);
  }
  if (input.quoted.length > 0) add("s quoted");
  add(`s first ${symbols[0]?.sign ?? ""}`);
  add(`s last ${symbols.at(-1)?.sign ?? ""}`);
}

/** Who asks, of when, with which question word: alone and together. */
function addAsking(
  input: IntentInput,
  symbols: readonly Symbol[],
  add: (feature: string) => void,
): void {
  const { person, past, question } = askingShape(input.tokens, input.language);
  const tense = past ? "past" : "not past";
  const time = input.times.length > 0 ? "time" : "no time";
  const event = input.cues.anchors.some(({ side }) => side !== null) ? "event" : "no event";
  const matter = symbols.some(({ content }) => content) ? "matter" : "no matter";
  add(`q ${person}`);
  add(`q ${question}`);
  add(`q ${person} ${tense}`);
  add(`q ${question} ${person} ${tense}`);
  add(`q ${question} ${person} ${time} ${event}`);
  add(`q ${person} ${tense} ${time} ${event} ${matter}`);
  add(`q ${question} ${person} ${tense} ${time} ${event} ${matter}`);
}

/** FNV-1a over UTF-16 units, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    value ^= text.charCodeAt(at);
    value = Math.imul(value, 0x01000193);
  }
  // The low bits of FNV are weak; fold the high ones in.
  return (value ^ (value >>> 15)) >>> 0;
}
