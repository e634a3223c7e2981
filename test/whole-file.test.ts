/** Files that are put in their place whole, or not at all. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toErrorEnvelope } from "../src/errors.ts";
import { writeWhole } from "../src/whole-file.ts";
import { createTempHome } from "./helpers/temp-home.ts";

test("a file is written into a folder that is made, for its owner unless more is asked", () => {
  const home = createTempHome();
  const file = join(home, "a", "b", "settings");
  writeWhole(file, "one");
  expect(readFileSync(file, "utf8")).toBe("one");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeWhole(file, "two", { mode: 0o644 });
  expect(readFileSync(file, "utf8")).toBe("two");
  expect(statSync(file).mode & 0o777).toBe(0o644);
  expect(readdirSync(join(home, "a", "b"))).toEqual(["settings"]);
});

test("what cannot take its place leaves nothing beside it, and is told with the path", () => {
  const home = createTempHome();
  const file = join(home, "settings");
  mkdirSync(file);
  writeFileSync(join(file, "kept"), "");
  expect(() => writeWhole(file, "text")).toThrow(expect.objectContaining({ path: file }));
  expect(readdirSync(home)).toEqual(["settings"]);
});

test.runIf(process.platform === "linux")("a full disk is told with the file and what to do", () => {
  // Every write to it is refused for want of room, and the bytes bear no name.
  const home = createTempHome();
  const file = join(home, "settings");
  symlinkSync("/dev/full", `${file}.new`);
  let told: unknown = null;
  try {
    writeWhole(file, "text");
  } catch (error) {
    told = error;
  }
  expect(toErrorEnvelope(told).error).toEqual({
    code: "internal",
    message: `The system refuses «write ${file}»: the disk is full (ENOSPC).`,
    hint: `See what room is left with: df -h '${home}'`,
  });
  expect(readdirSync(home)).toEqual([]);
});
