/**
 * The guard against a model that begins its reply with what it was told before the turn: the voice directive, or the
 * blocks. It promises what the guard against the directive alone does, for both, in any order.
 */
import { makeLeakStripper, type LeakStripper } from "./voice-steering.ts";

/** A filter for one reply. `injected`: the blocks that stood before its turn; empty when there were none. */
export function makeEchoStripper(injected: string): LeakStripper {
  const blocks = blocksOf(injected);
  const guards = [
    makeLeakStripper(),
    ...(blocks.length === 0 ? [] : [createBlockGuard(blocks), makeLeakStripper()]),
  ];
  let empty = true;
  const out = (text: string): string => {
    if (empty && text.trim() !== "") empty = false;
    return text;
  };
  return {
    push: (chunk) => out(guards.reduce((text, guard) => guard.push(text), chunk)),
    flush: () => out(guards.reduce((text, guard) => guard.push(text) + guard.flush(), "")),
    get removed() {
      return guards.some((guard) => guard.removed);
    },
    get empty() {
      return empty;
    },
  };
}

/** `text`, a whole reply, without the echo that it begins with. */
export function stripEchoes(text: string, injected: string): string {
  const stripper = makeEchoStripper(injected);
  return stripper.push(text) + stripper.flush();
}

/** Longest end of a block that has no letter in it: signs of its last line and the rule. */
const MAX_END_CHARS = 40;

/** Takes an echoed block off with the rule that ended it. */
function createBlockGuard(
  blocks: readonly string[],
): Pick<LeakStripper, "push" | "flush" | "removed"> {
  const stripper = makeLeakStripper(blocks);
  /** What may still be such an end; null once the reply has begun. */
  let held: string | null = "";
  /** How the reply begins: an echo in a fence of code leaves the end of the fence behind. */
  let lead = "";
  const pass = (text: string, isOver: boolean): string => {
    if (held === null) return text;
    held += text;
    const mayBeEnd =
      stripper.removed && /^[^\p{L}\p{N}]*$/u.test(held) && held.length < MAX_END_CHARS;
    if (held === "" || (mayBeEnd && !isOver)) return "";
    const end = /^\s*`{3}/.test(lead) ? FENCED_END : BLOCK_END;
    const begun = stripper.removed ? held.replace(end, "") : held;
    held = null;
    return begun;
  };
  return {
    push: (chunk) => {
      if (lead.length < MAX_END_CHARS) lead += chunk;
      return pass(stripper.push(chunk), false);
    },
    flush: () => pass(stripper.flush(), true),
    get removed() {
      return stripper.removed;
    },
  };
}

/** The letters of a block are compared by the stripper; this is what of it has none. */
const BLOCK_END = /^[^\p{L}\p{N}]{0,40}?-{3,}\s*?(?:\n\s*|$)/u;

/** The same with the fence behind it, without which the rest of the reply would be shown as code. */
const FENCED_END = new RegExp(`${BLOCK_END.source}(?:\`{3,}[^\\S\\n]*(?:\\n\\s*|$))?`, "u");

/** Each block of what was injected ends with a blank line and has none within. */
function blocksOf(injected: string): readonly string[] {
  return injected.split(/(?<=\n)\n/).filter((block) => block.trim() !== "");
}
