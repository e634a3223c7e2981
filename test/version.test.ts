import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { INSTALL, VERSION } from "../src/version.ts";

test("the program and its package have the same version", () => {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  );
  expect(manifest).toMatchObject({ version: VERSION });
});

test("the command that installs it again names the file that npm pack makes", () => {
  expect(INSTALL.endsWith(` ./activityd-${VERSION}.tgz`)).toBe(true);
});

test("no sentence has its reader install the name from a registry, which may be another's there", () => {
  const src = fileURLToPath(new URL("../src", import.meta.url));
  const told = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .filter((name) =>
      /npm install [^`"\n]*(?<![./-])activityd(?![-/])/.test(readFileSync(join(src, name), "utf8")),
    );
  expect(told).toEqual([]);
});
