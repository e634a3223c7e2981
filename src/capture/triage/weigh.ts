/**
 * Decides which readings of a turn are answered. What the words sound like (intents) is weighed against what
 * the record holds (slots): a reading without its slot gives its weight to the one that can be answered, and a slot
 * that fits exactly speaks for its reading. Silence needs certainty in both directions.
 */
import type { AnchorWindow } from "./anchors.ts";
import type { Subject } from "./subject.ts";
import { type Topic, type TopicWord, UNCOMMON } from "./topic.ts";
import { wordRarity } from "./words.ts";
import { isMediumWord } from "./turn/languages.ts";
import type { Intent, TurnReading } from "./turn/reading.ts";

export interface WeighedReadings {
  /** What the turn is taken to ask for. */
  readonly intent: Intent;
  /** Those to answer, best first, with their share of the budget; empty for silence. */
  readonly readings: readonly { readonly intent: Intent; readonly weight: number }[];
}

export interface Slots {
  readonly reading: TurnReading;
  readonly topic: Topic;
  readonly anchor: AnchorWindow | null;
  readonly subject: Subject | null;
}

/** The second reading is answered too when it is worth this share of the first; less will do where it costs little. */
const CLOSE = 0.6;
const CLOSE_CHEAP = 0.35;

export function weighReadings(slots: Slots): WeighedReadings {
  const weights = moveWeights(slots);
  const ranked = ANSWERED.map((intent) => ({ intent, weight: weights[intent] })).sort(
    (a, b) => b.weight - a.weight,
  );
  const [first, second] = ranked;
  // What was moved to silence counts only where the turn itself asks for nothing.
  const { needsNoRecord, asksOfOthers } = slots.reading;
  const isMoved = needsNoRecord || asksOfOthers || isCalledSo(slots);
  const none = isMoved ? weights.none : slots.reading.intents.none;
  if (first === undefined || first.weight <= 0 || isSmallTalk(slots, first.weight, none)) {
    return { intent: "none", readings: [] };
  }
  // Where the owner was last helps too when the work that was named is not known by that name.
  const isLost = slots.subject === null && second?.intent === "resume";
  const share = second?.intent === "now" || isLost ? CLOSE_CHEAP : CLOSE;
  const isClose = second !== undefined && second.weight >= first.weight * share;
  const readings = isClose && !isSame(first.intent, second.intent) ? [first, second] : [first];
  return { intent: first.intent, readings };
}

/**
 * Whether a turn is small talk beyond any slot: what a title could still say for it would not reach the bar. Spares the
 * search for most turns that need none.
 */
export function isPlainSmallTalk(reading: TurnReading): boolean {
  const { intents, times, anchors, sides } = reading;
  if (reading.isBareName && !reading.needsNoRecord) return false;
  return intents.none > HIGHEST_BAR && times.length + anchors.length + sides.length === 0;
}

/** What `isSmallTalk` allows at most to a turn without a time and without an event. */
const HIGHEST_BAR = 0.85;

/** In the order of preference between equals. */
const ANSWERED = [
  "anchor",
  "duration",
  "lastseen",
  "topic",
  "window",
  "resume",
  "now",
] as const satisfies readonly Intent[];

