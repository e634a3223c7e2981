/**
 * Finds the times a turn speaks of and says which stretch of the past each one means. A pure function of
 * (turn, now, zone): the reading is biased to the past and never ends after now.
 */
import { isFunctionWord } from "./turn/languages.ts";
import { addDays, createLocalTime } from "./local-time.ts";
import { parseTimes, type FoundTime } from "./time/grammar.ts";
import { isCore } from "./time/lead.ts";
import { lexTimes, type Lexed } from "./time/lexer.ts";
import { resolveTime, type Present, type SpokenTime } from "./time/resolve.ts";
import { TIME_WORDS } from "./time/vocabulary.ts";
import type { TimeMention, TurnLanguage } from "./turn/reading.ts";
import type { Token } from "./turn/tokens.ts";

export interface TimesRead {
  /** In the order of the turn, not overlapping. */
  readonly times: readonly TimeMention[];
  /** Indexes of the tokens of every time expression, also of those that name the future. */
  readonly covered: ReadonlySet<number>;
  /** Whether the turn speaks of a time to come and of none that has been. */
  readonly ahead: boolean;
  /** Whether a time is counted from one that was spoken of: "an hour later", "the day before". */
  readonly leans: boolean;
}

/**
 * @param language The grammar that reads first; the others may take what it leaves.
 * @param spoken The time that the turn before was about; null when it stands for itself.
 */
export function readTimes(
  turn: string,
  tokens: readonly Token[],
  language: TurnLanguage,
  nowUs: number,
  timeZone: string,
  spoken: SpokenTime | null = null,
): TimesRead {
  const covered = new Set<number>();
  const found = fewest(parseAll(tokens, language));
  if (found.length === 0) return { times: [], covered, ahead: false, leans: false };
  const local = createLocalTime(timeZone);
  const present: Present = { nowUs, today: local.toLocal(nowUs), local, spoken };
  const times: TimeMention[] = [];
  let future = false;
  let leans = false;
  for (const { node, first, next } of found) {
    for (let index = first; index < next; index++) covered.add(index);
    const last = times.at(-1);
    const between = last === undefined ? "" : turn.slice(last.endIndex, tokens[first]?.start);
    const beside = last !== undefined && JOINT.test(between) ? last : null;
    // "Yesterday morning and afternoon": of the same day.
    const span = resolveTime(node, beside === null ? present : { ...present, spoken: beside });
    const startIndex = tokens[first]?.start ?? 0;
    const endIndex = tokens[next - 1]?.end ?? startIndex;
    const isLeaning = node.type === "beside" || node.type === "apart";
    leans ||= isLeaning;
    future ||= node.type === "future" || (span !== null && span.fromUs >= nowUs && !isLeaning);
    if (span === null) continue;
    const toUs = Math.min(span.toUs, nowUs);
    if (toUs <= span.fromUs) continue;
    const text = turn.slice(startIndex, endIndex);
    const { kind, fromUs, pointUs } = span;
    const time = { kind, text, startIndex, endIndex, fromUs, toUs, pointUs };
    if (beside === null || !WHOLE.has(kind) || !WHOLE.has(beside.kind)) times.push(time);
    else if (DASH.test(between) && toUs <= beside.fromUs) {
      // "Mon–Fri", said on a Friday: from the Monday before the last one.
      const from = local.toLocal(beside.fromUs);
      const start = local.toUs(addDays(from, -7), from.minuteOfDay);
      times[times.length - 1] = hull(turn, { ...beside, fromUs: start, toUs: start }, time);
    } else if (beside.toUs === fromUs || toUs === beside.fromUs || DASH.test(between)) {
      times[times.length - 1] = hull(turn, beside, time);
    } else times.push({ ...time, joined: true });
  }
  return { times, covered, ahead: future && times.length === 0, leans };
}

/** "Saturday and Sunday", "last week, this week", "Mo-Fr". */
const JOINT =
  /^\s*(?:[,;&+/–—-]|,?\s*(?:and|und|or|oder|sowie|then|y|et)\b)(?:\s*(?:on|also|then|am|auch|dann))?\s*$/iu;
const DASH = /[–—-]/u;
const WHOLE: ReadonlySet<TimeMention["kind"]> = new Set(["day", "part", "period", "range"]);

/** Two times beside each other as one. */
function hull(turn: string, a: TimeMention, b: TimeMention): TimeMention {
  const { startIndex } = a;
  const { endIndex } = b;
  const fromUs = Math.min(a.fromUs, b.fromUs);
  const toUs = Math.max(a.toUs, b.toUs);
  const text = turn.slice(startIndex, endIndex);
  return { kind: "range", text, startIndex, endIndex, fromUs, toUs, pointUs: null };
}

/** Nobody asks about more times than this; a pasted table of them has thousands. */
const MAX_TIMES = 12;

function fewest(found: readonly FoundTime[]): readonly FoundTime[] {
  if (found.length <= MAX_TIMES) return found;
  return [...found.slice(0, MAX_TIMES / 2), ...found.slice(-MAX_TIMES / 2)];
}

/** Misspelt words are guessed in what somebody typed, not in what was pasted. */
const TYPED_TOKENS = 120;

const GRAMMARS = ["en", "de", "es", "fr"] as const;

function parseAll(tokens: readonly Token[], language: TurnLanguage): readonly FoundTime[] {
  const guesses = language !== "other" && tokens.length <= TYPED_TOKENS;
  let all = [...parseTimes(lexTimes(tokens, TIME_WORDS[language], guesses))];
  for (const other of GRAMMARS) {
    if (other === language) continue;
    // People mix languages ("was hab ich before lunch gemacht"), but only whole words of another count.
    const lexed = withoutOwn(lexTimes(tokens, TIME_WORDS[other], false), language);
    for (const time of parseTimes(lexed)) {
      if (time.node.type === "now" || time.node.type === "recent") continue;
      const met = all.filter((known) => time.next > known.first && time.first < known.next);
      // "¿qué hice vendredi de 13h à 15h?": the hours are read in both languages, the day in one.
      if (met.every((known) => saysMore(lexed, time, known)))
        all = [...all.filter((known) => !met.includes(known)), time];
    }
  }
  return all.sort((a, b) => a.first - b.first);
}

/** "Aller" is how some write "ayer", and a French word that says no time: the turn's own small words do not cross. */
function withoutOwn(lexed: Lexed, language: TurnLanguage): Lexed {
  const isOwn = (index: number): boolean =>
    lexed.after(index) === index + 1 &&
    isCore(lexed.word(index)) &&
    language !== "other" &&
    isFunctionWord(lexed.tokens[index]?.folded ?? "", language);
  return {
    ...lexed,
    match: (index) => (isOwn(index) ? null : lexed.match(index)),
    word: (index) => (isOwn(index) ? NOTHING : lexed.word(index)),
  };
}

const NOTHING = {};

/** Whether a time holds all of another and names a day, a part of it or an hour besides. */
function saysMore(lexed: Lexed, { first, next, node }: FoundTime, known: FoundTime): boolean {
  if (
    first > known.first ||
    next < known.next ||
    node.type === "future" ||
    node.type === "greeting"
  )
    return false;
  for (let at = first; at < next; at = lexed.after(at)) {
    const isBeside = at < known.first || at >= known.next;
    if (isBeside && isCore(lexed.word(at))) return true;
  }
  return false;
}
