/** Scores what a turn asks for: the trained model, beside the few cases that need none. */
import { intentFeatures, type IntentInput } from "./turn/intent-features.ts";
import { openIntentModel } from "./turn/intent-model.ts";
import { NO_INTENT, type IntentScores } from "./turn/reading.ts";

const MODEL = openIntentModel();

const NOTHING_ASKED: IntentScores = { ...NO_INTENT, none: 1 };

/** The probability of each reading; a turn without a word asks for nothing. */
export function classifyTurn(input: IntentInput): IntentScores {
  if (!input.tokens.some(({ type }) => type === "word")) {
    return input.times.length === 0 ? NOTHING_ASKED : { ...NOTHING_ASKED, window: 1, none: 0 };
  }
  return MODEL.scores(intentFeatures(input));
}
