import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { loadKoffi } from "../../src/local-api/koffi.ts";

test("koffi is had without its files where its binary lies as its package has it", () => {
  const koffi = createRequire(import.meta.url)("koffi") as { default: unknown; version: string };
  const isKnown = process.platform === "linux" && process.arch === "x64";
  expect(loadKoffi()).toBe(isKnown ? koffi.default : koffi);
  expect(loadKoffi().version).toBe(koffi.version);
});
