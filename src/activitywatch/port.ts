/**
 * What the protocol needs of the daemon: a place for buckets, a gate for what strangers wrote, and an ear for what
 * came in. The composition root joins it to the store, the privacy rules and the capture.
 */
import type { JsonObject } from "./wire.ts";

export interface StoredBucket {
  readonly id: string;
  readonly type: string;
  readonly client: string;
  readonly hostname: string;
  readonly createdUs: number;
  /** JSON object. */
  readonly data: string;
}

export interface StoredEvent {
  readonly id: number;
  readonly startUs: number;
  readonly durationUs: number;
  /** JSON object. */
  readonly data: string;
}

/** Both ends count; null: open. */
export interface BucketRange {
  readonly fromUs: number | null;
  readonly toUs: number | null;
}

/** Where buckets are kept. `store/buckets.ts` is one. */
export interface BucketRows {
  readonly list: () => readonly StoredBucket[];
  readonly find: (bucket: string) => StoredBucket | null;
  readonly create: (row: StoredBucket) => boolean;
  readonly remove: (bucket: string) => boolean;
  readonly pages: (
    bucket: string,
    range: BucketRange,
    limit: number | null,
  ) => IterableIterator<readonly StoredEvent[]>;
  readonly iterate: (bucket: string) => IterableIterator<StoredEvent>;
  readonly count: (bucket: string, range: BucketRange) => number;
  readonly event: (bucket: string, id: number) => StoredEvent | null;
  readonly insert: (
    bucket: string,
    events: readonly Omit<StoredEvent, "id">[],
  ) => readonly StoredEvent[];
  readonly replace: (bucket: string, row: StoredEvent) => boolean;
  readonly removeEvent: (bucket: string, id: number) => boolean;
  readonly newest: (bucket: string) => StoredEvent | null;
  readonly holds: (bucket: string, event: Omit<StoredEvent, "id">) => boolean;
  readonly setting: (key: string) => string | null;
  readonly settings: () => Readonly<Record<string, string>>;
  readonly setSetting: (key: string, value: string | null) => void;
  readonly transaction: <T>(work: () => T) => T;
}

export interface BucketKeeper {
  readonly store: BucketRows;
  /** The data as it may be kept, or null when a rule drops the event. */
  readonly gate: (bucket: StoredBucket, data: JsonObject, atUs: number) => JsonObject | null;
  /** Called after an event was stored or grew, with its gated data. */
  readonly onEvent: (
    bucket: StoredBucket,
    event: { readonly startUs: number; readonly durationUs: number; readonly data: JsonObject },
  ) => void;
}
