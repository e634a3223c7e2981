/**
 * Puts context in front of the owner's turns of a request. It promises that a turn which went out with a block
 * once goes out with the same bytes ever after, and that an absent or slow daemon costs the context and never
 * the answer.
 */
import type { ContextForm, TurnAnswer, TurnRequest } from "../api.ts";
import type { Clock } from "../clock.ts";
import { bothEnds } from "../context/long-turn.ts";
import { readBlocks } from "../context/markers.ts";
import { composeTurn } from "../context/turn.ts";
import { ActivityError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Conversation, OwnerTurn } from "./conversation.ts";
import type { Edit } from "./json-edit.ts";
import type { Injection, TurnMemory } from "./turn-memory.ts";

/** The part of the daemon the gateway needs. */
export interface TurnComposer {
  readonly composeTurn: (request: TurnRequest) => Promise<TurnAnswer>;
}

export interface TurnInjector {
  /** The edits that put context before the turns of `conversation`, and how that went. */
  readonly inject: (
    conversation: Conversation,
    options: {
      readonly form: ContextForm;
      readonly session: string | null;
      readonly client: string;
    },
  ) => Promise<{
    readonly edits: readonly Edit[];
    /**
     * `composed`: the daemon was heard, though it may have had nothing to say. `refused`: the owner refuses the
     * client, which gets nothing of what stood before earlier turns either.
     */
    readonly outcome: "composed" | "repeated" | "refused" | "daemon-away";
    /** What stands before which turns, the last turn first. */
    readonly injected: readonly string[];
  }>;
}

/** A request that comes again this soon is the same one, sent anew by a client that got no answer. */
const RETRY_WITHIN_US = 120_000_000;

/** The daemon answers in a few milliseconds; whoever waits for it longer than this waits in vain. */
const DAEMON_TIMEOUT_MS = 2_000;

const MAX_CLIENT_CHARS = 60;

/** While the daemon is away every conversation leaves one. */
const MAX_UNANSWERED = 1_000;

export function createTurnInjector(options: {
  readonly turns: TurnComposer;
  readonly memory: TurnMemory;
  readonly clock: Clock;
  readonly log: Log;
}): TurnInjector {
  const { turns, memory, clock, log } = options;
  let isAway = false;
  /** Clients that were refused when they asked last; few, for each has a name. */
  const refused = new Set<string>();
  /**
   * By conversation: the request whose answer never came. The daemon may have told it what waited; asked by its name
   * again, it tells the same with the next turn.
   */
  const unanswered = new Map<string, string>();

  /** What the daemon puts before a turn, or why it puts nothing. */
  const ask = async (
    request: TurnRequest & { readonly client: string; readonly requestId: string },
  ): Promise<{ readonly injected: string } | "refused" | "daemon-away"> => {
    const isBack = (): void => {
      if (isAway) log.info("gateway: the daemon is back; turns carry context again");
      isAway = false;
    };
    const requestId = unanswered.get(request.session) ?? request.requestId;
    try {
      const answer = await withTimeout(turns.composeTurn({ ...request, requestId }));
      isBack();
      unanswered.delete(request.session);
      refused.delete(request.client);
      return { injected: answer.modelText.slice(0, answer.injectedLength) };
    } catch (thrown) {
      const code = thrown instanceof ActivityError ? thrown.code : "internal";
      if (code === "client_revoked") {
        isBack();
        // The client hears of it with its answer, the owner has said it.
        refused.add(request.client);
        return "refused";
      }
      if (unanswered.size < MAX_UNANSWERED) unanswered.set(request.session, requestId);
      // Said once, not at every turn.
      if (!isAway)
        log.warn("gateway: the daemon does not answer; turns go on without context", { code });
      isAway = true;
      return "daemon-away";
    }
  };

  /** What a turn of the history had; from its first reply on, whatever other conversations begin the same way. */
  const recall = (room: string, { key, answeredKey }: OwnerTurn): Injection | null => {
    if (answeredKey === null) return memory.recall(`${room}\n${key}`);
    const answered = memory.recall(`${room}\n${answeredKey}`);
    if (answered !== null) return answered;
    const opening = memory.recall(`${room}\n${key}`);
    if (opening !== null) memory.keep(`${room}\n${answeredKey}`, opening.injected, opening.atUs);
    return opening;
  };

  return {
    inject: async (conversation, { form, session, client }) => {
      // What waits for a session the client names is told there; others are known by how they began.
      const room = session ?? `start:${conversation.startKey}:${client.slice(0, MAX_CLIENT_CHARS)}`;
      const edits: Edit[] = [];
      const stood: string[] = [];
      const add = (turn: OwnerTurn, injected: string): void => {
        if (injected !== "") stood.unshift(injected);
        const modelText = compose(injected, turn.firstText);
        if (modelText !== turn.firstText) edits.push(turn.replaceFirstText(modelText));
      };

      const last = conversation.turns.at(-1);
      for (const turn of conversation.turns) {
        if (turn === last) continue;
        const kept = recall(room, turn);
        if (kept !== null) add(turn, kept.injected);
      }
      if (last === undefined) return { edits, outcome: "repeated", injected: stood };

      const key = `${room}\n${last.key}`;
      const kept = memory.recall(key);
      const nowUs = clock.nowUs();
      // Behind a tool's result the turn has been composed before; at the end of the request it is a new one,
      // unless the very same request came a moment ago.
      if (kept !== null && (!last.isAsked || nowUs - kept.atUs < RETRY_WITHIN_US)) {
        if (refused.has(client)) return { edits: [], outcome: "refused", injected: [] };
        add(last, kept.injected);
        return { edits, outcome: "repeated", injected: stood };
      }
      const answer = await ask({
        session: room,
        // Only what stands before it is taken from the answer.
        ownerText: bothEnds(last.text),
        form,
        client,
        requestId: `${last.key}:${Math.floor(nowUs / RETRY_WITHIN_US)}`,
      });
      // Nothing from the moment of the refusal on, of what it was given before either.
      if (answer === "refused" || refused.has(client))
        return { edits: [], outcome: "refused", injected: [] };
      if (answer === "daemon-away") return { edits, outcome: answer, injected: stood };
      memory.keep(key, answer.injected, nowUs);
      add(last, answer.injected);
      return { edits, outcome: "composed", injected: stood };
    },
  };
}

/** The owner's text behind blocks that were rendered before. Text that is no whole block is not sent. */
function compose(injected: string, ownerText: string): string {
  const block = readBlocks(injected);
  const activity = block === null ? [] : [{ block, untrustedSpans: [] }];
  return composeTurn({ events: [], activity, ownerText }).composed;
}

async function withTimeout<T>(operation: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new ActivityError("timed_out", "The daemon did not answer in time.")),
      DAEMON_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([operation, late]);
  } finally {
    clearTimeout(timer);
  }
}
