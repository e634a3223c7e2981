/**
 * A turn in its conversation. It hides what a turn takes from those before it, and promises a reading that stands for
 * itself.
 */
import type { HistoryDevice } from "../../store/history.ts";
import { readAskedDevices } from "./asked-devices.ts";
import { readTurn } from "./read-turn.ts";
import type { AskedDevices } from "./readings.ts";
import { isKindWord } from "./asked-medium.ts";
import { addDays, createLocalTime } from "./local-time.ts";
import type { SpokenTime } from "./time/resolve.ts";
import {
  type AnchorMention,
  type ContentWord,
  INTENTS,
  type Intent,
  NO_INTENT,
  type Leaning,
  type Side,
  type TimeMention,
  type TurnReading,
} from "./turn/reading.ts";

/** What is asked, and when. */
export interface AskedTurn {
  readonly turn: string;
  /** The owner's turns before this one, oldest first. */
  readonly previousTurns?: readonly string[];
  readonly nowUs: number;
  /** IANA zone. */
  readonly timeZone: string;
}

/** A turn as it is meant after those before it. */
export interface TurnInContext {
  readonly reading: TurnReading;
  /** The turn that the words and events of the reading stand in. */
  readonly wordsOf: string;
  /** What the turn asks to look beside: "and right after that?", "what else that day?". */
  readonly beside: {
    readonly asked: TurnInContext;
    readonly side: "before" | "after" | "day";
  } | null;
}

/**
 * Takes the devices that are asked about out of the turn and those before it. A follow-up that names none asks about those
 * of the turns before.
 */
export function withoutDevices<Turn extends AskedTurn>(
  request: Turn,
  others: readonly HistoryDevice[],
  self: Omit<HistoryDevice, "key"> | null,
): { readonly devices: AskedDevices | null; readonly request: Turn } {
  if (others.length === 0) return { devices: null, request };
  const { turn, previousTurns = [], nowUs, timeZone } = request;
  const leans = (text: string): boolean => readTurn(text, nowUs, timeZone).leaning !== null;
  const now = readAskedDevices(turn, others, self);
  const before = previousTurns.map((text) => ({
    text,
    named: readAskedDevices(text, others, self),
  }));
  let devices = now?.asked ?? null;
  let at = before.length - 1;
  for (let text = turn; devices === null && at >= 0 && leans(text); at -= 1) {
    devices = before[at]?.named?.asked ?? null;
    text = before[at]?.text ?? "";
  }
  const bare = before.map(({ text, named }) => named?.turn ?? text);
  return { devices, request: { ...request, turn: now?.turn ?? turn, previousTurns: bare } };
}

/** A follow-up takes from the turns before what it does not say itself. */
export function readInContext(
  { turn, previousTurns = [], nowUs, timeZone }: AskedTurn,
  isKnown: IsKnown,
): TurnInContext {
  const read: Read = (text, spoken = null) => readTurn(text, nowUs, timeZone, isKnown, spoken);
  const present = { read, isKnown, nowUs, timeZone };
  const alone = read(turn);
  let asked: TurnInContext | null = null;
  if (leans(alone)) {
    for (const text of baseOf(previousTurns, present)) asked = follow(asked, text, present);
  }
  return follow(asked, turn, present);
}

type Read = (turn: string, spoken?: SpokenTime | null) => TurnReading;
/** Whether a folded word stands in any title of the record. */
type IsKnown = (word: string) => boolean;

/** What turns are read with. */
interface Present {
  readonly read: Read;
  readonly isKnown: IsKnown;
  readonly nowUs: number;
  readonly timeZone: string;
}

/** "And next week?" asks for something that no record holds. */
function leans({ leaning, ahead }: TurnReading): boolean {
  return leaning !== null && !ahead;
}

/** The turns back to the newest that stands for itself, without those that asked for nothing in between ("thanks!"). */
function baseOf(turns: readonly string[], { read, isKnown }: Present): readonly string[] {
  const base: string[] = [];
  for (const text of [...turns].reverse()) {
    const alone = read(text);
    if (asksNothing(alone, isKnown)) continue;
    base.unshift(text);
    if (!leans(alone)) break;
  }
  return base;
}

