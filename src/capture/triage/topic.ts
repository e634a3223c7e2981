/**
 * What a turn is about, as documents: every word that hits the index is a candidate, and a document is as
 * good as the share of the words it answers for, rare words counting more. It promises that a topic nobody
 * ever looked at is told as such, however common its single words are.
 */
import type { DocumentIndex, WordHits } from "./document-index.ts";
import type { ContentWord, TurnLanguage, TurnReading } from "./turn/reading.ts";
import { isMediumWord } from "./turn/languages.ts";
import { cjkPieces, foldWord, foldedWords, wordRarity } from "./words.ts";

/** A word of the turn together with what it hits. */
export interface TopicWord {
  readonly word: ContentWord;
  readonly hits: WordHits;
  /** Number of the phrase it stands in: "garden fence permit" is one, "harmonium I saw" is two. */
  readonly phrase: number;
  /** What a document answers for by holding the word. */
  readonly weight: number;
  /** What a document loses by lacking it. */
  readonly missing: number;
  /** Whether it is a common word by itself beside a weightier phrase: "starts" in "before it starts: the customs papers". */
  readonly isAside: boolean;
}

/** How well one document answers for the topic. */
export interface TopicMatch {
  readonly documentId: number;
  /** Weighted share of the best phrase that the document answers for, 0 to 1. */
  readonly coverage: number;
  /** Rank among matches of like coverage: also counts the other phrases and words that name a medium. */
  readonly score: number;
}

export interface Topic {
  readonly words: readonly TopicWord[];
  /** The words of the weightiest phrase as written, for "nothing recorded about …"; empty without any. */
  readonly phrase: string;
  /** Best first. */
  readonly matches: readonly TopicMatch[];
  /** Whether it is a rare name of which no title holds anything, and that is told from a manner by what stands before it. */
  readonly isUnknownName: boolean;
}

/** Below this share a document is a coincidence of words. */
export const COVERAGE_FLOOR = 0.52;

/** Looks the content words of a turn up. */
export function readTopic(
  turn: string,
  { contentWords, language }: Pick<TurnReading, "contentWords" | "language">,
  index: DocumentIndex,
): Topic {
  const asked = contentWords.flatMap(cutRun).slice(0, MAX_WORDS);
  const words = weigh(turn, lookUp(turn, asked, index), language);
  const phrases = new Map<number, TopicWord[]>();
  for (const word of words) {
    const phrase = phrases.get(word.phrase) ?? [];
    phrase.push(word);
    phrases.set(word.phrase, phrase);
  }
  const best = new Map<number, { coverage: number; extra: number }>();
  let heaviest: { readonly weight: number; readonly words: readonly TopicWord[] } | null = null;
  for (const phrase of phrases.values()) {
    const telling = phrase.filter(({ word, isAside }) => !word.generic && !isAside);
    const total = telling.reduce((sum, { weight }) => sum + weight, 0);
    if (telling.length > 0 && (heaviest === null || total > heaviest.weight)) {
      heaviest = { weight: total, words: phrase };
    }
    const missing = telling.reduce((sum, word) => sum + word.missing, 0);
    for (const [documentId, { matched, notMissing }] of sumHits(telling)) {
      const coverage = matched / (matched + Math.max(0, missing - notMissing));
      const known = best.get(documentId);
      if (known === undefined) best.set(documentId, { coverage, extra: 0 });
      else {
        known.extra += Math.min(coverage, known.coverage);
        known.coverage = Math.max(coverage, known.coverage);
      }
    }
  }
  // A word for a medium decides between documents, it never finds one.
  for (const { word, hits } of words) {
    if (!word.generic) continue;
    for (const documentId of hits.documents.keys()) {
      const known = best.get(documentId);
      if (known !== undefined) known.extra += 0.3;
    }
  }
  const matches = [...best]
    .map(([documentId, { coverage, extra }]) => ({
      documentId,
      coverage,
      score: coverage + 0.15 * extra,
    }))
    .sort((a, b) => b.score - a.score || b.documentId - a.documentId);
  const phrase = heaviest === null ? "" : phraseText(turn, heaviest.words);
  return { words, phrase, matches, isUnknownName: isUnknownName(turn, words) };
}

