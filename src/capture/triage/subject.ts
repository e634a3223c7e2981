/**
 * What a turn's topic stands for in the record (one document, several, or a piece of work) and the lines that
 * tell where the owner was with it, when, and for how long.
 */
import type { HistoryDocument, Visit } from "../../store/history.ts";
import type { DigestLine, SpanLine } from "./fit.ts";
import { type DocumentKind, mediumOf } from "./document-kinds.ts";
import type { Project, Projects } from "./projects.ts";
import type { SemanticFinder } from "./semantic.ts";
import { activeOnce } from "./once.ts";
import {
  lastSitting,
  latestLines,
  named,
  type ReadingContext,
  recordedPart,
  spanOf,
  stretchesOf,
  sumActive,
  type Window,
  windowLines,
} from "./readings.ts";
import { COVERAGE_FLOOR, type Topic } from "./topic.ts";
import { lastVisited, mostUsed } from "./which-documents.ts";
import type { TurnReading } from "./turn/reading.ts";
import { isOneTypo, matchKey } from "./words.ts";

export interface Subject {
  /** Documents that answer for the topic by their own words, best first; empty when only a project does. */
  readonly documentIds: readonly number[];
  /** The same where there are more than are looked into one by one: a program has hundreds of windows. For sums. */
  readonly allIds: readonly number[];
  /** The piece of work that is meant, or to which the best document belongs; null when there is none. */
  readonly project: Project | null;
  /** Whether the turn names the work itself rather than one document of it. */
  readonly isProject: boolean;
  /** Share of the topic's words that it answers for, 0 to 1. */
  readonly coverage: number;
  /** The same for the best document alone; 0 without one. */
  readonly documentCoverage: number;
}

const MINUTE_US = 60_000_000;
/** Mail and chat must hold more of the words than a page or a file. */
const TALK_FLOOR = 0.75;
/** Matches this close to the best are as good as it. */
const NEAR = 0.04;

/** The likeliest meaning of the topic, or null when neither document nor work holds enough of its words. */
export function findSubject(topic: Topic, projects: Projects): Subject | null {
  const best = topic.matches[0];
  const work = findProject(topic, projects);
  const bestCoverage = best?.coverage ?? 0;
  const allIds =
    best === undefined || bestCoverage < COVERAGE_FLOOR
      ? []
      : topic.matches
          .filter(({ score, coverage, documentId }) => {
            // A subject line or a channel with one of the words is about anything.
            const kind = projects.kindOf(documentId);
            const isTalk = kind === "mail" || kind === "chat";
            const floor = isTalk && !holdsAll(topic, documentId) ? TALK_FLOOR : COVERAGE_FLOOR;
            return score >= best.score - NEAR && coverage >= floor;
          })
          .map(({ documentId }) => documentId);
  const documentIds = allIds.slice(0, 40);
  if (work !== null && work.coverage >= COVERAGE_FLOOR && work.coverage >= bestCoverage - 0.06) {
    const { project, coverage } = work;
    const documentCoverage = bestCoverage;
    return { documentIds, allIds, project, isProject: true, coverage, documentCoverage };
  }
  const [first] = documentIds;
  if (first === undefined) return null;
  const project = projects.of(first);
  return {
    documentIds,
    allIds,
    project,
    isProject: false,
    coverage: bestCoverage,
    documentCoverage: bestCoverage,
  };
}

/** Whether a document has each word somewhere: "Slack" is no word of a channel, but the program that all of them are in. */
function holdsAll({ words }: Topic, documentId: number): boolean {
  const telling = words.filter(({ word }) => !word.generic);
  return telling.every(({ hits }) => hits.how !== "alike" && hits.documents.has(documentId));
}

