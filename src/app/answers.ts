/**
 * Answers to requests for context: the real-time block, the digest, or whichever a turn calls for. It hides what
 * is held ready between two requests and promises that a request which names its instant gets the same answer
 * whenever it is made.
 */
import type { ContextAnswer, ContextRequest } from "../api.ts";
import { etagOf, renderContextBlock } from "../capture/context-block.ts";
import type { Digester, DigestAnswer } from "../capture/context-digest.ts";
import { createElsewhere } from "../capture/elsewhere.ts";
import type { Snapshot } from "../capture/events.ts";
import type { Sampler } from "../capture/sampler.ts";
import { pausedSnapshot, readSnapshot } from "../capture/snapshot.ts";
import type { LinePicker } from "../capture/triage/model.ts";
import { createTurnMemory } from "../capture/turn-memory.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { localTime } from "../context/plain-text.ts";
import { ActivityError } from "../errors.ts";
import { readIsoInstant } from "../instant.ts";
import type { EventStore } from "../store/events.ts";
import { createHistory, type ActivityHistory, type HistoryDevice } from "../store/history.ts";

const EXACT_BUDGET_TOKENS = 170;
/** What is learned of the record at once, a few milliseconds of work. */
const LEARN_VISITS = 2_000;

export interface Answers {
  /** The real-time block at once; a digest when what it takes was loaded. Throws `bad_request`. */
  readonly answer: (request: ContextRequest) => ContextAnswer | Promise<ContextAnswer>;
  /** The real-time block of this instant. */
  readonly present: () => ContextAnswer;
  /** Something changed that the block could show. */
  readonly changed: () => void;
  /** Makes visits of the newest events, for who asks about the past. */
  readonly settle: () => void;
  /** Reads what was recorded before this start, a little at a time, so that the first digest need not wait. Not beside a recovery. */
  readonly learn: () => void;
  /** Lets go of all that was learned of the record, after the owner had something forgotten. */
  readonly unlearn: () => void;
  /** Resolves when nothing more is loaded or learned. */
  readonly close: () => Promise<void>;
}

export interface AnswersOptions {
  readonly store: EventStore;
  readonly present: Sampler["present"];
  /** What this device is called beside others; null while it is in no hub. */
  readonly self: () => Omit<HistoryDevice, "key"> | null;
  /** The pause in force, or null. */
  readonly paused: () => { readonly sinceUs: number } | null;
  readonly config: Config;
  readonly clock: Clock;
}

