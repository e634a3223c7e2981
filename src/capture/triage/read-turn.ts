/**
 * Reads a turn: its times, sides, events, topics, and what it most likely asks for. A pure function of (turn,
 * now, zone) that takes well under a millisecond and never fails, whatever the turn holds.
 */
import { isArithmetic } from "./arithmetic.ts";
import { findCues } from "./cues.ts";
import { classifyTurn } from "./intent.ts";
import { findContentWords, guessLanguage } from "./languages.ts";
import { readTimes } from "./time-range.ts";
import type { SpokenTime } from "./time-resolve.ts";
import type { TurnReading } from "./turn-reading.ts";
import { quotedPieces, tokenizeTurn } from "./turn-tokens.ts";
import { isFarewell } from "./farewell.ts";
import { isFollowUp, readLeaning } from "./follow-up.ts";
import { needsNoRecord } from "./off-record.ts";
import { readTimeEnd } from "./turn-ends.ts";
import { mendTypos } from "./typos.ts";

/**
 * @param nowUs The instant of asking, microseconds since 1970 UTC.
 * @param timeZone IANA name; a RangeError when the runtime does not know it.
 * @param isKnown Whether a folded word stands in any title of the record; such words are never taken for typing errors.
 * @param spoken The time that the conversation is about: "and at 10?" is on its day. Null: today.
 */
export function readTurn(
  turn: string,
  nowUs: number,
  timeZone: string,
  isKnown: (folded: string) => boolean = () => false,
  spoken: SpokenTime | null = null,
): TurnReading {
  const typed = tokenizeTurn(turn);
  const language = guessLanguage(typed);
  const tokens = mendTypos(typed, language, isKnown);
  const found = readTimes(turn, tokens, language, nowUs, timeZone, spoken);
  const { times, covered, ahead } = found;
  const cues = findCues(tokens, language, covered);
  const taken = new Set([...covered, ...cues.covered]);
  const contentWords = findContentWords(tokens, language, taken);
  const quoted = quotedPieces(turn);
  return {
    language,
    times,
    ahead,
    sides: cues.sides,
    anchors: cues.anchors,
    intents: classifyTurn({ tokens, language, times, timeTokens: covered, cues, quoted }),
    contentWords,
    quoted: quoted.map(({ text }) => text),
    end: readTimeEnd(tokens, covered),
    needsNoRecord:
      isArithmetic(turn) ||
      isFarewell(tokens, language, times, covered) ||
      needsNoRecord(tokens, language, covered),
    followUp: isFollowUp(tokens, cues.anchors),
    leaning: readLeaning(tokens, { ...found, anchors: cues.anchors, contentWords }),
  };
}