/** "How long did I talk to Ines?" is about the calls with her, and not about what else has her name. */
export function callsIfMeant(
  subject: Subject | null,
  { anchors }: Pick<TurnReading, "anchors">,
  projects: Projects,
): Subject | null {
  const isAsked = anchors.some(({ kind, side }) => kind === "call" && side === null);
  if (subject === null || !isAsked) return subject;
  const calls = subject.documentIds.filter((id) => projects.kindOf(id) === "call");
  const allIds = subject.allIds.filter((id) => projects.kindOf(id) === "call");
  const isMixed = calls.length > 0 && calls.length < subject.documentIds.length;
  return isMixed
    ? { ...subject, documentIds: calls, allIds, project: null, isProject: false }
    : subject;
}

/** What is meant by words that no title holds, by likeness of meaning; null when nothing stands out. */
export function findAlike(
  topic: Topic,
  projects: Projects,
  semantic: SemanticFinder,
  documentIds: readonly number[],
  documentsOf: (ids: readonly number[]) => readonly HistoryDocument[],
): Subject | null {
  const words = topic.words.filter(({ word }) => !word.generic);
  // Documents with a word itself were judged by their words; those with one only alike may still be meant.
  const shared = new Set(
    words.flatMap(({ hits }) => (hits.how === "alike" ? [] : [...hits.documents.keys()])),
  );
  const isMedium = mediumOf(topic.words.map(({ word }) => word.folded));
  const fitting =
    isMedium === null
      ? null
      : new Set(
          documentsOf(documentIds)
            .filter(isMedium)
            .map(({ id }) => id),
        );
  const fits = (id: number): boolean => fitting === null || fitting.size === 0 || fitting.has(id);
  const single = documentIds
    .filter((id) => LIKENESS_KINDS.has(projects.kindOf(id) ?? "other") && fits(id))
    .map((id) => ({ documentIds: [id], activeUs: projects.activeUs(id), project: null }));
  const works = projects
    .all()
    .filter((project) => project.documentIds.some(fits))
    .map((project) => ({
      documentIds: project.documentIds,
      activeUs: project.documentIds.reduce((sum, id) => sum + projects.activeUs(id), 0),
      project,
    }));
  const folded = words.map(({ word }) => word.folded);
  const isNarrow = fitting !== null && fitting.size > 0;
  const found = semantic.find(folded, [...works, ...single], shared, isNarrow);
  if (found === null) return null;
  const { candidate, similarity } = found;
  const [first] = candidate.documentIds;
  // A file stands for its work: who does not know its name asks for the whole.
  const own = first === undefined ? null : projects.of(first);
  const isFile = projects.kindOf(first ?? 0) === "file";
  const project = candidate.project ?? (isFile ? own : null);
  return {
    documentIds: candidate.documentIds,
    allIds: candidate.documentIds,
    project,
    isProject: project !== null,
    coverage: similarity,
    documentCoverage: project === null ? similarity : 0,
  };
}

const LIKENESS_KINDS: ReadonlySet<DocumentKind> = new Set(["page", "file", "other"]);

/**
 * The project that answers for most of the topic: its name counts fully, words of its documents count less, so
 * that a page with the very words wins over the work it belongs to.
 */
function findProject(
  topic: Topic,
  projects: Projects,
): { readonly project: Project; readonly coverage: number } | null {
  const telling = topic.words.filter(({ word, isAside }) => !word.generic && !isAside);
  const named = topic.words.filter(({ word, hits }) => !word.generic || hits.how !== "none");
  if (named.length === 0) return null;
  let best: { project: Project; coverage: number } | null = null;
  for (const project of projects.all()) {
    const keys = new Set(project.nameWords.map(matchKey));
    if (keys.size === 0) continue;
    const members = new Set(project.documentIds);
    const phrases = new Map<number, { matched: number; missing: number; named: boolean }>();
    for (const { word, hits, phrase, weight, missing } of telling.length > 0 ? telling : named) {
      const entry = phrases.get(phrase) ?? { matched: 0, missing: 0, named: false };
      phrases.set(phrase, entry);
      const isName = keys.has(matchKey(word.folded)) || project.nameWords.includes(word.folded);
      let closest = isName ? 1 : nameLikeness(word.folded, hits.how, project.nameWords);
      const isLikeName = closest > 0;
      if (!isName) {
        for (const [id, closeness] of hits.documents) {
          if (members.has(id)) closest = Math.max(closest, closeness * 0.9);
        }
      }
      entry.matched += weight * closest;
      entry.missing += missing * (1 - closest);
      entry.named ||= isName || isLikeName;
    }
    for (const { matched, missing, named } of phrases.values()) {
      const coverage = (matched / Math.max(1e-9, matched + missing)) * (named ? 1 : 0.85);
      if (best === null || coverage > best.coverage) best = { project, coverage };
    }
  }
  return best;
}

