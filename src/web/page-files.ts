/**
 * The files of the page as they were built. It promises to give nothing but what lay in their folder at the start, each
 * with its type, and an ETag by which a browser need not fetch it again.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { programReplaced } from "../version.ts";

export interface PageFile {
  readonly type: string;
  readonly etag: string;
  /** Whether the name changes with the content, so that it can be kept for ever. */
  readonly isImmutable: boolean;
  readonly bytes: Buffer;
}

export interface PageFiles {
  /**
   * The file at a path of the address, such as `/assets/index-BnG84sAF.js`; `/` is the page. Null: there is none.
   * Rejects with ActivityError `program_replaced` when it is gone, or is another version's page.
   */
  readonly read: (path: string) => Promise<PageFile | null>;
}

/** Null where no page was built. */
export function openPageFiles(folder: string): PageFiles | null {
  let paths: ReadonlyMap<string, string>;
  try {
    paths = listFiles(folder);
  } catch {
    // Sources that were never built, or a package that was taken apart.
    return null;
  }
  const index = paths.get("/index.html");
  if (index === undefined) return null;
  // It names all others: another's would be half of a page.
  const ownTag = tagOf(readFileSync(index));
  return {
    read: async (path) => {
      const file = path === "/" ? index : paths.get(path);
      if (file === undefined) return null;
      // Not held: it is asked for when a page opens, and is memory of the daemon for as long as it runs.
      const bytes = await readFile(file).catch((thrown: NodeJS.ErrnoException) => {
        throw thrown.code === "ENOENT" ? programReplaced() : thrown;
      });
      const etag = tagOf(bytes);
      if (file === index && etag !== ownTag) throw programReplaced();
      return {
        type: TYPES[extname(file)] ?? "application/octet-stream",
        etag,
        isImmutable: path.startsWith("/assets/"),
        bytes,
      };
    },
  };
}

function tagOf(bytes: Buffer): string {
  return `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`;
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

function listFiles(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = join(entry.parentPath, entry.name);
        return [`/${relative(folder, file).split(sep).join("/")}`, file];
      }),
  );
}
