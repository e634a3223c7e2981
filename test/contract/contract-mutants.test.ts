import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/** All of them take minutes: at the desk a sample, in CI every one. */
const SHARE = process.env["CI"] === undefined ? 25 : 1;

test("no change to the grammar goes unnoticed", { timeout: 3_600_000 }, async () => {
  const { stdout } = await run(
    process.execPath,
    ["scripts/mutants.mjs", "--share", String(SHARE)],
    {
      cwd: root,
    },
  ).catch((failed: { readonly stdout: string }) => failed);
  const [summary = ""] = stdout.split("\n");
  console.log(SHARE === 1 ? summary : `${summary} (every ${SHARE}th; all with CI=1)`);
  expect(stdout.trim()).toBe(summary);
  expect(summary).toMatch(/^mutants: \d+ of the grammar, \d+ killed, \d+ equivalent, 0 survived$/);
});
