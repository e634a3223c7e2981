// @ts-check
/** The confusion table of writers the model never saw, by language, as Markdown. */
import { INTENTS } from "../../dist/capture/triage/turn/reading.js";
import { featuresOf } from "./noise.mjs";

/** Magic, then a scale and a bias for each class, as `pack` of train-intents.mjs writes them. */
const HEADER_BYTES = 4 + 8 * INTENTS.length;

/** @typedef {{ turn: string, intent: number, writer: string }} Example */

/** @param {Buffer} packed @param {string} turn @returns {number} */
function predict(packed, turn) {
  const features = featuresOf(turn);
  const classes = INTENTS.length;
  const scores = INTENTS.map((_, k) => packed.readFloatLE(8 + 8 * k));
  for (const [bucket, value] of features) {
    for (let k = 0; k < classes; k++) {
      const weight = packed.readInt8(HEADER_BYTES + bucket * classes + k);
      scores[k] = (scores[k] ?? 0) + weight * packed.readFloatLE(4 + 8 * k) * value;
    }
  }
  return scores.indexOf(Math.max(...scores));
}

/** @param {Buffer} packed @param {Example[]} seen @param {Example[]} unseen */
export function confusionTable(packed, seen, unseen) {
  const lines = [
    "# Intents of writers the model was not trained on",
    "",
    `Made by scripts/train-intents.mjs from ${seen.length} examples of ${writers(seen).length} writers; tested on ${unseen.length} of ${writers(unseen).length} others.`,
    "`gate` is how often asking and not asking (none) are told apart.",
    "",
    "| writer | examples | right | gate | asked, silent | not asked, spoken |",
    "|---|---|---|---|---|---|",
  ];
  const none = INTENTS.indexOf("none");
  const grid = INTENTS.map(() => INTENTS.map(() => 0));
  for (const writer of writers(unseen)) {
    const own = unseen.filter((example) => example.writer === writer);
    let right = 0;
    let silent = 0;
    let spoken = 0;
    for (const { turn, intent } of own) {
      const got = predict(packed, turn);
      const row = grid[intent];
      if (row) row[got] = (row[got] ?? 0) + 1;
      if (got === intent) right++;
      if (got === none && intent !== none) silent++;
      if (got !== none && intent === none) spoken++;
      if (process.env["SHOW"] && got !== intent)
        console.log(`${writer}: ${INTENTS[intent]} -> ${INTENTS[got]}: ${turn}`);
    }
    const gate = own.length - silent - spoken;
    lines.push(
      `| ${writer} | ${own.length} | ${percent(right, own.length)} | ${percent(gate, own.length)} | ${silent} | ${spoken} |`,
    );
  }
  lines.push("", "Rows: what was asked; columns: what was understood.", "");
  lines.push(`| | ${INTENTS.join(" | ")} |`, `|---|${INTENTS.map(() => "---").join("|")}|`);
  INTENTS.forEach((intent, row) => lines.push(`| ${intent} | ${(grid[row] ?? []).join(" | ")} |`));
  return `${lines.join("\n")}\n`;
}

/** @param {Example[]} examples */
function writers(examples) {
  return [...new Set(examples.map(({ writer }) => writer))];
}

/** @param {number} part @param {number} whole */
function percent(part, whole) {
  return `${((100 * part) / whole).toFixed(1)} %`;
}
