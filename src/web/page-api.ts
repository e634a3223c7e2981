/**
 * What the page asks of the daemon, as types. `ActivityApi` stands behind `/api/v1/…` with the routes, inputs,
 * answers and errors of the socket (`/v1/…`); what only the page needs stands behind `/api/page/…`, here.
 * Whoever implements the second is injected by the composition root.
 *
 * Of the first the page needs, beside what the socket always had: `GET timeline` (`TimelineRequest`; `lanes` joined by
 * commas), `GET totals`, `GET days`, `GET rules`, `POST rules/test`, `GET clients`, `POST clients`.
 *
 * - `GET /api/page/changes`: server-sent events, `id` and `data` ({@link PageChange}), one at once and one after each
 *   change of what is seen, of the pause or of the clients. `Last-Event-ID` is answered by silence when nothing
 *   changed since. A comment comes every 15 s: a stream that is silent for longer is dead.
 * - `GET /api/page/findings`: {@link PageFindings}, what `activityd doctor` finds.
 * - `GET /api/page/about`: {@link PageAbout}.
 * - `GET /api/page/export`: the whole record as a download, one JSON object a line.
 * - `POST /api/page/end` (`{}`): forgets this session, or all of them with `{"all": true}`; answers `{}`.
 *
 * Errors are `{error: {code, message, hint}}`. `unauthorized` (401): no session, or an ended one; the owner runs
 * `activityd open` again. A POST carries `content-type: application/json` and the page's own `Origin`.
 */

export interface PageChange {
  /** The id of the event in the stream; of another run of the daemon when it is smaller than the last. */
  readonly id: number;
  readonly nowUs: number;
  /**
   * Grows within a run of the daemon when something was forgotten: what of the record stands on the page is to be asked for
   * anew.
   */
  readonly forgotten: number;
  /** Which run of the daemon: another value means that it was started anew in between. */
  readonly startedUs: number;
}

/** One thing that was looked at; see `activityd doctor`. */
export interface PageFinding {
  readonly state: "ok" | "note" | "problem";
  readonly id: string;
  readonly what: string;
  /** What to do, as a command where there is one; empty: nothing. */
  readonly remedy: string;
}

export interface PageFindings {
  readonly findings: readonly PageFinding[];
}

/** What is recorded, and where it lies. */
export interface PageAbout {
  readonly version: string;
  /** Each kind that can be captured, as the settings have it. */
  readonly recorded: readonly {
    readonly kind: string;
    readonly on: boolean;
    readonly what: string;
  }[];
  /** Files and folders of the owner, each with what lies there. */
  readonly places: readonly { readonly what: string; readonly path: string }[];
  /** How long things are kept; null: for ever, without bound. */
  readonly keepDays: number | null;
  readonly maxMegabytes: number | null;
}

/** Everything behind `/api/page/…`. */
export interface PageApi {
  /** Yields a message at once and after every change, until `signal` aborts. Nothing of it is noted in the ledger. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<PageChange>;
  readonly findings: () => Promise<PageFindings>;
  readonly about: () => Promise<PageAbout>;
  /** The record as lines of JSON, some thousand at a time. */
  readonly exportLines: () => Iterable<string> | AsyncIterable<string>;
}
