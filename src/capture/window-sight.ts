/**
 * The window in front, as it may be recorded. It hides that a browser says more of it than the desktop does, that a title
 * may never stop changing, and what the owner had forgotten while looking at it; it promises either facts or a name for
 * why there are none.
 */
import type { EventFacts, GapReason, WindowFacts, WindowSample } from "./events.ts";
import { type PageReport, withPage } from "./page.ts";
import type { PrivacyGate } from "./privacy.ts";
import type { Blindness, SourceResult } from "./sources/source.ts";
import { createTitlePacer } from "./title-pacer.ts";

/** Says which facts the owner had forgotten; null: none. */
export type Forgotten = ((facts: EventFacts) => boolean) | null;

export interface WindowSight {
  /** Takes what the window source says. True when whether, or why, the window is known is told otherwise than before. */
  readonly take: (result: SourceResult<WindowSample>, nowUs: number) => boolean;
  /** Keeps what a browser says of its tab in front, and gives what the window source said last, to be taken again; null: nothing yet. */
  readonly takePage: (report: PageReport) => SourceResult<WindowSample> | null;
  /** Lets a title through that was held back long enough. True when there was one. */
  readonly pace: (nowUs: number) => boolean;
  /** What is seen now, or first when nothing is, and is meant, is not told any more until something else is seen. */
  readonly forget: (isForgotten: Forgotten) => void;
  /** What is credited while it is attended. They may lag behind a title that changes all the time. */
  readonly facts: () => WindowFacts | null;
  /** Why nothing can be credited. Null: nothing is wrong, though there may be no window. */
  readonly gap: () => Extract<GapReason, "source-lost" | "filtered"> | null;
  /** Whether the window source ever answered, and still does. */
  readonly isKnown: () => boolean;
  readonly blind: () => Blindness | null;
}

export function createWindowSight(gate: PrivacyGate): WindowSight {
  const pacer = createTitlePacer();
  let paced: WindowFacts | null = null;
  /** The facts of the last sample. */
  let seen: WindowFacts | null = null;
  let state: "unseen" | "seen" | "filtered" | "lost" = "unseen";
  let blind: Blindness | null = { reason: "no window source has answered yet", remedy: "" };
  let last: SourceResult<WindowSample> | null = null;
  let page: PageReport | null = null;
  let forgotten: Forgotten = null;
  /** What was forgotten while no source said what is seen, such as right after a start. */
  let unjudged: Forgotten = null;

  const isMeant = (isForgotten: Forgotten): boolean =>
    [seen, paced].some((facts) => facts !== null && isForgotten?.(facts) === true);

  /** What is paced may still be what was forgotten when something else is seen already. */
  const tellAgain = (): void => {
    if (seen !== null && !isMeant(forgotten)) forgotten = null;
  };

  return {
    take: (result, nowUs) => {
      last = result;
      const before = { state, reason: blind?.reason };
      if (!result.ok) {
        state = state === "unseen" ? "unseen" : "lost";
        paced = pacer.see(null, nowUs);
        blind = { reason: result.reason, remedy: result.remedy };
      } else {
        blind = null;
        const gated =
          result.value === null ? null : gate.window(withPage(result.value, page, nowUs), nowUs);
        seen = gated?.verdict === "store" ? gated.facts : null;
        paced = pacer.see(seen, nowUs, result.value?.window);
        state = gated?.verdict === "drop" ? "filtered" : "seen";
        if (unjudged !== null && isMeant(unjudged)) forgotten = unjudged;
        unjudged = null;
      }
      tellAgain();
      return before.state !== state || before.reason !== blind?.reason;
    },
    takePage: (report) => {
      page = report;
      return last;
    },
    pace: (nowUs) => {
      const before = paced;
      paced = pacer.settle(nowUs);
      if (paced === before) return false;
      tellAgain();
      return true;
    },
    forget: (isForgotten) => {
      forgotten = isMeant(isForgotten) ? isForgotten : null;
      if (last?.ok !== true) unjudged = isForgotten;
    },
    facts: () => paced,
    gap: () => {
      if (state === "lost") return "source-lost";
      return state === "filtered" || forgotten !== null ? "filtered" : null;
    },
    isKnown: () => state === "seen" || state === "filtered",
    blind: () => blind,
  };
}
