/** Tells waiters that something changed. Many changes in one turn of the event loop are one. */

export interface ChangeSignal {
  readonly notify: () => void;
  /** Resolves to true at the next change, to false when `signal` aborts or everything ends. */
  readonly next: (signal?: AbortSignal) => Promise<boolean>;
  readonly close: () => void;
}

export function createChangeSignal(): ChangeSignal {
  let waiters: ((changed: boolean) => void)[] = [];
  const wake = (changed: boolean): void => {
    const woken = waiters;
    waiters = [];
    for (const resolve of woken) resolve(changed);
  };
  let isQueued = false;
  return {
    notify: () => {
      if (isQueued || waiters.length === 0) return;
      isQueued = true;
      setImmediate(() => {
        isQueued = false;
        wake(true);
      });
    },
    next: (signal) =>
      new Promise((resolve) => {
        const abort = (): void => settle(false);
        const settle = (changed: boolean): void => {
          signal?.removeEventListener("abort", abort);
          resolve(changed);
        };
        waiters.push(settle);
        signal?.addEventListener("abort", abort, { once: true });
      }),
    close: () => wake(false),
  };
}