/** "On instagram", "play minecraft"; "was I productive" names nothing, and a common word may be anybody's way of putting it. */
function isUnknownName(turn: string, words: readonly TopicWord[]): boolean {
  const telling = words.filter(({ word }) => !word.generic);
  const [first] = telling;
  const isRare = telling.every(
    ({ word, hits }) => hits.how === "none" && wordRarity(word.folded) >= UNCOMMON,
  );
  if (first === undefined || !isRare) return false;
  const before = turn.slice(0, first.word.startIndex).trimEnd();
  const [beside = ""] = /[\p{L}\p{M}]+$/u.exec(before) ?? [];
  const isDoing = words.some(
    ({ word }) => word.generic && word.startIndex + word.text.length === before.length,
  );
  return isDoing || (beside !== "" && (LINKS.has(foldWord(beside)) || INTO.has(foldWord(beside))));
}

/** Rarity of words beyond the five thousand commonest. */
export const UNCOMMON = 1;
/** What leads to a name, beside what links the words of one. */
const INTO: ReadonlySet<string> = new Set([
  "into",
  "inside",
  "within",
  "dans",
  "auf",
  "bei",
  "im",
  "in",
]);

/** What is written without spaces is cut as titles are. */
function cutRun(word: ContentWord): readonly ContentWord[] {
  const pieces = cjkPieces(word.text.normalize("NFKC"));
  if (pieces.length < 2) return [word];
  return pieces.map((text, index) => ({
    ...word,
    text,
    folded: foldWord(text),
    startIndex: word.startIndex + index,
  }));
}

const MAX_WORDS = 24;
/** Looking for compounds and typing errors walks the whole vocabulary. */
const MAX_ALIKE = 8;

type FoundWord = Pick<TopicWord, "word" | "hits" | "phrase">;

function lookUp(
  turn: string,
  contentWords: readonly ContentWord[],
  index: DocumentIndex,
): readonly FoundWord[] {
  const words: FoundWord[] = [];
  let phrase = 0;
  let alikeLeft = MAX_ALIKE;
  let previous: ContentWord | null = null;
  let joined: WordHits | null = null;
  for (const [at, word] of contentWords.entries()) {
    if (previous !== null && !isLinked(turn, previous, word)) phrase += 1;
    previous = word;
    if (joined !== null) {
      // The second half of a name that was dictated as two words.
      words.push({ word, hits: joined, phrase });
      joined = null;
      continue;
    }
    let hits = findWord(word, index, false);
    if (hits.how === "none") {
      const next = contentWords[at + 1];
      const both =
        next === undefined ? null : index.find(word.folded + next.folded, { alike: false });
      if (both !== null && both.how !== "none") {
        hits = both;
        joined = both;
      } else if (alikeLeft > 0 && !word.generic) {
        alikeLeft -= 1;
        hits = findWord(word, index, true);
      }
    }
    words.push({ word, hits, phrase });
  }
  return words;
}

/** A name written in one ("RoutePlanner", "chapter3") is also looked for by its pieces. */
function findWord(word: ContentWord, index: DocumentIndex, alike: boolean): WordHits {
  const hits = index.find(word.folded, { alike });
  if (hits.how !== "none") return hits;
  const pieces = foldedWords(word.text).filter(({ whole }) => !whole);
  if (pieces.length < 2) return hits;
  const found = pieces.map(({ text }) => index.find(text, { alike: false }));
  const [first, ...rest] = found;
  if (first === undefined || found.some(({ how }) => how === "none")) return hits;
  const documents = new Map(
    [...first.documents].filter(([id]) => rest.every((other) => other.documents.has(id))),
  );
  return documents.size === 0 ? hits : { weight: hits.weight, how: "stem", documents };
}

/** What each document answers for, and what of the missing weight is not missing in it. */
function sumHits(
  words: readonly TopicWord[],
): ReadonlyMap<number, { readonly matched: number; readonly notMissing: number }> {
  const sums = new Map<number, { matched: number; notMissing: number }>();
  for (const word of words) {
    for (const [id, closeness] of word.hits.documents) {
      const sum = sums.get(id) ?? { matched: 0, notMissing: 0 };
      sums.set(id, sum);
      sum.matched += word.weight * closeness;
      sum.notMissing += word.missing * closeness;
    }
  }
  return sums;
}

/**
 * Rare in the owner's titles, and rare in general: a title that shares "harmonium" is meant, one that shares "form" may
 * not be. A word that other documents hold could have been here and is not; one that none holds may only be the
 * owner's way of putting it.
 */
