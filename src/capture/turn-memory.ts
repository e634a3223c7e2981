/**
 * Remembers the last turn of each conversation, so that "and what about yesterday?" has something to lean on. In
 * memory only, few and short-lived: turns are the owner's and are not kept.
 */

export interface TurnMemory {
  /** Takes a turn and gives the one before it in the same session, or null when there is none or it is too old. */
  readonly exchange: (session: string, turn: string, nowUs: number) => string | null;
  readonly clear: () => void;
}

const MAX_SESSIONS = 64;
const MAX_AGE_US = 30 * 60_000_000;
/** A question that others lean on is short; a pasted document is none. */
const MAX_CHARS = 2000;

export function createTurnMemory(): TurnMemory {
  const turns = new Map<string, { readonly turn: string; readonly atUs: number }>();
  return {
    exchange: (session, turn, nowUs) => {
      const last = turns.get(session);
      // Deleted first, so that the map stays in the order of use.
      turns.delete(session);
      turns.set(session, { turn: turn.slice(0, MAX_CHARS), atUs: nowUs });
      for (const oldest of turns.keys()) {
        if (turns.size <= MAX_SESSIONS) break;
        turns.delete(oldest);
      }
      return last !== undefined && Math.abs(nowUs - last.atUs) <= MAX_AGE_US ? last.turn : null;
    },
    clear: () => turns.clear(),
  };
}
