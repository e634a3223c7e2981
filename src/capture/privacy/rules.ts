/**
 * The owner's privacy rules: their form in the config, and their compiled shape. It promises that a rule
 * which cannot be understood is refused with its place and a reason, never skipped, and that matching takes
 * linear time, with a bound on the work per sample that does not depend on what a stranger wrote.
 */
import { RE2JS, RE2JSException } from "re2js";
import { setting, text, z } from "../../shapes.ts";

/**
 * What a rule does. `drop`: nothing is kept but a gap. `app-only`: the name of the application alone.
 * `redact`: matches of `title` are replaced in every text; without `title`, the whole title is. `keep`: no
 * later rule and no entry of the seeded list applies; secrets and private windows are still withheld.
 */
export type RuleAction = "drop" | "app-only" | "redact" | "keep";

/**
 * One rule. All conditions that are given must hold; rules are tried in order and the first `drop`,
 * `app-only` or `keep` decides, while a `redact` lets the next rules have their turn.
 */
export interface PrivacyRule {
  /** What the rule is called where it is reported; "rule 3" when absent. */
  readonly name?: string | undefined;
  readonly action: RuleAction;
  /** Application name, in any case, `*` for any run of characters: "slack", "org.gnome.*". */
  readonly app?: string | undefined;
  /** RE2 pattern, found anywhere in the title in any case; also tried on songs, notices and file names. */
  readonly title?: string | undefined;
  /** Host with its subdomains, and optionally the beginning of the path: "example.com/private". */
  readonly place?: string | undefined;
  /** Whether the window is known to be a private-browsing one. */
  readonly private?: boolean | undefined;
  /** Local time of day, "22:00-07:30", the end excluded. */
  readonly between?: string | undefined;
  /** Must be true for a rule without any condition: such a rule is usually a mistake. */
  readonly every?: boolean | undefined;
  /** What `redact` puts in place; "[redacted]" when absent. */
  readonly replacement?: string | undefined;
}

/** The `[privacy]` section of the config. */
export interface PrivacyConfig {
  /** Whether the seeded list of password managers, banks and the like is dropped. */
  readonly seeded: boolean;
  readonly emails: "keep" | "redact";
  /** What is stored for browsers that do not mark their private windows: everything, or the name alone. */
  readonly unmarked_browsers: "keep" | "app-only";
  readonly rules: readonly PrivacyRule[];
}

export const DEFAULT_PRIVACY: PrivacyConfig = {
  seeded: true,
  emails: "keep",
  unmarked_browsers: "keep",
  rules: [],
};

/**
 * The longest text that is matched and stored, in UTF-16 units; with many rules it is shorter, so that text
 * times rules stays bounded. Nothing beyond what was matched is stored.
 */
export const MAX_TEXT_UNITS = 4096;
/** What is left of it with the largest set of patterns that is accepted. */
export const MIN_TEXT_UNITS = 256;
/** Characters times instructions of all patterns: about 12 ns each on the slowest engine of re2js. */
export const MAX_MATCH_WORK = 1_000_000;
const MAX_PROGRAM_SIZE = 1000;
const MAX_PROGRAMS_SIZE = MAX_MATCH_WORK / MIN_TEXT_UNITS;
const MAX_PATTERN_UNITS = 1000;

const ruleSchema = z
  .strictObject({
    name: z.optional(text(1, 80)),
    action: z.enum(["drop", "app-only", "redact", "keep"]),
    app: z.optional(text(1, 200)),
    title: z.optional(z.string().check(z.minLength(1))),
    place: z.optional(text(1, 500)),
    private: z.optional(z.boolean()),
    between: z.optional(z.string()),
    every: z.optional(z.boolean()),
    replacement: z.optional(text(0, 100)),
  })
  .check(
    z.superRefine((rule, context) => {
      for (const fault of ruleFaults(rule)) {
        context.addIssue({ code: "custom", path: [fault.key], message: fault.message });
      }
    }),
  );

/** The `[privacy]` section, for the schema of the whole config. Its issues name the key that is wrong. */
export const privacySchema = z
  .strictObject({
    seeded: setting(
      z.boolean(),
      DEFAULT_PRIVACY.seeded,
      "Whether the seeded list of password managers, banks and the like is dropped.",
    ),
    emails: setting(
      z.enum(["keep", "redact"]),
      DEFAULT_PRIVACY.emails,
      "What becomes of mail addresses in titles.",
    ),
    unmarked_browsers: setting(
      z.enum(["keep", "app-only"]),
      DEFAULT_PRIVACY.unmarked_browsers,
      "What is stored for browsers that do not mark their private windows: everything, or the name alone.",
    ),
    rules: setting(
      z.array(ruleSchema).check(z.maxLength(500)),
      [],
      "Rules of the owner, each a table [[privacy.rules]]; tried in order.",
    ),
  })
  .check(
    z.superRefine((config, context) => {
      for (const fault of listFaults(config.rules)) {
        context.addIssue({
          code: "custom",
          path: ["rules", ...fault.path],
          message: fault.message,
        });
      }
    }),
  );

