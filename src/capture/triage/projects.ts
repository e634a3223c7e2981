/**
 * Learns which documents belong to one piece of work. Names that programs show (workspace, directory,
 * repository) found a project; documents without one join the project, or each other, when they are again and
 * again looked at in the same stretches of time. It learns as visits come in and holds numbers, no titles
 * but the names themselves.
 */
import type { ActivityHistory, HistoryDocument } from "../../store/history.ts";
import { directoryProject, repositoryOf, titleParts } from "../titles.ts";
import { documentKind, type DocumentKind } from "./document-kinds.ts";
import { foldWord, foldedWords } from "./words.ts";

/** A piece of work: the documents that belong together. */
export interface Project {
  /** As a program wrote it ("shop-front"); null when it was learned from time alone. */
  readonly name: string | null;
  /** Words of the name, folded. */
  readonly nameWords: readonly string[];
  readonly documentIds: readonly number[];
}

export interface Projects {
  /** Takes in documents and visits since the last call, until `nowUs`; at most `maxVisits` of both. True when caught up. */
  readonly refresh: (history: ActivityHistory, nowUs: number, maxVisits?: number) => boolean;
  readonly all: () => readonly Project[];
  /** The project a document belongs to, or null. */
  readonly of: (documentId: number) => Project | null;
  readonly kindOf: (documentId: number) => DocumentKind | null;
  /** Time a document had in the months that are remembered. */
  readonly activeUs: (documentId: number) => number;
  /** All documents of a kind, oldest first. */
  readonly ofKind: (kind: DocumentKind) => readonly number[];
  readonly clear: () => void;
}

/**
 * Length of the stretches in which documents are seen together: long enough for somebody who stays in one file for a
 * while to come back to the others, short enough to tell one work from the next.
 */
const BIN_US = 1_200_000_000;
/** Work older than this is not learned from. */
const MEMORY_US = 120 * 86_400_000_000;
/** A visit may still grow: it counts once it cannot be bridged any more. */
const SETTLE_US = 120_000_000;
/** A glance is no work. */
const GLANCE_US = 8_000_000;
/** Clusters are made anew after this many visits; named documents join at once. */
const RELEARN_VISITS = 120;

interface Member {
  readonly key: string | null;
  readonly kind: DocumentKind;
  /** Ascending numbers of the stretches in which it was looked at. */
  readonly bins: number[];
  activeUs: number;
}

export function createProjects(): Projects {
  let members = new Map<number, Member>();
  let names = new Map<string, string>();
  let byKey = new Map<string, number[]>();
  let kinds = new Map<DocumentKind, number[]>();
  let projects: Project[] = [];
  let projectOf = new Map<number, Project>();
  let lastDocumentId = 0;
  let lastVisitUs = 0;
  let unlearned = 0;
  let learned = false;

  const clear = (): void => {
    members = new Map();
    names = new Map();
    byKey = new Map();
    kinds = new Map();
    projects = [];
    projectOf = new Map();
    lastDocumentId = 0;
    lastVisitUs = 0;
    unlearned = 0;
    learned = false;
  };

  const addDocument = (document: HistoryDocument): void => {
    const kind = documentKind(document);
    const name = projectName(document, kind);
    const key = name === null ? null : projectKey(name);
    members.set(document.id, { key: key === "" ? null : key, kind, bins: [], activeUs: 0 });
    const alike = kinds.get(kind) ?? [];
    alike.push(document.id);
    kinds.set(kind, alike);
    if (key === null || key === "" || name === null) return;
    if (!names.has(key)) names.set(key, name);
    const siblings = byKey.get(key) ?? [];
    siblings.push(document.id);
    byKey.set(key, siblings);
    const open = projectOf.get(siblings[0] ?? -1);
    if (open !== undefined) {
      const grown = { ...open, documentIds: [...open.documentIds, document.id] };
      projects = projects.map((project) => (project === open ? grown : project));
      for (const id of grown.documentIds) projectOf.set(id, grown);
    } else unlearned = RELEARN_VISITS;
  };

  const relearn = (nowUs: number): void => {
    const oldest = Math.floor((nowUs - MEMORY_US) / BIN_US);
    projects = cluster(members, byKey, names, oldest);
    projectOf = new Map(projects.flatMap((p) => p.documentIds.map((id) => [id, p] as const)));
    unlearned = 0;
    learned = true;
  };

  return {
    refresh: (history, nowUs, maxVisits = Infinity) => {
      let left = maxVisits;
      for (;;) {
        const limit = Math.min(left, 2000);
        const batch = history.documentsAfter(lastDocumentId, limit);
        for (const document of batch) addDocument(document);
        lastDocumentId = batch.at(-1)?.id ?? lastDocumentId;
        left -= batch.length;
        if (batch.length < limit) break;
        if (left <= 0) return false;
      }
      const untilUs = nowUs - SETTLE_US;
      lastVisitUs = Math.max(lastVisitUs, untilUs - MEMORY_US);
      let caughtUp = false;
      while (left > 0 && !caughtUp) {
        const limit = Math.min(left, 5000);
        const visits = history.visitsFrom(lastVisitUs + 1, untilUs, limit);
        for (const visit of visits) {
          const member = members.get(visit.documentId);
          if (member === undefined || visit.activeUs < GLANCE_US) continue;
          member.activeUs += visit.activeUs;
          addBins(member.bins, visit.startUs, visit.endUs);
        }
        lastVisitUs = visits.at(-1)?.startUs ?? lastVisitUs;
        unlearned += visits.length;
        left -= visits.length;
        caughtUp = visits.length < limit;
      }
      if (caughtUp && (!learned || unlearned >= RELEARN_VISITS)) relearn(nowUs);
      return caughtUp;
    },
    all: () => projects,
    of: (documentId) => projectOf.get(documentId) ?? null,
    kindOf: (documentId) => members.get(documentId)?.kind ?? null,
    activeUs: (documentId) => members.get(documentId)?.activeUs ?? 0,
    ofKind: (kind) => kinds.get(kind) ?? [],
    clear,
  };
}

