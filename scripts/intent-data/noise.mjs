// @ts-check
/** Spells a turn the way hurried people and speech recognisers do, and reads its features. */
import { intentFeatures } from "../../dist/capture/triage/turn/intent-features.js";
import { findCues } from "../../dist/capture/triage/turn/cues.js";
import { guessLanguage } from "../../dist/capture/triage/turn/languages.js";
import { readTimes } from "../../dist/capture/triage/time-range.js";
import { quotedPieces, tokenizeTurn } from "../../dist/capture/triage/turn/tokens.js";

/** A Friday afternoon; what the times resolve to does not matter here. */
const NOW_US = Date.parse("2026-11-27T16:12:00Z") * 1000;

/** @param {string} turn @param {(folded: string) => boolean} [keepWord] */
export function featuresOf(turn, keepWord) {
  const tokens = tokenizeTurn(turn);
  const language = guessLanguage(tokens);
  const { times, covered } = readTimes(turn, tokens, language, NOW_US, "UTC");
  const cues = findCues(tokens, language, covered);
  const quoted = quotedPieces(turn);
  return intentFeatures({ tokens, language, times, timeTokens: covered, cues, quoted }, keepWord);
}

/** Lets about half of the matter of a turn go unread. @param {() => number} draw */
export function isolatedWords(draw) {
  return () => draw() < 0.5;
}

/** Now and then a word of thanks or greeting goes before or after. @param {string} turn @param {string[]} asides @param {() => number} draw */
export function withAside(turn, asides, draw) {
  const aside = asides[Math.floor(draw() * asides.length)];
  const chance = draw();
  if (aside === undefined || chance > 0.16) return turn;
  if (chance > 0.12) return `${turn} ${aside}`;
  return `${aside}${[", ", ". ", " ", "! "][Math.floor(draw() * 4)] ?? " "}${turn}`;
}

/** @param {string} turn @param {() => number} draw */
export function misspell(turn, draw) {
  let text = turn;
  if (draw() < 0.4) text = text.toLowerCase();
  if (draw() < 0.35) text = text.replace(/[.?!,¿¡]/g, "");
  if (draw() < 0.25) text = text.replace(/['’]/g, "");
  if (draw() < 0.25) text = text.normalize("NFD").replace(/\p{M}/gu, "");
  else if (draw() < 0.1) {
    text = text
      .replaceAll("ä", "ae")
      .replaceAll("ö", "oe")
      .replaceAll("ü", "ue")
      .replaceAll("ß", "ss");
  }
  if (draw() < 0.25) text = slip(text, draw);
  return text;
}

/** One slip in one longer word. @param {string} text @param {() => number} draw */
function slip(text, draw) {
  const words = text.split(" ");
  const at = Math.floor(draw() * words.length);
  const word = words[at] ?? "";
  if (word.length < 5) return text;
  const place = 1 + Math.floor(draw() * (word.length - 2));
  const kind = draw();
  if (kind < 0.4)
    words[at] =
      word.slice(0, place) + (word[place + 1] ?? "") + (word[place] ?? "") + word.slice(place + 2);
  else if (kind < 0.8) words[at] = word.slice(0, place) + word.slice(place + 1);
  else words[at] = word.slice(0, place) + (word[place] ?? "") + word.slice(place);
  return words.join(" ");
}
