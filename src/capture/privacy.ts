/**
 * The one gate between what strangers wrote and everything that keeps, logs or shows it. It alone makes
 * `StorableText`, and it fails closed: what it cannot judge is dropped, with the reason.
 */
import type {
  EditorFacts,
  EditorSample,
  EventFacts,
  MediaFacts,
  MediaSample,
  NotificationFacts,
  NotificationSample,
  StorableText,
  TabFacts,
  TabSample,
  WindowFacts,
  WindowSample,
} from "./events.ts";
import { cleanPlace, cleanText, cut, GateFault } from "./privacy/clean.ts";
import {
  compileRules,
  compileSeed,
  createLocalClock,
  readAppNames,
  type RuleSubject,
} from "./privacy/match.ts";
import { toPlace } from "./privacy/place.ts";
import { MAX_TEXT_UNITS, type PrivacyConfig } from "./privacy/rules.ts";
import { foldText, readingsOf } from "./privacy/readings.ts";
import { redactSecrets, type SecretOptions } from "./privacy/secrets.ts";
import { isPrivateTitle, readPrivateMarking } from "./privacy/windows.ts";

/**
 * What may be kept of a sample. `rule` names what acted, for `privacy test` and for the reason of a gap;
 * null when nothing did. Of a dropped sample nothing is kept.
 */
export type GateResult<F extends EventFacts> =
  | { readonly verdict: "store"; readonly facts: F; readonly rule: string | null }
  | { readonly verdict: "drop"; readonly rule: string };

/** Every text of an event whose form only its recorder knows, and the application that it speaks of, if it says. */
export interface ForeignSample {
  readonly app: string | null;
  readonly texts: readonly string[];
}

/** `text` gives each of the texts as it may be kept. */
export type ForeignResult =
  | {
      readonly verdict: "store";
      readonly text: (raw: string) => StorableText;
      readonly rule: string | null;
    }
  | { readonly verdict: "drop"; readonly rule: string };

/** Judges samples. No method throws: a fault inside drops the sample and is counted. */
export interface PrivacyGate {
  readonly window: (sample: WindowSample, nowUs: number) => GateResult<WindowFacts>;
  readonly media: (sample: MediaSample, nowUs: number) => GateResult<MediaFacts>;
  readonly notification: (
    sample: NotificationSample,
    nowUs: number,
  ) => GateResult<NotificationFacts>;
  readonly editor: (sample: EditorSample, nowUs: number) => GateResult<EditorFacts>;
  readonly tab: (sample: TabSample, nowUs: number) => GateResult<TabFacts>;
  /** What another recorder says in words of its own. */
  readonly foreign: (sample: ForeignSample, nowUs: number) => ForeignResult;
  /** A text that belongs to no sample, such as what a client sends: secrets are replaced, rules not asked. */
  readonly text: (raw: string) => StorableText;
  /** Browsers seen so far whose private windows nobody can tell from others, by the names of the applications. */
  readonly unmarkedBrowsers: () => readonly string[];
  /** Samples dropped because the gate itself failed, and how it failed last: for `status`. */
  readonly faults: () => { readonly count: number; readonly last: string | null };
}

/** What the gate may be told besides its config. */
export interface PrivacyGateOptions {
  /** IANA zone for the times of day in rules; the zone of the machine unless given. */
  readonly timeZone?: () => string;
}

