/** Waiting for a condition instead of for a time. */

/** Resolves to the first value of `look` that is neither null, undefined nor false; fails after `timeoutMs`. */
export async function until<T>(
  what: string,
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}