export function createAnswers(options: AnswersOptions): Answers {
  const { store, paused, config, clock } = options;
  const assistantApps = config.capture.assistant_apps.map((app) => app.toLowerCase());
  const elsewhere = createElsewhere(store, assistantApps);
  let digesting: Promise<Digesting> | null = null;
  const turns = createTurnMemory();
  let isClosed = false;
  /** The present block in the zone of this machine, until something changes or the minute is over. */
  let held: { readonly minute: number; readonly answer: ContextAnswer } | null = null;

  return {
    answer,
    present: () => presentAnswer({ form: "exact" }),
    changed: () => {
      held = null;
    },
    settle,
    learn: () => {
      // Behind whoever waits already, and behind a wish to end.
      setImmediate(() => {
        if (!isClosed && store.recovering() === null)
          openDigesting().then(({ digester }) => learnInSteps(digester), leaveToAsker);
      });
    },
    unlearn: () => {
      turns.clear();
      if (digesting === null) return;
      // From what is left, so that the next turn need not wait for it.
      digesting.then(({ digester }) => {
        digester.unlearn();
        learnInSteps(digester);
      }, leaveToAsker);
    },
    close: async () => {
      isClosed = true;
      // What is being loaded ends its work on the store before that is closed; a failure was told to who asked.
      await digesting?.catch(leaveToAsker);
    },
  };

  function answer(request: ContextRequest): ContextAnswer | Promise<ContextAnswer> {
    if (request.form === "digest" && request.turn === undefined) {
      throw new ActivityError(
        "bad_request",
        "A digest needs the turn that it is distilled for.",
        'Give the turn, or ask for form "exact" or "auto".',
      );
    }
    // Here, as it is not every turn that has a time in it to be read.
    if (request.timeZone !== undefined) localTime(request.timeZone);
    // Without a turn there is nothing to choose by, and the present is the best guess. While the record is being recovered, the
    // present is all there is, and says so.
    const isRecovering = store.recovering() !== null && request.now === undefined;
    if (request.form === "exact" || request.turn === undefined || isRecovering)
      return exactAnswer(request);
    // A turn about what is in front of the owner wants the present to the second.
    const choose = (digest: ContextAnswer): ContextAnswer =>
      request.form === "auto" && digest.intent === "now" ? exactAnswer(request) : digest;
    return digestAnswer(request, request.turn).then(choose, (thrown: unknown) => {
      // The damage was met by this very reading.
      if (store.recovering() === null || request.now !== undefined) throw thrown;
      return exactAnswer(request);
    });
  }

  /** What turns a turn into a digest is as much as all the rest: it is loaded when the daemon answers already. */
  function openDigesting(): Promise<Digesting> {
    return (digesting ??= loadDigesting(
      config,
      createHistory(store.database),
      (app) => assistantApps.includes(app.toLowerCase()),
      options.self,
    ).catch((thrown: unknown) => {
      // Where the record could not be read, it can be some day.
      digesting = null;
      throw thrown;
    }));
  }

  function exactAnswer(request: ContextRequest): ContextAnswer {
    return request.now === undefined
      ? presentAnswer(request)
      : renderAnswer(request, parseNow(request.now), true);
  }

  /** Visits follow the events about once a minute; who asks about the past means the last minute too. */
  function settle(): void {
    try {
      store.settle();
    } catch (thrown) {
      // While nothing can be written, the answer comes from what was settled before.
      if (!(thrown instanceof ActivityError)) throw thrown;
    }
  }

  async function digestAnswer(request: ContextRequest, turn: string): Promise<ContextAnswer> {
    const startedAtUs = clock.monotonicUs();
    const deadlineMs = performance.now() + config.digest.model_timeout_ms;
    settle();
    const nowUs = request.now === undefined ? clock.nowUs() : parseNow(request.now);
    const { session, budgetTokens, withLeftOut = false } = request;
    const previousTurns = session === undefined ? [] : turns.exchange(session, turn, nowUs);
    const isPaused = paused() !== null;
    const asked = {
      turn,
      nowUs,
      timeZone: request.timeZone ?? clock.timeZone(),
      previousTurns,
      // Nothing is told while recording is paused, nor what it would have been.
      withLeftOut: withLeftOut && !isPaused,
      // While recording is paused nothing is told; the turn is still read, for what it asks.
      ...(isPaused ? { budgetTokens: 0 } : budgetTokens === undefined ? {} : { budgetTokens }),
    };
    const silence = isPaused
      ? "recording is paused: nothing is told"
      : "nothing that was recorded bears on the turn";
    const tell = ({ block, ...rest }: DigestAnswer): ContextAnswer => ({
      block,
      ...rest,
      form: "digest",
      ms: (clock.monotonicUs() - startedAtUs) / 1000,
      asOfUs: nowUs,
      reasons: block === null ? [silence] : rest.reasons,
      etag: etagOf(block ?? ""),
    });
    const { digester, picker } = await openDigesting();
    if (picker === null || isPaused) return tell(digester.render(asked));
    return tell(await digester.renderWith(asked, picker, deadlineMs));
  }

  function presentAnswer(request: ContextRequest): ContextAnswer {
    const nowUs = clock.nowUs();
    if (request.budgetTokens !== undefined || request.timeZone !== undefined) {
      return renderAnswer(request, nowUs, false);
    }
    // The zone is asked with the minute: asking costs several times what the answer costs.
    const minute = Math.floor(nowUs / 60_000_000);
    if (held?.minute !== minute) held = { minute, answer: renderAnswer(request, nowUs, false) };
    return held.answer;
  }

  function renderAnswer(
    request: ContextRequest,
    nowUs: number,
    fromRecordAlone: boolean,
  ): ContextAnswer {
    const startedAtUs = clock.monotonicUs();
    const timeZone = request.timeZone ?? clock.timeZone();
    const pause = paused();
    const read = (): Snapshot =>
      readSnapshot({
        store,
        present: fromRecordAlone ? null : options.present(),
        nowUs,
        timeZone,
        assistantApps,
        elsewhere,
      });
    const snapshot =
      pause === null ? readAgain(read) : pausedSnapshot(pause.sinceUs, nowUs, timeZone);
    const rendered = renderContextBlock(snapshot, request.budgetTokens ?? EXACT_BUDGET_TOKENS);
    return {
      ...rendered,
      form: "exact",
      intent: "now",
      source: "rules",
      ms: (clock.monotonicUs() - startedAtUs) / 1000,
      asOfUs: nowUs,
    };
  }

  /** Damage may be met by this very reading: what is known without the record is known all the same. */
  function readAgain<T>(read: () => T): T {
    const wasThere = store.recovering() === null;
    try {
      return read();
    } catch (thrown) {
      if (!wasThere || store.recovering() === null) throw thrown;
      return read();
    }
  }

  /** Reads what was recorded before this start, a little at a time, so that the first digest need not wait. */
  function learnInSteps(digester: Digester): void {
    try {
      if (isClosed || digester.learn(clock.nowUs(), LEARN_VISITS)) return;
    } catch {
      // A database that is damaged, or closed by now.
      return leaveToAsker();
    }
    setImmediate(() => learnInSteps(digester));
  }
}

function leaveToAsker(): void {
  // Whoever asks for a digest meets the same failure, and is told.
}

interface Digesting {
  readonly digester: Digester;
  /** A model that may choose lines, where one is configured. */
  readonly picker: LinePicker | null;
}

async function loadDigesting(
  { digest }: Config,
  history: ActivityHistory,
  isAssistant: (app: string) => boolean,
  self: AnswersOptions["self"],
): Promise<Digesting> {
  const { createDigester } = await import("../capture/context-digest.ts");
  const vectors = digest.semantic
    ? { vectors: (await import("../capture/triage/word-vectors.ts")).openWordVectors() }
    : {};
  const picker =
    digest.model_url === ""
      ? null
      : (await import("../capture/triage/model.ts")).createLinePicker({
          url: digest.model_url,
          model: digest.model_name,
        });
  return { digester: createDigester({ history, ...vectors, isAssistant, self }), picker };
}

function parseNow(text: string): number {
  const nowUs = readIsoInstant(text);
  if (nowUs !== null) return nowUs;
  throw new ActivityError(
    "bad_request",
    `Cannot read now "${text}" as an instant.`,
    "Give ISO 8601, such as 2026-11-27T16:12:00+01:00.",
  );
}
