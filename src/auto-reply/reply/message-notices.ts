/**
 * Message activity: what came in on the desktop is told to the conversations that are going on. It promises
 * that a conversation which fell silent hears nothing, and that each notice is one line.
 */
import { cleanField } from "../../context/plain-text.ts";
import type { SystemEventQueue } from "./system-events.ts";

/** A conversation goes on for this long after its last turn. */
const GOES_ON_US = 3_600_000_000;
/** So many at most, the last to have had a turn. */
const MAX_SESSIONS = 16;

export interface MessageNotices {
  /** A turn of this session was composed. */
  readonly spoke: (session: string) => void;
  /** An application notified the owner. Both texts are strangers', and the body is not among them. */
  readonly tell: (app: string, summary: string) => void;
  /** Something else, in one line of our own. */
  readonly say: (text: string) => void;
}

/** Puts notices into `queue`. `nowUs`: microseconds since 1970 UTC. */
export function createMessageNotices(
  queue: Pick<SystemEventQueue, "enqueue">,
  nowUs: () => number,
): MessageNotices {
  /** Time of the last turn by session, the oldest first. */
  const lastTurnUs = new Map<string, number>();
  const say = (text: string): void => {
    for (const [session, turnUs] of lastTurnUs) {
      if (nowUs() - turnUs > GOES_ON_US) lastTurnUs.delete(session);
      else queue.enqueue({ session, text });
    }
  };
  return {
    spoke: (session) => {
      lastTurnUs.delete(session);
      lastTurnUs.set(session, nowUs());
      for (const oldest of lastTurnUs.keys()) {
        if (lastTurnUs.size <= MAX_SESSIONS) break;
        lastTurnUs.delete(oldest);
      }
    },
    tell: (app, summary) => say(renderNotice(app, summary)),
    say,
  };
}

function renderNotice(app: string, summary: string): string {
  const from = cleanField("app", app) || "an application";
  const what = cleanField("title", summary);
  return what === "" ? `Message from ${from}` : `Message from ${from}: "${what}"`;
}