/** The intents with the weight of those that cannot be answered moved to what the turn can mean instead. */
function moveWeights({ reading, topic, anchor, subject }: Slots): Record<Intent, number> {
  const { intents } = reading;
  const weights: Record<Intent, number> = { ...intents };
  const move = (from: Intent, to: Intent, share: number): void => {
    const moved = weights[from] * share;
    weights[from] -= moved;
    weights[to] += moved;
  };
  const hasTime = reading.times.some(({ kind }) => kind !== "now" && kind !== "recent");
  const saysNow = reading.times.some(({ kind }) => kind === "now");
  const telling = topic.words.filter(({ word }) => !word.generic).length;
  const found = subject?.coverage ?? 0;

  // Who tells how the day was asks for nothing of it; a title that is named may help all the same.
  if (reading.needsNoRecord) {
    const unasked = ["window", "duration", "anchor", "lastseen", "resume"] as const;
    for (const intent of unasked) move(intent, "none", 1);
    if (subject === null) move("topic", "none", 1);
    return weights;
  }
  // What others did stands in no record; what was looked at and is called like them may help.
  if (reading.asksOfOthers) {
    for (const intent of ["window", "duration", "anchor", "lastseen", "resume", "now"] as const) {
      move(intent, found >= NAMED ? "topic" : "none", 1);
    }
    if (found < NAMED) move("topic", "none", 1);
    return weights;
  }
  // "Ticket 4711" asks nothing, and what is called so is what is meant.
  if (isCalledSo({ reading, topic })) {
    for (const intent of ["none", "window", "anchor", "now", "resume"] as const) {
      move(intent, "topic", 1);
    }
    return weights;
  }
  // An event that was found beside a side word is hardly there by chance; but "before the meeting starts" may be to come.
  const isAside = anchor !== null && !anchor.named && found >= 0.55;
  if (isAside) move("anchor", "topic", 0.6);
  else if (anchor !== null && anchor.certain) {
    for (const intent of ["window", "resume", "topic", "lastseen", "now"] as const) {
      move(intent, "anchor", 0.5);
    }
  }
  // "How long was I on the contract before lunch?" asks for a sum, whatever it leans on.
  if (anchor !== null && anchor.certain && found >= 0.75 && intents.duration > 0.25) {
    move("anchor", "duration", 0.6);
  }
  if (anchor === null) move("anchor", hasTime ? "window" : telling > 0 ? "topic" : "resume", 1);
  if (telling === 0) {
    move("topic", hasTime ? "window" : "resume", 0.8);
    move("lastseen", hasTime ? "window" : "resume", 0.8);
    // "Where did I leave off on the website?"
    if (kindName(subject, topic) !== null) move("resume", "topic", 0.85);
    // "What am I on" without a time: where the owner was, or what is in front.
    if (!hasTime) {
      move("window", "resume", 0.4);
      move("window", "now", 0.5);
    }
  } else {
    // "Pick up the budget where I left off" is about the budget; so is "what did I do for the budget".
    // A page that happens to hold a word of it is no work that one could pick up.
    const isWork = subject !== null && subject.project !== null;
    move("resume", "topic", found >= 0.75 && isWork ? 0.85 : 0.1);
    move("window", "topic", (found >= 0.75 ? 0.7 : 0.1) * (hasTime ? 0.6 : 1));
    // What is in front needs no name; the more is named, the less it is that.
    if (!saysNow) move("now", found >= 0.75 ? "topic" : "none", telling === 1 ? 0.25 : 0.55);
  }
  // "Did I watch it yesterday?" is no question about all that was yesterday; "was I productive yesterday?" is.
  if (asksOfNamed(reading) && telling > 0 && (subject !== null || topic.isUnknownName)) {
    move("window", "topic", 1);
  }
  if (hasTime) {
    if (!saysNow || intents.now < 0.6) move("now", "window", 0.6);
    move("resume", "window", 0.4);
  }
  return weights;
}

/**
 * Whether the turn is no question about the record. Slots that fit raise the bar, since small talk rarely names a
 * past time or the very words of a title; what fits nothing lowers it.
 */
function isSmallTalk(
  { reading, anchor, subject, topic }: Slots,
  bestWeight: number,
  none: number,
): boolean {
  const { now, resume } = reading.intents;
  const hasTime = reading.times.some(({ kind }) => kind !== "now" && kind !== "recent");
  const telling = topic.words.some(({ word }) => !word.generic);
  // What is to come is not in the record; but "where was I, it is due tomorrow" and "sum this page up for tomorrow" are.
  const asksHere = resume > 0.5 || (topic.words.length > 0 && now > 0.5);
  if (reading.ahead && !telling && anchor === null && !asksHere) return true;
  // "Help me plan next week": neither is the page in front.
  if (reading.ahead && reading.needsNoRecord && subject === null) return true;
  let bar = isGreeting(reading, topic) ? 0.05 : 0.5;
  // Who tells how the day was names its hours and its meals as well.
  if (anchor?.certain === true && anchor.named && !reading.needsNoRecord) bar += 0.3;
  // "Good morning" names a time as well.
  if (hasTime && topic.words.length > 0 && !reading.needsNoRecord) bar += 0.2;
  if (subject !== null && subject.coverage >= 0.8) {
    const held = topic.words.filter(({ word, hits }) => !word.generic && hits.how !== "none");
    // Two words of a title together are hardly there by chance.
    bar += held.length >= 2 ? 0.35 : 0.15;
  }
  if (telling && subject === null && !hasTime && anchor === null) bar -= 0.1;
  return none > bar || (none > 0.3 && none > bestWeight * 1.1 && bar <= 0.5);
}

