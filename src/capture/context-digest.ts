/**
 * The distilled block: what of the record answers one turn, within a budget of tokens. It promises the same
 * answer for the same (record, turn, now, zone, budget), nothing at all for small talk, one honest line for what was
 * never recorded, and a reason for every line.
 */
import type { UntrustedSpan } from "../context/plain-text.ts";
import { tokenBound } from "../context/tokens.ts";
import type { InjectedBlock } from "../context/markers.ts";
import type { ActivityHistory, HistoryDevice, HistoryDocument } from "../store/history.ts";
import { type AnchorWindow, resolveAnchor } from "./triage/anchors.ts";
import { mainAbsence } from "./triage/absences.ts";
import { readAskedDevices } from "./triage/asked-devices.ts";
import { createDocumentIndex, documentWords, type IndexListener } from "./triage/document-index.ts";
import { type DigestLine, fitDigest, lineText, type SpanLine } from "./triage/fit.ts";
import { type Considered, leftOutLines, type LeftOutLine } from "./triage/left-out.ts";
import { type LinePicker, MAX_MODEL_LINES } from "./triage/model.ts";
import { createProjects } from "./triage/projects.ts";
import {
  type AskedDevices,
  latestLines,
  type ReadingContext,
  type Window,
  windowLines,
} from "./triage/readings.ts";
import { createSemanticFinder } from "./triage/semantic.ts";
import {
  findAlike,
  findSubject,
  subjectLines,
  type Subject,
  totalLines,
} from "./triage/subject.ts";
import { resumeLines } from "./triage/resume.ts";
import { readTopic, type Topic } from "./triage/topic.ts";
import { readTurn } from "./triage/read-turn.ts";
import { INTENTS, type Intent, type TurnReading } from "./triage/turn-reading.ts";
import { isPlainSmallTalk, weighReadings } from "./triage/weigh.ts";
import type { WordVectors } from "./triage/word-vectors.ts";

const DEFAULT_DIGEST_TOKENS = 400;

