/**
 * The owner's hand on the record: pausing it, taking things out of it, and seeing what was given away. It
 * promises that a pause is obeyed at once, and that what is forgotten is looked for afterwards in every file.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type {
  ContextAnswer,
  ContextRequest,
  ForgetAnswer,
  ForgetRequest,
  LedgerAnswer,
  LedgerRequest,
  PauseAnswer,
  PauseRequest,
  RulesAnswer,
  RuleTestAnswer,
  RuleTestRequest,
  SearchAnswer,
} from "./api.ts";
import type { ActivityEvent, EventFacts } from "./capture/events.ts";
import { openPause, PAUSE_FILE, type PauseState } from "./capture/privacy-pause.ts";
import { createPrivacyGate } from "./capture/privacy.ts";
import { describeResult, explainPrivacy } from "./capture/privacy-explain.ts";
import { judgeAgain } from "./capture/privacy-again.ts";
import { gateBucketData } from "./capture/privacy-buckets.ts";
import type { LivePrivacy } from "./capture/privacy-live.ts";
import type { PrivacyConfig } from "./capture/privacy-rules.ts";
import { SEED_ENTRIES } from "./capture/privacy-seed.ts";
import type { Sampler } from "./capture/sampler.ts";
import type { Blindness } from "./capture/sources/source.ts";
import type { Clock } from "./clock.ts";
import { ActivityError } from "./errors.ts";
import type { Log } from "./log.ts";
import { createClientAccess, type ClientAccessList } from "./owner-clients.ts";
import { createForgetting, type ForgettingOptions } from "./owner-forget.ts";
import { type GivenText, joinLines, writeHits } from "./owner-texts.ts";
import { readPauseEnd } from "./owner-wishes.ts";
import type { Paths } from "./paths.ts";
import type { EventStore } from "./store/events.ts";
import { forgetBucketEvents, type BucketWish } from "./store/forget-buckets.ts";
import type { WishOrigin } from "./store/event-walk.ts";
import { planRules } from "./store/forget-plan.ts";
import { openLedger } from "./store/ledger.ts";

export interface OwnerControl {
  readonly pause: (request: PauseRequest) => PauseAnswer;
  readonly resume: () => PauseAnswer;
  /** The pause in force, or null. */
  readonly paused: () => PauseState | null;
  /** `origin`: the other device on which the wish was made, and told. */
  readonly forget: (request: ForgetRequest, origin?: WishOrigin) => Promise<ForgetAnswer>;
  readonly ledger: (request: LedgerRequest) => LedgerAnswer;
  /** Notes in the ledger what a client was given: `given`, or the block of the answer. */
  readonly note: (
    request: Pick<ContextRequest, "client" | "session" | "turn">,
    answer: ContextAnswer,
    given?: GivenText,
  ) => void;
  /** Notes what a client was told besides that an answer does without. */
  readonly noteLeftOut: (
    request: Pick<ContextRequest, "client" | "session">,
    answer: ContextAnswer,
  ) => void;
  /** Notes events that were read by a client that says who it is. */
  readonly noteEvents: (client: string | undefined, events: readonly ActivityEvent[]) => void;
  /** Notes what a search gave to a client that says who it is. */
  readonly noteSearch: (client: string | undefined, q: string, hits: SearchAnswer["hits"]) => void;
  /** Notes that a client that says who it is read a stretch of the record in another form. */
  readonly noteReading: (client: string | undefined, form: ReadingForm, what: string) => void;
  /** Who is refused. */
  readonly clients: ClientAccessList;
  readonly rules: () => RulesAnswer;
  readonly testRule: (request: RuleTestRequest) => RuleTestAnswer;
  /**
   * Looks whether the rules changed since the record was made, and if so what of it they would not store. Says
   * so among the problems, with the way to apply them.
   */
  readonly checkRules: () => Promise<void>;
  /**
   * Judges by the rules that `read` gives from now on, and checks the record against them. When they cannot be
   * read or used, those of before stay in force and that is told among the problems.
   */
  readonly reloadRules: (read: () => PrivacyConfig) => Promise<void>;
  /** What the owner should know of, each with its remedy. */
  readonly problems: () => readonly Blindness[];
  /** What is good to know of the privacy of the record. */
  readonly notes: () => readonly Blindness[];
  readonly close: () => void;
}

