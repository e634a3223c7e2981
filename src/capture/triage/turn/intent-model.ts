/**
 * The weights of the intent model as the package ships them: one signed byte per bucket and class. They are
 * made by scripts/train-intents.mjs and say nothing of anybody's activity.
 */
import { readFileSync } from "node:fs";
import { FEATURE_BUCKETS, type FeatureVector } from "./intent-features.ts";
import { INTENTS, type Intent, type IntentScores } from "./reading.ts";

/** Bytes before the weights: magic, then a scale and a bias (32-bit floats, little endian) for each class. */
const MAGIC = "AIM1";
const HEADER_BYTES = 4 + 8 * INTENTS.length;

export interface IntentModel {
  readonly scores: (features: FeatureVector) => IntentScores;
}

/** @throws Error when the file is not one of ours: the package is damaged. */
export function openIntentModel(
  file: URL = new URL("./intent-weights.bin", import.meta.url),
): IntentModel {
  const bytes = readFileSync(file);
  const length = HEADER_BYTES + FEATURE_BUCKETS * INTENTS.length;
  if (bytes.length !== length || bytes.toString("latin1", 0, 4) !== MAGIC) {
    throw new Error(`${file.pathname} is not a weights file of ${length} bytes.`);
  }
  const scales = INTENTS.map((_, index) => bytes.readFloatLE(4 + 8 * index));
  const biases = INTENTS.map((_, index) => bytes.readFloatLE(8 + 8 * index));
  const weights = new Int8Array(
    bytes.buffer,
    bytes.byteOffset + HEADER_BYTES,
    length - HEADER_BYTES,
  );
  return { scores: (features) => softmax(logits(features, weights, scales, biases)) };
}

function logits(
  features: FeatureVector,
  weights: Int8Array,
  scales: readonly number[],
  biases: readonly number[],
): readonly number[] {
  const sums = INTENTS.map(() => 0);
  for (const [bucket, value] of features) {
    const row = bucket * INTENTS.length;
    for (let index = 0; index < INTENTS.length; index++) {
      sums[index] = (sums[index] ?? 0) + value * (weights[row + index] ?? 0);
    }
  }
  return sums.map((sum, index) => sum * (scales[index] ?? 0) + (biases[index] ?? 0));
}

function softmax(values: readonly number[]): IntentScores {
  const most = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - most));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const share = (intent: Intent): number => (powers[INTENTS.indexOf(intent)] ?? 0) / total;
  return {
    now: share("now"),
    anchor: share("anchor"),
    duration: share("duration"),
    lastseen: share("lastseen"),
    window: share("window"),
    topic: share("topic"),
    resume: share("resume"),
    none: share("none"),
  };
}
