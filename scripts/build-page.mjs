// @ts-check
/**
 * Builds the local web page: one script, one style sheet and one picture, all served by the daemon itself, so
 * that its policy for content can be the strictest there is.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { licencesOf } from "./pack.mjs";

/** @param {string} outDir Where the files of the page go; what stood there goes away. */
export async function buildPage(outDir) {
  const built = await build({
    root: fileURLToPath(new URL("../src/web/ui", import.meta.url)),
    configFile: false,
    logLevel: "warn",
    base: "./",
    build: {
      outDir,
      emptyOutDir: true,
      target: ["chrome120", "firefox121", "safari17"],
      // Nothing is put into the page's text or style: `default-src 'self'` would refuse it.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // One file: a view must open also when the daemon that served the page is gone.
      rolldownOptions: { output: { codeSplitting: false } },
    },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  });
  const parts = [built].flat().flatMap((result) => ("output" in result ? result.output : []));
  const modules = parts.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
  writeFileSync(join(outDir, "LICENSES.txt"), licencesOf(modules));
}
