/**
 * The distilled block: what of the record answers one turn, within a budget of tokens. It promises the same
 * answer for the same (record, turn, now, zone, budget), nothing at all for small talk, one honest line for what was
 * never recorded, and a reason for every line.
 */
import type { UntrustedSpan } from "../context/plain-text.ts";
import type { InjectedBlock } from "../context/markers.ts";
import type { ActivityHistory, HistoryDevice, HistoryDocument } from "../store/history.ts";
import { resolveBetween } from "./triage/anchor-spans.ts";
import { type AnchorWindow, resolveAnchor } from "./triage/anchors.ts";
import {
  linesFor,
  nothingLine,
  pastWindow,
  type Slots,
  timeWindow,
} from "./triage/answer-lines.ts";
import { askedMedium } from "./triage/asked-medium.ts";
import {
  type AskedTurn,
  onDay,
  readInContext,
  type TurnInContext,
  withoutDevices,
} from "./triage/conversation.ts";
import { resolveBeside, toldAtUs } from "./triage/beside.ts";
import { createDocumentIndex, documentWords, type IndexListener } from "./triage/document-index.ts";
import { type DigestLine, fitDigest, lineText, mergeLines } from "./triage/fit.ts";
import { type Considered, leftOutLines, type LeftOutLine } from "./triage/left-out.ts";
import { type LinePicker, MAX_MODEL_LINES } from "./triage/model.ts";
import { createProjects } from "./triage/projects.ts";
import { latestLines, type ReadingContext, windowLines } from "./triage/readings.ts";
import { createSemanticFinder } from "./triage/semantic.ts";
import { callsIfMeant, findAlike, findSubject } from "./triage/subject.ts";
import { readTopic, type Topic } from "./triage/topic.ts";
import type { Intent } from "./triage/turn/reading.ts";
import { isPlainSmallTalk, kindName, weighReadings } from "./triage/weigh.ts";
import type { WordVectors } from "./triage/word-vectors.ts";

const DEFAULT_DIGEST_TOKENS = 400;

/** `previousTurns` are for "and what about …"; times are read and told in `timeZone`. */
export interface DigestRequest extends AskedTurn {
  /** Upper bound in o200k tokens; 400 unless given. */
  readonly budgetTokens?: number;
  /** Whether the answer is to say what it does without; that costs as much again. */
  readonly withLeftOut?: boolean;
}

export interface DigestAnswer {
  /** Null when there is nothing to say. */
  readonly block: InjectedBlock | null;
  readonly intent: Intent;
  /**
   * `semantic`: no title held the words, and one of like meaning stood out. `model`: a model chose the lines.
   * `fallback`: it was asked, and did not answer in time or to the point.
   */
  readonly source: "rules" | "semantic" | "model" | "fallback";
  readonly tokens: number;
  /** One per line of the block, in its order; free of words from strangers. */
  readonly reasons: readonly string[];
  /** Ids of the window events that the lines were made of, oldest first. */
  readonly eventIds: readonly number[];
  readonly untrustedSpans: readonly UntrustedSpan[];
  /** What came near and is not told, best first; there when it was asked for. */
  readonly leftOut?: readonly LeftOutLine[];
}

/** Answers turns from one history. What it learned of words and projects is kept between turns. */
export interface Digester {
  readonly render: (request: DigestRequest) => DigestAnswer;
  /**
   * The same, with the lines chosen by a model until `deadlineMs` on the clock of `performance.now()`. It sees the turn and at
   * most 40 lines; without a usable answer the rules' own stands.
   */
  readonly renderWith: (
    request: DigestRequest,
    picker: LinePicker,
    deadlineMs: number,
  ) => Promise<DigestAnswer>;
  /** Learns from what is new, at most `maxVisits` at once; true when nothing is left. For idle moments. */
  readonly learn: (nowUs: number, maxVisits?: number) => boolean;
  /** Drops everything learned; it is learned anew from what is left. For after something was forgotten. */
  readonly unlearn: () => void;
}

export interface DigesterOptions {
  readonly history: ActivityHistory;
  /** Whether windows of an application are the assistant's own, which are no activity. */
  readonly isAssistant?: (app: string) => boolean;
  /** What this device is called beside others; null: nobody knows. */
  readonly self?: () => Omit<HistoryDevice, "key"> | null;
  /** Word vectors for topics that share no word with any title; without them such topics are told as not recorded. */
  readonly vectors?: WordVectors;
}