/** A mistyped name is still the name; a word that titles hold as it is, is no mistyped one. */
function nameLikeness(word: string, how: string, nameWords: readonly string[]): number {
  if (how === "exact" || how === "stem") return 0;
  return Math.max(0, ...nameWords.map((name) => (isOneTypo(word, name) ? 0.9 : 0)));
}

/** Where the owner was last with a subject. */
export function subjectLines(
  context: ReadingContext,
  subject: Subject,
  intent: "topic" | "lastseen",
  within: Window | null,
  score: number,
): readonly SpanLine[] {
  const lines = subjectLinesWithin(context, subject, intent, within, score);
  // Said for a time at which it was not there: the last time it was is the next best answer.
  if (lines.length > 0 || within === null) return lines;
  return subjectLinesWithin(context, subject, intent, null, score);
}

function subjectLinesWithin(
  context: ReadingContext,
  subject: Subject,
  intent: "topic" | "lastseen",
  within: Window | null,
  score: number,
): readonly SpanLine[] {
  const { project, isProject } = subject;
  // A folder with the name of the work stands for the work.
  const named = context.kindOf(subject.documentIds[0] ?? 0);
  const isPlace = isProject && (named === "folder" || named === "terminal");
  const isDocument =
    subject.documentIds.length > 0 && subject.documentCoverage >= subject.coverage && !isPlace;
  if (intent === "lastseen" && isDocument) {
    const times = lastTimes(context, subject, within, score);
    // Found by likeness alone, it may stand for the work it belongs to.
    if (project === null || subject.coverage >= 0.85) return times;
    return [...times, ...sittingLines(context, project.documentIds, within, score * 0.5)];
  }
  const documentIds = mostUsed(context, subject.documentIds, within);
  if (project !== null && isProject) {
    const sitting = sittingLines(context, project.documentIds, within, score);
    if (sitting.length > 0) return sitting;
  }
  const reason = `holds ${Math.round(subject.coverage * 100)} % of the topic`;
  const own = latestLines(context, documentIds, {
    limit: 3,
    score,
    reason,
    within,
    gapUs: 10 * MINUTE_US,
  });
  // One file of a piece of work was named: the rest of it is what the owner will want next.
  if (project === null || isProject || context.kindOf(documentIds[0] ?? 0) !== "file") return own;
  return [...own, ...sittingLines(context, project.documentIds, within, score * 0.55)];
}

/** So many windows are those of a program or a site, and what was last there is meant. */
const MANY = 8;

/** When documents were last there: the last stretch without a pause, and the visit before. */
function lastTimes(
  context: ReadingContext,
  subject: Subject,
  within: Window | null,
  score: number,
): readonly SpanLine[] {
  const isMany = subject.allIds.length > MANY;
  const documentIds = isMany
    ? lastVisited(context, new Set(subject.allIds), within)
    : mostUsed(context, subject.documentIds, within);
  const reason = `holds ${Math.round(subject.coverage * 100)} % of the topic`;
  const lines = latestLines(context, documentIds, { limit: 2, score, reason, within, gapUs: 0 });
  return lines.map((line, index) => {
    if (index > 0 || line.endUs - line.startUs < 5 * MINUTE_US) return line;
    // The ids of another device's events are times of its clock.
    if (line.device !== null) return line;
    const lastStartUs = context.history.eventIds(line.document.id, line.startUs, line.endUs).at(-1);
    if (lastStartUs === undefined) return line;
    return { ...line, startUs: lastStartUs, activeUs: line.endUs - lastStartUs };
  });
}

