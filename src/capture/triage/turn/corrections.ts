/**
 * Finds the time that a turn takes back as it goes: "on Monday, no wait, Tuesday", "nicht gestern sondern vorgestern", "a las 9,
 * a las 4 mejor dicho". It promises null wherever two times may both be meant.
 */
import type { TimeMention } from "./reading.ts";
import type { Token } from "./tokens.ts";

export interface Correction {
  /** The turn with what was taken back blanked out: places in it stay where they are. */
  readonly turn: string;
  /** The tokens of the time that was taken back. What is left may name only what is otherwise. */
  readonly back: TokenRun;
}

/** Token indexes, half-open. */
export interface TokenRun {
  readonly first: number;
  readonly next: number;
}

/**
 * @param times What was read as times, with hulls of two that stand beside each other.
 * @param taken Indexes of tokens that belong to times, also to those to come.
 */
export function findCorrection(
  turn: string,
  tokens: readonly Token[],
  times: readonly TimeMention[],
  taken: ReadonlySet<number>,
): Correction | null {
  if (taken.size === 0) return null;
  const runs = runsOf(tokens, taken);
  for (const [at, run] of runs.entries()) {
    const after = runs[at + 1];
    const corrected =
      after === undefined
        ? withNewHour(turn, tokens, run)
        : withoutOne(turn, tokens, run, after, times);
    if (corrected !== null) return corrected;
  }
  return null;
}

function withoutOne(
  turn: string,
  tokens: readonly Token[],
  run: TokenRun,
  after: TokenRun,
  times: readonly TimeMention[],
): Correction | null {
  const between = { first: run.next, next: after.first };
  const isBare = wordsOf(tokens, between).every((word) => FILLS.has(word));
  // "Not Monday but Tuesday"
  const negation = notBefore(tokens, run);
  if (negation !== null && (isBare || BUT.test(textOf(tokens, between)))) {
    return { turn: blank(turn, tokens, { first: negation, next: after.first }), back: run };
  }
  // "Friday, not Thursday"
  const not = notBefore(tokens, after);
  if (not !== null && isBreak(tokens, not) && not > run.next) {
    return { turn: blank(turn, tokens, { first: not, next: after.next }), back: after };
  }
  // "Ayer no, anteayer", "gestern nicht, vorgestern"
  const denied = textOf(tokens, between);
  if (NOT.has(denied) && tokens[after.first - 1]?.type === "mark") {
    return { turn: blank(turn, tokens, { first: run.first, next: after.first }), back: run };
  }
  const cue = cueBefore(tokens, between);
  if (cue !== null) {
    const text = blank(turn, tokens, { first: cue, next: after.first });
    return { turn: blank(text, tokens, run), back: run };
  }
  if (!isBare) return null;
  // "At 9, at 4 rather"
  const behind = tokens.slice(after.next, after.next + MAX_CUE).map(({ folded }) => folded);
  const said = BEHIND.exec(behind.join(" "))?.[0];
  if (said !== undefined && after.first > run.next) {
    const next = after.next + said.split(" ").length;
    const text = blank(turn, tokens, { first: run.first, next: after.first });
    return { turn: blank(text, tokens, { first: after.next, next }), back: run };
  }
  // "The other day, Wednesday evening": the second says which.
  const [vague, exact] = [mentionIn(tokens, run, times), mentionIn(tokens, after, times)];
  const isWithin =
    vague !== null &&
    exact !== null &&
    vague !== exact &&
    (vague.kind === "recent" || vague.kind === "period") &&
    exact.fromUs >= vague.fromUs &&
    exact.toUs <= vague.toUs &&
    exact.toUs - exact.fromUs < (vague.toUs - vague.fromUs) / 2;
  const isApposed = textOf(tokens, between) === "" && tokens[run.next]?.text === ",";
  return isWithin && isApposed ? { turn: blank(turn, tokens, run), back: run } : null;
}

/** "At 10 today, I mean 4": the hour takes the place of the other. */
function withNewHour(turn: string, tokens: readonly Token[], run: TokenRun): Correction | null {
  const at = tokens.findIndex(({ type }, index) => index >= run.next && type === "number");
  const hour = tokens[at];
  const rest = tokens.slice(at + 1).filter(({ type }) => type !== "mark");
  if (hour === undefined || hour.text.length > 2 || rest.length > 0) return null;
  const cue = cueBefore(tokens, { first: run.next, next: at });
  const old = tokens.slice(run.first, run.next).filter(({ type }) => type === "number");
  const [number] = old;
  if (cue === null || number === undefined || old.length > 1 || Number(hour.text) > 24) return null;
  // What stands in between would not keep its place.
  if (wordsOf(tokens, { first: run.next, next: cue }).length > 0) return null;
  const head = turn.slice(0, number.start) + hour.text;
  const same = turn.slice(number.end, tokens[run.next - 1]?.end ?? number.end);
  const tail = turn.slice(hour.end);
  const padding = turn.length - head.length - same.length - tail.length;
  return { turn: head + same + " ".repeat(Math.max(0, padding)) + tail, back: run };
}