export function createDigester(options: DigesterOptions): Digester {
  const { history, isAssistant = () => false, self = () => null, vectors } = options;
  const index = createDocumentIndex();
  const projects = createProjects();
  const semantic = vectors === undefined ? null : createSemanticFinder(vectors);
  const listener: IndexListener = {
    onDocument: (document) => semantic?.add(document.id, documentWords(document).keys()),
    // What was learned from documents that expired goes with them.
    onClear: () => {
      projects.clear();
      semantic?.clear();
    },
  };
  const isHidden = (document: HistoryDocument): boolean => isAssistant(document.app);

  const learn = (nowUs: number, maxVisits?: number): boolean => {
    // A document is several times the work of a visit.
    const maxDocuments = maxVisits === undefined ? Infinity : Math.ceil(maxVisits / 5);
    if (!index.refresh(history, listener, maxDocuments)) return false;
    return projects.refresh(history, nowUs, maxVisits);
  };

  const distil = (given: DigestRequest): Distilled | null => {
    const { nowUs, timeZone } = given;
    index.refresh(history, listener);
    const others = history.devices();
    const { devices, request } = withoutDevices(given, others, self());
    const meant = devices === null ? history : history.only(devices.keys);
    const names = new Map(others.map(({ key, name }) => [key, name]));
    const isKnown = (word: string): boolean => index.find(word, { alike: false }).how !== "none";
    const asked = readInContext(request, isKnown);
    if (asked.beside === null && isPlainSmallTalk(asked.reading)) return null;
    learn(nowUs);
    return answer(asked, {
      history: meant,
      nowUs,
      timeZone,
      isHidden,
      kindOf: projects.kindOf,
      deviceOf: (deviceKey) => names.get(deviceKey) ?? null,
      asked: devices,
    });
  };

  /** The same without what a turn leaves out: "everything on Monday except the lease". */
  const withoutLeftOut = (
    { reading: { leftOut, language }, wordsOf }: TurnInContext,
    context: ReadingContext,
  ): ReadingContext => {
    if (leftOut.length === 0) return context;
    const topic = readTopic(wordsOf, { contentWords: leftOut, language }, index);
    const subject = findSubject(topic, projects);
    if (subject === null) return context;
    const work = subject.isProject ? (subject.project?.documentIds ?? []) : [];
    const ids = new Set([...subject.allIds, ...work]);
    return {
      ...context,
      isHidden: (document) => ids.has(document.id) || context.isHidden(document),
    };
  };

  const answer = (turn: TurnInContext, given: ReadingContext): Distilled => {
    const { reading: said, wordsOf, beside } = turn;
    const context = withoutLeftOut(turn, given);
    const kind = beside === null ? askedMedium(wordsOf, said, projects.kindOf, index) : null;
    const reading = kind?.reading ?? said;
    const { history: meant, nowUs, timeZone, asked: devices } = context;
    const topic = readTopic(wordsOf, reading, index);
    const sources = { turn: wordsOf, history: meant, projects, nowUs, timeZone };
    const before = beside === null ? null : answer(beside.asked, context);
    if (before !== null && beside?.side === "day") {
      const atUs = toldAtUs(before);
      if (atUs === null) return before;
      return answer({ reading: onDay(said, atUs, timeZone), wordsOf, beside: null }, given);
    }
    const anchor =
      beside === null || before === null || beside.side === "day"
        ? (resolveBetween(sources, reading, topic) ?? resolveAnchor(sources, reading, topic))
        : resolveBeside(sources, before, beside.side);
    // What was never there has nothing beside it: that is told once more.
    if (before !== null && anchor === null) return before;
    const likeliest = callsIfMeant(findSubject(topic, projects), reading, projects);
    const name = kindName(likeliest, topic);
    // What no word of a matter names is not meant.
    const named = topic.phrase === "" && name === null ? null : likeliest;
    const medium = name !== null && kind?.ranking === null ? null : kind;
    const weights = weighReadings({ reading, topic, anchor, subject: named });
    const asksTopic = weights.readings.some(({ intent }) => TOPICAL.has(intent));
    // Likeness comes last: it may answer what would be told as not recorded, and never breaks a silence.
    const alike =
      named === null && asksTopic && semantic !== null
        ? findAlike(topic, projects, semantic, index.ids(), history.documents)
        : null;
    const slots = {
      context,
      reading,
      anchor,
      subject: named ?? alike,
      phrase: name ?? topic.phrase,
      medium,
    };
    const found = weights.readings.flatMap(({ intent, weight }) => linesFor(intent, weight, slots));
    const asked = pastWindow(reading, nowUs);
    // Silence about a device or a time that was asked for by name, or before there is a record, would look as if it were
    // not known.
    const isTold = devices !== null || asked !== null || meant.firstUs() === null;
    const lines =
      found.length === 0 && isTold && weights.intent !== "none"
        ? [nothingLine(context, "", 1, asked)]
        : found;
    return {
      intent: weights.intent,
      source: alike === null ? "rules" : "semantic",
      lines: mergeLines(lines),
      anchor,
      slots,
      topic,
    };
  };

  const finish = (
    request: DigestRequest,
    distilled: Distilled,
    source: DigestAnswer["source"] = distilled.source,
    lines = distilled.lines,
  ): DigestAnswer => {
    const { nowUs, timeZone, budgetTokens = DEFAULT_DIGEST_TOKENS } = request;
    const { intent } = distilled;
    const fitted = fitDigest(lines, budgetTokens, nowUs, timeZone);
    const leftOut =
      request.withLeftOut === true
        ? {
            leftOut: leftOutLines(
              considerFor(distilled, source, lines, budgetTokens),
              fitted?.lines ?? [],
              timeZone,
              (line) => eventIdsOf(history, [line]),
            ),
          }
        : {};
    if (fitted === null) return { ...SILENCE, intent, source, ...leftOut };
    return {
      ...leftOut,
      block: fitted.block,
      intent,
      source,
      tokens: fitted.tokens,
      reasons: fitted.lines.map(({ reason }) => reason),
      eventIds: eventIdsOf(history, fitted.lines),
      untrustedSpans: fitted.untrustedSpans,
    };
  };

  const render = (request: DigestRequest): DigestAnswer => {
    const distilled = distil(request);
    return distilled === null ? smallTalk(request) : finish(request, distilled);
  };

  const renderWith = async (
    request: DigestRequest,
    picker: LinePicker,
    deadlineMs: number,
  ): Promise<DigestAnswer> => {
    const distilled = distil(request);
    if (distilled === null) return smallTalk(request);
    const { intent, lines } = distilled;
    // Small talk is none of the model's business, and what is in front needs no choosing.
    if (lines.length === 0 || intent === "now") return finish(request, distilled);
    const offered = offerLines(distilled);
    const texts = offered.map((line) => lineText(line, request.timeZone));
    const picked = await picker.pick(request.turn, texts, deadlineMs);
    if (picked === null) return finish(request, distilled, "fallback");
    const totals = lines.filter(({ kind }) => kind === "total");
    const chosen = picked.flatMap((index, rank) => {
      const line = offered[index];
      return line === undefined
        ? []
        : [{ ...line, score: 1 / (rank + 1), reason: "the model chose it" }];
    });
    return finish(request, distilled, "model", mergeLines([...totals, ...chosen]));
  };

  return {
    render,
    renderWith,
    learn,
    unlearn: () => {
      index.clear();
      projects.clear();
      semantic?.clear();
    },
  };
}

