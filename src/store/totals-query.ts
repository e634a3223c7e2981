/**
 * What time went to in a stretch of the record. It promises sums that are those of the events, and of days whose
 * events have expired those of the daily totals.
 */

/** `document`: one title of one application. `project`: as editors and titles name it. `host`: of pages. */
export type TotalsBy = "application" | "document" | "project" | "host";

export interface TotalsRequest {
  readonly fromUs: number;
  readonly toUs: number;
  readonly by: TotalsBy;
  /** The largest so many; 20 unless given, 1,000 at most. */
  readonly limit?: number;
  /** Who asks, for the ledger. */
  readonly client?: string;
}

/** Its texts were written by strangers. */
export interface Total {
  /** What it is of: application, title, project, host; null: a title that was not kept. */
  readonly label: string | null;
  /** The application of a document; else null. */
  readonly app: string | null;
  /** Host and path of a document that is a page; else null. */
  readonly place: string | null;
  readonly documentId: number | null;
  readonly activeUs: number;
}

export interface TotalsAnswer {
  /** Largest first. */
  readonly totals: readonly Total[];
  /** Focused time in the whole range, whatever it went to. */
  readonly activeUs: number;
  /** The part of it in smaller totals than those given, and how many they are. */
  readonly rest: { readonly activeUs: number; readonly count: number };
  /** The part of it that has no project or host. */
  readonly withoutUs: number;
  /** True when days are in it whose events have expired: they are counted whole, by their totals. */
  readonly fromDayTotals: boolean;
}