/** Runs of times with nothing in between; a mark parts two. */
function runsOf(tokens: readonly Token[], taken: ReadonlySet<number>): readonly TokenRun[] {
  const runs: { first: number; next: number }[] = [];
  for (let index = 0; index < tokens.length; index++) {
    if (!taken.has(index)) continue;
    const last = runs.at(-1);
    if (last?.next === index && tokens[index]?.text !== ",") last.next = index + 1;
    else if (tokens[index]?.text !== ",") runs.push({ first: index, next: index + 1 });
  }
  return runs;
}

function mentionIn(
  tokens: readonly Token[],
  { first, next }: TokenRun,
  times: readonly TimeMention[],
): TimeMention | null {
  const [start, end] = [tokens[first]?.start ?? 0, tokens[next - 1]?.end ?? 0];
  return times.find(({ startIndex, endIndex }) => startIndex < end && endIndex > start) ?? null;
}

/** Index of a "not" that stands right before a time, or null. */
function notBefore(tokens: readonly Token[], { first }: TokenRun): number | null {
  const at = ARTICLES.has(tokens[first - 1]?.folded ?? "") ? first - 2 : first - 1;
  return NOT.has(tokens[at]?.folded ?? "") ? at : null;
}

/** Whether a turn or a clause begins at `index`. */
function isBreak(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  return before === undefined || before.type === "mark" || ANDS.has(before.folded);
}

/** Where the words that take back what was said begin, when nothing but those stands last in `span`. */
function cueBefore(tokens: readonly Token[], { first, next }: TokenRun): number | null {
  let found: number | null = null;
  for (let at = Math.max(first, next - MAX_CUE); at < next; at++) {
    if (tokens[at]?.type === "mark") continue;
    const text = textOf(tokens, { first: at, next });
    const isOpen = at === first || tokens[at - 1]?.type === "mark";
    if (TAKES_BACK.test(text) && (isOpen || PLAIN.test(text))) {
      found = at;
      break;
    }
  }
  return found;
}

function wordsOf(tokens: readonly Token[], { first, next }: TokenRun): readonly string[] {
  return tokens.slice(first, next).flatMap(({ type, folded }) => (type === "mark" ? [] : [folded]));
}

function textOf(tokens: readonly Token[], run: TokenRun): string {
  return wordsOf(tokens, run).join(" ");
}

function blank(turn: string, tokens: readonly Token[], { first, next }: TokenRun): string {
  const start = tokens[first]?.start ?? 0;
  const end = tokens[next - 1]?.end ?? start;
  return turn.slice(0, start) + " ".repeat(end - start) + turn.slice(end);
}

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

/** More tokens than this take nothing back. */
const MAX_CUE = 8;
const NOT = set("not nicht no pas");
const ANDS = set("and und y et");
const ARTICLES = set("on am im den der el la los las le");
const FILLS = set(
  "um uh uhm er erm hm hmm ah oh ach aeh ahm eh ehm ohm euh heu ay uy well also bueno pues ben bon so like or oder o ou aber but pero mais und and y et",
);
const BUT = /^(?:(?:but|sondern|sino(?: que)?|mais|rather)(?: (?:rather|plutot|mas bien))?)$/u;
const FILL =
  "um|uh|uhm|er|erm|hm|hmm|ah|oh|ach|aeh|ahm|eh|ehm|ohm|euh|heu|ay|uy|well|also|bueno|pues|ben|bon|so";
const CUE = [
  "no|nope|wait|hang on|hold on|sorry|oops|correction|rather|actually|i mean|i meant|i wanted to say|make that|make it|scratch that|not that",
  "nein|nee|no|ne|quatsch|moment|momentchen|halt|warte|falsch|blodsinn|entschuldigung|entschuldige|ich mein(?:e|te)?|meine? ich|ich wollte sagen|besser gesagt|vielmehr|korrektur|eher",
  "perdon|perdona|digo|mejor dicho|quiero decir|quise decir|espera|espera no|mas bien|mejor|que digo|me equivoque|disculpa|corrijo",
  "non|nan|pardon|enfin|plutot|je veux dire|je voulais dire|desolee?|attends|attendez|mince|je me trompe|erreur|c est a dire",
].join("|");
const TAKES_BACK = new RegExp(
  `^(?:(?:${FILL}|or|oder|o|ou) )*(?:${CUE})(?: (?:${CUE}|${FILL}|it was|that was|es war|das war|era|fue|c etait))*$`,
  "u",
);
/** Says so wherever it stands. */
const PLAIN =
  /^(?:(?:um|uh|aeh|ahm|ah|eh|euh|or|oder|o|ou) )*(?:i meant?|no (?:wait|sorry)|wait no|scratch that|ich mein(?:e|te)?|quatsch|nein|nee|besser gesagt|digo|mejor dicho|quiero decir|perdon|je veux dire|je voulais dire|non pardon|pardon|euh non|sorry)\b/u;
/** The same behind the time that is meant. */
const BEHIND =
  /^(?:rather|i meant?|sorry|meine? ich|ich mein(?:e|te)?|mejor dicho|digo|quiero decir|quise decir|mas bien|perdon|plutot|je veux dire|je voulais dire|pardon)\b(?! [a-z])/u;