export interface DigestRequest {
  readonly turn: string;
  /** The owner's turn before this one, for "and what about …". */
  readonly previousTurn?: string;
  readonly nowUs: number;
  /** IANA zone in which times are read and told. */
  readonly timeZone: string;
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
    const { turn } = request;
    const meant = devices === null ? history : history.only(devices.keys);
    const names = new Map(others.map(({ key, name }) => [key, name]));
    const isKnown = (word: string): boolean => index.find(word, { alike: false }).how !== "none";
    const { reading, wordsOf } = readInContext(request, isKnown);
    if (isPlainSmallTalk(reading)) return null;
    learn(nowUs);
    const context: ReadingContext = {
      history: meant,
      nowUs,
      timeZone,
      isHidden,
      kindOf: projects.kindOf,
      deviceOf: (deviceKey) => names.get(deviceKey) ?? null,
      asked: devices,
    };
    const topic = readTopic(wordsOf, reading, index);
    const anchor = resolveAnchor(
      { turn, history: meant, projects, nowUs, timeZone },
      reading,
      topic,
    );
    const named = findSubject(topic, projects);
    const weights = weighReadings({ reading, topic, anchor, subject: named });
    const asksTopic = weights.readings.some(({ intent }) => TOPICAL.has(intent));
    // Likeness comes last: it may answer what would be told as not recorded, and never breaks a silence.
    const alike =
      named === null && asksTopic && semantic !== null
        ? findAlike(topic, projects, semantic, index.ids(), history.documents)
        : null;
    const slots = { context, reading, anchor, subject: named ?? alike, phrase: topic.phrase };
    const found = weights.readings.flatMap(({ intent, weight }) => linesFor(intent, weight, slots));
    const asked = pastWindow(reading, nowUs);
    // Silence about a device or a time that was asked for by name would look as if it were not known.
    const isNamed = devices !== null || asked !== null;
    const lines =
      found.length === 0 && isNamed && weights.intent !== "none"
        ? [nothingLine(context, "", 1, asked)]
        : found;
    return {
      intent: weights.intent,
      source: alike === null ? "rules" : "semantic",
      lines: mergeLines(lines),
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

/** What a turn was found to ask for, before anything is fitted. */
interface Distilled {
  readonly intent: Intent;
  readonly source: "rules" | "semantic";
  /** Best first. */
  readonly lines: readonly DigestLine[];
  readonly slots: Slots;
  readonly topic: Topic;
}

/** What a model may choose from: the rules' own lines, then what came near them. */
function offerLines({ lines, slots, topic }: Distilled): readonly DigestLine[] {
  const { context, reading } = slots;
  const near = topic.matches.slice(0, 12).map(({ documentId }) => documentId);
  const window = timeWindow(reading) ?? {
    fromUs: context.nowUs - 8 * 60 * MINUTE_US,
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

/**
 * Takes the devices that are asked about out of the turn and the one before it. A follow-up that names none asks
 * about those of the turn before.
 */
function withoutDevices(
  request: DigestRequest,
  others: readonly HistoryDevice[],
  self: Omit<HistoryDevice, "key"> | null,
): { readonly devices: AskedDevices | null; readonly request: DigestRequest } {
  if (others.length === 0) return { devices: null, request };
  const { turn, previousTurn } = request;
  const now = readAskedDevices(turn, others, self);
  const before = previousTurn === undefined ? null : readAskedDevices(previousTurn, others, self);
  const isFollowUp = before !== null && readTurn(turn, request.nowUs, request.timeZone).followUp;
  return {
    devices: now?.asked ?? (isFollowUp ? before.asked : null),
    request: {
      ...request,
      turn: now?.turn ?? turn,
      ...(before === null ? {} : { previousTurn: before.turn }),
    },
  };
}

/** A follow-up takes from the turn before what it does not say itself. `wordsOf` is the turn that its words stand in. */
function readInContext(
  { turn, previousTurn, nowUs, timeZone }: DigestRequest,
  isKnown: (word: string) => boolean,
): { readonly reading: TurnReading; readonly wordsOf: string } {
  const reading = readTurn(turn, nowUs, timeZone, isKnown);
  if (previousTurn === undefined || !reading.followUp) return { reading, wordsOf: turn };
  const before = readTurn(previousTurn, nowUs, timeZone, isKnown);
  // "And how long was that?" asks something else of the same thing.
  const asksAnew = asksForOneOf(reading, ASKED_IN_WORDS);
  const saysWhat =
    reading.contentWords.some(({ generic }) => !generic) ||
    reading.anchors.some(({ kind }) => kind !== "that" || !asksAnew);
  const saysWhen = reading.times.length > 0;
  const what = saysWhat ? reading : before;
  return {
    reading: {
      ...reading,
      language: what.language,
      times: saysWhen ? reading.times : before.times,
      contentWords: what.contentWords,
      intents: asksAnew || (saysWhat && saysWhen) ? reading.intents : before.intents,
    },
    wordsOf: saysWhat ? turn : previousTurn,
  };
}

/** What nobody asks without saying so; a topic or a time may only be put in the place of another. */
const ASKED_IN_WORDS: ReadonlySet<Intent> = new Set(["duration", "lastseen", "now", "resume"]);

/** Whether a turn asks for one of these more likely than for all else. */
function asksForOneOf({ intents }: TurnReading, among: ReadonlySet<Intent>): boolean {
  return INTENTS.some((intent) => among.has(intent) && intents[intent] > 0.5);
}

interface Slots {
  readonly context: ReadingContext;
  readonly reading: TurnReading;
  readonly anchor: AnchorWindow | null;
  readonly subject: Subject | null;
  readonly phrase: string;
}

const MINUTE_US = 60_000_000;
/** This device alone. */
const HERE: ReadonlySet<number> = new Set([0]);

function linesFor(intent: Intent, weight: number, slots: Slots): readonly DigestLine[] {
  const { context, reading, anchor, subject, phrase } = slots;
  const { nowUs } = context;
  const within = timeWindow(reading);
  switch (intent) {
    case "none":
      return [];
    case "now":
      return currentLine(context, weight);
    case "anchor":
      return anchor === null ? [] : anchorLines(context, anchor, weight);
    case "window": {
      const window = within ?? { fromUs: nowUs - 60 * MINUTE_US, toUs: nowUs };
      return windowLines(context, window, {
        limit: 6,
        score: weight,
        reason: "time in the window",
      });
    }
    case "resume":
      return resumeLines(context, weight);
    case "duration":
      if (subject === null && phrase !== "") return [nothingLine(context, phrase, weight)];
      return totalLines(context, subject, phrase, within, weight);
    default:
      if (subject !== null) return subjectLines(context, subject, intent, within, weight);
      return phrase === "" ? [] : [nothingLine(context, phrase, weight)];
  }
}

function timeWindow(reading: TurnReading): Window | null {
  const time = reading.times.find(({ kind }) => kind !== "now");
  return time === undefined ? null : { fromUs: time.fromUs, toUs: time.toUs };
}

/** What of the time that is named has passed; null when none is named, or all of it is to come. */
function pastWindow(reading: TurnReading, nowUs: number): Window | null {
  const window = timeWindow(reading);
  if (window === null || window.fromUs >= nowUs) return null;
  return { fromUs: window.fromUs, toUs: Math.min(window.toUs, nowUs) };
}

/** The window in front of the owner, on this device unless one is named: the newest that is not the assistant's. */
function currentLine(context: ReadingContext, score: number): readonly SpanLine[] {
  const { nowUs, asked } = context;
  const history = asked === null ? context.history.only(HERE) : context.history;
  for (const backUs of [10 * MINUTE_US, 12 * 60 * MINUTE_US]) {
    const visits = history.visitsBetween(nowUs - backUs, nowUs);
    const newest = [...visits].sort((a, b) => b.endUs - a.endUs || b.startUs - a.startUs);
    const documents = new Map(
      history.documents(newest.map(({ documentId }) => documentId)).map((d) => [d.id, d]),
    );
    for (const { documentId, deviceKey, startUs, endUs, activeUs } of newest) {
      const document = documents.get(documentId);
      if (document === undefined || context.isHidden(document)) continue;
      const device = context.deviceOf(deviceKey);
      const span = { startUs, endUs, activeUs };
      return [{ kind: "span", document, device, ...span, score, reason: "in front now" }];
    }
  }
  return [];
}

function anchorLines(
  context: ReadingContext,
  anchor: AnchorWindow,
  score: number,
): readonly SpanLine[] {
  const beside = windowsOf(anchor).flatMap((window, index) =>
    windowLines(context, window, {
      limit: index === 0 ? 4 : 3,
      score: score * 0.9 ** index,
      reason: `beside ${anchor.reason}`,
    }),
  );
  const event = context.history.documents(anchor.documentId === null ? [] : [anchor.documentId])[0];
  if (event === undefined || beside.length === 0) return beside;
  const { fromUs, toUs } = anchor.event;
  const line: SpanLine = {
    kind: "span",
    document: event,
    device: context.deviceOf(anchor.deviceKey),
    startUs: fromUs,
    endUs: toUs,
    activeUs: toUs - fromUs,
    score: score * 0.75,
    reason: anchor.reason,
  };
  return [...beside.filter(({ document }) => document.id !== event.id), line];
}

/** "Since lunch" is about what came right after and about all that followed: each document may stand in both parts. */
function windowsOf({ window, event, reachUs }: AnchorWindow): readonly Window[] {
  const isSince = window.fromUs === event.toUs && window.toUs - window.fromUs > 1.5 * reachUs;
  if (!isSince) return [window];
  const middleUs = window.fromUs + reachUs;
  return [
    { fromUs: window.fromUs, toUs: middleUs },
    { fromUs: middleUs, toUs: window.toUs },
  ];
}

/** The absence of a topic or of a time, short enough to cost next to nothing. */
function nothingLine(
  context: ReadingContext,
  phrase: string,
  score: number,
  window: Window | null = null,
): DigestLine {
  let subject = phrase;
  while (tokenBound(subject) > 14 && subject.includes(" ")) {
    subject = subject.slice(0, subject.lastIndexOf(" "));
  }
  if (tokenBound(subject) > 14) subject = Array.from(subject).slice(0, 12).join("");
  const sinceUs = context.history.firstUs();
  const device = context.asked?.name ?? null;
  const reason =
    subject === ""
      ? `nothing was recorded ${window === null ? "on that device" : "in that time"}`
      : "no document holds these words";
  const meanwhile =
    window === null || context.asked !== null
      ? null
      : mainAbsence(context.history, window.fromUs, window.toUs);
  return {
    kind: "nothing",
    subject: subject || null,
    device,
    window,
    meanwhile,
    sinceUs,
    score,
    reason,
  };
}

/** One line per document and stretch: of two that overlap the better one stays. */
function mergeLines(lines: readonly DigestLine[]): readonly DigestLine[] {
  const kept: DigestLine[] = [];
  for (const line of [...lines].sort((a, b) => b.score - a.score)) {
    const isRepeat =
      (line.kind === "nothing" && kept.some(({ kind }) => kind === "nothing")) ||
      (line.kind === "span" &&
        kept.some(
          (other) =>
            other.kind === "span" &&
            other.document.id === line.document.id &&
            other.device === line.device &&
            other.startUs < line.endUs &&
            line.startUs < other.endUs,
        ));
    if (!isRepeat) kept.push(line);
  }
  return kept;
}

function eventIdsOf(history: ActivityHistory, lines: readonly DigestLine[]): readonly number[] {
  const ids = new Set<number>();
  for (const line of lines) {
    if (line.kind !== "span") continue;
    for (const id of history.eventIds(line.document.id, line.startUs, line.endUs)) ids.add(id);
  }
  return [...ids].sort((a, b) => a - b);
}
