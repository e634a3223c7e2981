/**
 * Reads a turn: its times, sides, events, topics, and what it most likely asks for. A pure function of (turn,
 * now, zone) that takes well under a millisecond and never fails, whatever the turn holds.
 */
import { accountTaskOf } from "./turn/account-task.ts";
import { isArithmetic } from "./turn/arithmetic.ts";
import { isBareName } from "./turn/bare-name.ts";
import { broughtTextAt, isChatter } from "./turn/chatter.ts";
import { findCorrection } from "./turn/corrections.ts";
import { findCues } from "./turn/cues.ts";
import { isKindWord } from "./asked-medium.ts";
import { classifyTurn } from "./intent.ts";
import { findContentWords, guessLanguage } from "./turn/languages.ts";
import { addDays, createLocalTime, daysBetween } from "./local-time.ts";
import { readTimes } from "./time-range.ts";
import type { SpokenTime } from "./time/resolve.ts";
import {
  NO_INTENT,
  type TimeMention,
  type TurnLanguage,
  type TurnReading,
} from "./turn/reading.ts";
import { quotedPieces, tokenizeTurn } from "./turn/tokens.ts";
import { partLeftOut } from "./turn/except.ts";
import { isFarewell } from "./turn/farewell.ts";
import { isFollowUp, readLeaning } from "./turn/follow-up.ts";
import { needsNoRecord } from "./turn/off-record.ts";
import { asksOfPresent } from "./turn/present.ts";
import { asksWhatOthersDid } from "./turn/others-did.ts";
import { readTimeEnd } from "./turn/ends.ts";
import { mendTypos } from "./turn/typos.ts";
import { asksWhether } from "./turn/whether.ts";

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
  return readIn(guessLanguage(tokenizeTurn(turn)), turn, { nowUs, timeZone, isKnown, spoken });
}

/** What a turn is read with. */
interface Asking {
  readonly nowUs: number;
  readonly timeZone: string;
  readonly isKnown: (folded: string) => boolean;
  readonly spoken: SpokenTime | null;
}

function readIn(language: TurnLanguage, turn: string, asking: Asking): TurnReading {
  const { nowUs, timeZone, isKnown, spoken } = asking;
  // "Coding" is no slip of "coming".
  const isWord = (folded: string): boolean => isKindWord(folded) || isKnown(folded);
  const tokens = mendTypos(tokenizeTurn(turn), language, isWord);
  const found = readTimes(turn, tokens, language, nowUs, timeZone, spoken);
  const correction = findCorrection(turn, tokens, found.times, found.covered);
  if (correction !== null) {
    const { first, next } = correction.back;
    const back = tokens.slice(first, next);
    const [instead = null] = readTimes(turn, back, language, nowUs, timeZone, spoken).times;
    return readCorrected(language, correction.turn, instead, asking);
  }
  const account = found.covered.size === 0 ? accountTaskOf(tokens) : null;
  if (account !== null) return readAccount(turn, account, nowUs, timeZone, isKnown);
  const { times, covered, ahead } = found;
  const isLeave = isFarewell(tokens, language, times, covered);
  const cues = findCues(tokens, language, covered);
  const taken = new Set([...covered, ...cues.covered]);
  const ends = readTimeEnd(tokens, covered);
  const broughtAt = broughtTextAt(turn);
  const isPresent = asksOfPresent(tokens, language, times);
  // The words of a text that is brought along are no matter of the turn.
  const named = findContentWords(tokens, language, taken).filter(
    ({ startIndex }) =>
      ends?.isAll !== true && !isPresent && (broughtAt === null || startIndex < broughtAt),
  );
  const { contentWords, leftOut } = partLeftOut(tokens, named);
  const quoted = quotedPieces(turn);
  return {
    language,
    times,
    ahead,
    sides: cues.sides,
    anchors: cues.anchors,
    // Neither is "this" what is in front of the owner.
    intents: isPresent
      ? { ...NO_INTENT, now: 1 }
      : broughtAt === null
        ? classifyTurn({ tokens, language, times, timeTokens: covered, cues, quoted })
        : { ...NO_INTENT, none: 1 },
    contentWords,
    leftOut,
    isBareName: isBareName(tokens, taken, contentWords),
    quoted: quoted.map(({ text }) => text),
    end: ends?.end ?? null,
    needsNoRecord:
      isArithmetic(turn) ||
      broughtAt !== null ||
      isLeave ||
      isChatter(tokens, language, covered) ||
      needsNoRecord(tokens, language, covered),
    asksWhether: asksWhether(tokens, language),
    asksOfOthers: asksWhatOthersDid(tokens, language, covered, cues.anchors),
    followUp: isFollowUp(tokens, cues.anchors),
    leaning: isLeave
      ? null
      : readLeaning(tokens, { ...found, anchors: cues.anchors, contentWords }),
  };
}

/** What is left may name the day or the hour alone: "at 4 yesterday, I mean at 2", "at 9 today, no, yesterday". */
function readCorrected(
  language: TurnLanguage,
  turn: string,
  instead: TimeMention | null,
  asking: Asking,
): TurnReading {
  const { nowUs, timeZone } = asking;
  const read = readIn(language, turn, { ...asking, spoken: instead ?? asking.spoken });
  const [time, ...others] = read.times;
  if (time?.kind !== "day" || instead === null || !PARTS.has(instead.kind)) return read;
  const local = createLocalTime(timeZone);
  const day = local.toLocal(time.fromUs);
  const from = local.toLocal(instead.fromUs);
  const move = (atUs: number): number => {
    const at = local.toLocal(atUs);
    return local.toUs(addDays(day, daysBetween(at, from)), at.minuteOfDay);
  };
  const [fromUs, toUs] = [move(instead.fromUs), Math.min(nowUs, move(instead.toUs))];
  if (toUs <= fromUs) return read;
  const { kind } = instead;
  const pointUs = instead.pointUs === null ? null : move(instead.pointUs);
  return { ...read, times: [{ ...time, kind, fromUs, toUs, pointUs }, ...others] };
}

/** Times that lie in a day. */
const PARTS: ReadonlySet<string> = new Set(["clock", "range", "part"]);

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
