import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transformWithOxc } from "vite";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import * as activityd from "../src/index.ts";

const run = promisify(execFile);
const SRC = fileURLToPath(new URL("../src", import.meta.url));

/** Every module the package root loads, and the packages they name. Types are gone before anything is loaded. */
async function loaded(): Promise<{
  readonly files: readonly string[];
  readonly packages: readonly string[];
}> {
  const files = new Set<string>();
  const packages = new Set<string>();
  const queue = [join(SRC, "index.ts")];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    const { code } = await transformWithOxc(readFileSync(path, "utf8"), path);
    for (const [, from = ""] of code.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      if (from.startsWith(".")) queue.push(join(dirname(path), from));
      else packages.add(from);
    }
  }
  return { files: [...files].map((path) => relative(SRC, path)), packages: [...packages] };
}

describe("the package root", () => {
  test("exports the contract by its names", () => {
    expect(Object.keys(activityd)).toEqual(
      expect.arrayContaining([
        "VOICE_TURN_DIRECTIVE",
        "composeTurn",
        "connectActivity",
        "displayText",
        "enqueueAndDrain",
        "ingressUntrusted",
        "makeLeakStripper",
        "prependSystemEvents",
        "stripLeadingSystemContext",
        "stripLeakedDirectives",
        "stripUserContent",
        "systemBlock",
      ]),
    );
  });

  test("loads Node's own modules and one that names folders: no native one, no database", async () => {
    const { files, packages } = await loaded();
    expect(packages.filter((name) => !name.startsWith("node:"))).toEqual(["env-paths"]);
    expect(files.filter((path) => /^(store|capture|daemon|cli)\//.test(path))).toEqual([]);
  });

  test("a process that imports nothing else has no addon loaded", async () => {
    // The check itself must be able to fail: a process that loads an addon names it here.
    const script = (name: string): string =>
      `${name === "" ? "" : `require(${JSON.stringify(name)})(":memory:");`}
       process.stdout.write(String(process.report.getReport().sharedObjects.filter((path) => path.endsWith(".node")).length))`;
    const count = async (name: string): Promise<string> =>
      (await run(process.execPath, ["-e", script(name)], { cwd: dirname(SRC) })).stdout;
    expect(await count("better-sqlite3")).toBe("1");
    expect(await count("")).toBe("0");
  });
});
