/**
 * Reads what the owner asks to pause or to forget. It promises that a wish which means nothing, or everything
 * by mistake, is refused with a sentence.
 */
import type { ForgetRequest, PauseRequest } from "../api.ts";
import type { EventFacts } from "../capture/events.ts";
import {
  appOfBucket,
  textsOfBucket,
  type BucketData,
  type BucketKind,
} from "../capture/privacy/buckets.ts";
import { createAppMatcher } from "../capture/privacy/match.ts";
import { foldText } from "../capture/privacy/readings.ts";
import { ActivityError } from "../errors.ts";
import { readIsoInstant } from "../instant.ts";
import { textsOf, type ForgetWish } from "../store/forget/plan.ts";

const MAX_PAUSE_MINUTES = 366 * 24 * 60;

/** A wish to forget, checked. */
export interface Wish extends ForgetWish {
  readonly app: string | null;
  readonly match: string | null;
  readonly byRules: boolean;
}

/** @throws ActivityError `bad_request` for a wish that means nothing, or everything by mistake */
export function readWish(request: ForgetRequest, nowUs: number): Wish {
  const { lastMinutes, fromUs, toUs, app, match, byRules = false } = request;
  const hasSpan = lastMinutes !== undefined || fromUs !== undefined || toUs !== undefined;
  if (byRules && (hasSpan || app !== undefined || match !== undefined)) {
    throw new ActivityError(
      "bad_request",
      "byRules stands alone: the rules themselves say what goes.",
      "Leave out the span, app and match.",
    );
  }
  if (!byRules && !hasSpan && app === undefined && match === undefined) {
    throw new ActivityError(
      "bad_request",
      "Nothing says what to forget.",
      "Give lastMinutes, fromUs and toUs, app, match, or byRules.",
    );
  }
  if (lastMinutes !== undefined && (fromUs !== undefined || toUs !== undefined)) {
    throw new ActivityError(
      "bad_request",
      "lastMinutes and fromUs or toUs exclude each other.",
      "Give one of them.",
    );
  }
  if (lastMinutes !== undefined && !(lastMinutes > 0)) {
    throw new ActivityError("bad_request", `lastMinutes is ${lastMinutes}.`, "Give more than 0.");
  }
  if (match !== undefined && foldText(match).trim().length < MIN_MATCH_CHARS) {
    throw new ActivityError(
      "bad_request",
      "The text to match is too short: it would be found in nearly everything.",
      `Give at least ${MIN_MATCH_CHARS} characters.`,
    );
  }
  const span = !hasSpan
    ? null
    : {
        fromUs: lastMinutes === undefined ? (fromUs ?? 0) : Math.round(nowUs - lastMinutes * 60e6),
        toUs: toUs ?? nowUs,
      };
  if (span !== null && span.toUs <= span.fromUs) {
    throw new ActivityError(
      "bad_request",
      `The range ends (${span.toUs}) before it begins (${span.fromUs}).`,
      "Give fromUs below toUs.",
    );
  }
  return {
    span,
    app: app ?? null,
    match: match ?? null,
    byRules,
    isMeant: createFactsMatcher(app, match),
  };
}

/** Whether an event of a bucket is meant; its bucket may say which application it speaks of. */
export function createBucketMatcher({
  app,
  match,
}: Wish): (bucket: BucketKind, data: BucketData) => boolean {
  const isApp = app === null ? null : createAppMatcher(app);
  const holds = match === null ? null : createTextMatcher(match);
  return (bucket, data) => {
    const name = isApp === null ? null : appOfBucket(bucket, data);
    if (isApp !== null && (name === null || !isApp(name))) return false;
    return holds === null || textsOfBucket(data).some(holds);
  };
}

const MIN_MATCH_CHARS = 3;

function createFactsMatcher(
  app: string | undefined,
  match: string | undefined,
): ((facts: EventFacts) => boolean) | null {
  if (app === undefined && match === undefined) return null;
  const isApp = app === undefined ? null : createAppMatcher(app);
  const holds = match === undefined ? null : createTextMatcher(match);
  return (facts) => {
    const texts = textsOf(facts);
    const [name] = texts;
    if (name === undefined) return false;
    return (isApp === null || isApp(name)) && (holds === null || texts.some(holds));
  };
}

/** Whether a text holds another, as it is or as a reader sees it, in any case. */
export function createTextMatcher(match: string): (text: string) => boolean {
  const needles = [match.toLowerCase(), foldText(match).toLowerCase()];
  return (text) => {
    const lower = text.toLowerCase();
    if (needles.some((needle) => lower.includes(needle))) return true;
    const folded = foldText(text).toLowerCase();
    return needles.some((needle) => folded.includes(needle));
  };
}

/** When a pause ends, in microseconds; null: when it is resumed. @throws ActivityError `bad_request` */
export function readPauseEnd({ minutes, until }: PauseRequest, nowUs: number): number | null {
  if (minutes !== undefined && until !== undefined) {
    throw new ActivityError(
      "bad_request",
      "minutes and until exclude each other.",
      "Give one of them.",
    );
  }
  if (minutes !== undefined) {
    if (!(minutes > 0 && minutes <= MAX_PAUSE_MINUTES)) {
      throw new ActivityError(
        "bad_request",
        `Cannot pause for ${minutes} minutes.`,
        "Give more than 0 and at most a year, or nothing to pause until it is resumed.",
      );
    }
    return nowUs + Math.round(minutes * 60e6);
  }
  if (until === undefined) return null;
  const untilUs = readIsoInstant(until);
  if (untilUs !== null) return untilUs;
  throw new ActivityError(
    "bad_request",
    `Cannot read until ${JSON.stringify(until.slice(0, 40))} as an instant.`,
    "Give ISO 8601, such as 2026-11-27T16:12:00+01:00.",
  );
}
