/**
 * Notices for conversations while the record, in which their queue lies, is being recovered. It promises that whoever says
 * one is held up by nothing, and that they are told when the record is there again, the newest of very many.
 */
import type { NewSystemEvent, SystemEventQueue } from "../auto-reply/reply/system-events.ts";

/** So many are held. */
const MOST_HELD = 500;

export interface HeldNotices extends Pick<SystemEventQueue, "enqueue"> {
  /** The record is there again. */
  readonly recovered: () => void;
}

export function createHeldNotices(
  queue: Pick<SystemEventQueue, "enqueue">,
  isRecovering: () => boolean,
): HeldNotices {
  let held: NewSystemEvent[] = [];
  return {
    enqueue: (event) => {
      if (!isRecovering()) return queue.enqueue(event);
      held = [...held, event].slice(-MOST_HELD);
      return "queued";
    },
    recovered: () => {
      for (const event of held) queue.enqueue(event);
      held = [];
    },
  };
}
