/**
 * Files of records: frames one after the other, each with its length and a checksum. It hides the form and
 * promises that of a file that is torn, cut or spoilt in the middle every whole frame is found, and nothing else.
 */
import { createHash } from "node:crypto";
import type { LogPosition } from "./driver.ts";

/** One frame of a file. */
export interface Frame extends LogPosition {
  readonly bytes: Uint8Array;
  /** Where the next frame begins. */
  readonly endByte: number;
}

export interface Scan {
  readonly frames: readonly Frame[];
  /** Where the last whole frame ends: what lies behind it may still be on its way. */
  readonly goodBytes: number;
  /** Whether something between whole frames is spoilt. */
  readonly isSpoilt: boolean;
}

/** What a file of records is called: by its first one, so that names stand in the order of the log. */
export function segmentName({ epoch, seq }: LogPosition): string {
  return `${String(epoch).padStart(6, "0")}-${String(seq).padStart(12, "0")}.log`;
}

/**
 * The first record in a file of this name; null for files that are none of ours. Copies that a sync tool makes of
 * two versions keep the beginning of the name: "000001-000000000001.sync-conflict-….log", "… (Ada's copy).log".
 */
export function readSegmentName(name: string): (LogPosition & { readonly isCopy: boolean }) | null {
  const match = /^(\d{6})-(\d{12})(.*)\.log$/.exec(name);
  if (match === null) return null;
  const [, epoch = "", seq = "", rest = ""] = match;
  return { epoch: Number(epoch), seq: Number(seq), isCopy: rest !== "" };
}

export function writeFrame({ epoch, seq, bytes }: Omit<Frame, "endByte">): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head, 0);
  head.writeUInt32BE(bytes.length, 4);
  head.writeUInt32BE(epoch, 8);
  head.writeBigUInt64BE(BigInt(seq), 12);
  checksum(head.subarray(0, CHECK_AT), bytes).copy(head, CHECK_AT);
  return Buffer.concat([head, bytes]);
}

/** Finds the frames of a file from a byte on, at which a frame begins. */
export function scanFrames(file: Uint8Array, fromByte = 0): Scan {
  const view = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const frames: Frame[] = [];
  let isSpoilt = false;
  let goodBytes = fromByte;
  for (let at = fromByte; at < view.length;) {
    const frame = readFrame(view, at);
    if (frame !== null) {
      isSpoilt ||= at !== goodBytes;
      frames.push(frame);
      at = frame.endByte;
      goodBytes = at;
      continue;
    }
    const next = view.indexOf(MAGIC, at + 1);
    if (next === -1) break;
    at = next;
  }
  return { frames, goodBytes, isSpoilt };
}

const MAGIC = Buffer.from("AHR1", "latin1");
const CHECK_AT = 20;
const HEAD_BYTES = 28;

function readFrame(view: Buffer, at: number): Frame | null {
  if (view.length - at < HEAD_BYTES || !view.subarray(at, at + 4).equals(MAGIC)) return null;
  const endByte = at + HEAD_BYTES + view.readUInt32BE(at + 4);
  if (endByte > view.length) return null;
  const bytes = view.subarray(at + HEAD_BYTES, endByte);
  const check = checksum(view.subarray(at, at + CHECK_AT), bytes);
  if (!check.equals(view.subarray(at + CHECK_AT, at + HEAD_BYTES))) return null;
  const [epoch, seq] = [view.readUInt32BE(at + 8), Number(view.readBigUInt64BE(at + 12))];
  return { epoch, seq, bytes, endByte };
}

/** Against accidents: what somebody changes on purpose fails the record's own signature. */
function checksum(head: Uint8Array, bytes: Uint8Array): Buffer {
  return createHash("sha256").update(head).update(bytes).digest().subarray(0, 8);
}
