/**
 * Turns of conversations: what a session waits to tell the model, and the turn that tells it. It hides the queue and
 * the ledger's note, and promises that an event leaves the queue with the turn that carries it.
 */
import type { Answers } from "./answers.ts";
import type { ActivityApi, TurnFrame } from "../api.ts";
import type { MessageNotices } from "../auto-reply/reply/message-notices.ts";
import { refuseUnfit, type SystemEventQueue } from "../auto-reply/reply/system-events.ts";
import type { PrivacyGate } from "../capture/privacy.ts";
import { MAX_TEXT_UNITS } from "../capture/privacy/rules.ts";
import { LINE_BREAK } from "../context/plain-text.ts";
import type { SessionEvent } from "../context/markers.ts";
import { composeParts, composeTurn, textOfParts, type TurnContext } from "../context/turn.ts";
import type { OwnerControl } from "../owner/control.ts";

export type SessionTurns = Pick<ActivityApi, "enqueueEvent" | "composeTurn" | "composeParts">;

export interface SessionTurnsOptions {
  readonly queue: SystemEventQueue;
  readonly notices: Pick<MessageNotices, "spoke">;
  readonly answers: Pick<Answers, "answer">;
  readonly owner: Pick<OwnerControl, "clients" | "note">;
  readonly gate: Pick<PrivacyGate, "text">;
  /** Whether the record, and the queue with it, is being recovered. */
  readonly isRecovering: () => boolean;
}

/** Each method throws what its parts throw. */
export function createSessionTurns(options: SessionTurnsOptions): SessionTurns {
  const { queue, notices, answers, owner, gate, isRecovering } = options;
  return {
    enqueueEvent: async (request) => {
      // As it was sent: the gate would take what is too long for it away, and nobody would be told.
      refuseUnfit(request.text);
      const text = redactLines(request.text, gate.text);
      return { outcome: queue.enqueue({ ...request, text }) };
    },
    composeTurn: async ({ ownerText, ...frame }) =>
      compose(frame, ownerText, (context) => {
        const { composed, visible, ...injected } = composeTurn({ ...context, ownerText });
        return { modelText: composed, ownerText: visible, ...injected };
      }),
    composeParts: async ({ parts, ...frame }) => {
      const ownerText = textOfParts(parts);
      return compose(frame, ownerText, (context) => ({
        ...composeParts({ ...context, parts }),
        ownerText,
      }));
    },
  };

  /** The block first, which may take its time; then the events, which leave the queue as the turn is rendered. */
  async function compose<T>(
    { requestId, form = "auto", ...frame }: TurnFrame,
    turn: string,
    render: (context: Omit<TurnContext, "ownerText">) => T,
  ): Promise<T> {
    owner.clients.admit(frame.client);
    const given = await answers.answer({ ...frame, form, turn });
    const { block, untrustedSpans } = given;
    const activity = block === null ? [] : [{ block, untrustedSpans }];
    notices.spoke(frame.session);
    const tell = (events: readonly SessionEvent[]): T => {
      const rendered = render({ events, activity });
      // Around an empty turn stands exactly what was put before the owner's.
      const injected = composeTurn({ events, activity, ownerText: "" });
      owner.note({ ...frame, turn }, given, {
        text: injected.composed,
        untrustedSpans: injected.untrustedSpans,
      });
      return rendered;
    };
    // The events wait with the record that they lie in, for the first turn after it is there again.
    if (isRecovering()) return tell([]);
    try {
      return queue.drain(frame.session, tell, requestId);
    } catch (thrown) {
      // The damage was met by this very reading.
      if (isRecovering()) return tell([]);
      throw thrown;
    }
  }
}

/** What a client sends is kept without secrets; the gate looks at a text of one sample's length at a time. */
function redactLines(text: string, redact: (raw: string) => string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_UNITS) return redact(text);
  return text.split(LINE_BREAK).map(redact).join("\n");
}
