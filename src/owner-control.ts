/**
 * The owner's hand on the record: pausing it, taking things out of it, and seeing what was given away. It
 * promises that a pause is obeyed at once, and that what is forgotten is looked for afterwards in every file.
 */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type {
  ContextAnswer,
  ContextRequest,
  ForgetAnswer,
  ForgetProof,
  ForgetRequest,
  LedgerAnswer,
  LedgerRequest,
  PauseAnswer,
  PauseRequest,
} from "./api.ts";
import type { EventFacts } from "./capture/events.ts";
import { openPause, PAUSE_FILE, type PauseState } from "./capture/privacy-pause.ts";
import type { PrivacyGate } from "./capture/privacy.ts";
import { judgeAgain } from "./capture/privacy-again.ts";
import type { PrivacyConfig } from "./capture/privacy-rules.ts";
import { SEED_ENTRIES } from "./capture/privacy-seed.ts";
import type { Sampler } from "./capture/sampler.ts";
import type { Blindness } from "./capture/sources/source.ts";
import type { Clock } from "./clock.ts";
import { ActivityError } from "./errors.ts";
import type { Log } from "./log.ts";
import { createTextMatcher, readPauseEnd, readWish, type Wish } from "./owner-wishes.ts";
import type { Paths } from "./paths.ts";
import { createBackup, listCopies, removeCopies } from "./store/backups.ts";
import type { EventStore } from "./store/events.ts";
import { searchFiles } from "./store/file-search.ts";
import {
  carryOut,
  forgetOtherRows,
  forgetTotals,
  planForget,
  planRules,
  textsWithoutRow,
  type ForgetPlan,
} from "./store/forget.ts";
import { openLedger } from "./store/ledger.ts";
import { createLocalDays } from "./store/local-day.ts";

export interface OwnerControl {
  readonly pause: (request: PauseRequest) => PauseAnswer;
  readonly resume: () => PauseAnswer;
  /** The pause in force, or null. */
  readonly paused: () => PauseState | null;
  readonly forget: (request: ForgetRequest) => Promise<ForgetAnswer>;
  readonly ledger: (request: LedgerRequest) => LedgerAnswer;
  /** Notes in the ledger what a client was given: `text`, or the block of the answer. */
  readonly note: (
    request: Pick<ContextRequest, "client" | "session">,
    answer: ContextAnswer,
    text?: string,
  ) => void;
  /**
   * Looks whether the rules changed since the record was made, and if so what of it they would not store. Says
   * so among the problems, with the way to apply them.
   */
  readonly checkRules: () => Promise<void>;
  /** What the owner should know of, each with its remedy. */
  readonly problems: () => readonly Blindness[];
  /** What is good to know of the privacy of the record. */
  readonly notes: () => readonly Blindness[];
  readonly close: () => void;
}

export interface OwnerControlOptions {
  readonly store: EventStore;
  readonly gate: PrivacyGate;
  readonly rules: PrivacyConfig;
  readonly sampler: Pick<Sampler, "setPaused" | "cut">;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when what may be answered changed. */
  readonly onChange: () => void;
}

const DEFAULT_LEDGER_LIMIT = 100;
const SHRED_ATTEMPTS = 10;
const SHRED_RETRY_MS = 200;
const MAX_LEDGER_LIMIT = 10_000;
/** Under this name the store keeps which rules its events went through. */
const RULES_META = "privacy_rules";

