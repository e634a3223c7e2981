/**
 * What a reply in a conversation must not begin by saying back: the voice directive, and what was put before the turns.
 * It promises that a long conversation costs no more than a short one.
 */
import {
  directivesWith,
  type LeakStripper,
  makeLeakStripper,
  stripLeakedDirectives,
} from "./voice-steering.ts";

/** A model says back what stands near: what was put before earlier turns than these is not looked for. */
const MAX_TURNS = 10;

/**
 * A filter for one reply in a conversation: against an echo of the voice directive and of what `injected` stood
 * before its turns, the last turn first, in any order.
 */
export function makeEchoStripper(injected: readonly string[]): LeakStripper {
  return makeLeakStripper(echoed(injected));
}

/** `text`, a whole reply, as {@link makeEchoStripper} leaves it. */
export function stripEchoes(text: string, injected: readonly string[]): string {
  return stripLeakedDirectives(text, echoed(injected));
}

function echoed(injected: readonly string[]): readonly string[] {
  return directivesWith(injected.slice(0, MAX_TURNS));
}
