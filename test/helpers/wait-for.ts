/** Waits for a condition instead of for a time. */

/** Resolves to the first value that is not null or false; fails after `withinMs` with what was awaited. */
export async function waitFor<T>(
  what: string,
  probe: () => T | null | false | undefined | Promise<T | null | false | undefined>,
  withinMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await probe();
    if (value !== null && value !== false && value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`Waited ${withinMs} ms for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
