/**
 * A stretch of the record as lanes to draw. It promises an answer whose size depends on how finely it is to be
 * drawn and not on how much was recorded, and holes in the record that are told apart from quiet.
 */
import type { EventKind } from "../capture/events.ts";

export interface TimelineRequest {
  /** `[fromUs, toUs)`, microseconds since 1970 UTC. */
  readonly fromUs: number;
  readonly toUs: number;
  /** At most so many spans a lane: the width in pixels. 1,000 unless given, 10 to 10,000. */
  readonly maxSpans?: number;
  /** Only these lanes; all unless given. */
  readonly lanes?: readonly TimelineLaneId[];
  /** Who asks, for the ledger. */
  readonly client?: string;
}

/**
 * `focus`: windows by application. `documents`: windows by what was in them. `tabs`: tabs and files as extensions
 * tell them. `presence`: away, passive, locked, asleep. `media`: what played. `gaps`: why nothing is known.
 */
export type TimelineLaneId = "focus" | "documents" | "tabs" | "presence" | "media" | "gaps";

/** One thing to draw. Its texts were written by strangers. */
export interface TimelineSpan {
  /** Clipped to the range, half open. */
  readonly startUs: number;
  readonly endUs: number;
  readonly kind: EventKind;
  /**
   * `idle`: "away" or "passive". `gap`: its reason ("paused", "source-lost", "filtered", "stalled",
   * "not-running"), or "unrecorded" for the time before the first event of all. `media`: "playing". Else null.
   */
  readonly state: string | null;
  /** Application or player; null for presence and gaps, and for a mixture of more than can be told. */
  readonly app: string | null;
  /** Title, file, piece; null in the lane `focus`, and when it was not kept. */
  readonly label: string | null;
  /** Host and path of a page, project of a file, artist of a piece; null when there is none. */
  readonly place: string | null;
  readonly documentId: number | null;
  /** How much of the span it really filled; less than `endUs - startUs` where spans were merged. */
  readonly activeUs: number;
  /**
   * How many recorded stretches it stands for. Above 1 others may be among them: app, label and document are
   * those of the one that lasted longest.
   */
  readonly merged: number;
}

export interface TimelineLane {
  readonly id: TimelineLaneId;
  /** By start. Spans of one lane do not meet, but for media and tabs, of which several can be at once. */
  readonly spans: readonly TimelineSpan[];
  /** How many recorded stretches of the range are not drawn by themselves. */
  readonly merged: number;
}

export interface TimelineAnswer {
  readonly fromUs: number;
  readonly toUs: number;
  /** What is shorter was merged with what lies beside it; 0: every stretch is there by itself. */
  readonly resolutionUs: number;
  /** In the order of {@link TimelineLaneId}. */
  readonly lanes: readonly TimelineLane[];
  /** When the record begins; null when nothing was ever recorded. */
  readonly firstUs: number | null;
  /** Up to when the record goes: what lies behind is not known yet. Null when nothing was ever recorded. */
  readonly lastUs: number | null;
}