export function createOwnerControl(options: OwnerControlOptions): OwnerControl {
  const { store, gate, rules, sampler, paths, clock, log, onChange } = options;
  const ledger = openLedger({ database: store.database, clock, log });
  const readMeta = store.database.prepare<{ value: string }>(
    "SELECT value FROM meta WHERE name = ?",
  );
  const writeMeta = store.database.prepare(
    "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  // A digest, since the rules themselves may name what nobody is to find.
  const rulesHash = createHash("sha256")
    .update(JSON.stringify([rules, SEED_ENTRIES]))
    .digest("base64url");
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
  let isForgetting = false;
  /** How many events the rules of today would not have stored as they are. */
  let againstRules = 0;
  const judge = (facts: EventFacts, atUs: number) => judgeAgain(gate, facts, atUs);
  const isTimed = rules.rules.some((rule) => rule.between !== undefined);
  sampler.setPaused(pause.state() !== null);

  return {
    pause: (request) => ({ paused: pause.pause(readPauseEnd(request, clock.nowUs())) }),
    resume: () => {
      pause.resume();
      return { paused: pause.state() };
    },
    paused: pause.state,
    forget: async (request) => {
      const wish = readWish(request, clock.nowUs());
      if (isForgetting) {
        throw new ActivityError(
          "database_busy",
          "Something is being forgotten right now.",
          "Wait until it is done.",
        );
      }
      isForgetting = true;
      try {
        return await forget(request, wish);
      } finally {
        isForgetting = false;
      }
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
    note: ({ client, session }, answer, text = answer.block ?? "") => {
      // While recording is paused nothing is told, and nothing is written.
      if (text === "" || pause.state() !== null) return;
      ledger.note({
        client: client === undefined ? null : gate.text(client),
        session: session === undefined ? null : gate.text(session),
        form: answer.form,
        intent: answer.intent,
        source: answer.source,
        text,
        tokens: answer.tokens,
        eventIds: answer.eventIds,
        reasons: answer.reasons,
      });
    },
    checkRules: async () => {
      const known = readMeta.get(RULES_META)?.value;
      if (known === rulesHash) return;
      if (known !== undefined || store.summary().eventCount > 0) {
        const plan = await planRules(store, judge, isTimed);
        againstRules = plan.whole.length + plan.rewritten.length;
      }
      if (againstRules === 0) rememberRules();
      else
        log.warn("stored events fall under privacy rules that came later", { count: againstRules });
    },
    problems: () => [
      ...(againstRules === 0
        ? []
        : [
            {
              reason: `${againstRules} stored events fall under privacy rules that came later.`,
              remedy:
                "Apply the rules backwards with: activityd forget --by-rules (--dry-run counts first)",
            },
          ]),
      ...gateProblems(),
    ],
    notes: () => {
      const browsers = gate.unmarkedBrowsers();
      if (browsers.length === 0) return [];
      const names = browsers.join(", ");
      return [
        rules.unmarked_browsers === "keep"
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

  function rememberRules(): void {
    againstRules = 0;
    writeMeta.run(RULES_META, rulesHash);
  }

  function gateProblems(): readonly Blindness[] {
    const { count, last } = gate.faults();
    const dropsAll = rules.rules.some((rule) => rule.every === true && rule.action === "drop");
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

  async function forget(request: ForgetRequest, wish: Wish): Promise<ForgetAnswer> {
    const dryRun = request.dryRun === true;
    // What goes on now is ended here, so that the part before this moment can go.
    if (!dryRun)
      sampler.cut(wish.byRules ? (facts) => judge(facts, clock.nowUs()) === null : wish.isMeant);
    const plan = wish.byRules
      ? await planRules(store, judge, isTimed)
      : await planForget(store, wish);
    const holds = wish.match === null ? null : createTextMatcher(wish.match);
    // A span alone means everything of that time; with an application or a text, that alone.
    const isSpanAlone = wish.isMeant === null && wish.span !== null;
    const span = isSpanAlone ? wish.span : null;
    const ledgerSelection = {
      eventIds: new Set([
        ...plan.whole,
        ...plan.cut.map(({ id }) => id),
        ...plan.rewritten.map(({ id }) => id),
      ]),
      span,
      holds,
    };
    const counted = {
      dryRun,
      events: plan.whole.length,
      shortened: plan.cut.length,
      rewritten: plan.rewritten.length,
      documents: plan.labelCount,
      ledgerEntries: ledger.forget(ledgerSelection, dryRun),
      otherRows: forgetOtherRows(store.database, { span, holds }, dryRun),
      backups: listCopies(paths.dataDirectory).length,
      span: plan.span,
    };
    if (dryRun) return { ...counted, proof: null };
    const done = await carryOut(store, plan);
    // The gateway keeps blocks that tell of what was recorded. Which of them do is not worth finding out: they
    // only spare the upstream work, and a running gateway forgets with the file.
    rmSync(paths.gatewayTurnsFile, { force: true });
    if (!wish.byRules)
      forgetTotals(store, wish.isMeant, wish.span === null ? null : wholeDays(wish.span));
    if (wish.byRules) rememberRules();
    onChange();
    await shred();
    const backups = await renewBackups();
    const proof = await prove(wish, plan);
    log.info("forgot on the owner's word", {
      events: done.events,
      shortened: done.cut,
      rewritten: done.rewritten,
      found: proof.foundIn.length,
    });
    return {
      ...counted,
      events: done.events,
      shortened: done.cut,
      rewritten: done.rewritten,
      documents: done.documents,
      backups,
      proof,
    };
  }

  /** A search that goes on may keep the log from being emptied for a moment. */
  async function shred(): Promise<void> {
    for (let attempt = 0; attempt < SHRED_ATTEMPTS; attempt++) {
      if (await store.eraser.shred()) return;
      await new Promise((resolve) => {
        setTimeout(resolve, SHRED_RETRY_MS);
      });
    }
  }

  /** Copies of the time before hold what was forgotten: they go, and a new one takes their place. */
  async function renewBackups(): Promise<number> {
    const removed = removeCopies(paths.dataDirectory);
    if (removed === 0) return 0;
    try {
      await createBackup(store.database, paths.dataDirectory, clock.nowUs());
    } catch (error) {
      // What was asked for is done; the next backup is made in its own time.
      log.warn("no backup could be made after forgetting", { reason: String(error) });
    }
    return removed;
  }

  /** Looks for the texts in all files, and makes the database anew when they still stand in it. */
  async function prove(wish: Wish, plan: ForgetPlan): Promise<ForgetProof> {
    const texts =
      wish.match !== null && wish.span === null && wish.app === null
        ? [wish.match]
        : await textsWithoutRow(store.database, plan.texts);
    let search = await searchEverywhere(texts);
    if (search.found.some(({ file }) => file.startsWith(paths.dataDirectory))) {
      store.database.execute("VACUUM");
      await shred();
      await renewBackups();
      search = await searchEverywhere(texts);
    }
    return {
      filesSearched: search.filesSearched,
      bytesSearched: search.bytesSearched,
      texts: texts.length,
      foundIn: [...new Set([...search.found.map(({ file }) => file), ...search.unread])],
    };
  }

  function searchEverywhere(texts: readonly string[]) {
    return searchFiles({
      folders: [paths.dataDirectory, paths.logDirectory, paths.runtimeDirectory],
      texts,
      held: new Map([[store.database.path, store.database.readRaw]]),
      // The index of the write-ahead log and the lock of the daemon: numbers, and locks that opening would lose.
      passOver: ["-shm", ".lock"],
    });
  }

  /** The local days that lie wholly in a span, as the totals number them; null when there is none. */
  function wholeDays(span: { readonly fromUs: number; readonly toUs: number }) {
    const days = createLocalDays();
    const zone = clock.timeZone();
    const firstDay = days.dayAt(span.fromUs, zone);
    const isFromMidnight = days.dayAt(span.fromUs - 1, zone) !== firstDay;
    const fromUs = Math.max(span.fromUs, clock.nowUs() - MAX_DAYS * DAY_US);
    const parts = days.parts(fromUs, Math.min(span.toUs, clock.nowUs()), zone);
    const whole = parts.filter(
      ({ localDay, toUs }) =>
        (localDay !== firstDay || isFromMidnight) && days.dayAt(toUs, zone) !== localDay,
    );
    const [first, last] = [whole.at(0)?.localDay, whole.at(-1)?.localDay];
    return first === undefined || last === undefined ? { first: 0, last: -1 } : { first, last };
  }
}

const DAY_US = 86_400_000_000;
/** Nobody's record reaches further back. */
const MAX_DAYS = 40 * 366;
