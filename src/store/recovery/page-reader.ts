/**
 * Reading a SQLite file without SQLite: every record that can still be decoded, from whatever pages are
 * left, with the committed frames of the write-ahead log laid over them. It promises never to write, never
 * to throw at damage, and to follow no pointer twice.
 *
 * Formats: sqlite.org/fileformat2.html, sections 1.6 (cells), 2.1 (records) and 4 (write-ahead log).
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { PageLayout } from "../scrub.ts";

export type RawValue = number | bigint | string | Uint8Array | null;

/** A record as it lies in the file; which table it belongs to is for the reader to tell from its shape. */
export interface RawRecord {
  /** Null for records of indexes and of tables without rowids. */
  readonly rowid: number | null;
  readonly values: readonly RawValue[];
}

/**
 * Every decodable record of a database file, in no useful order. Text is cut off nowhere: a record whose
 * overflow pages are damaged is left out. With `text`, those of pages alone in which that stands: of a large file nearly
 * nothing has to be decoded then.
 */
export function* readRawRecords(path: string, text = ""): Generator<RawRecord> {
  const pages = openPages(path);
  try {
    for (let number = 1; number <= pages.count; number += 1) {
      const page = pages.read(number);
      if (page?.includes(text) === true) yield* recordsOfPage(page, number, pages);
    }
  } finally {
    pages.close();
  }
}

/** What every database of ours has. A damaged header must not be asked. */
const OUR_LAYOUT: PageLayout = { pageSize: 4096, usableSize: 4096 };

interface Pages {
  readonly count: number;
  readonly layout: PageLayout;
  /** Null when the page cannot be read. */
  readonly read: (number: number) => Buffer | null;
  readonly close: () => void;
}

function openPages(path: string): Pages {
  const file = openSync(path, "r");
  const logPath = `${path}-wal`;
  const hasLog = (statSync(logPath, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const log = hasLog ? openSync(logPath, "r") : null;
  const index = log === null ? null : indexLog(log, statSync(logPath).size);
  const layout = OUR_LAYOUT;
  const inFile = Math.floor(statSync(path).size / layout.pageSize);
  const inLog = index === null ? 0 : [...index.keys()].reduce((a, b) => Math.max(a, b), 0);
  return {
    count: Math.max(inFile, inLog),
    layout,
    read: (number) => {
      const offset = index?.get(number);
      if (log !== null && offset !== undefined) return readBytes(log, offset, layout.pageSize);
      return readBytes(file, (number - 1) * layout.pageSize, layout.pageSize);
    },
    close: () => {
      closeSync(file);
      if (log !== null) closeSync(log);
    },
  };
}

/** The bytes, or null when the disk does not give all of them. */
function readBytes(file: number, offset: number, length: number): Buffer | null {
  const bytes = Buffer.alloc(length);
  try {
    return readSync(file, bytes, 0, length, offset) === length ? bytes : null;
  } catch {
    // An unreadable sector costs its own records and no others.
    return null;
  }
}

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Where in the log the last committed version of each page lies; null when there is no valid log. */
function indexLog(log: number, size: number): ReadonlyMap<number, number> | null {
  const header = readBytes(log, 0, LOG_HEADER_BYTES);
  if (header === null || (header.readUInt32BE(0) & ~1) !== 0x377f0682) return null;
  const isBigEndian = (header.readUInt32BE(0) & 1) === 1;
  const pageSize = header.readUInt32BE(8);
  if (pageSize !== OUR_LAYOUT.pageSize) return null;
  let sum = logChecksum(header.subarray(0, 24), [0, 0], isBigEndian);
  if (sum[0] !== header.readUInt32BE(24) || sum[1] !== header.readUInt32BE(28)) return null;
  const offsets = new Map<number, number>();
  let uncommitted = new Map<number, number>();
  const frameBytes = FRAME_HEADER_BYTES + pageSize;
  for (let at = LOG_HEADER_BYTES; at + frameBytes <= size; at += frameBytes) {
    const frame = readBytes(log, at, frameBytes);
    // Frames of an earlier use of the log bear other salts; they and all after them do not count.
    if (frame === null || frame.compare(header, 16, 24, 8, 16) !== 0) break;
    sum = logChecksum(frame.subarray(0, 8), sum, isBigEndian);
    sum = logChecksum(frame.subarray(FRAME_HEADER_BYTES), sum, isBigEndian);
    if (sum[0] !== frame.readUInt32BE(16) || sum[1] !== frame.readUInt32BE(20)) break;
    uncommitted.set(frame.readUInt32BE(0), at + FRAME_HEADER_BYTES);
    if (frame.readUInt32BE(4) === 0) continue;
    for (const [page, offset] of uncommitted) offsets.set(page, offset);
    uncommitted = new Map();
  }
  return offsets;
}

function logChecksum(
  bytes: Buffer,
  [start0, start1]: readonly [number, number],
  isBigEndian: boolean,
): readonly [number, number] {
  let s0 = start0;
  let s1 = start1;
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    const a = isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
    const b = isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4);
    s0 = (s0 + a + s1) >>> 0;
    s1 = (s1 + b + s0) >>> 0;
  }
  return [s0, s1];
}

