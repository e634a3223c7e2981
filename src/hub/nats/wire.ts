/**
 * How records travel through NATS: subjects, the batches that messages are, the cursor of a reader. Pure; what comes
 * from the server is looked at and may be refused, never trusted.
 */
import { MAX_RECORD_BYTES, type SealedRecord } from "../driver.ts";

/** The stream that holds the logs of all devices, and every subject it takes. */
export const STREAM_NAME = "activityd";
export const STREAM_SUBJECTS = "activityd.ev.*.*.*";

/** No message is longer: a record of the greatest size with its frame fits, and any server's limit is above. */
export const MAX_MESSAGE_BYTES = MAX_RECORD_BYTES + 64;

/**
 * The subject of a device's log. `writer` is who the server knows the device as (the public half of its key), so that
 * the permission to publish is given to a key, before anybody knows the device's id.
 */
export function subjectOfLog(hub: string, writer: string, device: string): string {
  return `activityd.ev.${hub}.${writer}.${device}`;
}

/** All logs of a hub. */
export function subjectOfHub(hub: string): string {
  return `activityd.ev.${hub}.*.*`;
}

/** The device whose log a subject is, or null when it is none. */
export function deviceOfSubject(subject: string): string | null {
  const tokens = subject.split(".");
  const device = tokens[4] ?? "";
  return tokens.length === 5 && /^[0-9a-f]{32}$/.test(device) ? device : null;
}

const VERSION = 1;
/** version (1), epoch (8), seq of the first record (8). */
const HEAD_BYTES = 17;
const LENGTH_BYTES = 4;

/** Cuts consecutive records of one epoch into batches that fit a message each. */
export function splitBatches(records: readonly SealedRecord[]): readonly SealedRecord[][] {
  const batches: SealedRecord[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const adds = LENGTH_BYTES + record.bytes.length;
    if (size + adds > MAX_MESSAGE_BYTES) {
      batches.push([]);
      size = HEAD_BYTES;
    }
    batches.at(-1)?.push(record);
    size += adds;
  }
  return batches;
}

/** The message that carries consecutive records of one epoch. */
export function encodeBatch(records: readonly SealedRecord[]): Uint8Array {
  const size = records.reduce((sum, { bytes }) => sum + LENGTH_BYTES + bytes.length, HEAD_BYTES);
  const message = Buffer.allocUnsafe(size);
  message.writeUInt8(VERSION, 0);
  message.writeBigUInt64BE(BigInt(records[0]?.epoch ?? 0), 1);
  message.writeBigUInt64BE(BigInt(records[0]?.seq ?? 0), 9);
  let at = HEAD_BYTES;
  for (const { bytes } of records) {
    message.writeUInt32BE(bytes.length, at);
    message.set(bytes, at + LENGTH_BYTES);
    at += LENGTH_BYTES + bytes.length;
  }
  return message;
}

/** The records of a message of `device`'s log; null when it was not made by `encodeBatch`. */
export function decodeBatch(device: string, message: Uint8Array): readonly SealedRecord[] | null {
  const view = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (view.length < HEAD_BYTES || view.readUInt8(0) !== VERSION) return null;
  const epoch = Number(view.readBigUInt64BE(1));
  const first = Number(view.readBigUInt64BE(9));
  if (!Number.isSafeInteger(epoch) || !Number.isSafeInteger(first) || epoch < 1 || first < 1) {
    return null;
  }
  const records: SealedRecord[] = [];
  for (let at = HEAD_BYTES; at < view.length;) {
    if (at + LENGTH_BYTES > view.length) return null;
    const length = view.readUInt32BE(at);
    const end = at + LENGTH_BYTES + length;
    if (length > MAX_RECORD_BYTES || end > view.length) return null;
    // A copy: a view would keep the whole chunk of the socket alive for as long as one record is.
    const bytes = new Uint8Array(view.subarray(at + LENGTH_BYTES, end));
    records.push({ device, epoch, seq: first + records.length, bytes });
    at = end;
  }
  return records.length === 0 ? null : records;
}

/** Where a reader stands: in which making of the stream, and after which of its messages. */
export interface StreamCursor {
  /** When the stream was made, as the server writes it: one that was made anew counts from 1 again. */
  readonly created: string;
  readonly sequence: number;
}

export function formatCursor({ created, sequence }: StreamCursor): string {
  return `${sequence}@${created}`;
}

/** Null for text that is no cursor of ours. */
export function parseCursor(text: string): StreamCursor | null {
  const [, sequence, created] = /^(\d{1,15})@(.{1,64})$/.exec(text) ?? [];
  return sequence === undefined || created === undefined
    ? null
    : { created, sequence: Number(sequence) };
}
