/**
 * V8's compiled code of the daemon, kept from one start to the next. It hides how it lies on the disk, and promises that
 * nothing is used which does not fit this V8 and its flags, was damaged, or could have been written by another user.
 */
import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cachedDataVersionTag, deserialize, serialize } from "node:v8";
import { crc32 } from "node:zlib";
import { makeFolder } from "../make-folder.ts";
import { removeQuietly } from "../whole-file.ts";
import type { PartCode } from "./parts.ts";

const FILE = "compiled-code.bin";
const HEAD_BYTES = 8;
const NOTHING: PartCode = new Map();

/** The code that was written to a folder by this V8 with the flags it has now; empty when there is none of use. */
export function readCompiledCode(folder: string): PartCode {
  try {
    const bytes = readPrivately(join(folder, FILE));
    const body = bytes.subarray(HEAD_BYTES);
    if (bytes.readUInt32LE(0) !== cachedDataVersionTag() >>> 0) return NOTHING;
    // V8 does not notice a bit that fell over, and would run it.
    if (bytes.readUInt32LE(4) !== crc32(body)) return NOTHING;
    // Whole, so it is what was written below.
    return deserialize(body) as PartCode;
  } catch {
    // Absent, cut short or not the owner's: everything is compiled, and written when the start is over.
    return NOTHING;
  }
}

/** Writes it in place of what there was, for the owner alone. V8 must have the flags that it was compiled under. */
export function writeCompiledCode(folder: string, code: PartCode): void {
  const body = serialize(code);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(cachedDataVersionTag() >>> 0, 0);
  head.writeUInt32LE(crc32(body), 4);
  const file = join(folder, FILE);
  const partial = `${file}.${process.pid}`;
  try {
    makeFolder(folder);
    writeFileSync(partial, Buffer.concat([head, body]), { mode: 0o600 });
    renameSync(partial, file);
  } catch {
    // A disk that is full or read-only costs the next start some time, and nothing else; each start would leave a file.
    removeQuietly(partial);
  }
}

/** What others could have written would be run as code of theirs. */
function readPrivately(file: string): Buffer {
  const fd = openSync(file, "r");
  try {
    const { uid, mode } = fstatSync(fd);
    const own = process.getuid?.();
    if (own !== undefined && (uid !== own || (mode & 0o022) !== 0))
      throw new Error("not the owner's");
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
