/**
 * Where a reader goes on in the stream. It hides that the servers of a cluster do not know the same at the same time,
 * and promises that a server which lags is not taken for a stream that was made anew.
 */
import type { Log } from "../../log.ts";
import { TryAgain } from "./trouble.ts";
import type { StreamCursor } from "./wire.ts";

export interface Place {
  /** When the stream was made. */
  readonly created: string;
  /** Sequence of the first message that is wanted. */
  readonly start: number;
}

/** What a server says of the stream. */
export interface StreamExtent {
  /** When it was made, as the server writes it. */
  readonly created: string;
  /** Sequences of the first and the last message that it holds; 0: it never held one. */
  readonly first_seq: number;
  readonly last_seq: number;
}

export interface PlaceFinder {
  /** Throws `TryAgain` while the stream seems to end before the cursor. */
  readonly find: (stream: StreamExtent, cursor: StreamCursor | null) => Place;
}

/**
 * A leader that was frozen or parted from its cluster answers as if it still led it until it has heard of the next
 * (10 s and more in nats-server: lostQuorumInterval of raft.go). A stream that ends early for longer was put back from
 * an older copy.
 */
const LAG_MS = 30_000;

/**
 * Each server of a cluster dates a stream by its own making of it (2.9.10 does, after a restart at the latest), and whoever
 * leads is asked. A stream that was deleted and made anew is later than that.
 */
const MADE_WITHIN_MS = 600_000;

function isSameMoment(a: string, b: string): boolean {
  return a === b || Math.abs(Date.parse(a) - Date.parse(b)) < MADE_WITHIN_MS;
}

/** `steadyMs` never goes back. */
export function createPlaceFinder(log: Log, steadyMs: () => number): PlaceFinder {
  let behindSinceMs: number | null = null;

  /** Whether the stream is still the one that the cursor was made in. */
  function holds(stream: StreamExtent, cursor: StreamCursor): boolean {
    if (!isSameMoment(cursor.created, stream.created)) return false;
    if (cursor.sequence <= stream.last_seq) return true;
    behindSinceMs ??= steadyMs();
    if (steadyMs() - behindSinceMs < LAG_MS)
      throw new TryAgain("a server of the cluster lags behind what was read");
    return false;
  }

  return {
    find: (stream, cursor) => {
      const { created } = stream;
      if (cursor === null) return { created, start: 1 };
      const isSame = holds(stream, cursor);
      behindSinceMs = null;
      if (!isSame) {
        const { created: madeThen, sequence: readUpTo } = cursor;
        const holdsUpTo = stream.last_seq;
        log.warn("hub: the stream was made anew", { madeThen, made: created, readUpTo, holdsUpTo });
        return { created, start: 1 };
      }
      const start = cursor.sequence + 1;
      if (start < stream.first_seq) {
        log.warn("hub: records that were never read are older than the hub keeps them", {
          messages: stream.first_seq - start,
        });
      }
      return { created, start };
    },
  };
}
