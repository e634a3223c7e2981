/**
 * Titles that never stop changing (spinners, counters, clocks, tickers) become few rows. It promises that
 * such a title makes at most 60 rows an hour, that one which stays is recorded within seconds, and that a
 * change from one document to another is never held back while changes are seldom.
 */
import type { WindowFacts } from "./events.ts";
import { documentTitle } from "./titles.ts";

/** A title that stood this long was looked at; what replaces it is a change and no churn. */
const DWELL_US = 5_000_000;
/** Churn of one application may make so many rows at once, and then one in this time: 15 + 40 in an hour. */
const BURST_ROWS = 15;
const REFILL_US = 90_000_000;
/** A page that loads goes through a few titles before its own; when that one stands, they cost nothing. */
const MAX_REFUND_ROWS = 3;
/** Applications whose allowance is remembered; the longest unseen is forgotten first. */
const MAX_APPS = 64;

export interface TitlePacer {
  /**
   * Takes what has the focus now (null: nothing to record) and gives what is to be recorded for it. `window`
   * is the identity of the window where it is known: the focus moving to another one is no churn.
   */
  readonly see: (facts: WindowFacts | null, nowUs: number, window?: string) => WindowFacts | null;
  /** The same when time has passed without news: a title that was held back may have come to stay. */
  readonly settle: (nowUs: number) => WindowFacts | null;
}

interface Allowance {
  rows: number;
  countedUs: number;
}

/** Time is given with every call; it may be set back, which costs nothing but a later row. */
export function createTitlePacer(): TitlePacer {
  const allowances = new Map<string, Allowance>();
  /** What is recorded, and what is seen meanwhile if that is something else. */
  let recorded: WindowFacts | null = null;
  let held: WindowFacts | null = null;
  let recordedWindow: string | undefined;
  let seenSinceUs = 0;
  /** The last title that stood in this window, and the rows that were spent since. */
  let stood: WindowFacts | null = null;
  let spentSince = 0;

  /** The rows that led to a title which stands are given back, unless it is the same title going on. */
  function stand(seen: WindowFacts): void {
    const allowance = allowances.get(seen.app);
    if (allowance !== undefined && (stood === null || !isVariation(stood, seen))) {
      const rows = allowance.rows + Math.min(spentSince, MAX_REFUND_ROWS);
      allowance.rows = Math.min(BURST_ROWS, rows);
    }
    stood = seen;
    spentSince = 0;
  }

  function record(facts: WindowFacts | null): WindowFacts | null {
    recorded = facts;
    held = null;
    return facts;
  }

  function spend(app: string, nowUs: number): boolean {
    const allowance = allowances.get(app) ?? { rows: BURST_ROWS, countedUs: nowUs };
    const refills = Math.max(0, Math.floor((nowUs - allowance.countedUs) / REFILL_US));
    allowance.rows = Math.min(BURST_ROWS, allowance.rows + refills);
    const isFull = allowance.rows === BURST_ROWS;
    allowance.countedUs =
      isFull || nowUs < allowance.countedUs ? nowUs : allowance.countedUs + refills * REFILL_US;
    // Put in anew, so that the first key is the longest unseen.
    allowances.delete(app);
    allowances.set(app, allowance);
    const [oldest] = allowances.keys();
    if (allowances.size > MAX_APPS && oldest !== undefined) allowances.delete(oldest);
    if (allowance.rows === 0) return false;
    allowance.rows -= 1;
    spentSince += 1;
    return true;
  }

  return {
    see: (facts, nowUs, window) => {
      const isOther = recorded?.app !== facts?.app || recordedWindow !== window;
      recordedWindow = window;
      if (facts === null || recorded === null || isOther) {
        seenSinceUs = nowUs;
        stood = null;
        spentSince = 0;
        return record(facts);
      }
      if (isSame(held ?? recorded, facts)) return recorded;
      const stoodUs = nowUs - seenSinceUs;
      seenSinceUs = nowUs;
      if (stoodUs >= DWELL_US) stand(held ?? recorded);
      if (isSame(recorded, facts)) return record(recorded);
      const isChange = stoodUs >= DWELL_US && !isVariation(recorded, facts);
      if (isChange || spend(facts.app, nowUs)) return record(facts);
      held = facts;
      return recorded;
    },
    settle: (nowUs) => {
      if (held === null || recorded === null || nowUs - seenSinceUs < DWELL_US) return recorded;
      const isChange = !isVariation(recorded, held);
      return isChange || spend(held.app, nowUs) ? record(held) : recorded;
    },
  };
}

function isSame(a: WindowFacts, b: WindowFacts): boolean {
  return a.title === b.title && a.place === b.place;
}

/** Whether two titles differ in nothing but numbers, spinners and bars. */
function isVariation(a: WindowFacts, b: WindowFacts): boolean {
  return a.place === b.place && skeleton(a) === skeleton(b);
}

/** A title without what moves by itself. Bars and spinners are drawn from these blocks of Unicode and ASCII. */
function skeleton({ app, title }: WindowFacts): string {
  return documentTitle(app, title ?? "")
    .replace(/[\d\u2500-\u25FF\u2800-\u28FF|/\\<>=#.*~-]+/gu, "#")
    .replace(/[#\s]+/gu, " ")
    .trim();
}
