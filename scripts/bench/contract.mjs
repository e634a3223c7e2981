// @ts-check
/**
 * What the contract of injected context costs: whether strip and compose stay linear on hostile text, and what
 * the leak stripper adds to a reply that streams by. Ratios, taken in turns in one run.
 *
 *     scripts/bench/contract
 */
import { median } from "./paired.mjs";

const { composeTurn, makeLeakStripper, stripLeadingSystemContext } =
  await import("../../dist/index.js");

const SMALL = 50_000;
const LARGE = 1_000_000;
const ROUNDS = 11;

/** Texts that a careless stripper reads again and again. */
const HOSTILE = {
  "system lines": "System: x\n",
  "bare markers": "System:\r\n",
  "heading blocks": "# x\n---\n",
  "headings without a rule": "# x\n",
  "rules that are none": "# x\n----\n",
  "blank lines": " \t\n",
  "blank lines without a block": "\n\u2028",
  backslashes: "\\",
  "backslashes and markers": "\\System: x\n",
  "carriage returns": "System:\r",
  "one long line": "x",
  "white space in one line": " ",
};

console.log(
  `1 MB against 50 kB (20 times the text), median of ${ROUNDS}, goal: at most 30 times the time`,
);
let worst = 0;
for (const [name, unit] of Object.entries(HOSTILE)) {
  const small = unit.repeat(Math.ceil(SMALL / unit.length));
  const large = unit.repeat(Math.ceil(LARGE / unit.length));
  for (const [what, run] of Object.entries({
    strip: (/** @type {string} */ text) => stripLeadingSystemContext(text),
    "compose, as an event": (/** @type {string} */ text) =>
      composeTurn({ events: [{ ts: "", text }], activity: [], ownerText: "" }),
    "compose, as a line": (/** @type {string} */ text) =>
      composeTurn({ events: [], activity: [{ kind: "distilled", lines: [text] }], ownerText: "" }),
    "compose, as the owner's": (/** @type {string} */ text) =>
      composeTurn({ events: [], activity: [], ownerText: text }),
  })) {
    for (let warm = 0; warm < 30; warm += 1) run(small);
    const times = { small: /** @type {number[]} */ ([]), large: /** @type {number[]} */ ([]) };
    for (let round = 0; round < ROUNDS; round += 1) {
      times.small.push(timeOf(() => run(small), 20));
      times.large.push(timeOf(() => run(large), 1));
    }
    const ratio = median(times.large) / median(times.small);
    // Below some microseconds the clock is measured, not the work: a text that is turned down at its first letter.
    const isWork = median(times.large) > 0.05;
    if (isWork) worst = Math.max(worst, ratio);
    console.log(
      `  ${what.padEnd(24)} ${name.padEnd(28)} ${median(times.large).toFixed(3).padStart(8)} ms  ${isWork ? `x${ratio.toFixed(1)}` : "at once"}`,
    );
  }
}
console.log(`worst ratio: ${worst.toFixed(1)} (goal 30)\n`);

const reply = "The quick brown fox jumps over the lazy dog. ".repeat(2300).slice(0, 100_000);
const chunks = reply.match(/.{1,4}/g) ?? [];
const target = Buffer.alloc(reply.length);
/** @param {(chunk: string) => string} pass */
const copy = (pass) => {
  let at = 0;
  for (const chunk of chunks) at += target.write(pass(chunk), at, "latin1");
  return at;
};
const bare = (/** @type {string} */ chunk) => chunk;
const ratios = [];
for (let round = 0; round < 200; round += 1) {
  const stripper = makeLeakStripper();
  stripper.push(chunks[0] ?? "");
  // In turns, and each first in every other round, so that neither pays for the other's garbage.
  const first = round % 2 === 0;
  const a = timeOf(() => copy(first ? bare : stripper.push), 1);
  const b = timeOf(() => copy(first ? stripper.push : bare), 1);
  if (round >= 20) ratios.push(first ? b / a : a / b);
}
console.log(
  `leak stripper, 100 kB in 4-byte chunks into a buffer, against a bare copy: x${median(ratios).toFixed(3)} (middle half ${spread(ratios)}; goal 1.05)`,
);

/** The middle half of the values. @param {number[]} values */
function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ part) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN;
  return `${at(0.25).toFixed(3)}–${at(0.75).toFixed(3)}`;
}

/**
 * Milliseconds of processor time of one run, the mean of `times`: what other programs do meanwhile would fall on
 * the long runs alone, and so would the kernel's handing out of fresh pages.
 *
 * @param {() => unknown} run
 * @param {number} times
 */
function timeOf(run, times) {
  const before = process.cpuUsage();
  for (let time = 0; time < times; time += 1) run();
  return process.cpuUsage(before).user / 1000 / times;
}
