/**
 * What other programs may import from `activityd`: the marker contract, and the client of a running
 * daemon. It promises to load no native module and no database.
 */
export type { ActivityApi } from "./api.ts";
export { prependSystemEvents } from "./auto-reply/reply/session-updates.ts";
export {
  createSystemEventQueue,
  type NewSystemEvent,
  type SystemEventQueue,
  type SystemEventRow,
  type SystemEventRows,
} from "./auto-reply/reply/system-events.ts";
export { createMemoryEventRows, enqueueAndDrain } from "./auto-reply/reply/system-events-memory.ts";
export {
  type BlockKind,
  type InjectedBlock,
  type RenderedBlock,
  type SessionEvent,
  systemBlock,
} from "./context/markers.ts";
export type { UntrustedSpan } from "./context/plain-text.ts";
export {
  type ActivityText,
  type ComposedTurn,
  type ComposedParts,
  composeParts,
  composeTurn,
  type ContentPart,
  displayText,
  ingressUntrusted,
  type ModelTurnText,
  type OwnerText,
  type RawTurn,
  stripUserContent,
  type TurnContext,
} from "./context/turn.ts";
export {
  type LeakStripper,
  makeLeakStripper,
  stripLeakedDirectives,
  VOICE_TURN_DIRECTIVE,
} from "./gateway/voice-steering.ts";
export { connectActivity, type ConnectOptions } from "./local-api/client.ts";
export { stripLeadingSystemContext } from "./tui/tui-formatters.ts";
