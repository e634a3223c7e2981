/**
 * The guard against a model that begins its reply with what it was told before the turn: the voice directive, or the
 * blocks, in any order.
 */
import { makeLeakStripper, VOICE_TURN_DIRECTIVE, type LeakStripper } from "./voice-steering.ts";

/** A filter for one reply. `injected`: the blocks that stood before its turn; empty when there were none. */
export function makeEchoStripper(injected: string): LeakStripper {
  return makeLeakStripper([VOICE_TURN_DIRECTIVE, injected]);
}

/** `text`, a whole reply, without the echo that it begins with. */
export function stripEchoes(text: string, injected: string): string {
  const stripper = makeEchoStripper(injected);
  return stripper.push(text) + stripper.flush();
}