function addBins(bins: number[], startUs: number, endUs: number): void {
  const last = Math.floor((endUs - 1) / BIN_US);
  for (let bin = Math.floor(startUs / BIN_US); bin <= last; bin += 1) {
    if ((bins.at(-1) ?? -1) < bin) bins.push(bin);
  }
}

/** What a program itself says the document belongs to. */
function projectName(document: HistoryDocument, kind: DocumentKind): string | null {
  const title = document.title ?? "";
  switch (kind) {
    case "page":
      return repositoryOf(document.place ?? "");
    case "folder":
      // A file manager shows the name of the folder, sometimes its path.
      return /[/\\]/u.test(title) ? directoryProject(title) : directoryProject(`~/${title}`);
    case "file":
    case "terminal":
    case "other":
      return titleParts(document.app, title).project;
    default:
      // Calls, chats and mail are about everything.
      return null;
  }
}

function projectKey(name: string): string {
  return foldWord(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .join(" ");
}

// ---------------------------------------------------------------- clusters

interface Group {
  key: string | null;
  documentIds: number[];
  bins: readonly number[];
}

/**
 * Named groups first; then pairs of groups that share stretches far more often than chance would have it, from the
 * closest pair down. Two names are never joined.
 */
function cluster(
  members: ReadonlyMap<number, Member>,
  byKey: ReadonlyMap<string, readonly number[]>,
  names: ReadonlyMap<string, string>,
  oldest: number,
): Project[] {
  const groups: Group[] = [];
  for (const [key, documentIds] of byKey) {
    const bins = unionBins(documentIds.map((id) => recent(members.get(id)?.bins ?? [], oldest)));
    groups.push({ key, documentIds: [...documentIds], bins });
  }
  const everything = new Set<number>();
  for (const [id, member] of members) {
    const bins = recent(member.bins, oldest);
    for (const bin of bins) everything.add(bin);
    if (member.key !== null || bins.length < 2 || !canBelong(member.kind)) continue;
    groups.push({ key: null, documentIds: [id], bins });
  }
  const parent = groups.map((_, index) => index);
  const find = (index: number): number => {
    let root = index;
    while (parent[root] !== root) root = parent[root] ?? root;
    return root;
  };
  for (const { a, b } of closePairs(groups, everything.size)) {
    const rootA = find(a);
    const rootB = find(b);
    const groupA = groups[rootA];
    const groupB = groups[rootB];
    if (rootA === rootB || groupA === undefined || groupB === undefined) continue;
    if (groupA.key !== null && groupB.key !== null) continue;
    const shared = countShared(groupA.bins, groupB.bins);
    const smaller = Math.min(groupA.bins.length, groupB.bins.length);
    if (shared < 0.5 * smaller) continue;
    if (!belongTogether(shared, groupA.bins.length, groupB.bins.length, everything.size)) continue;
    groupA.key ??= groupB.key;
    groupA.documentIds = [...groupA.documentIds, ...groupB.documentIds];
    groupA.bins = unionBins([groupA.bins, groupB.bins]);
    parent[rootB] = rootA;
  }
  return groups
    .filter(
      (group, index) =>
        parent[index] === index && (group.key !== null || group.documentIds.length > 1),
    )
    .map(({ key, documentIds }) => {
      const name = key === null ? null : (names.get(key) ?? key);
      const nameWords = name === null ? [] : foldedWords(name).map(({ text }) => text);
      return { name, nameWords, documentIds };
    });
}

/** How much likelier two groups must be together than apart before they are taken for one work. */
const MIN_ODDS = 5;
const MIN_CLOSENESS = 0.22;
/** Probability that two works which have nothing to do with each other share that many stretches. */
const MAX_CHANCE = 0.02;

function closePairs(groups: readonly Group[], total: number): readonly { a: number; b: number }[] {
  const inBin = new Map<number, number[]>();
  for (const [index, { bins }] of groups.entries()) {
    for (const bin of bins) {
      const present = inBin.get(bin);
      if (present === undefined) inBin.set(bin, [index]);
      else present.push(index);
    }
  }
  const shared = new Map<number, number>();
  for (const present of inBin.values()) {
    for (let i = 0; i < present.length; i += 1) {
      for (let j = i + 1; j < present.length; j += 1) {
        const pair = (present[i] ?? 0) * groups.length + (present[j] ?? 0);
        shared.set(pair, (shared.get(pair) ?? 0) + 1);
      }
    }
  }
  const pairs: { readonly a: number; readonly b: number; readonly closeness: number }[] = [];
  for (const [pair, count] of shared) {
    const a = Math.floor(pair / groups.length);
    const b = pair % groups.length;
    const sizeA = groups[a]?.bins.length ?? 0;
    const sizeB = groups[b]?.bins.length ?? 0;
    const closeness = count / Math.sqrt(sizeA * sizeB);
    if (count < 2 || closeness < MIN_CLOSENESS) continue;
    if (!belongTogether(count, sizeA, sizeB, total)) continue;
    pairs.push({ a, b, closeness });
  }
  return pairs.sort((x, y) => y.closeness - x.closeness || x.a - y.a || x.b - y.b);
}

/** Whether sharing `both` stretches is more than chance, and more than a habit of using both every hour. */
function belongTogether(both: number, sizeA: number, sizeB: number, total: number): boolean {
  if (oddsRatio(both, sizeA, sizeB, total) < MIN_ODDS) return false;
  const expected = (sizeA * sizeB) / Math.max(1, total);
  // Many: the tail of a normal distribution, since the first terms of the sum below would vanish.
  if (expected > 12) return both > expected + 2.1 * Math.sqrt(expected);
  let term = Math.exp(-expected);
  let below = 0;
  for (let count = 0; count < both; count += 1) {
    below += term;
    term *= expected / (count + 1);
  }
  return 1 - below < MAX_CHANCE;
}

/** Odds of B in A's stretches against its odds elsewhere, smoothed for small counts. */
function oddsRatio(both: number, sizeA: number, sizeB: number, total: number): number {
  const onlyA = sizeA - both;
  const onlyB = sizeB - both;
  const neither = Math.max(0, total - both - onlyA - onlyB);
  return ((both + 0.5) * (neither + 0.5)) / ((onlyA + 0.5) * (onlyB + 0.5));
}

function canBelong(kind: DocumentKind): boolean {
  return kind === "page" || kind === "file" || kind === "other" || kind === "terminal";
}

function recent(bins: readonly number[], oldest: number): readonly number[] {
  return (bins[0] ?? oldest) >= oldest ? bins : bins.filter((bin) => bin >= oldest);
}

function unionBins(lists: readonly (readonly number[])[]): readonly number[] {
  const [only] = lists;
  if (lists.length === 1 && only !== undefined) return only;
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}

function countShared(a: readonly number[], b: readonly number[]): number {
  let count = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a[i] ?? 0;
    const y = b[j] ?? 0;
    if (x === y) {
      count += 1;
      i += 1;
      j += 1;
    } else if (x < y) i += 1;
    else j += 1;
  }
  return count;
}
