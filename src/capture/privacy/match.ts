/**
 * Matching samples against the owner's rules and the seeded list: pure, in linear time, and with all title
 * patterns joined into one automaton, so that the cost hardly grows with their number.
 */
import { RE2JS, RE2Set } from "re2js";

import { ActivityError } from "../../errors.ts";
import {
  type Between,
  MAX_MATCH_WORK,
  MAX_TEXT_UNITS,
  MIN_TEXT_UNITS,
  parseBetween,
  type PrivacyRule,
  programsSize,
  type RuleAction,
  ruleFaults,
  ruleName,
} from "./rules.ts";
import { foldText } from "./readings.ts";
import { SEED_ENTRIES, type SeedEntry } from "./seed.ts";
import { readPrivateMarking } from "./windows.ts";

/** What the rules look at: one sample, prepared by the gate. */
export interface RuleSubject {
  /** All names of the application, folded and lower case. */
  readonly appNames: readonly string[];
  /** Every text of the sample in every reading, each at most `textUnits` long. */
  readonly texts: readonly string[];
  /** Host and path, or null when the sample has no address. */
  readonly place: string | null;
  readonly private: boolean;
  /** Minutes since local midnight. */
  readonly minuteOfDay: () => number;
}

/** How a matched `redact` rule changes texts. */
export interface Redaction {
  readonly rule: string;
  /** Null: the whole title is replaced and the place withheld. */
  readonly pattern: RE2JS | null;
  readonly replacement: string;
}

/** What the rules say of one subject. `decided` is the rule that ended the search. */
export interface RuleOutcome {
  readonly decided: {
    readonly action: Exclude<RuleAction, "redact">;
    readonly rule: string;
  } | null;
  readonly redactions: readonly Redaction[];
}

export interface CompiledRules {
  /** How much of a text may be matched and stored. */
  readonly textUnits: number;
  readonly evaluate: (subject: RuleSubject) => RuleOutcome;
}

/** Compiles rules that `privacySchema` accepted; throws `rule_invalid` for others. */
export function compileRules(rules: readonly PrivacyRule[]): CompiledRules {
  const titled = rules.flatMap(({ title }) => title ?? []);
  let titleId = 0;
  const compiled = rules.map((rule, index) =>
    compileRule(rule, index, rule.title === undefined ? null : titleId++),
  );
  const titles = titled.length === 0 ? null : compileTitles(titled);
  const textUnits = Math.min(
    MAX_TEXT_UNITS,
    Math.max(MIN_TEXT_UNITS, Math.floor(MAX_MATCH_WORK / Math.max(1, programsSize(rules)))),
  );
  return {
    textUnits,
    evaluate: (subject) => {
      const found = new Set<number>();
      if (titles !== null) {
        for (const text of subject.texts) for (const id of titles.match(text)) found.add(id);
      }
      const redactions: Redaction[] = [];
      for (const rule of compiled) {
        if (!rule.holds(subject, found)) continue;
        if (rule.action === "redact") redactions.push(rule.redaction);
        else return { decided: { action: rule.action, rule: rule.name }, redactions };
      }
      return { decided: null, redactions };
    },
  };
}

/** One automaton finds all patterns in one pass: the cost of a title hardly grows with the rules. */
function compileTitles(patterns: readonly string[]): RE2Set {
  const titles = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE);
  for (const pattern of patterns) titles.add(pattern);
  titles.compile();
  return titles;
}

interface CompiledRule {
  readonly name: string;
  readonly action: RuleAction;
  readonly redaction: Redaction;
  readonly holds: (subject: RuleSubject, titlesFound: ReadonlySet<number>) => boolean;
}

function compileRule(rule: PrivacyRule, index: number, titleId: number | null): CompiledRule {
  const name = ruleName(rule, index);
  const [fault] = ruleFaults(rule);
  if (fault !== undefined) {
    throw new ActivityError("rule_invalid", `${name}, ${fault.key}: ${fault.message}.`);
  }
  const isApp = rule.app === undefined ? null : compileAppGlob(rule.app);
  const place = rule.place?.toLowerCase() ?? null;
  const between = rule.between === undefined ? null : parseBetween(rule.between);
  return {
    name,
    action: rule.action,
    redaction: {
      rule: name,
      pattern: rule.title === undefined ? null : RE2JS.compile(rule.title, RE2JS.CASE_INSENSITIVE),
      replacement: rule.replacement ?? "[redacted]",
    },
    holds: (subject, titlesFound) =>
      (isApp === null || subject.appNames.some(isApp)) &&
      (titleId === null || titlesFound.has(titleId)) &&
      (place === null || (subject.place !== null && isWithinPlace(subject.place, place))) &&
      (rule.private === undefined || rule.private === subject.private) &&
      (between === null || isBetween(subject.minuteOfDay(), between)),
  };
}

function compileAppGlob(glob: string): (name: string) => boolean {
  const wanted = glob.normalize("NFKC").toLowerCase().trim();
  if (!wanted.includes("*")) {
    const plain = wanted.replace(/\.exe$/, "");
    return (name) => name === wanted || name === plain;
  }
  const pattern = RE2JS.compile(
    wanted
      .split("*")
      .map((part) => RE2JS.quote(part))
      .join(".*"),
  );
  return (name) => pattern.testExact(name);
}