/** Types of pages that hold records, and where in them the cells' payload begins. */
const INDEX_INTERIOR = 2;
const INDEX_LEAF = 10;
const TABLE_LEAF = 13;

function* recordsOfPage(page: Buffer, number: number, pages: Pages): Generator<RawRecord> {
  const at = number === 1 ? 100 : 0;
  const type = page.readUInt8(at);
  if (type !== TABLE_LEAF && type !== INDEX_LEAF && type !== INDEX_INTERIOR) return;
  const headerSize = type === INDEX_INTERIOR ? 12 : 8;
  const cellCount = page.readUInt16BE(at + 3);
  const end = pages.layout.usableSize;
  for (let cell = 0; cell < cellCount; cell += 1) {
    const pointerAt = at + headerSize + 2 * cell;
    if (pointerAt + 2 > end) return;
    try {
      const record = readCell(page, page.readUInt16BE(pointerAt), type, pages);
      if (record !== null) yield record;
    } catch (error) {
      // A cell that leads outside its page is damage; anything else is a mistake of this file.
      if (!(error instanceof RangeError)) throw error;
    }
  }
}

function readCell(page: Buffer, cellAt: number, type: number, pages: Pages): RawRecord | null {
  const cursor = { bytes: page, at: type === INDEX_INTERIOR ? cellAt + 4 : cellAt };
  const payloadSize = readVarint(cursor);
  const rowid = type === TABLE_LEAF ? readVarint(cursor) : null;
  if (payloadSize < 2 || payloadSize > MAX_PAYLOAD_BYTES) return null;
  const payload = readPayload(page, cursor.at, payloadSize, type, pages);
  return payload === null ? null : { rowid, values: readRecord(payload) };
}

/** No text of ours comes near; a damaged length must not make us allocate it. */
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

/** The payload of a cell, collected from its overflow pages when it does not fit (section 1.6). */
function readPayload(
  page: Buffer,
  at: number,
  size: number,
  type: number,
  pages: Pages,
): Buffer | null {
  const { usableSize, pageSize } = pages.layout;
  const most =
    type === TABLE_LEAF ? usableSize - 35 : Math.floor(((usableSize - 12) * 64) / 255) - 23;
  if (size <= most) return at + size <= usableSize ? page.subarray(at, at + size) : null;
  const least = Math.floor(((usableSize - 12) * 32) / 255) - 23;
  const fitting = least + ((size - least) % (usableSize - 4));
  const local = fitting <= most ? fitting : least;
  if (at + local + 4 > pageSize) return null;
  const parts = [page.subarray(at, at + local)];
  let next = page.readUInt32BE(at + local);
  let missing = size - local;
  // Each overflow page brings bytes, so that even a circle of pages comes to an end.
  while (missing > 0) {
    const overflow = next < 1 || next > pages.count ? null : pages.read(next);
    if (overflow === null) return null;
    parts.push(overflow.subarray(4, 4 + Math.min(missing, usableSize - 4)));
    missing -= usableSize - 4;
    next = overflow.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

function readRecord(payload: Buffer): RawValue[] {
  const cursor = { bytes: payload, at: 0 };
  const headerSize = readVarint(cursor);
  const types: number[] = [];
  while (cursor.at < headerSize) types.push(readVarint(cursor));
  cursor.at = headerSize;
  return types.map((type) => readValue(cursor, type));
}

/** Bytes of an integer by its serial type; types 8 and 9 are the integers 0 and 1 themselves. */
const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8] as const;

function readValue(cursor: Cursor, type: number): RawValue {
  const { bytes, at } = cursor;
  if (type === 0) return null;
  if (type === 8 || type === 9) return type - 8;
  if (type === 7) {
    cursor.at += 8;
    return bytes.readDoubleBE(at);
  }
  const integerBytes = INTEGER_BYTES[type];
  if (integerBytes !== undefined) {
    cursor.at += integerBytes;
    return integerBytes === 8
      ? narrow(bytes.readBigInt64BE(at))
      : bytes.readIntBE(at, integerBytes);
  }
  const length = Math.floor((type - 12) / 2);
  if (length < 0 || at + length > bytes.length)
    throw new RangeError("A value reaches beyond its record.");
  cursor.at += length;
  const slice = bytes.subarray(at, at + length);
  return type % 2 === 1 ? slice.toString("utf8") : slice;
}

function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Big-endian, seven bits a byte, all eight of a ninth byte; what exceeds a double's integers is damage. */
function readVarint(cursor: Cursor): number {
  let value = 0;
  for (let index = 0; index < 8; index += 1) {
    const byte = cursor.bytes.readUInt8(cursor.at);
    cursor.at += 1;
    value = value * 128 + (byte & 127);
    if (byte < 128) return value;
  }
  throw new RangeError("A varint of nine bytes is a number that nobody wrote.");
}
