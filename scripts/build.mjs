// @ts-check
/**
 * Compiles src/ to dist/, packs the program and makes the command executable; with --docs also docs/cli.md. The new tree is built beside the old one and put
 * in its place only when it is whole, so that a failed build leaves the last good one.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildPage } from "./build-page.mjs";
import { writePages } from "./make-pages.mjs";
import { packProgram } from "./pack.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const fresh = `${root}dist.new-${process.pid}`;
const old = `${root}dist.old-${process.pid}`;

const { status } = spawnSync(
  process.execPath,
  [`${root}node_modules/typescript/bin/tsc`, "-p", `${root}tsconfig.build.json`, "--outDir", fresh],
  { stdio: "inherit" },
);
if (status !== 0) {
  rmSync(fresh, { recursive: true, force: true });
  console.error("build: tsc found the errors above; dist/ is as it was.");
  process.exit(1);
}
// What is installed or read as it is, so no compiler looks at it.
for (const path of [
  "capture/sources/gnome-extension",
  "capture/triage/common-words.bin",
  "capture/triage/turn/intent-weights.bin",
  "capture/triage/word-vectors.bin",
  "context/token-merges.bin",
]) {
  cpSync(`${root}src/${path}`, `${fresh}/${path}`, { recursive: true });
}
await writePages(fresh, process.argv.includes("--docs"));
await buildPage(`${fresh}/web/ui`);
await packProgram(fresh);
chmodSync(`${fresh}/cli/main.js`, 0o755);
if (existsSync(`${root}dist`)) renameSync(`${root}dist`, old);
renameSync(fresh, `${root}dist`);
rmSync(old, { recursive: true, force: true });
