/**
 * Changes that come together are committed together: those of one turn of the event loop are one transaction. It
 * promises that a change is committed before its promise resolves, and that changes happen in the order they came.
 */

export interface GroupCommit {
  /**
   * Makes a change with the others of this turn. Rejects when the transaction failed, with all others of the turn:
   * `change` must throw for nothing but that.
   */
  readonly run: <T>(change: () => T) => Promise<T>;
}

interface Waiting {
  /** Makes the change, and returns what tells of it. */
  readonly make: () => () => void;
  readonly reject: (error: unknown) => void;
}

export function createGroupCommit(transaction: <T>(work: () => T) => T): GroupCommit {
  let waiting: Waiting[] = [];

  const commit = (): void => {
    const group = waiting;
    waiting = [];
    try {
      const tellings = transaction(() => group.map(({ make }) => make()));
      for (const tell of tellings) tell();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };

  return {
    run: (change) =>
      new Promise((resolve, reject) => {
        // After the poll phase: every request that had arrived is in by then.
        if (waiting.length === 0) setImmediate(commit);
        const make = (): (() => void) => {
          const made = change();
          return () => resolve(made);
        };
        waiting.push({ make, reject });
      }),
  };
}