const TOPICAL: ReadonlySet<Intent> = new Set(["topic", "lastseen", "duration"]);

const SILENCE = {
  block: null,
  tokens: 0,
  reasons: [],
  eventIds: [],
  untrustedSpans: [],
} as const;

function smallTalk({ withLeftOut }: DigestRequest): DigestAnswer {
  const leftOut = withLeftOut === true ? { leftOut: [] } : {};
  return { ...SILENCE, intent: "none", source: "rules", ...leftOut };
}

const HOUR_US = 3_600_000_000;

/** What a turn was found to ask for, before anything is fitted. */
interface Distilled {
  readonly intent: Intent;
  readonly source: "rules" | "semantic";
  /** Best first. */
  readonly lines: readonly DigestLine[];
  readonly anchor: AnchorWindow | null;
  readonly slots: Slots;
  readonly topic: Topic;
}

/** What a model may choose from: the rules' own lines, then what came near them. */
function offerLines({ lines, slots, topic }: Distilled): readonly DigestLine[] {
  const { context, reading } = slots;
  const near = topic.matches.slice(0, 12).map(({ documentId }) => documentId);
  const window = timeWindow(reading) ?? {
    fromUs: context.nowUs - 8 * HOUR_US,
    toUs: context.nowUs,
  };
  return mergeLines([
    ...lines.filter(({ kind }) => kind === "span"),
    ...latestLines(context, near, { limit: 12, score: 0.02, reason: "near the topic" }),
    ...windowLines(context, window, { limit: 20, score: 0.01, reason: "time in the window" }),
  ]).slice(0, MAX_MODEL_LINES);
}

/** What an answer could have told besides, with why it does not. */
function considerFor(
  distilled: Distilled,
  source: DigestAnswer["source"],
  lines: readonly DigestLine[],
  budgetTokens: number,
): readonly Considered[] {
  const { slots, topic, intent } = distilled;
  const { context, reading } = slots;
  const less = intent === "none" ? "the turn asks for nothing of the record" : "less to the point";
  const near = topic.matches.slice(0, 12).map(({ documentId }) => documentId);
  const window = timeWindow(reading);
  const faint = { limit: 12, score: 0 };
  return [
    { lines, why: `no room within ${budgetTokens} tokens` },
    // The rules' own lines, when a model chose others.
    { lines: source === "model" ? distilled.lines : [], why: "the model did not choose it" },
    {
      lines: latestLines(context, near, { ...faint, reason: "holds words of the turn" }),
      why: less,
    },
    {
      lines:
        window === null
          ? []
          : windowLines(context, window, { ...faint, reason: "in the time that is named" }),
      why: less,
    },
  ];
}

function eventIdsOf(history: ActivityHistory, lines: readonly DigestLine[]): readonly number[] {
  const ids = new Set<number>();
  for (const line of lines) {
    if (line.kind === "total") for (const id of line.eventIds) ids.add(id);
    if (line.kind !== "span") continue;
    for (const id of history.eventIds(line.document.id, line.startUs, line.endUs)) ids.add(id);
  }
  return [...ids].sort((a, b) => a - b);
}
