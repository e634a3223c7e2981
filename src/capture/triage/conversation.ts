/**
 * A turn in its conversation. It hides what a turn takes from the one before it, and promises a reading that stands for
 * itself.
 */
import type { HistoryDevice } from "../../store/history.ts";
import { readAskedDevices } from "./asked-devices.ts";
import { readTurn } from "./read-turn.ts";
import type { AskedDevices } from "./readings.ts";
import { addDays, createLocalTime } from "./local-time.ts";
import { INTENTS, type Intent, type TimeMention, type TurnReading } from "./turn-reading.ts";

/** What is asked, and when. */
export interface AskedTurn {
  readonly turn: string;
  /** The owner's turn before this one. */
  readonly previousTurn?: string;
  readonly nowUs: number;
  /** IANA zone. */
  readonly timeZone: string;
}

/**
 * Takes the devices that are asked about out of the turn and the one before it. A follow-up that names none asks
 * about those of the turn before.
 */
export function withoutDevices<Turn extends AskedTurn>(
  request: Turn,
  others: readonly HistoryDevice[],
  self: Omit<HistoryDevice, "key"> | null,
): { readonly devices: AskedDevices | null; readonly request: Turn } {
  if (others.length === 0) return { devices: null, request };
  const { turn, previousTurn } = request;
  const now = readAskedDevices(turn, others, self);
  const before = previousTurn === undefined ? null : readAskedDevices(previousTurn, others, self);
  const isFollowUp = before !== null && readTurn(turn, request.nowUs, request.timeZone).followUp;
  return {
    devices: now?.asked ?? (isFollowUp ? before.asked : null),
    request: {
      ...request,
      turn: now?.turn ?? turn,
      ...(before === null ? {} : { previousTurn: before.turn }),
    },
  };
}

/** A follow-up takes from the turn before what it does not say itself. `wordsOf` is the turn that its words stand in. */
export function readInContext(
  { turn, previousTurn, nowUs, timeZone }: AskedTurn,
  isKnown: (word: string) => boolean,
): { readonly reading: TurnReading; readonly wordsOf: string } {
  const alone = readTurn(turn, nowUs, timeZone, isKnown);
  // "And next week?" asks for something that no record holds.
  if (previousTurn === undefined || !alone.followUp || alone.ahead)
    return { reading: alone, wordsOf: turn };
  const leaning = ({ times }: TurnReading): TurnReading => {
    const spoken = times.find(isSpoken);
    return spoken === undefined ? alone : readTurn(turn, nowUs, timeZone, isKnown, spoken);
  };
  const before = readTurn(previousTurn, nowUs, timeZone, isKnown);
  const reading = leaning(before);
  // "And how long was that?" asks something else of the same thing.
  const asksAnew = asksForOneOf(reading, ASKED_IN_WORDS);
  const saysWhat =
    reading.contentWords.some(({ generic }) => !generic) ||
    reading.anchors.some(({ kind }) => kind !== "that" || !asksAnew);
  const saysWhen = reading.times.length > 0;
  const what = saysWhat ? reading : before;
  const beside = before.anchors.length > 0 ? null : timeBeside(reading, before, nowUs, timeZone);
  if (beside !== null && !asksAnew && !reading.contentWords.some(({ generic }) => !generic)) {
    const { intents, contentWords, language } = before;
    return {
      reading: { ...reading, times: [beside], anchors: [], intents, contentWords, language },
      wordsOf: previousTurn,
    };
  }
  return {
    reading: {
      ...reading,
      language: what.language,
      times: saysWhen ? reading.times : before.times,
      contentWords: what.contentWords,
      intents: asksAnew || (saysWhat && saysWhen) ? reading.intents : before.intents,
    },
    wordsOf: saysWhat ? turn : previousTurn,
  };
}

/** "And before that?" after a question about a time: as long a time beside it. Null when it leans on something else. */
function timeBeside(
  { anchors, times }: TurnReading,
  before: TurnReading,
  nowUs: number,
  timeZone: string,
): TimeMention | null {
  const spoken = before.times.find(isSpoken);
  const that = anchors.find(({ kind }) => kind === "that");
  const side = that?.side?.side;
  if (that === undefined || spoken === undefined || times.length > 0) return null;
  if (side !== "before" && side !== "after") return null;
  const local = createLocalTime(timeZone);
  const { fromUs, toUs } = spoken;
  const days = Math.round((toUs - fromUs) / DAY_US);
  const move = (atUs: number, sign: 1 | -1): number => {
    if (days === 0) return atUs + sign * (toUs - fromUs);
    const at = local.toLocal(atUs);
    return local.toUs(addDays(at, sign * days), at.minuteOfDay);
  };
  const window =
    side === "before"
      ? { fromUs: move(fromUs, -1), toUs: fromUs }
      : { fromUs: toUs, toUs: Math.min(nowUs, move(toUs, 1)) };
  if (window.toUs <= window.fromUs) return null;
  const { startIndex, endIndex } = that;
  return { kind: "open", text: "", startIndex, endIndex, ...window, pointUs: null };
}

const DAY_US = 86_400_000_000;

function isSpoken({ kind }: TimeMention): boolean {
  return kind !== "now" && kind !== "recent";
}

/** What nobody asks without saying so; a topic or a time may only be put in the place of another. */
const ASKED_IN_WORDS: ReadonlySet<Intent> = new Set(["duration", "lastseen", "now", "resume"]);

/** Whether a turn asks for one of these more likely than for all else. */
function asksForOneOf({ intents }: TurnReading, among: ReadonlySet<Intent>): boolean {
  return INTENTS.some((intent) => among.has(intent) && intents[intent] > 0.5);
}
