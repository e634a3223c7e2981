/**
 * Finds the words that place a turn beside an event: on which side ("before", "nach") of what ("the call",
 * "Mittagessen", "me levanté"). It looks no event up.
 */
import { CUE_WORDS, type CueWord } from "./cue-words.ts";
import { isFunctionWord } from "./languages.ts";
import { compilePhrases, type Phrases } from "./phrases.ts";
import type { AnchorMention, SideMention, TurnLanguage } from "./reading.ts";
import type { Token } from "./tokens.ts";

export interface Cues {
  readonly sides: readonly SideMention[];
  readonly anchors: readonly AnchorMention[];
  /** Indexes of the tokens that sides and anchors cover. */
  readonly covered: ReadonlySet<number>;
}

/** How many tokens may stand between a side word and its event: "before my really long call". */
const REACH = 6;

/** @param taken Indexes of tokens that belong to time expressions; "vor 20 Minuten" has no side. */
export function findCues(
  tokens: readonly Token[],
  language: TurnLanguage,
  taken: ReadonlySet<number>,
): Cues {
  const tables =
    language === "other" ? [...KNOWN] : [language, ...KNOWN.filter((l) => l !== language)];
  const sides: SideMention[] = [];
  const anchors: AnchorMention[] = [];
  const covered = new Set<number>();
  let governing: { readonly side: SideMention; readonly index: number } | null = null;
  let index = 0;
  while (index < tokens.length) {
    const token = tokens[index];
    const found = taken.has(index) ? null : matchCue(tokens, index, tables);
    if (token === undefined || found === null) {
      if (token?.type === "gap" || /^[.?!;]$/.test(token?.text ?? "")) governing = null;
      index++;
      continue;
    }
    const { word, next } = found;
    if (word.idiom === true) {
      index = next;
      continue;
    }
    const span = { startIndex: token.start, endIndex: tokens[next - 1]?.end ?? token.end };
    if (word.side !== undefined && isSide(tokens, index, next, word.side, tables)) {
      const close = isClose(tokens, index, tables);
      const startIndex = close ? (tokens[index - 1]?.start ?? token.start) : token.start;
      const side = { ...span, startIndex, side: word.side, close };
      sides.push(side);
      governing = { side, index: next };
      for (let at = close ? index - 1 : index; at < next; at++) covered.add(at);
    }
    if (word.anchor !== undefined) {
      const before = governing !== null && index - governing.index <= REACH ? governing.side : null;
      const near = before ?? trailingSide(tokens, next, tables);
      anchors.push({ ...span, kind: word.anchor, edge: word.edge ?? null, side: near });
      // A side word governs one event: "before lunch and the call" asks about lunch.
      if (word.side === undefined) governing = null;
      // "the coffee grinder page" is about coffee; only "before coffee" is not.
      if (near !== null || word.edge !== undefined) {
        for (let at = index; at < next; at++) covered.add(at);
      }
    }
    index = next;
  }
  return { sides, anchors, covered };
}

/** "lunch before?": in a hurry the side comes last. */
function trailingSide(
  tokens: readonly Token[],
  index: number,
  tables: readonly (typeof KNOWN)[number][],
): SideMention | null {
  const match = matchCue(tokens, index, tables);
  const token = tokens[index];
  const side = match?.word.side;
  if (match === null || token === undefined || (side !== "before" && side !== "after")) return null;
  const last = tokens[match.next];
  if (last !== undefined && last.type !== "mark") return null;
  const endIndex = tokens[match.next - 1]?.end ?? token.end;
  return { startIndex: token.start, endIndex, side, close: false };
}

const KNOWN = ["en", "de", "es", "fr"] as const;

const TABLES: Readonly<Record<(typeof KNOWN)[number], Phrases<CueWord>>> = {
  en: compilePhrases(CUE_WORDS.en, merge),
  de: compilePhrases(CUE_WORDS.de, merge),
  es: compilePhrases(CUE_WORDS.es, merge),
  fr: compilePhrases(CUE_WORDS.fr, merge),
};

function merge(known: CueWord, more: CueWord): CueWord {
  return { ...known, ...more };
}

/** A word of the turn's own language first; of another only where the own one does not use it otherwise. */
function matchCue(
  tokens: readonly Token[],
  index: number,
  tables: readonly (typeof KNOWN)[number][],
): { readonly word: CueWord; readonly next: number } | null {
  for (const [rank, language] of tables.entries()) {
    const match = TABLES[language].match(tokens, index);
    if (match === null) continue;
    const { meaning, next } = match;
    if (meaning.side === undefined && meaning.anchor === undefined && meaning.idiom !== true)
      continue;
    const own = tables[0] ?? language;
    const single = next === index + 1;
    const folded = tokens[index]?.folded ?? "";
    // Spanish "come back" is no word, but French "point" and "sport" are English ones: nouns of events alone cross over.
    if (rank > 0 && (isFunctionWord(folded, own) || (single && !CROSSING.has(folded)))) continue;
    return { word: meaning, next };
  }
  return null;
}

const CROSSING: ReadonlySet<string> = new Set(
  "before after since davor danach lunch call meeting standup daily zoom break pause interview webinar retro kickoff sync workshop vor nach seit antes desde avant apres depuis".split(
    " ",
  ),
);

function isClose(
  tokens: readonly Token[],
  index: number,
  tables: readonly (typeof KNOWN)[number][],
): boolean {
  const language = tables[0] ?? "en";
  return TABLES[language].words.get(tokens[index - 1]?.folded ?? "")?.close === true;
}

/** "when" asks in "when did I …" and "quand est-ce que …", and places in "when I stepped away". */
function isSide(
  tokens: readonly Token[],
  index: number,
  next: number,
  side: CueWord["side"],
  tables: readonly (typeof KNOWN)[number][],
): boolean {
  // "up to lunch", but not "what was I up to" and "up to 20 files".
  if (side === "until" && tokens[next - 1]?.folded === "to") {
    return [next, next + 1].some((at) => matchCue(tokens, at, tables)?.word.anchor !== undefined);
  }
  // "for a while"
  if (side === "during" && /^(a|for)$/.test(tokens[index - 1]?.folded ?? "")) return false;
  if (side !== "when") return true;
  if (ASKS.has(tokens[next]?.folded ?? "")) return false;
  const first = index === 0 || tokens[index - 1]?.type === "mark";
  if (!first) return true;
  const language = tables[0] ?? "en";
  for (let at = next; at < next + REACH; at++) {
    const match = TABLES[language].match(tokens, at);
    if (match?.meaning.edge !== undefined) return true;
  }
  return language === "en" || language === "de";
}

const ASKS: ReadonlySet<string> = new Set(
  "did was were is are do does have has had will would can could am s d last est ai as a".split(
    " ",
  ),
);
