/**
 * Tells turns that are a name and nothing else: "ticket 4711", "the rent contract", "Akte Hoffmann bitte", "pergola?". Whether anything
 * is called so is for the record to say.
 */
import type { ContentWord } from "./reading.ts";
import type { Token } from "./tokens.ts";

/** Longer ones are sentences without their small words. */
const MAX_WORDS = 8;

/** @param taken Indexes of tokens that belong to times and sides. */
export function isBareName(
  tokens: readonly Token[],
  taken: ReadonlySet<number>,
  contentWords: readonly ContentWord[],
): boolean {
  if (taken.size > 0 || contentWords.every(({ generic }) => generic)) return false;
  const words = tokens.filter(({ type }) => type === "word" || type === "number");
  if (words.length === 0 || words.length > MAX_WORDS) return false;
  if (words.length === 1 && ANSWERS.has(words[0]?.folded ?? "")) return false;
  const starts = new Set(contentWords.map(({ startIndex }) => startIndex));
  return words.every(
    ({ type, folded, start }) => starts.has(start) || type === "number" || JOINS.has(folded),
  );
}

/** Single words that answer the assistant, in languages whose common words nobody lists. */
const ANSWERS: ReadonlySet<string> = new Set(
  (
    "genau stimmt klar logo prima verstehe verstanden schade passt super spitze toll richtig falsch egal jawohl quatsch moin servus hallo tschuss danke bitte willkommen krass geil " +
    "claro perfecto vale entendido genial estupendo bueno listo exacto cierto correcto verdad gracias hola adios chau bienvenido guay dale venga " +
    "parfait voila entendu compris exact exactement bonjour bonsoir salut merci bienvenue nickel genial super dommage chouette vrai faux d'accord"
  ).split(" "),
);

/** What stands between the words of a name, and "please". A single letter is what is left of "O'Hara" and "Ines's". */
const JOINS: ReadonlySet<string> = new Set(
  (
    "the a an of for with to from at in on about by and my our please pls no nr number " +
    "der die das den dem des von vom zu zum zur fur fuer mit bei uber und mein meine meinen unser unsere bitte nummer " +
    "a b c d e f g h j k l m n o p q r s t u v w x z"
  ).split(" "),
);
