/**
 * Reads a turn: its times, sides, events, topics, and what it most likely asks for. A pure function of (turn,
 * now, zone) that takes well under a millisecond and never fails, whatever the turn holds.
 */
import { accountTaskOf } from "./turn/account-task.ts";
import { isArithmetic } from "./turn/arithmetic.ts";
import { isBareName } from "./turn/bare-name.ts";
import { broughtTextAt, isChatter } from "./turn/chatter.ts";
import { findCues } from "./turn/cues.ts";
import { classifyTurn } from "./intent.ts";
import { findContentWords, guessLanguage } from "./turn/languages.ts";
import { readTimes } from "./time-range.ts";
import type { SpokenTime } from "./time/resolve.ts";
import { NO_INTENT, type TurnReading } from "./turn/reading.ts";
import { quotedPieces, tokenizeTurn } from "./turn/tokens.ts";
import { isFarewell } from "./turn/farewell.ts";
import { isFollowUp, readLeaning } from "./turn/follow-up.ts";
import { needsNoRecord } from "./turn/off-record.ts";
import { readTimeEnd } from "./turn/ends.ts";
import { mendTypos } from "./turn/typos.ts";

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
  const account = found.covered.size === 0 ? accountTaskOf(tokens) : null;
  if (account !== null) return readAccount(turn, account, nowUs, timeZone, isKnown);
  const { times, covered, ahead } = found;
  const isLeave = isFarewell(tokens, language, times, covered);
  const cues = findCues(tokens, language, covered);
  const taken = new Set([...covered, ...cues.covered]);
  const ends = readTimeEnd(tokens, covered);
  const broughtAt = broughtTextAt(turn);
  // The words of a text that is brought along are no matter of the turn.
  const contentWords = findContentWords(tokens, language, taken).filter(
    ({ startIndex }) => ends?.isAll !== true && (broughtAt === null || startIndex < broughtAt),
  );
  const quoted = quotedPieces(turn);
  return {
    language,
    times,
    ahead,
    sides: cues.sides,
    anchors: cues.anchors,
    // Neither is "this" what is in front of the owner.
    intents:
      broughtAt === null
        ? classifyTurn({ tokens, language, times, timeTokens: covered, cues, quoted })
        : { ...NO_INTENT, none: 1 },
    contentWords,
    isBareName: isBareName(tokens, taken, contentWords),
    quoted: quoted.map(({ text }) => text),
    end: ends?.end ?? null,
    needsNoRecord:
      isArithmetic(turn) ||
      broughtAt !== null ||
      isLeave ||
      isChatter(tokens, language, covered) ||
      needsNoRecord(tokens, language, covered),
    followUp: isFollowUp(tokens, cues.anchors),
    leaning: isLeave
      ? null
      : readLeaning(tokens, { ...found, anchors: cues.anchors, contentWords }),
  };
}

/** A task that gives an account of a day or a week asks for what was in it. */
function readAccount(
  turn: string,
  span: "day" | "week",
  nowUs: number,
  timeZone: string,
  isKnown: (folded: string) => boolean,
): TurnReading {
  const asked = readTurn(span === "day" ? "today?" : "this week?", nowUs, timeZone, isKnown);
  const place = { text: turn, startIndex: 0, endIndex: turn.length };
  const times = asked.times.map((time) => ({ ...time, ...place }));
  const intents = { ...NO_INTENT, window: 1 };
  return { ...asked, times, intents, leaning: null, followUp: false };
}
