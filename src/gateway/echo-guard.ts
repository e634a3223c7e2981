/**
 * The guard against a model that begins its reply with what it was told before the turn: the voice directive, or the
 * blocks. It promises what the guard against the directive alone does, for both, in any order.
 */
import { SYSTEM_LINE } from "../context/markers.ts";
import { makeLeakStripper, type LeakStripper } from "./voice-steering.ts";

/** A filter for one reply. `injected`: the blocks that stood before its turn; empty when there were none. */
export function makeEchoStripper(injected: string): LeakStripper {
  const blocks = blocksOf(injected);
  const first = makeLeakStripper();
  /** Made when the reply is seen to begin as a block might: most do not, and a long block takes a millisecond. */
  let others: readonly Guard[] | null = null;
  const othersFor = (text: string): readonly Guard[] =>
    mayBegin(text, blocks) ? [createBlockGuard(blocks), makeLeakStripper()] : [];
  let empty = true;
  const out = (text: string): string => {
    if (empty && text.trim() !== "") empty = false;
    return text;
  };
  return {
    push: (chunk) => {
      const begun = first.push(chunk);
      if (begun === "") return "";
      others ??= othersFor(begun);
      return out(others.reduce((text, guard) => guard.push(text), begun));
    },
    flush: () => {
      const rest = first.flush();
      others ??= othersFor(rest);
      return out(others.reduce((text, guard) => guard.push(text) + guard.flush(), rest));
    },
    get removed() {
      return first.removed || others?.some((guard) => guard.removed) === true;
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

type Guard = Pick<LeakStripper, "push" | "flush" | "removed">;

/** Whether the first letter of a reply, if there is one yet, is that of a block, or of the mark before a block. */
function mayBegin(text: string, blocks: readonly string[]): boolean {
  if (blocks.length === 0) return false;
  const letter = firstLetter(text);
  return letter === null || [SYSTEM_LINE, ...blocks].some((block) => firstLetter(block) === letter);
}

function firstLetter(text: string): string | null {
  return /[\p{L}\p{N}]/u.exec(text)?.[0].normalize("NFKD").toLowerCase().charAt(0) ?? null;
}

/** Longest end of a block that has no letter in it: signs of its last line and the rule. */
const MAX_END_CHARS = 40;

/** Takes an echoed block off with the rule that ended it. */
function createBlockGuard(blocks: readonly string[]): Guard {
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
