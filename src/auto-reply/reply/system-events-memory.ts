/** Rows of the event queue in memory: for hosts without a daemon. They promise the same, but survive nothing. */
import {
  createSystemEventQueue,
  type SystemEventRow,
  type SystemEventRows,
} from "./system-events.ts";

interface MemoryRow extends SystemEventRow {
  readonly session: string;
  readonly told: { readonly request: string; readonly us: number } | null;
}

export function createMemoryEventRows(): SystemEventRows {
  let rows: readonly MemoryRow[] = [];
  let nextId = 1;
  return {
    transaction: (work) => {
      const before = rows;
      try {
        return work();
      } catch (thrown) {
        rows = before;
        throw thrown;
      }
    },
    waiting: (session) => rows.filter((row) => row.session === session && row.told === null),
    add: (session, row) => {
      rows = [...rows, { ...row, id: nextId, session, told: null }];
      nextId += 1;
    },
    remove: (id) => {
      rows = rows.filter((row) => row.id !== id);
    },
    markTold: (id, request, us) => {
      rows = rows.map((row) => (row.id === id ? { ...row, told: { request, us } } : row));
    },
    toldTo: (session, request) =>
      rows.filter((row) => row.session === session && row.told?.request === request),
    removeToldBefore: (us) => {
      rows = rows.filter((row) => row.told === null || row.told.us >= us);
    },
  };
}

/** What a session would be told of `enqueue`, as plain texts: duplicates left out, an overflow counted. */
export function enqueueAndDrain({
  enqueue,
}: {
  readonly enqueue: readonly { readonly text: string; readonly contextKey?: string | null }[];
}): readonly string[] {
  const queue = createSystemEventQueue({ rows: createMemoryEventRows(), nowUs: () => 0 });
  for (const { text, contextKey } of enqueue) {
    queue.enqueue({
      session: "one",
      text,
      ...(typeof contextKey === "string" ? { key: contextKey } : {}),
    });
  }
  return queue.drain("one", (events) => events.map((event) => event.text));
}