function asksNothing(
  { intents, times, anchors, contentWords, leaning, needsNoRecord, ahead }: TurnReading,
  isKnown: IsKnown,
  before: TurnReading | null = null,
): boolean {
  // "I meant Tuesday" tells nothing else.
  if (ahead || (needsNoRecord && leaning?.how !== "bare")) return true;
  const isEmpty =
    times.length + anchors.length === 0 && (leaning === null || leaning.how === "and");
  if (intents.none <= 0.5 || !isEmpty) return false;
  // Small talk has words of its own as well; behind "and" those of a title are what is meant, or what takes the place of
  // another matter.
  const matters = contentWords.filter(({ generic }) => !generic);
  if (leaning === null) return intents.none > SURELY_NONE || matters.length === 0;
  const takesPlace = before !== null && before.contentWords.some(({ generic }) => !generic);
  return !matters.some(({ folded }) => takesPlace || isKnown(folded));
}

const SURELY_NONE = 0.85;

/** What a turn asks for after `asked`. */
function follow(asked: TurnInContext | null, turn: string, present: Present): TurnInContext {
  const { read, isKnown, nowUs, timeZone } = present;
  const alone = read(turn);
  const itself = { reading: alone, wordsOf: turn, beside: null };
  if (asked === null || !leans(alone)) return itself;
  const { reading: before } = asked;
  const namesKind = putsKind(alone, before);
  if (!namesKind && asksNothing(alone, isKnown, before)) return itself;
  const { leaning } = alone;
  if (leaning?.how === "more") return asked;
  if (leaning?.how === "asks") {
    return { ...asked, reading: { ...before, intents: { ...NO_INTENT, [leaning.intent]: 1 } } };
  }
  const spoken = before.times.find(isSpoken);
  const reading = spoken === undefined ? alone : read(turn, spoken);
  if (leaning?.how === "day") {
    const wordsOf = turn;
    if (spoken === undefined) return { reading, wordsOf, beside: { asked, side: "day" } };
    return { reading: onDay(reading, spoken.fromUs, timeZone), wordsOf, beside: null };
  }
  if (leaning?.how === "part" && before.times.length > 0) {
    const intents = { ...NO_INTENT, duration: 1 };
    const part = { ...reading, times: before.times, anchors: [], sides: [], intents };
    return { reading: part, wordsOf: turn, beside: null };
  }
  const matters =
    !WORDLESS.has(leaning?.how ?? "and") && reading.contentWords.some(({ generic }) => !generic);
  // "And how long was that?" asks something else of the same thing.
  const asksAnew = asksForOneOf(reading, ASKED_IN_WORDS);
  const side = besideOf(reading);
  if (side !== null && !matters && !reading.times.some(isSpoken)) {
    const turned = turnedTo(side, before);
    if (turned !== null) return { ...asked, reading: turned, beside: null };
    const window = asksOfTime(before) ? timeBeside(side, before, nowUs, timeZone) : null;
    if (window === null) {
      const { language } = reading;
      return {
        reading: { ...before, ...NOTHING_SAID, language },
        wordsOf: turn,
        beside: { asked, side },
      };
    }
    return { ...asked, reading: { ...before, times: [window] } };
  }
  const saysWhat =
    namesKind || matters || reading.anchors.some(({ kind }) => kind !== "that" || !asksAnew);
  const saysWhen = reading.times.length > 0;
  const intents = asksAnew || (saysWhat && saysWhen) ? reading.intents : before.intents;
  const said = leaning?.how === "bare" ? meantTimes(turn, reading, spoken, read) : reading.times;
  const times = saysWhen ? said : before.times;
  if (saysWhat) {
    const events = reading.anchors.length === 0 ? { anchors: ofSomebodyElse(before) } : {};
    return { reading: { ...reading, ...events, times, intents }, wordsOf: turn, beside: null };
  }
  // "Before lunch" is the day's, and not that of the hour that is asked for now.
  const moves = saysWhen && reading.times.some(({ kind }) => !WHOLE.has(kind));
  const events = moves ? { anchors: [], sides: [] } : {};
  const { end, quoted } = reading;
  return {
    reading: { ...before, ...events, times, intents, end: end ?? before.end, quoted },
    wordsOf: asked.wordsOf,
    beside: saysWhen ? null : asked.beside,
  };
}

/** "Which apps did I use? — and sites?": of a time without a matter, one kind of thing takes the place of another. */
function putsKind({ leaning, contentWords }: TurnReading, before: TurnReading): boolean {
  const isKindOnly = (words: readonly ContentWord[]): boolean =>
    words.every(({ generic, folded }) => generic || isKindWord(folded));
  return (
    leaning?.how === "and" &&
    isKindOnly(before.contentWords) &&
    isKindOnly(contentWords) &&
    contentWords.some(({ folded }) => isKindWord(folded))
  );
}

/** "Before the call with Ines? — and with Otto?": beside a call of his, if there was one. */
function ofSomebodyElse({ anchors }: TurnReading): readonly AnchorMention[] {
  return anchors
    .filter(({ kind, side }) => kind === "call" && side !== null)
    .map((anchor) => ({ ...anchor, kind: "that" as const, startIndex: 0, endIndex: 0 }));
}

