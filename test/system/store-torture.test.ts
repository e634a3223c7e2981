import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

describe("a store whose writer is killed, on a disk that fails now and then", () => {
  test("loses nothing that was acknowledged and is never corrupt, in 50 kills", async () => {
    const argv = ["scripts/torture.mjs", "50", "--json"];
    const { stdout } = await run(process.execPath, argv, { cwd: ROOT });
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({
      kills: 50,
      losses: 0,
      corruptions: 0,
      readErrors: 0,
      doubleHolders: 0,
      failedStarts: 0,
    });
    // The torture itself must have hurt.
    expect(result.faults).toBeGreaterThan(20);
    expect(result.acknowledged).toBeGreaterThan(200);
    expect(result.reads).toBeGreaterThan(1000);
    expect(result.recovered).toBeGreaterThan(0);
  }, 300_000);
});