function weigh(
  turn: string,
  words: readonly FoundWord[],
  language: TurnLanguage,
): readonly TopicWord[] {
  // German writes its nouns with a capital; what is written small beside them is how it was asked.
  const hasNouns = language === "de" && words.some(({ word }) => !word.generic && isNoun(word));
  const weighed = words.map((found, at) => {
    const { word, hits } = found;
    const weight = hits.weight * wordRarity(word.folded);
    const hasMore = words[at + 1]?.phrase === found.phrase;
    const isManner =
      hits.how === "none" &&
      ((hasNouns && !isNoun(word)) ||
        (language === "en" && hasMore && isVerbForm(turn, word)) ||
        (hasMore && CONJUGATED[language]?.test(word.text) === true));
    // "The file of Otto" is none of those of others; a page that is the only one of its kind may be his.
    const isOther =
      hits.how === "none" &&
      language !== "de" &&
      isNoun(word) &&
      /\p{Ll}/u.test(turn) &&
      words.some(
        (other) =>
          other.phrase === found.phrase && !other.word.generic && other.hits.how !== "none",
      ) &&
      words.every(
        (other) =>
          other.phrase !== found.phrase ||
          other.hits.how === "none" ||
          other.hits.documents.size > 1,
      );
    const share = isManner ? 0.2 : hits.how === "none" && !isOther ? 0.85 : 1.8;
    return { ...found, weight, missing: weight * share };
  });
  const totals = new Map<number, { weight: number; count: number }>();
  for (const { word, phrase, weight } of weighed) {
    if (word.generic) continue;
    const total = totals.get(phrase) ?? { weight: 0, count: 0 };
    totals.set(phrase, { weight: total.weight + weight, count: total.count + 1 });
  }
  const heaviest = Math.max(0, ...[...totals.values()].map((total) => total.weight));
  return weighed.map((found) => {
    const { weight = 0, count = 0 } = totals.get(found.phrase) ?? {};
    const isCommon = wordRarity(found.word.folded) <= 0.85;
    return { ...found, isAside: count === 1 && isCommon && weight < 0.6 * heaviest };
  });
}

/** "Occupied with the papers", "tinkering on my kayak": a participle before a preposition is how it was done. */
function isVerbForm(turn: string, { folded, text, startIndex }: ContentWord): boolean {
  if (!/(?:ed|ing)$/u.test(folded)) return false;
  return /^\s+(?:with|on|at|in|about|over|around|through|into)\s+(?:the|my|our|that|this|those|these)\b/iu.test(
    turn.slice(startIndex + text.length),
  );
}

/** "Cuánto tiempo le metí al podcast", "je bidouillais le potager": endings of the first person in front of what was done. */
const CONJUGATED: Partial<Record<TurnLanguage, RegExp>> = {
  es: /^\p{L}{2,}(?:é|í|aba|ía)$/u,
  fr: /^\p{L}{3,}ais$/u,
};

/** Not the first word of the turn, which has a capital whatever it is. */
function isNoun({ text, startIndex }: ContentWord): boolean {
  return startIndex > 1 && /^\p{Lu}/u.test(text);
}

/** Whether nothing but articles, possessives and prepositions stands between two words. */
function isLinked(turn: string, left: ContentWord, right: ContentWord): boolean {
  const between = turn.slice(left.startIndex + left.text.length, right.startIndex);
  if (between.length > 24 || /[.?!;:\n()]/u.test(between.replace(/[._-](?=\S)/gu, "")))
    return false;
  return between.split(/[^\p{L}\p{M}]+/u).every((word) => word === "" || LINKS.has(foldWord(word)));
}

const LINKS: ReadonlySet<string> = new Set(
  (
    "the a an my our his her their your of in on for about with from to at by and s " +
    "der die das den dem des ein eine einen einem einer meine mein meinen meinem meiner unser unsere von vom zu zum zur fur uber mit aus im am an und bei " +
    "el la los las un una unos unas de del al en para por sobre con mi mis su y e " +
    "le les l d du des une pour sur avec a au aux mon ma mes et chez"
  ).split(" "),
);

function phraseText(turn: string, words: readonly TopicWord[]): string {
  // "look at the bee keeping page": how it was asked stands in front, what kind of thing it is behind; in German the verb is last.
  const first = words.find(({ word }) => !word.generic)?.word;
  const last = words.findLast(
    ({ word, hits }) => !word.generic || hits.how !== "none" || isMediumWord(word.folded, "other"),
  )?.word;
  if (first === undefined || last === undefined) return "";
  return turn.slice(first.startIndex, last.startIndex + last.text.length).replace(/\s+/gu, " ");
}