/** "Not Monday, Tuesday": what is meant comes last. */
function meantTimes(
  turn: string,
  { times }: TurnReading,
  spoken: SpokenTime | undefined,
  read: Read,
): readonly TimeMention[] {
  const last = turn.slice(turn.lastIndexOf(",") + 1);
  const after = last === turn ? [] : read(last, spoken ?? null).times;
  return (after.length > 0 ? after : times).slice(-1);
}

/** Ways of leaning whose words are no matter. */
const WORDLESS: ReadonlySet<Leaning["how"]> = new Set(["beside", "bare"]);

/** A reading that says nothing itself and asks beside what was asked before. */
const NOTHING_SAID = {
  times: [],
  anchors: [],
  sides: [],
  contentWords: [],
  quoted: [],
  end: null,
  intents: { ...NO_INTENT, anchor: 1 },
} as const;

/** Times that an event of another day may be looked for in. */
const WHOLE: ReadonlySet<TimeMention["kind"]> = new Set(["day", "period"]);

/** The side of what was asked before on which a turn asks; null when it asks for something else. */
function besideOf({ leaning, anchors }: TurnReading): "before" | "after" | null {
  if (leaning?.how === "beside") return leaning.side;
  const side = anchors.find(({ kind }) => kind === "that")?.side?.side;
  return side === "before" || side === "after" ? side : null;
}

/** "Before lunch? — and after?": the other side of the same event. Null where it was this side, or no event. */
function turnedTo(side: "before" | "after", before: TurnReading): TurnReading | null {
  const others: readonly Side[] = side === "before" ? ["after", "since"] : ["before", "until"];
  if (!before.sides.some((mention) => others.includes(mention.side))) return null;
  const turned = new Map(before.sides.map((mention) => [mention, { ...mention, side }]));
  return {
    ...before,
    sides: [...turned.values()],
    anchors: before.anchors.map((anchor) =>
      anchor.side === null ? anchor : { ...anchor, side: turned.get(anchor.side) ?? anchor.side },
    ),
  };
}

/** Whether a turn asks what was in a time, and neither of an event nor when something was. */
function asksOfTime({ anchors, sides, times, contentWords, intents }: TurnReading): boolean {
  if (anchors.length + sides.length > 0 || !times.some(isSpoken)) return false;
  return intents.lastseen < 0.5 || contentWords.every(({ generic }) => generic);
}

/** "And before that?" after a question about a time: as long a time beside it. Null when nothing of it has been. */
function timeBeside(
  side: "before" | "after",
  before: TurnReading,
  nowUs: number,
  timeZone: string,
): TimeMention | null {
  const spoken = before.times.find(isSpoken);
  if (spoken === undefined) return null;
  const local = createLocalTime(timeZone);
  const { fromUs, toUs, startIndex, endIndex } = spoken;
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
  return { kind: "open", text: "", startIndex, endIndex, ...window, pointUs: null };
}

const DAY_US = 86_400_000_000;

const ASKED_OF_A_DAY: ReadonlySet<Intent> = new Set(["duration", "lastseen"]);

/** A reading of what was on the day of an instant. */
export function onDay(reading: TurnReading, atUs: number, timeZone: string): TurnReading {
  const local = createLocalTime(timeZone);
  const day = { ...local.toLocal(atUs), minuteOfDay: 0 };
  const [fromUs, toUs] = [local.toUs(day, 0), local.toUs(addDays(day, 1), 0)];
  const span = { text: "", startIndex: 0, endIndex: 0 };
  const times = [{ kind: "day" as const, ...span, fromUs, toUs, pointUs: null }];
  const asksMore =
    reading.contentWords.some(({ generic }) => !generic) || asksForOneOf(reading, ASKED_OF_A_DAY);
  return { ...reading, times, intents: asksMore ? reading.intents : { ...NO_INTENT, window: 1 } };
}

function isSpoken({ kind }: TimeMention): boolean {
  return kind !== "now" && kind !== "recent";
}

/** What nobody asks without saying so; a topic or a time may only be put in the place of another. */
const ASKED_IN_WORDS: ReadonlySet<Intent> = new Set(["duration", "lastseen", "now", "resume"]);

/** Whether a turn asks for one of these more likely than for all else. */
function asksForOneOf({ intents }: TurnReading, among: ReadonlySet<Intent>): boolean {
  return INTENTS.some((intent) => among.has(intent) && intents[intent] > 0.5);
}
