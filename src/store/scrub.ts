/**
 * The remains of deleted text inside pages. SQLite's `secure_delete` overwrites deleted cells and freed
 * pages, but where it rebuilds a page it leaves old cells in the unallocated middle. This file promises to
 * zero that middle, and to change no byte that means something.
 *
 * Layout of pages: sqlite.org/fileformat2.html, sections 1.5 to 1.8.
 */
import { readSync, writeSync } from "node:fs";

/** The parts of the database header that say how to read its pages. */
export interface PageLayout {
  readonly pageSize: number;
  /** Page size less the bytes reserved at the end of each page. */
  readonly usableSize: number;
}

/** The layout that a header (the first 100 bytes of the file) tells, or null when it is none. */
export function readPageLayout(header: Buffer): PageLayout | null {
  if (header.length < 100 || header.toString("latin1", 0, 16) !== "SQLite format 3\0") return null;
  const stored = header.readUInt16BE(16);
  const pageSize = stored === 1 ? 65_536 : stored;
  const usableSize = pageSize - header.readUInt8(20);
  const isPageSize = pageSize >= 512 && (pageSize & (pageSize - 1)) === 0;
  return isPageSize && usableSize >= 480 ? { pageSize, usableSize } : null;
}

/**
 * Zeroes the unallocated middle of a page when it is the page of a tree, and says whether that changed
 * anything. `pageNumber` counts from 1.
 */
function zeroUnallocated(page: Buffer, pageNumber: number, layout: PageLayout): boolean {
  if (isPointerMap(pageNumber, layout)) return false;
  const at = pageNumber === 1 ? 100 : 0;
  const headerSize = TREE_PAGES.get(page.readUInt8(at));
  // Overflow and free pages begin with a page number, whose first byte is zero below 64 GB.
  if (headerSize === undefined) return false;
  const cellCount = page.readUInt16BE(at + 3);
  const contentStart = page.readUInt16BE(at + 5) || 65_536;
  const from = at + headerSize + 2 * cellCount;
  if (contentStart > layout.usableSize || from > contentStart) return false;
  const middle = page.subarray(from, contentStart);
  if (middle.every((byte) => byte === 0)) return false;
  middle.fill(0);
  return true;
}

const SCRUB_STEP_BYTES = 1 << 20;

/** Scrubs a megabyte of pages from an offset on; returns the next offset, or -1 at the end of the file. */
export function scrubStep(file: number, fromByte: number): number {
  const header = Buffer.alloc(100);
  readSync(file, header, 0, 100, 0);
  const layout = readPageLayout(header);
  // An encrypted file has nothing to read in it.
  if (layout === null) return -1;
  const bytes = Buffer.alloc(SCRUB_STEP_BYTES);
  const length = readSync(file, bytes, 0, SCRUB_STEP_BYTES, fromByte);
  for (let at = 0; at + layout.pageSize <= length; at += layout.pageSize) {
    const page = bytes.subarray(at, at + layout.pageSize);
    const pageNumber = (fromByte + at) / layout.pageSize + 1;
    if (zeroUnallocated(page, pageNumber, layout)) {
      writeSync(file, page, 0, layout.pageSize, fromByte + at);
    }
  }
  return length < SCRUB_STEP_BYTES ? -1 : fromByte + length;
}

/** Header sizes of interior and leaf pages of indexes and tables. */
const TREE_PAGES: ReadonlyMap<number, number> = new Map([
  [2, 12],
  [5, 12],
  [10, 8],
  [13, 8],
]);

/** Whether a page of an auto-vacuum database maps pages to their parents; such a page may begin like a tree's. */
function isPointerMap(pageNumber: number, { usableSize }: PageLayout): boolean {
  return pageNumber >= 2 && (pageNumber - 2) % (Math.floor(usableSize / 5) + 1) === 0;
}
