/**
 * What kind of thing a turn about a time asks for: calls, mail, pages, files, spreadsheets. It promises null where the turn
 * asks for all that was, or names a matter besides.
 */
import type { HistoryDocument } from "../../store/history.ts";
import { type DocumentKind, mediumOf } from "./document-kinds.ts";
import type { TurnReading } from "./turn/reading.ts";

export interface AskedMedium {
  readonly isMeant: (document: HistoryDocument) => boolean;
  /** Whether the last such thing is asked for, whenever it was. */
  readonly isLatest: boolean;
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
): AskedMedium | null {
  const { times, anchors, sides, contentWords } = reading;
  const isTimed = times.some(({ kind }) => kind !== "now" && kind !== "recent");
  // "The last spreadsheet I had open" names no time.
  const isLatest = !isTimed && reading.end === "last";
  if ((!isTimed && !isLatest) || sides.length > 0 || anchors.some(({ kind }) => kind !== "call"))
    return null;
  let text: string | null = null;
  const kinds = new Set<DocumentKind>(anchors.length > 0 ? ["call"] : []);
  const rest = contentWords.filter((word) => {
    const { folded, generic } = word;
    const named = KINDS.find(({ names }) => names.test(folded));
    for (const kind of named?.kinds ?? []) kinds.add(kind);
    if (named !== undefined || mediumOf([folded]) !== null) text ??= word.text;
    return named === undefined && !generic;
  });
  // "The call about the fence on Tuesday" is looked for by its words.
  if (rest.length > 0) return null;
  // "Between meetings", "for the call", "apart from mail": something else is asked for.
  const named = [...anchors, ...contentWords];
  if (named.some(({ startIndex }) => BESIDE.test(turn.slice(0, startIndex)))) return null;
  const isMedium = mediumOf(contentWords.map(({ folded }) => folded));
  if (kinds.size === 0 && isMedium === null) return null;
  return {
    text: text ?? "calls",
    isLatest,
    isMeant: (document) =>
      isMedium?.(document) === true ||
      (isMedium === null && kinds.has(kindOf(document.id) ?? "other")),
    reading: { ...reading, contentWords: contentWords.filter(({ generic }) => generic) },
  };
}

const BESIDE =
  /(?<!\p{L})(?:between|for|about|except|besides|beside|apart from|other than|without|outside|instead of|not counting|zwischen|für|fuer|über|ueber|außer|ausser|außerhalb|ohne|neben|wegen|statt|abgesehen von|entre|para|sobre|aparte de|ademas de|además de|sin|excepto|salvo|menos|pour|sur|sauf|sans|hors|à part|a part|en dehors de)\s+(?:of\s+)?(?:(?:the|my|all|any|our|den|dem|die|das|der|meinen|meinem|allen|la|las|los|el|mis|mi|le|les|mes|ma|mon|une|una|un)\s+)?$/iu;

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
];
