/**
 * Remembers the last turns of each conversation, so that "and what about yesterday?" has something to lean on. In
 * memory only, few and short-lived: turns are the owner's and are not kept.
 */

export interface TurnMemory {
  /**
   * Takes a turn and gives those before it in the same session, oldest first; none when the last of them is too old. A turn
   * that comes again (a host that asks for the block and then composes) is the same turn, with the same ones before it.
   */
  readonly exchange: (session: string, turn: string, nowUs: number) => readonly string[];
  readonly clear: () => void;
}

const MAX_SESSIONS = 64;
const MAX_AGE_US = 30 * 60_000_000;
/** A question that others lean on is short; a pasted document is none. */
const MAX_CHARS = 2000;
/** "And Tuesday?", "thanks", "and Wednesday?": further back nobody leans. */
const MAX_TURNS = 6;

interface Remembered {
  /** Oldest first; the last one is the turn that came last. */
  readonly turns: readonly string[];
  readonly atUs: number;
}

export function createTurnMemory(): TurnMemory {
  const sessions = new Map<string, Remembered>();
  return {
    exchange: (session, turn, nowUs) => {
      const last = sessions.get(session);
      const known = last !== undefined && Math.abs(nowUs - last.atUs) <= MAX_AGE_US;
      const kept = turn.slice(0, MAX_CHARS);
      const spoken = known ? last.turns : [];
      const before = spoken.at(-1) === kept ? spoken.slice(0, -1) : spoken.slice(-MAX_TURNS);
      // Deleted first, so that the map stays in the order of use.
      sessions.delete(session);
      sessions.set(session, { turns: [...before, kept], atUs: nowUs });
      for (const oldest of sessions.keys()) {
        if (sessions.size <= MAX_SESSIONS) break;
        sessions.delete(oldest);
      }
      return before;
    },
    clear: () => sessions.clear(),
  };
}
