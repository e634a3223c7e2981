/**
 * The queue of events that the model is to hear of with the next turn of a session. It promises that an
 * event is told once: it stays until it was rendered, two readers never share or lose one, a retried request
 * gets the same again, and what did not fit is told as a number.
 */
import type { SessionEvent } from "../../context/markers.ts";
import { ActivityError } from "../../errors.ts";

/** Events that wait for one session at most. */
const MAX_WAITING_EVENTS = 20;
/** Longest event, in UTF-16 code units. */
export const MAX_EVENT_CHARS = 8_000;

/** Something to be told to a session. */
export interface NewSystemEvent {
  readonly session: string;
  /** Any number of lines, from anybody: it is marked and escaped when it is told. */
  readonly text: string;
  /** What it reports, such as `exec:1`: while an event of the same key waits, another is a duplicate. */
  readonly key?: string;
}

export interface SystemEventQueue {
  /**
   * Adds an event. A duplicate is left out: one whose key waits already or, without a key, one that says
   * the same as the newest that waits. Throws `bad_request` for an event that is empty or too long.
   */
  readonly enqueue: (event: NewSystemEvent) => "queued" | "duplicate";
  /**
   * Gives the waiting events of a session, oldest first, to `render`, and takes them out of the queue when
   * that returns; when it throws they stay. With `request`, the id of the asking request, the same id gets
   * the same events again for an hour, and no newer ones.
   */
  readonly drain: <T>(
    session: string,
    render: (events: readonly SessionEvent[]) => T,
    request?: string,
  ) => T;
}

/** One row of the queue. `dropped` above 0: no event, but how many older ones were dropped for it. */
export interface SystemEventRow {
  readonly id: number;
  readonly atUs: number;
  readonly text: string;
  readonly key: string | null;
  readonly dropped: number;
}

/** Where the rows are kept. One writer at a time: `transaction` shuts out every other. */
export interface SystemEventRows {
  /** Keeps what `work` did when it returns, and nothing of it when it throws. */
  readonly transaction: <T>(work: () => T) => T;
  /** Rows of a session that wait, in the order in which they came. */
  readonly waiting: (session: string) => readonly SystemEventRow[];
  readonly add: (session: string, row: Omit<SystemEventRow, "id">) => void;
  readonly remove: (id: number) => void;
  /** Keeps a row out of the queue, as told to a request. */
  readonly markTold: (id: number, request: string, toldUs: number) => void;
  /** Rows that were told to a request of a session, in the order in which they came. */
  readonly toldTo: (session: string, request: string) => readonly SystemEventRow[];
  readonly removeToldBefore: (toldUs: number) => void;
}

export interface SystemEventQueueOptions {
  readonly rows: SystemEventRows;
  /** Microseconds since 1970 UTC. */
  readonly nowUs: () => number;
}

export function createSystemEventQueue({ rows, nowUs }: SystemEventQueueOptions): SystemEventQueue {
  return {
    enqueue: ({ session, text, key: given }) => {
      refuseUnfit(text);
      // An empty name is what a host has that knows none: its events are not all the same.
      const key = given || null;
      return rows.transaction(() => {
        const waiting = rows.waiting(session);
        const events = waiting.filter((row) => row.dropped === 0);
        const isDuplicate =
          key === null ? events.at(-1)?.text === text : events.some((row) => row.key === key);
        if (isDuplicate) return "duplicate";
        const oldest = events[0];
        if (events.length >= MAX_WAITING_EVENTS && oldest !== undefined) {
          const notice = waiting.find((row) => row.dropped > 0);
          if (notice !== undefined) rows.remove(notice.id);
          rows.remove(oldest.id);
          const dropped = (notice?.dropped ?? 0) + 1;
          rows.add(session, { atUs: oldest.atUs, text: "", key: null, dropped });
        }
        rows.add(session, { atUs: nowUs(), text, key, dropped: 0 });
        return "queued";
      });
    },

    drain: (session, render, request) =>
      rows.transaction(() => {
        const toldUs = nowUs();
        rows.removeToldBefore(toldUs - TOLD_KEPT_US);
        const again = request === undefined ? [] : rows.toldTo(session, request);
        if (again.length > 0) return render(toSessionEvents(again));
        const waiting = rows.waiting(session);
        const rendered = render(toSessionEvents(waiting));
        for (const { id } of waiting) {
          if (request === undefined) rows.remove(id);
          else rows.markTold(id, request, toldUs);
        }
        return rendered;
      }),
  };
}

const TOLD_KEPT_US = 3_600_000_000;

/** The notice of what was dropped stands first: it speaks of what came before. */
function toSessionEvents(rows: readonly SystemEventRow[]): readonly SessionEvent[] {
  return [...rows.filter((row) => row.dropped > 0), ...rows.filter((row) => row.dropped === 0)].map(
    ({ atUs, text, dropped }) => ({
      ts: formatInstant(atUs),
      text: dropped > 0 ? `${dropped} earlier events were dropped` : text,
    }),
  );
}

/** `2026-05-04 09:30:00 UTC` */
function formatInstant(atUs: number): string {
  const iso = new Date(Math.floor(atUs / 1000)).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** Throws `bad_request` for the text of an event that is empty or too long. */
export function refuseUnfit(text: string): void {
  if (text.trim() === "") {
    throw new ActivityError("bad_request", "The event has no text.", "Say what happened.");
  }
  if (text.length > MAX_EVENT_CHARS) {
    throw new ActivityError(
      "bad_request",
      `The event has ${text.length} characters; ${MAX_EVENT_CHARS} are the most.`,
      "Send the part that matters, such as the last lines of an output.",
    );
  }
}
