/** Doctor before states of the machine that only root can make, in a mount namespace of its own. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createTempHome } from "../helpers/temp-home.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

test("a record on a file system that became read-only is told as that, with what mends it", () => {
  const home = createTempHome();
  const data = join(home, "data");
  mkdirSync(data, { mode: 0o700 });
  const script = [
    'mount -t tmpfs -o ro,mode=700 tmpfs "$1"',
    'node "$2" doctor --json',
    'mount -o remount,rw "$(findmnt -n -o TARGET --target "$1")" && touch "$1/written"',
  ].join("\n");
  const out = execFileSync("unshare", ["--mount", "sh", "-c", script, "sh", data, MAIN], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: home, ACTIVITYD_HOME: home },
  });
  const findings = out
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  expect(findings).toContainEqual({
    state: "problem",
    id: "data-unwritable",
    what: `The file system that holds ${data} is read-only, so nothing is recorded and no daemon can start.`,
    remedy: `See why in: sudo dmesg; then: sudo mount -o remount,rw "$(findmnt -n -o TARGET --target ${data})"`,
  });
  expect(findings).not.toContainEqual(expect.objectContaining({ id: "database-unreadable" }));
});
