/**
 * Looks for texts in the raw bytes of files, as somebody would who has the disk. It promises to read every
 * regular file below the folders it is given, and to let other work through meanwhile.
 */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface FileSearch {
  readonly filesSearched: number;
  readonly bytesSearched: number;
  /** Which texts stand in which files. */
  readonly found: readonly { readonly file: string; readonly text: string }[];
  /** Files that could not be read, so that nothing can be said of them. */
  readonly unread: readonly string[];
}

const CHUNK_BYTES = 128 * 1024;

export interface SearchOptions {
  /** Folders to search, with all below them; absent ones are passed over. */
  readonly folders: readonly string[];
  /** What to look for, in UTF-8, the case of ASCII ignored. */
  readonly texts: readonly string[];
  /** Files that must not be opened, since closing them would drop this process's locks, and how to read them. */
  readonly held: ReadonlyMap<string, (into: Buffer, fromByte: number) => number>;
  /** Files of which only the locks are of use, by the end of their names. */
  readonly passOver: readonly string[];
}

/** Searches files for texts. */
export async function searchFiles(options: SearchOptions): Promise<FileSearch> {
  const { folders, texts, held, passOver } = options;
  const needles = texts.map((text) => ({ text, bytes: toComparable(Buffer.from(text, "utf8")) }));
  const overlap = Math.max(0, ...needles.map(({ bytes }) => bytes.length - 1));
  const found: { readonly file: string; readonly text: string }[] = [];
  const unread: string[] = [];
  let filesSearched = 0;
  let bytesSearched = 0;
  for (const file of await listFiles(folders, unread)) {
    if (passOver.some((ending) => file.endsWith(ending))) continue;
    try {
      const hits = new Set<string>();
      bytesSearched += await eachChunk(file, held.get(file), overlap, (chunk) => {
        for (const { text, bytes } of needles) if (chunk.includes(bytes)) hits.add(text);
      });
      filesSearched += 1;
      for (const text of hits) found.push({ file, text });
    } catch (error) {
      // A file that went away meanwhile holds nothing.
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT"))
        unread.push(file);
    }
  }
  return { filesSearched, bytesSearched, found, unread };
}

/** One character a byte, so that any bytes can be compared, whatever their encoding. */
function toComparable(bytes: Buffer): string {
  return bytes.toString("latin1").toLowerCase();
}

async function eachChunk(
  file: string,
  readHeld: ((into: Buffer, fromByte: number) => number) | undefined,
  overlap: number,
  look: (chunk: string) => void,
): Promise<number> {
  const handle = readHeld === undefined ? await open(file, "r") : null;
  try {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    let total = 0;
    let rest = "";
    for (;;) {
      const length =
        handle === null
          ? await nextTurn(() => readHeld?.(buffer, total) ?? 0)
          : (await handle.read(buffer, 0, CHUNK_BYTES, total)).bytesRead;
      if (length === 0) return total;
      const chunk = rest + toComparable(buffer.subarray(0, length));
      look(chunk);
      total += length;
      rest = overlap === 0 ? "" : chunk.slice(-overlap);
    }
  } finally {
    await handle?.close();
  }
}

function nextTurn<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

async function listFiles(folders: readonly string[], unread: string[]): Promise<readonly string[]> {
  const files = new Set<string>();
  for (const folder of folders) {
    try {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      for (const entry of entries) {
        if (entry.isFile()) files.add(join(entry.parentPath, entry.name));
      }
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT"))
        unread.push(folder);
    }
  }
  return [...files];
}