/** One thing that is wrong with a rule: at which key, and what to write instead. */
export interface RuleFault {
  readonly key: keyof PrivacyRule;
  readonly message: string;
}

/** What is wrong with one rule on its own. */
export function ruleFaults(rule: PrivacyRule): readonly RuleFault[] {
  const faults: RuleFault[] = [];
  const add = (key: keyof PrivacyRule, message: string) => faults.push({ key, message });
  if (rule.title !== undefined) {
    const fault = patternFault(rule.title);
    if (fault !== null) add("title", fault);
  }
  if (rule.place !== undefined && !PLACE.test(rule.place)) {
    add(
      "place",
      `"${clip(rule.place)}" is not a host or host/path; write it like example.com/private, without https://`,
    );
  }
  if (rule.between !== undefined && parseBetween(rule.between) === null) {
    add("between", `"${clip(rule.between)}" is not a time of day; write it like 22:00-07:30`);
  }
  if (rule.replacement !== undefined && rule.action !== "redact") {
    add(
      "replacement",
      `A rule with action "${rule.action}" replaces nothing; use action = "redact"`,
    );
  }
  const conditions = CONDITIONS.filter((key) => rule[key] !== undefined);
  if (conditions.length === 0 && rule.every !== true) {
    add(
      "every",
      "The rule has no condition and would match everything; if that is meant, add every = true",
    );
  }
  if (conditions.length > 0 && rule.every === true) {
    add(
      "every",
      `The rule says every = true and has a condition (${conditions.join(", ")}); drop one of them`,
    );
  }
  return faults;
}

const CONDITIONS = ["app", "title", "place", "private", "between"] as const;
const PLACE = /^(?:[\p{L}\p{Nd}-]+\.)*[\p{L}\p{Nd}-]+(?::\d{1,5})?(?:\/[^\s?#]*)?$/u;

/** Why a pattern cannot be used, in one sentence, or null. */
function patternFault(pattern: string): string | null {
  if (pattern.length > MAX_PATTERN_UNITS) {
    return `The pattern has ${pattern.length} characters; at most ${MAX_PATTERN_UNITS} are allowed`;
  }
  let compiled: RE2JS;
  try {
    // First as it was written, so that the reason quotes that and not the form with the flags in front.
    RE2JS.compile(pattern);
    compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, "");
    return `The pattern "${clip(pattern)}" is invalid: ${clip(reason, 120)}. Look-around and back-references are not part of RE2`;
  }
  if (compiled.programSize() > MAX_PROGRAM_SIZE) {
    return `The pattern "${clip(pattern)}" expands to ${compiled.programSize()} steps; at most ${MAX_PROGRAM_SIZE} are allowed. Use smaller repeat counts`;
  }
  if (compiled.test("")) {
    return `The pattern "${clip(pattern)}" matches the empty text and with it everything; if that is meant, leave title out or write every = true`;
  }
  return null;
}

interface ListFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What is wrong with the rules together. */
function listFaults(rules: readonly PrivacyRule[]): readonly ListFault[] {
  const faults: ListFault[] = [];
  const last = rules.findIndex((rule) => rule.every === true && rule.action !== "redact");
  if (last !== -1 && last < rules.length - 1) {
    faults.push({
      path: [last + 1],
      message: `Never reached: ${ruleName(rules[last], last)} before it matches everything. Move that one to the end`,
    });
  }
  const steps = programsSize(rules);
  if (steps > MAX_PROGRAMS_SIZE) {
    faults.push({
      path: [],
      message: `The title patterns come to ${steps} steps together; at most ${MAX_PROGRAMS_SIZE} can be tried in time. Join or shorten some`,
    });
  }
  return faults;
}

/** Instructions of all title patterns together. */
export function programsSize(rules: readonly PrivacyRule[]): number {
  let steps = 0;
  for (const rule of rules) {
    // A pattern with a fault of its own is reported there.
    if (rule.title === undefined || patternFault(rule.title) !== null) continue;
    steps += RE2JS.compile(rule.title, RE2JS.CASE_INSENSITIVE).programSize();
  }
  return steps;
}

function clip(text: string, units = 60): string {
  return text.length <= units ? text : `${text.slice(0, units)}\u2026`;
}

/** How a rule is called where it is reported. */
export function ruleName(rule: PrivacyRule | undefined, index: number): string {
  return rule?.name ?? `rule ${index + 1}`;
}

/** A span of the local day in minutes; it goes over midnight when its end lies before its start. */
export interface Between {
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** The span that "22:00-07:30" names, or null. */
export function parseBetween(text: string): Between | null {
  const match = /^([01]?\d|2[0-4]):([0-5]\d)\s?[-\u2013]\s?([01]?\d|2[0-4]):([0-5]\d)$/.exec(
    text.trim(),
  );
  if (match === null) return null;
  const fromMinute = Number(match[1]) * 60 + Number(match[2]);
  const toMinute = Number(match[3]) * 60 + Number(match[4]);
  return fromMinute === toMinute || fromMinute > 1440 || toMinute > 1440
    ? null
    : { fromMinute, toMinute };
}
