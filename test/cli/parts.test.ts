import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openParts, type PartCode } from "../../src/cli/parts.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "activityd-parts-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const NOTHING: PartCode = new Map();

test("a part is run once, and has other parts, modules and its own place", () => {
  put(
    "a.js",
    'exports.sep = require("node:path").sep; exports.b = require("./b.js"); exports.at = __filename;',
  );
  put("b.js", "exports.made = {};");
  const parts = openParts(folder);
  const a = parts.load("./a.js");
  expect(a).toEqual({ sep: "/", b: { made: {} }, at: join(folder, "a.js") });
  expect(parts.load("./a.js")).toBe(a);
});

test("parts that need each other see what was exported so far", () => {
  put("a.js", 'exports.first = 1; exports.seen = require("./b.js").seen;');
  put("b.js", 'exports.seen = require("./a.js").first;');
  expect(openParts(folder).load("./a.js")).toEqual({ first: 1, seen: 1 });
});

test("a part that fails tells why each time it is asked for", () => {
  put("a.js", 'throw new Error("not here");');
  const parts = openParts(folder);
  expect(() => parts.load("./a.js")).toThrow("not here");
  expect(() => parts.load("./a.js")).toThrow("not here");
  expect(() => parts.load("./none.js")).toThrow("ENOENT");
});

test("a part imports what cannot be required", async () => {
  put("a.js", 'exports.load = () => importModule(__dirname + "/esm.mjs");');
  put("esm.mjs", "export const told = 7;");
  const { load } = openParts(folder).load("./a.js") as { load: () => Promise<{ told: number }> };
  expect((await load()).told).toBe(7);
});

test("what a program that was replaced would load is refused as it was told to", async () => {
  put("a-1.js", 'exports.later = () => importModule(__dirname + "/esm.mjs");');
  put("b-1.js", "exports.b = 1;");
  put("esm.mjs", "export const told = 7;");
  const parts = openParts(folder);
  const replaced = new Error("replaced");
  parts.whenReplaced(() => replaced);
  const { later } = parts.load("./a-1.js") as { later: () => Promise<unknown> };
  rmSync(join(folder, "a-1.js"));
  put("a-2.js", "");
  rmSync(join(folder, "b-1.js"));
  expect(() => parts.load("./b-1.js")).toThrow(replaced);
  await expect(later()).rejects.toBe(replaced);
  // What is loaded already goes on.
  expect(parts.load("./a-1.js")).toMatchObject({ later });
});

test("compiled code of an earlier run is taken, and told anew only when some of it was not", () => {
  put("a.js", "exports.sum = (a, b) => a + b; exports.sum(1, 2);");
  put("b.js", "exports.b = 1;");
  const load = (code: PartCode, ...names: string[]): PartCode | null => {
    const parts = openParts(folder);
    const finish = parts.compileWith(code);
    for (const name of names) parts.load(name);
    return finish();
  };
  const first = load(NOTHING, "./a.js") ?? NOTHING;
  expect(first.size).toBe(1);
  expect(load(first, "./a.js")).toBeNull();
  const both = load(first, "./a.js", "./b.js") ?? NOTHING;
  expect(both.size).toBe(2);
  expect(load(both, "./a.js", "./b.js")).toBeNull();
});

test.each(["new and longer", "neu"])(
  "compiled code of another text is refused: %s runs",
  (says) => {
    put("a.js", "exports.says = 'old';");
    const before = openParts(folder);
    const finish = before.compileWith(NOTHING);
    before.load("./a.js");
    const code = finish() ?? NOTHING;
    put("a.js", `exports.says = '${says}';`);
    const after = openParts(folder);
    const finishAfter = after.compileWith(code);
    expect(after.load("./a.js")).toEqual({ says });
    expect(finishAfter()).not.toBeNull();
  },
);
