// @ts-check
/**
 * Writes docs/cli.md and dist/man/activityd.1 from the command line as it was compiled. `npm run build` makes the man
 * page; `npm run docs` makes both, after a command or an option was changed.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @param {string} dist a compiled tree, whose command line was not packed yet @param {boolean} withDocs */
export async function writePages(dist, withDocs) {
  /** @param {string} path */
  const load = (path) => import(pathToFileURL(`${dist}/${path}`).href);
  const { createProgram } = await load("cli/program.js");
  const { processIo } = await load("cli/io.js");
  const { readCommandTree } = await load("cli/command-tree.js");
  const { renderCommandPage, renderManPage } = await load("cli/pages.js");
  const { VERSION } = await load("version.js");
  const tree = readCommandTree(createProgram(processIo(), async () => {}));
  mkdirSync(`${dist}/man`, { recursive: true });
  writeFileSync(`${dist}/man/activityd.1`, renderManPage(tree, VERSION));
  if (withDocs) writeFileSync(`${root}docs/cli.md`, renderCommandPage(tree));
}
