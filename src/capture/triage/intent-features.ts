/**
 * Turns a turn into the hashed features of the intent model: its small words with everything of the day taken
 * out (the skeleton), its words, and the letters of its words. Training and reading share this file.
 */
import type { Cues } from "./cues.ts";
import { isAskingWord, isFunctionWord, isMediumWord } from "./languages.ts";
import type { TimeMention, TurnLanguage } from "./turn-reading.ts";
import type { QuotedPiece, Token } from "./turn-tokens.ts";

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

export interface FeatureVector {
  /** Distinct buckets and how often each was hit, in the order of first hit. */
  readonly counts: ReadonlyMap<number, number>;
  /** Euclidean length of the counts. */
  readonly norm: number;
}

/**
 * @param keepWord Which content words may lend their own letters; training drops some, so that the model
 *   leans on how people ask rather than on what about.
 */
export function intentFeatures(
  input: IntentInput,
  keepWord: (folded: string) => boolean = () => true,
): FeatureVector {
  const counts = new Map<number, number>();
  const add = (feature: string): void => {
    const bucket = hash(feature) % FEATURE_BUCKETS;
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  };
  const symbols = skeleton(input);
  addSkeleton(symbols, add);
  addWords(symbols, keepWord, add);
  addShape(input, symbols, add);
  let squares = 0;
  for (const count of counts.values()) squares += count * count;
  return { counts, norm: Math.sqrt(squares) };
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
    if (folded.length < 4) continue;
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
  // Some features speak for the whole turn and must not drown among many letters.
  const loud = (feature: string): void => {
    add(`s ${feature}`);
    add(`S ${feature}`);
    add(`z ${feature}`);
  };
  loud(`length ${words === 0 ? 0 : Math.min(7, Math.ceil(Math.log2(words + 1)))}`);
  add(`s language ${input.language}`);
  const kinds = new Set(input.times.map(({ kind }) => kind));
  loud(kinds.size === 0 ? "no time" : "time");
  for (const kind of kinds) add(`s time ${kind}`);
  const matters = symbols.filter(({ content }) => content).length;
  loud(`matters ${Math.min(matters, 3)}`);
  loud(`${kinds.size === 0 ? "no time" : "time"} ${matters === 0 ? "no matter" : "matter"}`);
  for (const { kind, edge, side } of input.cues.anchors) {
    if (side !== null) loud(`${side.side} ${kind}`);
    if (edge !== null) loud(`edge ${kind} ${edge}`);
    if (side !== null) loud("side and event");
  }
  if (input.quoted.length > 0) loud("quoted");
  loud(`first ${symbols[0]?.sign ?? ""}`);
  loud(`last ${symbols.at(-1)?.sign ?? ""}`);
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
