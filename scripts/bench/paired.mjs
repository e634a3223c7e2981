// @ts-check
/**
 * Ratios taken in one run: the two sides answer in turn, request by request, so that whatever else the
 * machine does falls on both.
 */

/** @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Times `a` and `b` in turn. Each round gives one ratio of medians; the first round warms up and is dropped.
 *
 * @param {{ a: () => Promise<unknown>, b: () => Promise<unknown>, rounds?: number, perRound?: number }} options
 * @returns {Promise<{ aUs: number, bUs: number, ratio: number, lowest: number, highest: number, rounds: number, perRound: number }>}
 */
export async function comparePaired({ a, b, rounds = 11, perRound = 600 }) {
  const ratios = [];
  const as = [];
  const bs = [];
  for (let round = 0; round <= rounds; round += 1) {
    /** @type {number[]} */
    const aUs = [];
    /** @type {number[]} */
    const bUs = [];
    for (let turn = 0; turn < perRound; turn += 1) {
      // The order is swapped each time: whoever comes second finds warmer caches.
      if (turn % 2 === 0) {
        aUs.push(await timeUs(a));
        bUs.push(await timeUs(b));
      } else {
        bUs.push(await timeUs(b));
        aUs.push(await timeUs(a));
      }
    }
    if (round === 0) continue;
    ratios.push(median(bUs) / median(aUs));
    as.push(median(aUs));
    bs.push(median(bUs));
  }
  return {
    aUs: median(as),
    bUs: median(bs),
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    rounds,
    perRound,
  };
}

/** @param {() => Promise<unknown>} operation */
async function timeUs(operation) {
  const start = process.hrtime.bigint();
  await operation();
  return Number(process.hrtime.bigint() - start) / 1000;
}