/** Compiles the config. Throws `rule_invalid` when a rule cannot be used: there is no gate with fewer rules. */
export function createPrivacyGate(
  config: PrivacyConfig,
  options: PrivacyGateOptions = {},
): PrivacyGate {
  const rules = compileRules(config.rules);
  const seed = config.seeded ? compileSeed() : null;
  const secrets: SecretOptions = { emails: config.emails === "redact", oneTimeCodes: false };
  const clock = createLocalClock(options.timeZone);
  const unmarked = new Set<string>();
  let faultCount = 0;
  let lastFault: string | null = null;

  /** The judgement of one sample: what to do with its texts, or that it goes. */
  function judge(sample: Judged, nowUs: number): Judgement {
    const appNames = readAppNames(sample.app, sample.executable);
    const place = sample.url === null ? null : toPlace(sample.url);
    const texts: string[] = [];
    const marking = readPrivateMarking(...appNames);
    const { windowTitle = null } = sample;
    const isPrivate =
      sample.private === true ||
      marking === "always" ||
      (windowTitle !== null && isPrivateTitle(marking, foldText(windowTitle.slice(-EDGE_UNITS))));
    for (const text of sample.texts) {
      if (text !== null) addReadings(texts, text, rules.textUnits);
    }
    const subject: RuleSubject = {
      appNames,
      texts,
      place,
      private: isPrivate,
      minuteOfDay: () => clock(nowUs),
    };
    const { decided, redactions } = rules.evaluate(subject);
    const names = redactions.map((redaction) => redaction.rule);
    if (decided?.action === "drop") return { drop: [...names, decided.rule].join(", ") };
    if (isPrivate && decided?.action !== "app-only") return { drop: "private window" };
    if (decided === null) {
      const entry = seed?.(subject) ?? null;
      if (entry !== null) return { drop: `seeded: ${entry.name} (${entry.category})` };
    }
    const isUnmarked = sample.private === null && marking === "unmarked";
    if (isUnmarked && unmarked.size < MAX_UNMARKED) unmarked.add(sample.app);
    let appOnly = decided?.action === "app-only";
    if (decided !== null) names.push(decided.rule);
    else if (config.unmarked_browsers === "app-only" && isUnmarked) {
      appOnly = true;
      names.push("browser without a private mark");
    }
    const clean = (text: string | null, limits: SecretOptions = secrets) =>
      text === null ? null : cleanText(text, redactions, limits, rules.textUnits);
    return {
      rule: names.length === 0 ? null : names.join(", "),
      // The name of an application is given by its maker, but nothing hinders one from holding a secret.
      app: brand(redactSecrets(foldText(cut(sample.app, MAX_APP_UNITS)), secrets)),
      text: (raw, limits) => {
        const text = appOnly ? null : clean(raw, limits);
        return text === null ? null : brand(text);
      },
      place:
        appOnly || place === null || redactions.some((redaction) => redaction.pattern === null)
          ? null
          : brand(cleanPlace(place, redactions, secrets)),
    };
  }

  function guard<F extends EventFacts>(
    read: () => Judged,
    nowUs: number,
    toFacts: (kept: Kept) => F | null,
  ): GateResult<F> {
    return inCare(() => {
      const judgement = judge(read(), nowUs);
      if ("drop" in judgement) return { verdict: "drop", rule: judgement.drop };
      const facts = toFacts(judgement);
      if (facts === null) return { verdict: "drop", rule: judgement.rule ?? "nothing left" };
      return { verdict: "store", facts, rule: judgement.rule };
    });
  }

  function inCare<R>(work: () => R): R | { readonly verdict: "drop"; readonly rule: string } {
    try {
      return work();
    } catch (error) {
      // The message of a foreign error may quote the title: only its kind is told.
      lastFault =
        error instanceof GateFault
          ? error.message
          : error instanceof Error
            ? error.name
            : "unknown";
      faultCount++;
      return { verdict: "drop", rule: `privacy gate failed: ${lastFault}` };
    }
  }

  return {
    window: (sample, nowUs) =>
      guard(
        () => ({ ...sample, texts: [sample.title], windowTitle: sample.title }),
        nowUs,
        (kept) => ({
          kind: "window",
          app: kept.app,
          title: kept.text(sample.title),
          place: kept.place,
        }),
      ),
    media: (sample, nowUs) =>
      guard(
        () => plain(sample.player, [sample.title, sample.artist]),
        nowUs,
        (kept) => ({
          kind: "media",
          player: kept.app,
          title: kept.text(sample.title),
          artist: kept.text(sample.artist),
          playing: sample.playing,
        }),
      ),
    notification: (sample, nowUs) =>
      guard(
        () => plain(sample.app, [sample.summary]),
        nowUs,
        (kept) => {
          const summary = kept.text(sample.summary, { ...secrets, oneTimeCodes: true });
          return { kind: "notification", app: kept.app, summary: summary ?? brand("") };
        },
      ),
    editor: (sample, nowUs) =>
      guard(
        () => plain(sample.app, [sample.file, sample.project, sample.branch]),
        nowUs,
        // An editor event says which file it is; without one there is nothing to say.
        (kept) => {
          const file = kept.text(sample.file);
          return file === null
            ? null
            : {
                kind: "editor",
                app: kept.app,
                file,
                project: kept.text(sample.project),
                branch: kept.text(sample.branch),
                language: kept.text(sample.language),
              };
        },
      ),
    tab: (sample, nowUs) =>
      guard(
        () => ({ ...plain(sample.app, [sample.title]), url: sample.url, private: sample.private }),
        nowUs,
        (kept) => ({
          kind: "tab",
          app: kept.app,
          title: kept.text(sample.title),
          place: kept.place,
          audible: sample.audible,
        }),
      ),
    foreign: ({ app, texts }, nowUs) =>
      inCare<ForeignResult>(() => {
        const judgement = judge(plain(app ?? "", texts), nowUs);
        if ("drop" in judgement) return { verdict: "drop", rule: judgement.drop };
        const kept = new Map(texts.map((raw) => [raw, judgement.text(raw) ?? brand("")]));
        const text = (raw: string) => kept.get(raw) ?? brand("");
        return { verdict: "store", text, rule: judgement.rule };
      }),
    text: (raw) => {
      try {
        return brand(cleanText(raw, [], secrets, MAX_TEXT_UNITS));
      } catch (error) {
        lastFault = error instanceof Error ? error.name : "unknown";
        faultCount++;
        return brand("[withheld]");
      }
    },
    unmarkedBrowsers: () => Array.from(unmarked, (app) => brand(cut(app, MAX_APP_UNITS))),
    faults: () => ({ count: faultCount, last: lastFault }),
  };
}

const MAX_APP_UNITS = 200;
const MAX_UNMARKED = 20;
/** How much of the end of an over-long title is looked at for marks that stand behind it. */
const EDGE_UNITS = 300;

interface Judged {
  readonly app: string;
  readonly executable: string | null;
  readonly texts: readonly (string | null)[];
  readonly url: string | null;
  readonly private: boolean | null;
  /** Browsers mark their private windows in it, and in nothing else: a song may be called "Incognito". */
  readonly windowTitle?: string | null;
}

interface Kept {
  readonly rule: string | null;
  readonly app: StorableText;
  readonly text: (raw: string | null, limits?: SecretOptions) => StorableText | null;
  readonly place: StorableText | null;
}

type Judgement = Kept | { readonly drop: string };

function plain(app: string, texts: readonly (string | null)[]): Judged {
  return { app, executable: null, texts, url: null, private: null };
}

/** A casting function, the only one that makes `StorableText`: call it with nothing that was not cleaned. */
function brand(text: string): StorableText {
  return text as StorableText;
}

/** The readings of a text that rules must see, and those of its end when it is cut. */
function addReadings(texts: string[], raw: string, textUnits: number): void {
  for (const text of readingsOf(cut(raw, textUnits))) texts.push(cut(text, textUnits));
  if (raw.length > textUnits) texts.push(foldText(raw.slice(-EDGE_UNITS)));
}
