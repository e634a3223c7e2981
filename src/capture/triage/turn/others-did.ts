/**
 * Tells questions about what somebody else did, or what went on elsewhere: "what did the council decide on Friday?", "hat es gestern
 * geschneit?", "¿ganó el Betis anoche?". It promises false wherever its owner, an event of their day or what they looked at is
 * spoken of.
 */
import { isAskingWord, isFunctionWord, isMediumWord } from "./languages.ts";
import type { AnchorMention, TurnLanguage } from "./reading.ts";
import type { Token } from "./tokens.ts";

/** @param taken Indexes of tokens that belong to times; without one such a question is for the trained model. */
export function asksWhatOthersDid(
  tokens: readonly Token[],
  language: TurnLanguage,
  taken: ReadonlySet<number>,
  anchors: readonly AnchorMention[],
): boolean {
  if (language === "other" || taken.size === 0 || anchors.length > 0) return false;
  const words = tokens.flatMap((token, index) => {
    if (token.type !== "word") return [];
    // "What did this week consist of?" asks of nobody: where a time stands counts.
    return taken.has(index) ? (taken.has(index - 1) ? [] : [TIME]) : [token];
  });
  if (words.length > MAX_WORDS) return false;
  const said = words.filter((word) => word !== TIME);
  // "Annoncé" and "anunció" are no "annonce" and no "anuncio".
  const isSeen = ({ folded, text }: Token): boolean =>
    NEAR.has(folded) || (isMediumWord(folded, language) && !/[éó]$/u.test(text));
  if (said.some(isSeen)) return false;
  const text = words.map(({ folded }) => folded).join(" ");
  if (OWN[language].test(text.replaceAll(INVERTED, "a $1"))) return false;
  if (HAPPENED[language].test(text)) return namesPlace(said, language);
  if (language === "es") return asksInSpanish(said);
  return OTHERS[language].test(text);
}

/** Stands for a time. */
const TIME: Token = { type: "word", text: "|", folded: "|", start: 0, end: 0 };

/** Whether more is said than that something happened: "in the senate". */
function namesPlace(words: readonly Token[], language: TurnLanguage): boolean {
  return words.some(
    ({ folded }) =>
      folded.length > 2 &&
      !GOES_ON.has(folded) &&
      !isFunctionWord(folded, language) &&
      !isAskingWord(folded, language),
  );
}

/** Spanish says who acts with the ending alone, and tells it from the first person by the place of the accent. */
function asksInSpanish(words: readonly Token[]): boolean {
  const start = words.findIndex(({ folded }) => !OPENERS.has(folded));
  const [first, second, third] = words.slice(Math.max(0, start));
  const acts = (word: Token | undefined): boolean =>
    word !== undefined && !LASTS.has(word.folded) && /^\p{L}{2,}ó$|^ganaron$/u.test(word.text);
  if (acts(first)) return true;
  if (!ASKS_ES.has(first?.folded ?? "")) return false;
  return (acts(second) && third !== undefined) || (second?.folded === "ha" && third !== undefined);
}

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

const MAX_WORDS = 14;
const OPENERS = set("oye che y sabes dime eh pues");
const ASKS_ES = set("que quien quienes cuando donde como");
/** "¿Cuánto duró?" is asked of one's own meetings; "pasó" is looked at by itself. */
const LASTS = set("duro paso empezo termino acabo quedo costo sono");
/** What is said of a record, a screen or this device. */
const NEAR = set(
  "this these here screen computer laptop recorded logged tracked seen record history running open opened installed activity diese dieser dieses hier bildschirm rechner computer laptop aufgezeichnet erfasst verlauf offen geoffnet lief liefen gelaufen esta este esto aqui pantalla ordenador compu registrado grabado abierto abierta cet cette ici ecran ordi enregistre ouvert ouverte ouverts",
);
const OWN: Readonly<Record<Exclude<TurnLanguage, "other">, RegExp>> = {
  en: /\b(?:i|im|ive|id|me|my|mine|we|us|our|you|your)\b/u,
  de: /\b(?:ich|mir|mich|mein\w*|wir|uns|unser\w*|du|dir|dein\w*|bei mir)\b/u,
  es: /\b(?:yo|me|mi|mis|nos|nuestr[oa]s?|tu|te|conmigo)\b/u,
  fr: /\b(?:je|j|me|m|moi|mon|ma|mes|nous|notre|nos|tu|t)\b/u,
};
/** "A-t-il neigé ?" has a letter that is no "te". */
const INVERTED = /\ba t (il|elle|on)\b/gu;
const LEAD = "(?:(?:so|hey|ok|okay|and|um|uh|do you know|any idea|tell|know) )*";
const OTHERS: Readonly<Record<"en" | "de" | "fr", RegExp>> = {
  en: new RegExp(
    `^${LEAD}(?:\\| )?(?:(?:what|who|where|why|when|how|which [a-z]+) )?(?:else )?(?:did|has|have|hasn t|didn t) (?!anything\\b|something\\b|that\\b|all\\b|the (?:time|day|hours?)\\b|it (?:last|take|end|start|go|work))[a-z]+ [a-z]+`,
    "u",
  ),
  de: /^(?:(?:und|sag mal|na|weisst|ok|\|) )*(?:(?:was|wer|wo|warum|wieso|wann|wie|welche[rs]?) )?(?:hat|haben|wurde|wurden) (?!was$|etwas$|(?:\| )?das (?:\| )?[a-z]+$|(?:\| )?es (?:\| )?(?:geklappt|gedauert|gebracht))(?:\| )?[a-z]+(?: (?:[a-z]+|\|))*$/u,
  fr: /^(?!.*\b(?:combien|temps|heures?|dure|durait)\b)(?:(?:et|dis|alors|au fait|est ce que?|est ce qu|\|) )*(?:(?:qu est ce que?|qu|que|qui|quand|ou|pourquoi|comment) (?:est ce que?|est ce qu|qu )?)?(?:[a-z]+ ){0,4}?(?<!\by )(?:a|ont)(?: t)?(?: ils?| elles?| on)? (?:pas |enfin |bien )?[a-z]+(?:e|ee|es|ees|i|is|it|u|us|ert)\b/u,
};
const HAPPENED: Readonly<Record<Exclude<TurnLanguage, "other">, RegExp>> = {
  en: /^(?:so |and |ok )*what (?:else )?(?:happened|went on|was going on|was on|s new|happens)\b/u,
  de: /^(?:und |na |ok )*was (?:ist|war|geschah|passierte|ging)\b.*(?:passiert|geschehen|los|ab|vorgefallen)\b|^was (?:geschah|passierte)\b/u,
  es: /^(?:y |oye |che )*que (?:ha )?(?:paso|pasado|ocurrio|sucedio|hubo)\b/u,
  fr: /\b(?:qu est ce qui s est|il s est|que s est il|qui s est) passe\b|\bil y a eu quoi\b/u,
};
/** The words that ask what went on. */
const GOES_ON = set(
  "happened happens going went new passiert geschehen geschah passierte los vorgefallen paso pasado ocurrio sucedio hubo passe quoi",
);
