import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readCompiledCode, writeCompiledCode } from "../../src/cli/compiled-code.ts";

let home: string;
let folder: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "activityd-code-"));
  folder = join(home, "deep", "cache");
  file = join(folder, "compiled-code.bin");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const CODE = new Map([
  ["./a-1.js", Buffer.from("code of a")],
  ["./b-2.js", Buffer.alloc(100_000, 7)],
]);

/** As strings, which are compared in no time. */
const textsOf = (code: ReadonlyMap<string, Buffer>): readonly (readonly string[])[] =>
  [...code].map(([name, bytes]) => [name, bytes.toString("base64")]);

test("what was written is read, and is the owner's alone", () => {
  writeCompiledCode(folder, new Map([["./old.js", Buffer.of(1)]]));
  writeCompiledCode(folder, CODE);
  expect(textsOf(readCompiledCode(folder))).toEqual(textsOf(CODE));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toEqual(["compiled-code.bin"]);
});

test.each([
  ["of another V8, or of other flags", 0],
  ["with a wrong sum", 4],
  ["with a bit that fell over", 5_000],
])("code %s is not read", (_what, at) => {
  writeCompiledCode(folder, CODE);
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  expect(readCompiledCode(folder).size).toBe(0);
});

test("code that was cut short, or is none, is not read", () => {
  writeCompiledCode(folder, CODE);
  for (const length of [50_000, 8, 3, 0]) {
    writeFileSync(file, readFileSync(file).subarray(0, length));
    expect(readCompiledCode(folder).size).toBe(0);
  }
  rmSync(folder, { recursive: true });
  expect(readCompiledCode(folder).size).toBe(0);
});

test("code that others can write is not read", () => {
  writeCompiledCode(folder, CODE);
  for (const mode of [0o620, 0o602]) {
    chmodSync(file, mode);
    expect(readCompiledCode(folder).size).toBe(0);
  }
});

test("a place that cannot be written costs nothing but the code", () => {
  writeFileSync(join(home, "taken"), "");
  writeCompiledCode(join(home, "taken", "cache"), CODE);
  expect(readCompiledCode(join(home, "taken", "cache")).size).toBe(0);
});
