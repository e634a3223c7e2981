/**
 * The sign of life: a small file that says until when the open events were known to go on. It promises
 * that a killed process loses no more than the time since its last pulse, at the price of one small write
 * each time instead of a transaction.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Log } from "../log.ts";

/** An open event as it stood at the pulse: only an event whose committed end is still this one goes on. */
export interface PulseEntry {
  readonly id: number;
  readonly committedEndUs: number;
}

export interface Pulse {
  readonly nowUs: number;
  readonly entries: readonly PulseEntry[];
}

export interface PulseFile {
  /** Never throws: a lost pulse costs seconds after a crash, a thrown one would cost the event itself. */
  readonly write: (pulse: Pulse) => void;
  readonly close: () => void;
}

/** Opens the file for writing at the first pulse. */
export function openPulseFile(path: string, log: Log): PulseFile {
  let descriptor: number | null = null;
  let failing = false;
  return {
    write: (pulse) => {
      try {
        // Removed under us: what is written into it now, nobody finds.
        if (descriptor !== null && fstatSync(descriptor).nlink === 0) {
          closeSync(descriptor);
          descriptor = null;
        }
        descriptor ??= openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
        const bytes = encodePulse(pulse);
        writeSync(descriptor, bytes, 0, bytes.length, 0);
        failing = false;
      } catch (error) {
        if (!failing) log.warn("cannot write the pulse file", { reason: String(error) });
        failing = true;
      }
    },
    close: () => {
      if (descriptor !== null) closeSync(descriptor);
      descriptor = null;
    },
  };
}

/** The last pulse, or null when there is none or it was torn by a power cut. */
export function readPulse(path: string): Pulse | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    // No file is the ordinary first start; an unreadable one costs seconds, not the start.
    return null;
  }
  if (bytes.length < HEADER_BYTES) return null;
  const count = bytes.readUInt32LE(4);
  const length = HEADER_BYTES + count * ENTRY_BYTES;
  if (count > MAX_ENTRIES || bytes.length < length) return null;
  if (bytes.readUInt32LE(0) !== checksum(bytes.subarray(4, length))) return null;
  const entries = Array.from({ length: count }, (_, index) => {
    const at = HEADER_BYTES + index * ENTRY_BYTES;
    return {
      id: Number(bytes.readBigInt64LE(at)),
      committedEndUs: Number(bytes.readBigInt64LE(at + 8)),
    };
  });
  return { nowUs: Number(bytes.readBigInt64LE(8)), entries };
}

const HEADER_BYTES = 16;
const ENTRY_BYTES = 16;
/** More kinds than can be open at once; keeps the file within one sector, which disks write whole. */
const MAX_ENTRIES = 31;

/** Checksum, count, time, then id and committed end of each; little-endian. */
function encodePulse({ nowUs, entries }: Pulse): Buffer {
  const kept = entries.slice(0, MAX_ENTRIES);
  const bytes = Buffer.alloc(HEADER_BYTES + kept.length * ENTRY_BYTES);
  bytes.writeUInt32LE(kept.length, 4);
  bytes.writeBigInt64LE(BigInt(nowUs), 8);
  for (const [index, { id, committedEndUs }] of kept.entries()) {
    bytes.writeBigInt64LE(BigInt(id), HEADER_BYTES + index * ENTRY_BYTES);
    bytes.writeBigInt64LE(BigInt(committedEndUs), HEADER_BYTES + index * ENTRY_BYTES + 8);
  }
  bytes.writeUInt32LE(checksum(bytes.subarray(4)), 0);
  return bytes;
}

/** FNV-1a: tells a torn write from a whole one, nothing more. */
function checksum(bytes: Buffer): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
