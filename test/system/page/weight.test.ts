/** What the page weighs, as it is built into the package. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const BUILT = fileURLToPath(new URL("../../../dist/web/ui", import.meta.url));
const MAX_BYTES = 90_000;

describe("the built page", () => {
  const files = readdirSync(BUILT, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

  it("weighs at most 90 kB, each file gzipped", () => {
    const bytes = files
      .filter((file) => !file.endsWith("LICENSES.txt"))
      .reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
    expect(bytes).toBeGreaterThan(5000);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  it("has no script, style or handler within its text, and nothing from elsewhere", () => {
    const html = readFileSync(join(BUILT, "index.html"), "utf8");
    expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/i);
    expect(html).not.toMatch(/(?:src|href)="(?!\.\/)/i);
  });
});
