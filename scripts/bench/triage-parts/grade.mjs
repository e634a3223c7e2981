// @ts-check
/** Grades a digest by its text alone, as a reader of the format would. */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const GRACE_US = 5 * 60_000_000;
const SILENCE_TOKENS = 45;

/**
 * @typedef {{ text: string, fromUs: number | null, toUs: number | null, durationsUs: number[] }} Line
 * @typedef {{ recall: number, precision: number | null, tokens: number, overBudget: boolean }} Grade
 *   `precision` is null where nothing was told or nothing was to be told.
 */

/**
 * @param {import("./questions.mjs").Question} question
 * @param {string} block empty for silence
 * @param {{ budgetTokens: number, countTokens: (text: string) => number }} limits
 * @returns {Grade}
 */
export function grade(question, block, { budgetTokens, countTokens }) {
  const tokens = block === "" ? 0 : countTokens(block);
  if (tokens > budgetTokens) return { recall: 0, precision: 0, tokens, overBudget: true };
  const { facts, related, window } = question;
  if (facts.length === 0) {
    return { recall: tokens <= SILENCE_TOKENS ? 1 : 0, precision: null, tokens, overBudget: false };
  }
  const lines = readLines(block);
  const told = facts.filter((fact) => lines.some((line) => tells(line, fact)));
  const relevant = lines.filter(
    (line) =>
      facts.some((fact) => fact.title !== null && holds(line, fact.title)) ||
      facts.some((fact) => fact.durationUs !== undefined && hasDuration(line, fact.durationUs)) ||
      related.some((title) => holds(line, title)) ||
      (window !== null &&
        line.fromUs !== null &&
        line.toUs !== null &&
        line.toUs > window[0] &&
        line.fromUs < window[1]),
  );
  return {
    recall: told.length / facts.length,
    precision: lines.length === 0 ? null : relevant.length / lines.length,
    tokens,
    overBudget: false,
  };
}

/** @param {string} block @returns {Line[]} */
export function readLines(block) {
  /** @type {Date | null} */
  let day = null;
  const lines = [];
  for (const text of block.split("\n")) {
    const heading = /^\w{3} (\d{1,2}) (\w{3}) (\d{4})(?: \(\w+\))?:$/.exec(text);
    if (heading !== null)
      day = new Date(Number(heading[3]), MONTHS.indexOf(heading[2] ?? ""), Number(heading[1]));
    if (!text.startsWith("- ")) continue;
    const span = /^- (\d\d):(\d\d)–(\d\d):(\d\d) /.exec(text);
    /** @param {number} group */
    const instant = (group) =>
      day === null || span === null
        ? null
        : new Date(
            day.getFullYear(),
            day.getMonth(),
            day.getDate(),
            Number(span[group]),
            Number(span[group + 1]),
          ).getTime() * 1000;
    const fromUs = instant(1);
    let toUs = instant(3);
    if (fromUs !== null && toUs !== null && toUs < fromUs) toUs += 86_400_000_000;
    const durationsUs = [...text.matchAll(/(?:(\d+) h )?(\d+) min|(\d+) h(?! \d+ min)/g)].map(
      ([, hours = "0", minutes = "0", only]) =>
        (Number(only ?? hours) * 60 + Number(minutes)) * 60_000_000,
    );
    // The clock shows whole minutes: the last one is told to its end.
    lines.push({
      text: text.toLowerCase(),
      fromUs,
      toUs: toUs === null ? null : toUs + 59_000_000,
      durationsUs,
    });
  }
  return lines;
}

/** @param {Line} line @param {import("./questions.mjs").Fact} fact */
function tells(line, fact) {
  if (fact.title !== null && !holds(line, fact.title)) return false;
  if (fact.durationUs !== undefined && !hasDuration(line, fact.durationUs)) return false;
  if (fact.fromUs === undefined || fact.toUs === undefined) return true;
  if (line.fromUs === null || line.toUs === null) return false;
  const inside =
    Math.min(line.toUs, fact.toUs + GRACE_US) - Math.max(line.fromUs, fact.fromUs - GRACE_US);
  return inside > 0 && inside >= (line.toUs - line.fromUs) / 2;
}

/** @param {Line} line @param {string} title */
function holds(line, title) {
  return line.text.includes(title.toLowerCase().slice(0, 24));
}

/** @param {Line} line @param {number} durationUs */
function hasDuration(line, durationUs) {
  const tolerance = Math.max(2 * 60_000_000, durationUs * 0.12);
  return line.durationsUs.some((told) => Math.abs(told - durationUs) <= tolerance);
}
