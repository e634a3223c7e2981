/**
 * What had the most time of a time, by program or by site: "which apps did I use most this week?". It promises sums of
 * everything that was there, told as totals, and no list of windows in their place.
 */
import type { ActivityHistory, HistoryDocument, Visit } from "../../store/history.ts";
import type { TotalLine } from "./fit.ts";
import { activeOnce } from "./once.ts";
import { named, type ReadingContext, recordedPart, type Window } from "./readings.ts";
import type { ContentWord } from "./turn/reading.ts";
import { foldWord } from "./words.ts";

/** What the time is summed by. */
export type Ranking = "program" | "site";

/** Null where a turn asks for no ranking, or names a matter besides. */
export function askedRanking(turn: string, contentWords: readonly ContentWord[]): Ranking | null {
  if (contentWords.some(isBeside)) return null;
  const names = (pattern: RegExp): boolean =>
    contentWords.some((word) => pattern.test(word.folded));
  // "Which apps did I use yesterday?" is answered by the same sums: a program has more windows than a block has lines.
  if (names(SEVERAL_PROGRAMS)) return "program";
  if (!MOST.test(foldWord(turn))) return null;
  if (names(PROGRAMS)) return "program";
  return names(SITES) ? "site" : null;
}

/** The sums of the programs or sites that had the most of a window, most first. */
export function rankingLines(
  context: ReadingContext,
  ranking: Ranking,
  window: Window,
  score: number,
): readonly TotalLine[] {
  const { history } = context;
  const clip = recordedPart(context, window);
  const visits = history.visitsBetween(clip.fromUs, clip.toUs);
  const ids = [...new Set(visits.map(({ documentId }) => documentId))];
  const shown = history.documents(ids).filter((document) => !context.isHidden(document));
  const names = new Map(shown.map((document) => [document.id, nameOf(document, ranking)]));
  const shares = new Map<string, Visit[]>();
  for (const visit of visits) {
    const name = names.get(visit.documentId) ?? null;
    const share = name === null ? undefined : shares.get(name);
    if (share !== undefined) share.push(visit);
    else if (name !== null) shares.set(name, [visit]);
  }
  const allUs = activeOnce(history, visits, clip, null);
  const sums = [...shares].map(([name, own]) => {
    const members = new Set(own.map(({ documentId }) => documentId));
    return { name, own, activeUs: activeOnce(history, own, clip, members) };
  });
  return sums
    .sort((a, b) => b.activeUs - a.activeUs || (a.name < b.name ? -1 : 1))
    .slice(0, TOLD)
    .map(({ name, own, activeUs }, rank) => ({
      kind: "total",
      subject: name,
      eventIds: endsOf(own, history),
      device: context.asked?.name ?? null,
      activeUs,
      allUs,
      ...named(clip),
      score: score * 0.9 ** rank,
      reason: `sum of active time by ${ranking}`,
    }));
}

/** The first and the last event of many: once neither is there, the name may be in no other. */
function endsOf(visits: readonly Visit[], history: ActivityHistory): readonly number[] {
  const [first] = visits.toSorted((a, b) => a.startUs - b.startUs);
  const [last] = visits.toSorted((a, b) => b.endUs - a.endUs);
  const idsOf = ({ documentId, startUs, endUs }: Visit): readonly number[] =>
    history.eventIds(documentId, startUs, endUs);
  const ends = [first && idsOf(first).at(0), last && idsOf(last).at(-1)];
  return [...new Set(ends.filter((id) => id !== undefined))];
}

function nameOf({ app, place }: HistoryDocument, ranking: Ranking): string | null {
  if (ranking === "program") return app;
  const [host = ""] = (place ?? "").split("/");
  return host.replace(/^www\./u, "") || null;
}

const TOLD = 6;
/** Of folded text. "Most recent" and "the most of" a thing are no ranking. */
const MOST =
  /(?<!\p{L})(?:most(?! recent| of (?:the|my) (?:day|time))|top|am (?:meisten|haufigsten|langsten)|meiste[nr]? zeit|mas(?! reciente)|le plus(?! recent))(?!\p{L})/u;
const PROGRAMS =
  /^(?:apps?|applications?|programs?|programme?n?|anwendung(?:en)?|aplicacion(?:es)?|programas?|applis?|logiciels?|software)$/u;
const SEVERAL_PROGRAMS =
  /^(?:apps|applications|programs|programme|programmes|anwendungen|aplicaciones|programas|applis|logiciels)$/u;
const SITES = /^(?:web)?(?:sites?|seiten?|pages?)$|^(?:webs?|sitios?|paginas?)$/u;
/** Words of the ranking itself, which are no matter. */
const RANKED = /^(?:top|most|meisten?|haufigsten|langsten|zeit|mas|plus)$/u;

function isBeside({ folded, generic }: ContentWord): boolean {
  return !generic && !RANKED.test(folded) && !PROGRAMS.test(folded) && !SITES.test(folded);
}