/** Readings of the record other than for a block. */
type ReadingForm = "events" | "search" | "timeline" | "totals" | "days";

export interface OwnerControlOptions {
  readonly store: EventStore;
  readonly privacy: LivePrivacy;
  /** Whether the ledger keeps what the owner wrote. */
  readonly keepTurns: boolean;
  readonly sampler: Pick<Sampler, "setPaused" | "cut">;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when what may be answered changed. */
  readonly onChange: () => void;
  /** Called when the owner's wish to forget was carried out; see `createForgetting`. */
  readonly onForgotten: ForgettingOptions["onForgotten"];
}

/** Of what the owner wrote the ledger keeps so much: enough to know the turn again. */
const MAX_TURN_CHARS = 2_000;
const DEFAULT_LEDGER_LIMIT = 100;
const MAX_LEDGER_LIMIT = 10_000;
/** Under this name the store keeps which rules its events went through. */
const RULES_META = "privacy_rules";

export function createOwnerControl(options: OwnerControlOptions): OwnerControl {
  const { store, privacy, keepTurns, sampler, paths, clock, log, onChange, onForgotten } = options;
  const ledger = openLedger({ database: store.database, clock, log });
  const readMeta = store.database.prepare<{ value: string }>(
    "SELECT value FROM meta WHERE name = ?",
  );
  const writeMeta = store.database.prepare(
    "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const { gate } = privacy;
  const pause = openPause({
    file: join(paths.dataDirectory, PAUSE_FILE),
    clock,
    log,
    onChange: (state) => {
      sampler.setPaused(state !== null);
      log.info(state === null ? "recording goes on" : "recording is paused");
      onChange();
    },
  });
  /** How many events the rules of today would not have stored as they are. */
  let againstRules = 0;
  const judge = (facts: EventFacts, atUs: number) => judgeAgain(gate, facts, atUs);
  const judgeBucket: BucketWish["judge"] = (bucket, data, atUs) => {
    const kept = gateBucketData(gate, bucket, data, atUs);
    if (kept === null) return "forget";
    return isDeepStrictEqual(kept, data) ? "keep" : kept;
  };
  /** Why the settings as they stand in the file are not in force. */
  let unread: ActivityError | null = null;
  const forget = createForgetting({
    store,
    ledger,
    sampler,
    judge,
    judgeBucket,
    isTimed: () => isTimed(privacy.rules()),
    paths,
    clock,
    log,
    onChange,
    onForgotten,
  });
  sampler.setPaused(pause.state() !== null);
  const clients = createClientAccess({
    database: store.database,
    used: ledger.clients,
    clean: gate.text,
    clock,
  });

  return {
    clients,
    rules: () => ({ lines: explainPrivacy(privacy.rules()) }),
    testRule: (request) => testRule(privacy.rules(), clock, request),
    pause: (request) => ({ paused: pause.pause(readPauseEnd(request, clock.nowUs())) }),
    resume: () => {
      pause.resume();
      return { paused: pause.state() };
    },
    paused: pause.state,
    forget: async (request, origin) => {
      const answer = await forget(request, origin);
      if (request.byRules === true && !answer.dryRun) rememberRules();
      noteExamples(request.client, answer.examples);
      return answer;
    },
    ledger: ({
      fromUs = 0,
      toUs = Number.MAX_SAFE_INTEGER,
      client,
      limit = DEFAULT_LEDGER_LIMIT,
    }) =>
      ledger.read({
        fromUs,
        toUs,
        limit: Math.min(Math.max(1, limit), MAX_LEDGER_LIMIT),
        ...(client === undefined ? {} : { client }),
      }),
    note: ({ client, session, turn }, answer, given) => {
      const { text, untrustedSpans } = given ?? {
        text: answer.block ?? "",
        untrustedSpans: answer.untrustedSpans,
      };
      // While recording is paused nothing is told, and nothing is written.
      if (text === "" || pause.state() !== null) return;
      ledger.note({
        client: client === undefined ? null : gate.text(client),
        session: session === undefined ? null : gate.text(session),
        form: answer.form,
        intent: answer.intent,
        source: answer.source,
        text,
        untrustedSpans,
        ownerText: turn === undefined || !keepTurns ? null : gate.text(cutTurn(turn)),
        tokens: answer.tokens,
        eventIds: answer.eventIds,
        reasons: answer.reasons,
      });
    },
    noteReading: (client, form, what) => {
      if (client === undefined || pause.state() !== null) return;
      ledger.note({ ...reading(client, form), text: null, eventIds: [], reasons: [what] });
    },
    noteLeftOut: ({ client, session }, answer) => {
      const { leftOut = [] } = answer;
      if (leftOut.length === 0 || pause.state() !== null) return;
      ledger.note({
        client: client === undefined ? null : gate.text(client),
        session: session === undefined ? null : gate.text(session),
        form: "left-out",
        intent: answer.intent,
        source: answer.source,
        ...joinLines(leftOut),
        ownerText: null,
        tokens: leftOut.reduce((sum, { tokens }) => sum + tokens, 0),
        eventIds: [...new Set(leftOut.flatMap(({ eventIds }) => eventIds))],
        reasons: leftOut.map(({ reason }) => reason),
      });
    },
    noteEvents: (client, events) => {
      const [first, last] = [events.at(0), events.at(-1)];
      if (client === undefined || first === undefined || last === undefined) return;
      // The events themselves stand in the record: the first, the last and the number tell which they were.
      ledger.note({
        ...reading(client, "events"),
        text: null,
        eventIds: [...new Set([first.id, last.id])],
        reasons: [`${events.length} events were read, from the first to the last of these`],
      });
    },
    noteSearch: (client, q, hits) => {
      if (client === undefined || hits.length === 0) return;
      ledger.note({
        ...reading(client, "search"),
        ...writeHits(hits),
        eventIds: [],
        reasons: [`all words of ${JSON.stringify(gate.text(q))} stand in it`],
      });
    },
    checkRules,
    reloadRules: async (read) => {
      try {
        const next = read();
        const isOther = !isDeepStrictEqual(next, privacy.rules());
        if (isOther) privacy.use(next);
        if (isOther) log.info("the privacy rules were read anew");
        if (!isOther && unread === null) return;
        unread = null;
      } catch (thrown) {
        if (!(thrown instanceof ActivityError)) throw thrown;
        log.warn("the changed settings cannot be read; the privacy rules of before stay in force");
        unread = thrown;
        return onChange();
      }
      onChange();
      await checkRules();
    },
    problems: () => [
      ...(againstRules === 0
        ? []
        : [
            {
              reason: `${againstRules} stored ${againstRules === 1 ? "event falls" : "events fall"} under privacy rules that came later.`,
              remedy:
                "Apply the rules backwards with: activityd forget --by-rules (--dry-run counts first)",
            },
          ]),
      ...gateProblems(),
      ...(unread === null
        ? []
        : [
            {
              reason: `The settings were changed, and cannot be read: ${unread.message} The privacy rules of before stay in force.`,
              remedy: unread.hint,
            },
          ]),
    ],
    notes: () => {
      const browsers = gate.unmarkedBrowsers();
      if (browsers.length === 0) return [];
      const names = browsers.join(", ");
      return [
        privacy.rules().unmarked_browsers === "keep"
          ? {
              reason: `${names}: private windows cannot be told from others here, and their titles are recorded.`,
              remedy:
                'Pause before you open one, or set unmarked_browsers = "app-only" in [privacy] to record no titles of such browsers.',
            }
          : {
              reason: `${names}: private windows cannot be told from others here; only the name is recorded.`,
              remedy: "",
            },
      ];
    },
    close: () => {
      pause.close();
      ledger.close();
    },
  };

  /** What all notes of requests other than for a block have in common. */
  function reading(client: string, form: ReadingForm) {
    return {
      client: gate.text(client),
      session: null,
      form,
      intent: form,
      source: "record",
      untrustedSpans: [],
      ownerText: null,
      tokens: 0,
    };
  }

  /** What was to be forgotten was read before: which it was is kept, and none of its words. */
  function noteExamples(client: string | undefined, examples: ForgetAnswer["examples"]): void {
    if (client === undefined || examples.length === 0) return;
    ledger.note({
      ...reading(client, "events"),
      text: null,
      eventIds: examples.map(({ lastId }) => lastId).sort((a, b) => a - b),
      reasons: [`${examples.length} examples of what would be forgotten were read`],
    });
  }

  async function checkRules(): Promise<void> {
    const known = readMeta.get(RULES_META)?.value;
    if (known === hashOf(privacy.rules())) return;
    if (known !== undefined || store.summary().eventCount > 0) {
      const plan = await planRules(store, judge, isTimed(privacy.rules()));
      againstRules =
        plan.whole.length +
        plan.rewritten.length +
        (await forgetBucketEvents(store.database, { span: null, judge: judgeBucket }, true));
    }
    if (againstRules === 0) rememberRules();
    else
      log.warn("stored events fall under privacy rules that came later", { count: againstRules });
  }

  function rememberRules(): void {
    againstRules = 0;
    writeMeta.run(RULES_META, hashOf(privacy.rules()));
  }

  function gateProblems(): readonly Blindness[] {
    const { count, last } = gate.faults();
    const dropsAll = privacy
      .rules()
      .rules.some((rule) => rule.every === true && rule.action === "drop");
    return [
      ...(count === 0
        ? []
        : [
            {
              reason: `The privacy gate failed ${count} times (${last}); what it could not judge was dropped.`,
              remedy: "Try the rules one by one with: activityd privacy test APP TITLE",
            },
          ]),
      ...(dropsAll
        ? [
            {
              reason: "A privacy rule drops every window that no rule before it keeps.",
              remedy: "If that is not meant, take the rule with every = true out of the config.",
            },
          ]
        : []),
    ];
  }
}

/** A digest, since the rules themselves may name what nobody is to find. */
function hashOf(rules: PrivacyConfig): string {
  return createHash("sha256")
    .update(JSON.stringify([rules, SEED_ENTRIES]))
    .digest("base64url");
}

/** Whether what the rules say depends on the time of day. */
function isTimed({ rules }: PrivacyConfig): boolean {
  return rules.some((rule) => rule.between !== undefined);
}

/** At a whole character: half of a pair is none. */
function cutTurn(turn: string): string {
  return turn.slice(0, MAX_TURN_CHARS).replace(/\p{Surrogate}$/u, "");
}

/** By a gate of its own, so that what is tried leaves no trace in the one that records. */
function testRule(rules: PrivacyConfig, clock: Clock, request: RuleTestRequest): RuleTestAnswer {
  const gate = createPrivacyGate(rules, { timeZone: clock.timeZone });
  const { app, title = null, url = null } = request;
  const isPrivate = request.private === true ? true : null;
  const sample = { app, title, url, pid: null, executable: null, private: isPrivate };
  const result = gate.window(sample, clock.nowUs());
  const { rule } = result;
  const lines = describeResult(app, result);
  if (result.verdict === "drop") return { verdict: "drop", rule, stored: null, lines };
  const { facts } = result;
  const stored = { app: facts.app, title: facts.title, place: facts.place };
  return { verdict: "keep", rule, stored, lines };
}
