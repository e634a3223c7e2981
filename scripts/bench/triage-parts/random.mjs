// @ts-check
/** Seeded chance: the same seed gives the same world on every machine. */

/**
 * @param {number} seed
 */
export function createRandom(seed) {
  // Three counters mixed by shifts and a rotation; good enough for worlds, and short.
  let a = seed | 0;
  let b = Math.imul(seed, 2654435761) | 0;
  let c = 1;
  const next = () => {
    const sum = (a + b + c++) | 0;
    a = b ^ (b >>> 9);
    b = (sum + (sum << 3)) | 0;
    b = ((b << 21) | (b >>> 11)) + a;
    return (sum >>> 0) / 4294967296;
  };
  for (let i = 0; i < 20; i += 1) next();
  const between = (/** @type {number} */ low, /** @type {number} */ high) =>
    low + next() * (high - low);
  return {
    next,
    between,
    chance: (/** @type {number} */ share) => next() < share,
    /** @template T @param {readonly T[]} items @returns {T} */
    pick: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error("Nothing to pick from.");
      return item;
    },
    /** Lengths of stretches: many short ones, a few long ones, around `typical`. */
    length: (/** @type {number} */ typical) =>
      typical * Math.exp(0.8 * (next() + next() + next() - 1.5) * 1.6),
  };
}

/** @typedef {ReturnType<typeof createRandom>} Random */
