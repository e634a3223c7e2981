/**
 * What kind of thing a turn about a time asks for: calls, mail, pages, files, spreadsheets, what was in one program. It
 * promises null where the turn asks for all that was, or names a matter besides.
 */
import type { HistoryDocument } from "../../store/history.ts";
import type { DocumentIndex } from "./document-index.ts";
import { type DocumentKind, mediumOf, mediumWords } from "./document-kinds.ts";
import { askedRanking, type Ranking } from "./most-used.ts";
import type { ContentWord, TurnReading } from "./turn/reading.ts";

export interface AskedMedium {
  readonly isMeant: (document: HistoryDocument) => boolean;
  /** Whether the last such thing is asked for, whenever it was. */
  readonly isLatest: boolean;
  /** Whether it is a program that is named. Its name may be that of a matter as well, so the reading keeps it. */
  readonly isProgram: boolean;
  /** Whether what had the most time is asked for, and by what it is summed; null: which there were. */
  readonly ranking: Ranking | null;
  /** The word for it, as written. */
  readonly text: string;
  /** The reading without the words that name the medium: they are no topic. */
  readonly reading: TurnReading;
}

/** "Which calls did I have on Tuesday?", "welche Tabellen hatte ich gestern offen?". */
export function askedMedium(
  turn: string,
  reading: TurnReading,
  kindOf: (documentId: number) => DocumentKind | null,
  index: Pick<DocumentIndex, "isProgram" | "find">,
): AskedMedium | null {
  const { times, anchors, sides, contentWords } = reading;
  const isTimed = times.some(({ kind }) => kind !== "now" && kind !== "recent");
  // "The last spreadsheet I had open" names no time.
  const isLatest = !isTimed && reading.end === "last";
  if ((!isTimed && !isLatest) || sides.length > 0 || anchors.some(({ kind }) => kind !== "call"))
    return null;
  const ranking = isTimed ? askedRanking(turn, contentWords) : null;
  const kinds = new Set<DocumentKind>(anchors.length > 0 ? ["call"] : []);
  const media: ContentWord[] = [];
  const isMediumWord = mediumWords(contentWords.map(({ folded }) => folded));
  const rest = contentWords.filter((word, at) => {
    const { folded, generic } = word;
    const named = KINDS.find(({ names }) => names.test(folded));
    for (const kind of named?.kinds ?? []) kinds.add(kind);
    const isNamed = named !== undefined || isMediumWord[at] === true;
    if (isNamed) media.push(word);
    return !isNamed && !generic && ranking === null;
  });
  // "Between meetings", "for the call", "apart from mail": something else is asked for.
  const named = [...anchors, ...contentWords];
  const isBeside = ({ startIndex }: { readonly startIndex: number }): boolean => {
    const before = turn.slice(0, startIndex);
    // "Sur la réunion" is about it; "sur les réseaux sociaux" and "sur Firefox" are on them.
    return BESIDE.test(before) && !(kinds.size === 0 && ON_IT.test(before));
  };
  if (named.some(isBeside)) return null;
  // "The call about the fence on Tuesday" is looked for by its words.
  if (rest.length > 0)
    return isTimed && media.length === 0 ? askedProgram(rest, reading, index) : null;
  const isMedium = mediumOf(contentWords.map(({ folded }) => folded));
  if (kinds.size === 0 && isMedium === null && ranking === null) return null;
  return {
    text: textOf(turn, media) ?? "calls",
    isLatest,
    isProgram: false,
    ranking,
    isMeant: (document) =>
      isMedium?.(document) === true ||
      (isMedium === null && kinds.has(kindOf(document.id) ?? "other")),
    reading: { ...reading, contentWords: contentWords.filter(({ generic }) => generic) },
  };
}

/** Whether a folded word alone names a kind of thing, or of doing: "calls", "tabs", "coding". */
export function isKindWord(folded: string): boolean {
  return KINDS.some(({ names }) => names.test(folded)) || mediumOf([folded]) !== null;
}

/** "What did I do in Slack yesterday?": all that has the name, in its title, its address or as its program. */
function askedProgram(
  words: readonly ContentWord[],
  reading: TurnReading,
  index: Pick<DocumentIndex, "isProgram" | "find">,
): AskedMedium | null {
  if (!words.every(({ folded }) => index.isProgram(folded))) return null;
  const hits = words.map(({ folded }) => index.find(folded, { alike: false }).documents);
  return {
    text: words.map(({ text }) => text).join(" "),
    isLatest: false,
    isProgram: true,
    ranking: null,
    isMeant: ({ id }) => hits.every((documents) => documents.has(id)),
    reading,
  };
}

/** The first words that name the medium, as written: "social media" is one. */
function textOf(turn: string, [first, second]: readonly ContentWord[]): string | null {
  if (first === undefined) return null;
  const endIndex = first.startIndex + first.text.length;
  if (second === undefined || turn.slice(endIndex, second.startIndex).trim() !== "")
    return first.text;
  return turn.slice(first.startIndex, second.startIndex + second.text.length);
}

const BESIDE =
  /(?<!\p{L})(?:between|for|(?<!(?:how|what) )about|except|besides|beside|apart from|other than|without|outside|instead of|not counting|zwischen|für|fuer|über|ueber|außer|ausser|außerhalb|ohne|neben|wegen|statt|abgesehen von|entre|para|sobre|aparte de|ademas de|además de|sin|excepto|salvo|menos|pour|sur|sauf|sans|hors|à part|a part|en dehors de)\s+(?:of\s+)?(?:(?:the|my|all|any|our|den|dem|die|das|der|meinen|meinem|allen|la|las|los|el|mis|mi|le|les|mes|ma|mon|une|una|un)\s+)?$/iu;

const ON_IT = /(?<!\p{L})sur\s+(?:(?:le|la|les|l'|mon|ma|mes)\s*)?$/iu;

const KINDS: readonly { readonly names: RegExp; readonly kinds: readonly DocumentKind[] }[] = [
  {
    names:
      /^(?:calls?|called|meetings?|videocalls?|appointments?|anrufe?n?|telefonate?n?|telefoniert|angerufen|besprechung(?:en)?|termine?n?|videokonferenz(?:en)?|gesprache?n?|llamadas?|videollamadas?|reunion(?:es)?|citas?|entrevistas?|appels?|reunions?|visios?|rdv|entretiens?)$/u,
    kinds: ["call"],
  },
  {
    names:
      /^(?:talk(?:ed)?|talking|spoke|speak|gesprochen|geredet|chats?|chatted|gechattet|hable|hablado|charle|charlado|parle|discute|echange)$/u,
    kinds: ["call", "chat"],
  },
  { names: /^(?:chatt(?:ing|en|e|er|ais)|chate(?:ar|ando|e)|texting|texted)$/u, kinds: ["chat"] },
  { names: /^(?:e?mails?|gemailt|mailed|correos?|courriels?)$/u, kinds: ["mail"] },
  {
    names:
      /^(?:websites?|webseiten?|webpages?|pages?|seiten?|artikel|articles?|paginas?|webs?|articulos?|sites?)$/u,
    kinds: ["page"],
  },
  {
    names:
      /^(?:files?|datei(?:en)?|documents?|dokumente?n?|docs?|archivos?|documentos?|fichiers?)$/u,
    kinds: ["file"],
  },
  {
    names: /^(?:terminals?|shells?|konsole|consola|console|kommandozeile)$/u,
    kinds: ["terminal"],
  },
];
