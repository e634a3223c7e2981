/**
 * Remembers the last turn of each conversation, so that "and what about yesterday?" has something to lean on. In
 * memory only, few and short-lived: turns are the owner's and are not kept.
 */

export interface TurnMemory {
  /**
   * Takes a turn and gives the one before it in the same session, or null when there is none or it is too old. A turn that
   * comes again (a host that asks for the block and then composes) is the same turn, with the same one before it.
   */
  readonly exchange: (session: string, turn: string, nowUs: number) => string | null;
  readonly clear: () => void;
}

const MAX_SESSIONS = 64;
const MAX_AGE_US = 30 * 60_000_000;
/** A question that others lean on is short; a pasted document is none. */
const MAX_CHARS = 2000;

interface Remembered {
  readonly turn: string;
  readonly before: string | null;
  readonly atUs: number;
}

export function createTurnMemory(): TurnMemory {
  const turns = new Map<string, Remembered>();
  return {
    exchange: (session, turn, nowUs) => {
      const last = turns.get(session);
      const isFresh = last !== undefined && Math.abs(nowUs - last.atUs) <= MAX_AGE_US;
      const kept = turn.slice(0, MAX_CHARS);
      const before = !isFresh ? null : last.turn === kept ? last.before : last.turn;
      // Deleted first, so that the map stays in the order of use.
      turns.delete(session);
      turns.set(session, { turn: kept, before, atUs: nowUs });
      for (const oldest of turns.keys()) {
        if (turns.size <= MAX_SESSIONS) break;
        turns.delete(oldest);
      }
      return before;
    },
    clear: () => turns.clear(),
  };
}
