// @ts-check
/**
 * Trains the intent model on scripts/intent-data and writes the weights the package ships and the confusion
 * table of writers it never saw. Deterministic. Run after `npm run build`: it uses the features of dist/.
 *
 *   node scripts/train-intents.mjs [--check]     --check: print the table, write nothing
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { FEATURE_BUCKETS } from "../dist/capture/triage/turn/intent-features.js";
import { INTENTS } from "../dist/capture/triage/turn/reading.js";
import { expandWriter, readSlots } from "./intent-data/expand.mjs";
import { featuresOf, isolatedWords, misspell, withAside } from "./intent-data/noise.mjs";
import { confusionTable } from "./intent-data/report.mjs";

const here = new URL("./intent-data/", import.meta.url);
const weightsFile = new URL("../src/capture/triage/turn/intent-weights.bin", import.meta.url);
const check = process.argv.includes("--check");

const EPOCHS = 8;
const RATE = 0.15;
const DECAY = 1e-3;
/**
 * The smoothed model is less sure than it is right; the sums are divided by this. Chosen where the likelihood of turns
 * by other writers is greatest.
 */
const TEMPERATURE = 0.7;
/** How many fillings of a template are drawn; templates with many choices give more. */
const DRAWS = 10;

/** A seeded source of numbers in [0, 1): mulberry32. @param {number} seed @returns {() => number} */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** @typedef {{ turn: string, intent: number, writer: string, asides: string[] }} Example */

/** @param {boolean} held @returns {Example[]} */
function readExamples(held) {
  const examples = [];
  for (const file of readdirSync(new URL("writers/", here)).sort()) {
    if (file.includes("-held-") !== held) continue;
    const slots = readSlots(new URL(`slots/${file.slice(0, 2)}.txt`, here));
    const text = readFileSync(new URL(`writers/${file}`, here), "utf8");
    for (const { turn, intent } of expandWriter(text, slots, random(hash(file)), DRAWS)) {
      const index = INTENTS.findIndex((name) => name === intent);
      if (index < 0) throw new Error(`${file}: there is no intent "${intent}"`);
      const asides = slots.get("small") ?? [];
      examples.push({ turn, intent: index, writer: file.replace(".txt", ""), asides });
    }
  }
  return examples;
}

/** @param {string} text */
function hash(text) {
  let value = 7;
  for (const char of text) value = Math.imul(value, 31) + (char.codePointAt(0) ?? 0);
  return value;
}

/** @param {Example[]} examples */
function train(examples) {
  const classes = INTENTS.length;
  const weights = new Float32Array(FEATURE_BUCKETS * classes);
  const squares = new Float32Array(FEATURE_BUCKETS * classes).fill(1e-4);
  const bias = new Float64Array(classes);
  const draw = random(41);
  const totals = INTENTS.map((_, k) => examples.filter(({ intent }) => intent === k).length);
  const balance = totals.map((count) => Math.sqrt(examples.length / classes / count));
  const order = examples.map((_, index) => index);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (let at = order.length - 1; at > 0; at--) {
      const other = Math.floor(draw() * (at + 1));
      const moved = order[at] ?? 0;
      order[at] = order[other] ?? 0;
      order[other] = moved;
    }
    for (const index of order) {
      const example = examples[index];
      if (example === undefined) continue;
      const { intent } = example;
      const turn = withAside(example.turn, example.asides, draw);
      const share = balance[intent] ?? 1;
      // Each pass sees the turn spelt differently, and with some of its matter left out.
      const features = featuresOf(misspell(turn, draw), isolatedWords(draw));
      const logits = Float64Array.from(bias);
      for (const [bucket, value] of features) {
        for (let k = 0; k < classes; k++) {
          logits[k] = (logits[k] ?? 0) + (weights[bucket * classes + k] ?? 0) * value;
        }
      }
      const top = Math.max(...logits);
      const powers = logits.map((value) => Math.exp(value - top));
      const total = powers.reduce((sum, power) => sum + power, 0);
      for (let k = 0; k < classes; k++) {
        const target = k === intent ? 0.97 : 0.03 / (classes - 1);
        const error = ((powers[k] ?? 0) / total - target) * share;
        bias[k] = (bias[k] ?? 0) - 0.01 * error;
        for (const [bucket, value] of features) {
          const at = bucket * classes + k;
          const weight = weights[at] ?? 0;
          const slope = error * value + DECAY * weight;
          const square = (squares[at] ?? 0) + slope * slope;
          squares[at] = square;
          weights[at] = weight - (RATE * slope) / Math.sqrt(square);
        }
      }
    }
  }
  return { weights, bias };
}

/** One signed byte per weight, with a scale per class. @param {{weights: Float32Array, bias: Float64Array}} model */
function pack({ weights, bias }) {
  const classes = INTENTS.length;
  const header = Buffer.alloc(4 + 8 * classes);
  header.write("AIM1", "latin1");
  const bytes = Buffer.alloc(weights.length);
  for (let k = 0; k < classes; k++) {
    let most = 0;
    for (let at = k; at < weights.length; at += classes)
      most = Math.max(most, Math.abs(weights[at] ?? 0));
    const scale = most / 127;
    const told = scale / TEMPERATURE;
    header.writeFloatLE(told, 4 + 8 * k);
    header.writeFloatLE((bias[k] ?? 0) / TEMPERATURE, 8 + 8 * k);
    for (let at = k; at < weights.length; at += classes) {
      bytes.writeInt8(Math.round((weights[at] ?? 0) / scale), at);
    }
  }
  return Buffer.concat([header, bytes]);
}

const seen = readExamples(false);
const unseen = readExamples(true);
console.log(`${seen.length} examples of ${new Set(seen.map((e) => e.writer)).size} writers`);
const packed = pack(train(seen));
const table = confusionTable(packed, seen, unseen);
console.log(table);
if (!check) {
  writeFileSync(weightsFile, packed);
  writeFileSync(new URL("confusion.md", here), table);
}
