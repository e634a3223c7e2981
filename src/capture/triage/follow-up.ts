/** Tells turns that lean on the one before: "and what about the budget?", "und davor?", "y ayer?". */
import type { AnchorMention } from "./turn-reading.ts";
import type { Token } from "./turn-tokens.ts";

/** A turn that begins with "and" is one only when it is this short; longer ones stand for themselves. */
const SHORT_WORDS = 7;

export function isFollowUp(tokens: readonly Token[], anchors: readonly AnchorMention[]): boolean {
  if (anchors.some(({ kind }) => kind === "that")) return true;
  const words = tokens.filter(({ type }) => type === "word" || type === "number");
  let first = 0;
  while (OPENERS.has(words[first]?.folded ?? "")) first++;
  const rest = words.slice(first).map(({ folded }) => folded);
  if (CONJUNCTIONS.has(rest[0] ?? "") && rest.length <= SHORT_WORDS) return true;
  const start = rest.slice(0, 6).join(" ");
  return LEANING.test(start);
}

const OPENERS: ReadonlySet<string> = new Set(
  "ok okay thanks thank you great cool nice right good hmm danke gut super gracias vale bien merci d'accord bon oh ah".split(
    " ",
  ),
);

const CONJUNCTIONS: ReadonlySet<string> = new Set(
  "and und y et e also plus then dann luego puis".split(" "),
);

const LEANING =
  /^((and|und|y|et) )?((what|how) about|what of|same (for|with|question|thing)|was ist mit|wie siehts? (es )?(mit|bei)|wie wars? (es )?(mit|bei)|dasselbe|das gleiche|und (was|wie)|que (hay|tal|pasa) (de|del|con)|lo mismo|y (que|en|con|el|la|lo|ayer|antes|despues)|et (pour|le|la|les|hier|avant|apres|qu)|qu en est il|pareil pour|la meme chose|meme question|quid de)\b/;