/**
 * Whether the turn is the name of something, of which at least two words stand in one title and none is missing. One word is enough
 * when it is the whole turn, rare, and in a title as it is.
 */
function isCalledSo({ reading, topic }: Pick<Slots, "reading" | "topic">): boolean {
  const [best] = topic.matches;
  if (!reading.isBareName || best === undefined || best.coverage < WHOLLY) return false;
  const isHeld = ({ hits }: TopicWord): boolean => hits.documents.has(best.documentId);
  if (!topic.words.every((word) => word.word.generic || isHeld(word))) return false;
  const held = topic.words.filter(isHeld);
  // Of a compound the one part may be named; not of all words.
  if (held.every(({ hits }) => hits.how === "alike")) return false;
  // "Good work" may stand in a title as well.
  const isRare = held.some(({ word }) => !word.generic && wordRarity(word.folded) > COMMON);
  if (held.length >= 2) return isRare;
  const [only] = topic.words;
  return (
    topic.words.length === 1 &&
    only !== undefined &&
    reading.leaning === null &&
    reading.anchors.length === 0 &&
    wordRarity(only.word.folded) >= UNCOMMON &&
    (only.hits.documents.get(best.documentId) ?? 0) >= IN_TITLE
  );
}

/** Share of the words that a title holds which is named by them. */
const NAMED = 0.75;
const WHOLLY = 0.7;
const COMMON = 0.65;
/** How close a word of a title is at least; one of an address or a program is not. */
const IN_TITLE = 0.95;

/**
 * "Did I watch it yesterday?": of what is named, and of nothing beside it. "Did I read it before lunch?" asks for a side, and
 * what was named may have been there under another name.
 */
export function asksOfNamed({ asksWhether, sides }: TurnReading): boolean {
  return asksWhether && sides.length === 0;
}

/** "Morning", "good evening": a part of the day and nothing else. */
function isGreeting({ times, anchors, sides, followUp }: TurnReading, topic: Topic): boolean {
  const [time] = times;
  if (time === undefined || times.length > 1 || followUp) return false;
  // "Feierabend!"
  const isWord = time.kind === "clock" && /^\p{L}+$/u.test(time.text);
  if (time.kind !== "part" && !isWord) return false;
  // "Vorgestern früh" and "Montagabend" name a day.
  const isBare = !/\s/u.test(time.text.trim()) && !/.tag\B|mittwoch\B/iu.test(time.text);
  return topic.words.length === 0 && anchors.length === 0 && sides.length === 0 && isBare;
}

/** The words, as written, that name a work which is called like a kind of thing, such as a website of the owner's; null: none. */
export function kindName(subject: Subject | null, { words, phrase }: Topic): string | null {
  if (subject?.project == null || !subject.isProject || phrase !== "") return null;
  const { nameWords } = subject.project;
  // "How long did I work?" is not about a folder called work.
  const naming = words.filter(
    ({ word: { folded } }) => nameWords.includes(folded) && isMediumWord(folded, "other"),
  );
  const isWhole = nameWords.every((name) => naming.some(({ word }) => word.folded === name));
  return isWhole ? naming.map(({ word }) => word.text).join(" ") : null;
}

/** Both are answered by the same lines. */
function isSame(a: Intent, b: Intent): boolean {
  const looksUp = (intent: Intent): boolean => intent === "topic" || intent === "lastseen";
  return looksUp(a) && looksUp(b);
}