/** Whether `place` lies on the host of `wanted` or below it, on any port unless one is named, and at or below its path. */
function isWithinPlace(place: string, wanted: string): boolean {
  const [named, path] = splitPlace(place.toLowerCase());
  const [wantedHost, wantedPath] = splitPlace(wanted);
  const host = PORT.test(wantedHost) ? named : named.replace(PORT, "");
  if (host !== wantedHost && !host.endsWith(`.${wantedHost}`)) return false;
  const prefix = wantedPath.replace(/\/+$/, "");
  return prefix === "" || path === prefix || path.startsWith(`${prefix}/`);
}

const PORT = /:\d+$/;

function splitPlace(place: string): readonly [string, string] {
  const slash = place.indexOf("/");
  return slash === -1 ? [place, ""] : [place.slice(0, slash), place.slice(slash)];
}

/** The end is excluded; a span whose end lies before its start goes over midnight. */
function isBetween(minute: number, { fromMinute, toMinute }: Between): boolean {
  return fromMinute < toMinute
    ? minute >= fromMinute && minute < toMinute
    : minute >= fromMinute || minute < toMinute;
}

/** The seeded list as one function: the entry that a subject belongs to, or null. */
export function compileSeed(): (subject: RuleSubject) => SeedEntry | null {
  const byApp = new Map<string, SeedEntry>();
  const byHost = new Map<string, SeedEntry>();
  for (const entry of SEED_ENTRIES) {
    for (const app of entry.apps) byApp.set(app, entry);
    for (const host of entry.hosts) byHost.set(host, entry);
  }
  const findTitle = compileSeedTitles();
  return ({ appNames, texts, place }) => {
    for (const name of appNames) {
      const entry = byApp.get(name);
      if (entry !== undefined) return entry;
    }
    if (place !== null) {
      const labels = place.toLowerCase().split("/", 1).join("").replace(PORT, "").split(".");
      for (let at = 0; at < labels.length; at++) {
        const entry = byHost.get(labels.slice(at).join("."));
        if (entry !== undefined) return entry;
      }
    }
    // Elsewhere such a word is talk about it: a bank in the subject of a mail is not a bank on the screen.
    if (readPrivateMarking(...appNames) === null) return null;
    for (const text of texts) {
      const entry = findTitle(text.toLowerCase());
      if (entry !== null) return entry;
    }
    return null;
  };
}

/**
 * Finds the phrases of the list in a text by its words: three hundred phrases cost a look-up for each word. An
 * automaton would be as fast, but takes long to build at each start.
 */
function compileSeedTitles(): (lower: string) => SeedEntry | null {
  const byFirstWord = new Map<string, { readonly phrase: string; readonly entry: SeedEntry }[]>();
  const withoutSpaces: { readonly phrase: string; readonly entry: SeedEntry }[] = [];
  for (const entry of SEED_ENTRIES) {
    for (const phrase of entry.titles) {
      const [word = phrase] = phrase.match(WORD) ?? [];
      if (NO_SPACES.test(phrase)) withoutSpaces.push({ phrase, entry });
      else byFirstWord.set(word, [...(byFirstWord.get(word) ?? []), { phrase, entry }]);
    }
  }
  return (lower) => {
    for (const { 0: word, index } of lower.matchAll(WORD)) {
      for (const { phrase, entry } of byFirstWord.get(word) ?? []) {
        const after = lower.charAt(index + phrase.length);
        if (lower.startsWith(phrase, index) && !WORD_CHAR.test(after)) return entry;
      }
    }
    if (!NO_SPACES.test(lower)) return null;
    return withoutSpaces.find(({ phrase }) => lower.includes(phrase))?.entry ?? null;
  };
}

const WORD = /[\p{L}\p{N}]+/gu;
const WORD_CHAR = /[\p{L}\p{N}]/u;
/** Scripts in which words have no borders to look for. */
const NO_SPACES = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** Whether an application is meant by a name as rules give it: any of its names, in any case, `*` for any run. */
export function createAppMatcher(glob: string): (app: string) => boolean {
  const isApp = compileAppGlob(glob);
  return (app) => readAppNames(app, null).some(isApp);
}

const MAX_APP_UNITS = 200;

/**
 * The names an application goes by, lower case: as given, without ".exe" and folders, the last part of an
 * id such as org.keepassxc.KeePassXC, and its executable.
 */
export function readAppNames(app: string, executable: string | null): readonly string[] {
  const names = new Set<string>();
  for (const raw of executable === null ? [app] : [app, executable]) {
    const name = foldText(raw.slice(0, MAX_APP_UNITS)).toLowerCase().trim();
    const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
    const bare = base.replace(/\.(?:exe|app|desktop|appimage)$/, "");
    names.add(raw === app ? name : bare);
    names.add(bare);
    if (/^[a-z][\w-]*(?:\.[\w-]+)+$/.test(bare)) names.add(bare.slice(bare.lastIndexOf(".") + 1));
  }
  return [...names];
}

/** Minutes since local midnight. Formatting is slow, so that the zone is asked once a minute. */
export function createLocalClock(timeZone: (() => string) | undefined): (nowUs: number) => number {
  let known = { minute: Number.NaN, zone: "", local: 0 };
  return (nowUs) => {
    const minute = Math.floor(nowUs / 60_000_000);
    const zone = timeZone?.() ?? "";
    if (known.minute !== minute || known.zone !== zone) {
      const [hours, minutes] = new Intl.DateTimeFormat("en-GB", {
        hour: "2-digit",
        minute: "2-digit",
        hourCycle: "h23",
        ...(zone === "" ? {} : { timeZone: zone }),
      })
        .format(new Date(nowUs / 1000))
        .split(":");
      known = { minute, zone, local: Number(hours) * 60 + Number(minutes) };
    }
    return known.local;
  };
}