/** The last sitting at a project: its documents by time, each with its last stretch in it. */
function sittingLines(
  context: ReadingContext,
  documentIds: readonly number[],
  within: Window | null,
  score: number,
): readonly SpanLine[] {
  const sitting = lastSitting(context, documentIds, within);
  const stretches = new Map<string, SittingPart>();
  for (const stretch of stretchesOf(sitting, 6 * MINUTE_US)) {
    const [newest] = stretch;
    if (newest === undefined) continue;
    const { documentId, deviceKey } = newest;
    const id = `${deviceKey}:${documentId}`;
    const activeUs = sumActive(stretch);
    const known = stretches.get(id);
    if (known === undefined) stretches.set(id, { documentId, deviceKey, last: stretch, activeUs });
    else {
      // Newest first: a glance at the end does not hide the work before it.
      if (sumActive(known.last) < MINUTE_US && activeUs > sumActive(known.last))
        known.last = stretch;
      known.activeUs += activeUs;
    }
  }
  const documents = new Map(
    context.history
      .documents([...stretches.values()].map(({ documentId }) => documentId))
      .map((document) => [document.id, document]),
  );
  return [...stretches.values()]
    .sort((a, b) => b.activeUs - a.activeUs)
    .slice(0, 5)
    .flatMap(({ documentId, deviceKey, last }, index) => {
      const document = documents.get(documentId);
      if (document === undefined || context.isHidden(document)) return [];
      const reason = "the last sitting at this work";
      const device = context.deviceOf(deviceKey);
      const worth = score * 0.93 ** index;
      return [{ kind: "span" as const, document, device, ...spanOf(last), score: worth, reason }];
    });
}

interface SittingPart {
  readonly documentId: number;
  readonly deviceKey: number;
  last: readonly Visit[];
  activeUs: number;
}

/** Time spent on a subject, or on everything without one, and what most of it went to; null where nothing was recorded. */
export function totalLines(
  context: ReadingContext,
  subject: Subject | null,
  phrase: string,
  window: Window,
  score: number,
): readonly DigestLine[] | null {
  const { history } = context;
  const clip = recordedPart(context, window);
  const visits = history.visitsBetween(clip.fromUs, clip.toUs);
  const allUs = activeOnce(history, visits, clip, null);
  if (allUs === 0) return null;
  const members = subject === null ? null : new Set(membersOf(context, subject));
  const own =
    members === null ? visits : visits.filter(({ documentId }) => members.has(documentId));
  const total: DigestLine = {
    kind: "total",
    subject: subject === null ? null : phrase,
    eventIds: [],
    device: context.asked?.name ?? null,
    activeUs: activeOnce(history, own, clip, members),
    allUs,
    ...named(clip),
    score: score * 1.2,
    reason: "sum of active time in the window",
  };
  const shares = windowLines(context, clip, {
    limit: 3,
    score: score * 0.6,
    reason: "a share of that time",
    ...(members === null ? {} : { only: members }),
  });
  return [total, ...shares];
}

/** The documents whose time counts: all of a work's, or those with the very words. */
function membersOf(
  context: ReadingContext,
  { project, isProject, documentIds, allIds, coverage }: Subject,
): readonly number[] {
  if (project !== null && isProject) return project.documentIds;
  // Time is asked for the work, unless a file was named by all of its words.
  const isFile = context.kindOf(documentIds[0] ?? 0) === "file";
  const isWhole = documentIds.length === 1 && coverage >= 0.9;
  return project !== null && isFile && !isWhole ? project.documentIds : allIds;
}
