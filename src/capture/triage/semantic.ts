/**
 * The optional fallback for topics that share no word with any title: word vectors that ship with the program
 * find documents of like meaning. It promises to be asked last, to cost some milliseconds, and to stay silent unless
 * one document stands out among all.
 */
import type { WordVectors } from "./word-vectors.ts";

/** Something that may be meant: a document, or the documents of one work taken together. */
export interface SemanticCandidate {
  readonly documentIds: readonly number[];
  /** Time it had in all; what was glanced at is not asked for. */
  readonly activeUs: number;
}

export interface SemanticFinder {
  /** Takes in a document's words, folded. */
  readonly add: (documentId: number, words: Iterable<string>) => void;
  readonly clear: () => void;
  /**
   * The candidate that stands out for these words, with its similarity (0 to 1), or null. `shared`: documents that hold
   * one of the words themselves; lexical search has judged them already. `isNarrow`: the candidates were chosen by
   * something else that the turn said, so that less likeness will do.
   */
  readonly find: <C extends SemanticCandidate>(
    words: readonly string[],
    candidates: readonly C[],
    shared: ReadonlySet<number>,
    isNarrow?: boolean,
  ) => { readonly candidate: C; readonly similarity: number } | null;
}

/** Less time than this in all is a glance. */
const GLANCE_US = 75_000_000;
/**
 * The best of many is always far from their mean: it must be farther by this factor than the best of as many draws of chance
 * would be. And how alike it must be at least.
 */
const ABOVE_CHANCE = 1.2;
const MIN_SIMILARITY = 0.44;
/** With few candidates nothing stands out; similarity alone must do. */
const FEW = 25;
const MIN_SIMILARITY_OF_FEW = 0.58;
const MIN_SIMILARITY_OF_NARROW = 0.4;
/** A telling word that fits nothing in a title speaks against it, however well the others fit. */
const MIN_OF_EACH = 0.3;
const TELLING_WEIGHT = 0.4;
/** Share of the whole meaning in the score; the rest is the best match of each word. */
const WHOLE = 0.3;

export function createSemanticFinder(vectors: WordVectors): SemanticFinder {
  const documents = new Map<number, readonly number[]>();

  const indexesOf = (words: Iterable<string>): readonly number[] => {
    const indexes = new Set<number>();
    for (const word of words) {
      const index = vectors.find(word);
      if (index >= 0) indexes.add(index);
    }
    return [...indexes];
  };

  return {
    add: (documentId, words) => {
      documents.set(documentId, indexesOf(words));
    },
    clear: () => documents.clear(),
    find: (words, candidates, shared, isNarrow = false) => {
      const asked = indexesOf(words);
      if (asked.length === 0) return null;
      // A word without a vector is a name or a term: what the whole means cannot be told.
      if (words.some((word) => vectors.find(word) < 0)) return null;
      const likeness = asked.map((index) => vectors.likenessTo(index));
      const meaning = vectors.meanOf(asked);
      const scores: Score[] = [];
      for (const [index, { documentIds, activeUs }] of candidates.entries()) {
        if (activeUs < GLANCE_US || documentIds.some((id) => shared.has(id))) continue;
        const held = new Set(documentIds.flatMap((id) => documents.get(id) ?? []));
        if (held.size === 0) continue;
        let sum = 0;
        let total = 0;
        let weakest = 1;
        for (const [at, askedIndex] of asked.entries()) {
          const weight = vectors.weight(askedIndex);
          let best = 0;
          for (const own of held) {
            const alike = likeness[at]?.[own] ?? 0;
            // "Guide", "new", "best": like everything a little.
            best = Math.max(best, vectors.weight(own) < 0.3 ? alike * 0.6 : alike);
          }
          sum += weight * best;
          total += weight;
          if (weight >= TELLING_WEIGHT) weakest = Math.min(weakest, best);
        }
        const whole = cosine(meaning, vectors.meanOf([...held]));
        scores.push({ index, score: WHOLE * whole + (1 - WHOLE) * (sum / total), weakest });
      }
      return standsOut(scores, candidates, isNarrow);
    },
  };
}

interface Score {
  readonly index: number;
  readonly score: number;
  /** The best match of the telling word that fits least. */
  readonly weakest: number;
}

function standsOut<C extends SemanticCandidate>(
  scores: readonly Score[],
  candidates: readonly C[],
  isNarrow: boolean,
): { readonly candidate: C; readonly similarity: number } | null {
  const [best] = [...scores].sort((a, b) => b.score - a.score || a.index - b.index);
  const candidate = candidates[best?.index ?? -1];
  if (best === undefined || candidate === undefined || best.weakest < MIN_OF_EACH) return null;
  const mean = scores.reduce((sum, { score }) => sum + score, 0) / scores.length;
  const variance = scores.reduce((sum, { score }) => sum + (score - mean) ** 2, 0) / scores.length;
  // The expected maximum of n normal draws, in standard deviations.
  const ofChance = Math.sqrt(2 * Math.log(scores.length) * variance);
  const isFar = best.score - mean >= ABOVE_CHANCE * ofChance;
  const isFew = scores.length < FEW;
  const least = isNarrow && isFew ? MIN_SIMILARITY_OF_NARROW : MIN_SIMILARITY_OF_FEW;
  const isAlike = isFew ? best.score >= least : isFar && best.score >= MIN_SIMILARITY;
  return isAlike ? { candidate, similarity: best.score } : null;
}

function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (let k = 0; k < a.length; k += 1) {
    const x = a[k] ?? 0;
    const y = b[k] ?? 0;
    dot += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  return dot / (Math.sqrt(lengthA * lengthB) || 1);
}
