/**
 * Tells turns that ask whether their owner did something, and not what: "did I watch it yesterday?", "war ich heute auf …?", "j'ai
 * parlé à … hier ?", "¿abrí …?". What answers them is the thing they name, and no list of all else that was.
 */
import { askingShape } from "./intent-shape.ts";
import type { TurnLanguage } from "./reading.ts";
import type { Token } from "./tokens.ts";

export function asksWhether(tokens: readonly Token[], language: TurnLanguage): boolean {
  if (language === "other") return false;
  const words = tokens.filter(({ type }) => type === "word");
  if (words.length === 0 || words.length > MAX_WORDS) return false;
  const text = words.map(({ folded }) => folded).join(" ");
  // "Was I in the office on Friday, and what did I do?"
  if (ASKS_WHAT[language].test(text)) return false;
  if (INVERTED.test(text)) return true;
  if (!tokens.some(({ text }) => text === "?")) return false;
  // "Est-ce que" has a word in it that asks what.
  const asked = tokens.filter(
    ({ folded }, index) => !(QUE.has(folded) && tokens[index - 1]?.folded === "ce"),
  );
  const { person, past, question } = askingShape(asked, language);
  return person === "first" && past && question === "none";
}

/** What asks for more than yes or no, wherever it stands; of "was" and "que" only where it cannot be another word. */
const ASKS_WHAT: Readonly<Record<Exclude<TurnLanguage, "other">, RegExp>> = {
  en: /\b(?:what|which|who)\b/u,
  de: /\b(?:wobei|woran|womit|wofur|worin|wozu|(?:was|welche[mnrs]?) (?:hab|habe|hatte|war|denn|genau|sonst|ich))\b/u,
  es: /\b(?:y|o|en|con|de) (?:que|cual|quien)\b/u,
  fr: /\b(?:quoi|quel|quelles?|quels)\b|\bet (?:qu|que)\b/u,
};

/** Longer ones say more than one thing. */
const MAX_WORDS = 24;
const QUE: ReadonlySet<string> = new Set(["que", "qu"]);

const OPENED =
  "(?:so|hey|hi|ok|okay|um|uh|uhm|hm|hmm|well|wait|and|also|oh|oder|und|sag mal|sag|na|ah|eh|y|oye|che|a ver|dime|et|dis|dis moi|alors|bon|euh|do you know|do you remember|can you (?:see|tell|check)(?: me)?|could you (?:see|tell|check)(?: me)?|tell me|check|know|any idea|any chance|weisst du|kannst du sehen|sabes|sais tu|tu sais)";
const TIMED =
  "(?:(?:yesterday|today|gestern|heute|vorgestern|ayer|hoy|anteayer|hier|aujourd hui|avant hier) )?";
const INVERTED = new RegExp(
  `^(?:${OPENED} )*(?:${[
    "(?:did|didn t|didnt|have|haven t|havent|had|hadn t|was|wasn t|wasnt|were|weren t|do|don t) (?:i|we) ",
    "(?:if|whether) (?:i|we) (?!should|can|could|need|must|may)",
    `${TIMED}(?:hab|habe|hatt|hatte|haben|hatten|war|waren|bin|sind) (?:ich|wir) (?!denn was|denn so|da was)`,
    "ob (?:ich|wir) (?!soll|sollte|kann|muss|darf)",
    `${TIMED}est ce que (?:j|je|on|nous) (?:ai|avais|suis|etais|a|avait|avons|n)`,
    "(?:n )?(?:ai|avais|etais|suis) je ",
    "si (?:he|habia|estuve|abri|vi|hable|lei|mire|j ai|j avais|j etais|je suis) ",
  ].join("|")})`,
  "u",
);
