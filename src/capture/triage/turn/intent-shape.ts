/**
 * What the four languages have in common when people ask: who speaks, whether of the past, with which kind of
 * question word. It lets what is learnt of one language serve the others.
 */
import type { TurnLanguage } from "./reading.ts";
import type { Token } from "./tokens.ts";

export type QuestionKind =
  | "what"
  | "which"
  | "when"
  | "where"
  | "who"
  | "how"
  | "how long"
  | "why"
  | "seek"
  | "none";

export interface AskingShape {
  readonly person: "first" | "second" | "neither";
  readonly past: boolean;
  /** The first question word, or `seek` for "find …" and "show me …". */
  readonly question: QuestionKind;
}

export function askingShape(tokens: readonly Token[], language: TurnLanguage): AskingShape {
  let first = false;
  let second = false;
  let past = false;
  let question: QuestionKind = "none";
  tokens.forEach(({ folded, text, type }, index) => {
    if (type !== "word") return;
    first ||= FIRST.has(folded) || (language === "es" && SPANISH_FIRST.test(text));
    second ||= SECOND.has(folded);
    past ||= PAST.has(folded) || isPast(folded, text, language);
    if (question === "none") question = questionAt(tokens, index);
  });
  return { person: first ? "first" : second ? "second" : "neither", past, question };
}

function questionAt(tokens: readonly Token[], index: number): QuestionKind {
  const folded = tokens[index]?.folded ?? "";
  const next = tokens[index + 1]?.folded ?? "";
  if (MUCH.has(folded)) return "how long";
  if (folded === "how" || folded === "wie") return LENGTH.has(next) ? "how long" : "how";
  return QUESTIONS.get(folded) ?? "none";
}

function isPast(folded: string, text: string, language: TurnLanguage): boolean {
  switch (language) {
    case "en":
      return folded.length > 4 && folded.endsWith("ed");
    case "de":
      return /^(ge|ange|auf?ge|be|ver|er)\w{2,}(t|en)$/.test(folded) && folded.length > 6;
    case "es":
      return SPANISH_FIRST.test(text) || /(aba|ado|ido|aste|iste)$/.test(folded);
    case "fr":
      return /(ais|ait)$/.test(folded) && folded.length > 4;
    case "other":
      return false;
  }
}

/** "trabajé", "abrí", "tenía": the first person of the past carries its accent when it is written with care. */
const SPANISH_FIRST = /.(é|í|ía)$/i;

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

const FIRST = set(
  "i im ive id my mine me myself we our us ich mein meine meinen meinem meiner mir mich wir unser unsere je j mon ma mes moi nous notre yo mi mis me mio mia estaba tenia hice estuve fui anduve quede deje iba llevo abri vi hacia trabaje he volvi",
);
const SECOND = set(
  "you your u ya du dich dir dein ihr sie tu te vous votre usted tienes puedes peux",
);
const PAST = set(
  "did was were had been done got went saw read wrote left war hatte hab habe hast gewesen gemacht wurde bin hatten waren ai avais etais etait ete fait vu lu eu hice hizo era fue estaba estuve tenia vi fui he habia",
);
const MUCH = set("wieviel combien cuanto cuanta cuantos cuantas");
const LENGTH = set("long much many lange lang viel viele oft often");
const QUESTIONS: ReadonlyMap<string, QuestionKind> = new Map(
  (
    [
      ["what", "what whats was woran womit worum que qu quoi"],
      [
        "which",
        "which welche welcher welches welchen welchem cual cuales quel quelle quels quelles lequel",
      ],
      ["when", "when whens wann cuando quand"],
      ["where", "where wheres wo wohin donde ou"],
      ["who", "who whos whom wer wen wem quien qui"],
      ["how", "how hows como comment"],
      ["why", "why warum wieso porque pourquoi"],
      [
        "seek",
        "find show get give list open pull dig bring take tell remind recap summarise summarize finde find zeig zeige such suche gib fasse hol busca muestra ensename dame sacame pasame buscame abreme muestrame ponme hazme localiza resumeme retomemos sigamos volvamos encuentra resume recuerdame trouve retrouve montre donne ressors cherche rappelle rouvre remets ressortir remettre reprenons affiche continue resume pick weiter retoma reprends reprendre",
      ],
    ] as const
  ).flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind] as const)),
);
