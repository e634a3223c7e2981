/**
 * What was read of the stream and not delivered yet, as records of the other devices' logs. It tells where a log does not
 * go on, and counts what is passed over.
 */
import type { JsMsg, StoredMsg } from "@nats-io/jetstream";
import type { Log } from "../../log.ts";
import type { CarriedRecord, LogPosition } from "../driver.ts";
import type { Place } from "./place.ts";
import { decodeBatch, deviceOfSubject, type StreamCursor } from "./wire.ts";

/** So many messages of this device's own are passed over before the cursor is told of them alone. */
const PASSED_OVER_WORTH_A_CURSOR = 64;

/** A message of the stream, however it was read. */
export interface Message {
  readonly subject: string;
  readonly sequence: number;
  readonly data: Uint8Array;
  /** When the server took it. */
  readonly carriedUs: number;
}

export function toMessage({ subject, data, info }: JsMsg): Message {
  const carriedUs = Math.round(info.timestampNanos / 1000);
  return { subject, data, sequence: info.streamSequence, carriedUs };
}

export function toStoredMessage({ subject, data, seq, time }: StoredMsg): Message {
  return { subject, data, sequence: seq, carriedUs: time.getTime() * 1000 };
}

/** A place in a log between the records of which others should stand. */
export interface Skipped {
  /** Sequence of the last message before it. */
  readonly after: number;
}

/** Records that were read and not delivered yet. */
export interface Batch {
  /** Gives the place that was skipped when the message does not go on where its log stood. */
  readonly add: (message: Message) => Skipped | null;
  readonly bytes: () => number;
  /** Whether nothing was read yet. */
  readonly isFresh: () => boolean;
  /** Of the last message that was read. */
  readonly sequence: () => number;
  /** What is worth a delivery, or null. */
  readonly take: () => {
    readonly records: readonly CarriedRecord[];
    readonly cursor: StreamCursor;
  } | null;
}

export function createBatch(
  { device, log }: { readonly device: string; readonly log: Log },
  { created, start }: Place,
): Batch {
  /** Where each subject stands. */
  const ends = new Map<string, LogPosition & { readonly sequence: number }>();
  let records: CarriedRecord[] = [];
  let bytes = 0;
  let passedOver = 0;
  let sequence = start - 1;
  let isFresh = true;

  function read(message: Message, writer: string): Skipped | null {
    const batch = decodeBatch(writer, message.data);
    const [first, last] = [batch?.[0], batch?.at(-1)];
    if (batch === null || first === undefined || last === undefined) {
      log.warn("hub: a message that no activityd wrote was passed over");
      return null;
    }
    for (const record of batch) records.push({ ...record, carriedUs: message.carriedUs });
    bytes += message.data.length;
    const end = ends.get(message.subject);
    const { epoch, seq } = last;
    ends.set(message.subject, { epoch, seq, sequence: message.sequence });
    const goesOn = end === undefined || (first.epoch === end.epoch && first.seq <= end.seq + 1);
    return goesOn ? null : { after: end.sequence };
  }

  return {
    add: (message) => {
      isFresh = false;
      sequence = message.sequence;
      const writer = deviceOfSubject(message.subject);
      if (writer !== null && writer !== device) return read(message, writer);
      passedOver += 1;
      return null;
    },
    bytes: () => bytes,
    isFresh: () => isFresh,
    sequence: () => sequence,
    take: () => {
      if (records.length === 0 && passedOver < PASSED_OVER_WORTH_A_CURSOR) return null;
      const taken = { records, cursor: { created, sequence } };
      records = [];
      bytes = passedOver = 0;
      return taken;
    },
  };
}
