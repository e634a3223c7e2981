/** Events of a session, put in front of the body of a turn. */
import { eventsBlock, type SessionEvent } from "../../context/markers.ts";

/**
 * `body` behind a system block that tells `events`: every line of every event marked, then a blank line.
 * Without events it is `body`, byte for byte. `body` may begin with a heading block already; the owner's
 * text in it is not escaped here, which is the task of `composeTurn` alone.
 */
export function prependSystemEvents({
  events,
  body,
}: {
  readonly events: readonly SessionEvent[];
  readonly body: string;
}): string {
  return (eventsBlock(events)?.block ?? "") + body;
}
