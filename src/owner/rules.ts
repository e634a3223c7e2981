/**
 * The owner's privacy rules over a record that was made under others. It hides when the record was last judged and why
 * settings are not in force, and promises that whatever of it today's rules would not have stored is told, with the way out.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { RulesAnswer, RuleTestAnswer, RuleTestRequest } from "../api.ts";
import { judgeAgain } from "../capture/privacy/facts.ts";
import { gateBucketData } from "../capture/privacy/buckets.ts";
import { describeResult, explainPrivacy } from "../capture/privacy/explain.ts";
import type { LivePrivacy } from "../capture/privacy/live.ts";
import type { PrivacyConfig } from "../capture/privacy/rules.ts";
import { SEED_ENTRIES } from "../capture/privacy/seed.ts";
import { createPrivacyGate } from "../capture/privacy.ts";
import type { Blindness } from "../capture/sources/source.ts";
import type { Clock } from "../clock.ts";
import { ActivityError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { ForgettingOptions } from "./forget.ts";
import type { EventStore } from "../store/events.ts";
import { forgetBucketEvents } from "../store/forget/buckets.ts";
import { planRules } from "../store/forget/plan.ts";

export interface OwnerRules {
  readonly rules: () => RulesAnswer;
  readonly testRule: (request: RuleTestRequest) => RuleTestAnswer;
  /**
   * Looks whether the rules changed since the record was made, and if so what of it they would not store. Says
   * so among the problems, with the way to apply them. Not while the record is being recovered.
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
  /** What today's rules say of what was stored, for whoever forgets by them. */
  readonly judging: Pick<ForgettingOptions, "judge" | "judgeBucket" | "isTimed">;
  /** The whole record agrees with today's rules. */
  readonly remember: () => void;
}

/** Under this name the store keeps which rules its events went through. */
const RULES_META = "privacy_rules";

export function createOwnerRules(options: {
  readonly store: EventStore;
  readonly privacy: LivePrivacy;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when what may be answered changed. */
  readonly onChange: () => void;
}): OwnerRules {
  const { store, privacy, clock, log, onChange } = options;
  const { gate } = privacy;
  const readMeta = store.database.prepare<{ value: string }>(
    "SELECT value FROM meta WHERE name = ?",
  );
  const writeMeta = store.database.prepare(
    "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  /** How many events the rules of today would not have stored as they are. */
  let againstRules = 0;
  /** Why the settings as they stand in the file are not in force. */
  let unread: ActivityError | null = null;

  const judging: OwnerRules["judging"] = {
    judge: (facts, atUs) => judgeAgain(gate, facts, atUs),
    judgeBucket: (bucket, data, atUs) => {
      const kept = gateBucketData(gate, bucket, data, atUs);
      if (kept === null) return "forget";
      return isDeepStrictEqual(kept, data) ? "keep" : kept;
    },
    isTimed: () => isTimed(privacy.rules()),
  };

  return {
    rules: () => ({ lines: explainPrivacy(privacy.rules()) }),
    testRule: (request) => testRule(privacy.rules(), clock, request),
    judging,
    remember,
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
              // The hint for settings that do not fit speaks to who starts a daemon: this one goes on.
              remedy:
                unread.code === "program_replaced"
                  ? unread.hint
                  : "Mend it and save it: it is read again at once.",
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
  };

  async function checkRules(): Promise<void> {
    if (store.recovering() !== null) return;
    const { judge, judgeBucket } = judging;
    const known = readMeta.get(RULES_META)?.value;
    if (known === hashOf(privacy.rules())) return;
    if (known !== undefined || store.summary().eventCount !== 0) {
      const plan = await planRules(store, judge, isTimed(privacy.rules()));
      againstRules =
        plan.whole.length +
        plan.rewritten.length +
        (await forgetBucketEvents(
          store.database,
          { span: null, judge: judgeBucket, holds: null },
          true,
        ));
    }
    if (againstRules === 0) remember();
    else
      log.warn("stored events fall under privacy rules that came later", { count: againstRules });
  }

  function remember(): void {
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
