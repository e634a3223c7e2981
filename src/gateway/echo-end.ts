/**
 * What stands behind an echo and belongs to it: signs that close it, white space, and lines of signs alone, such as a
 * rule or the end of a fence. It is read one character at a time and so ends the same for every chunking.
 */

/** Signs that may stand between letters without making them others. */
// Punctuation includes quotes, dashes, `*`, `_` and `#`; the other signs of Markdown are symbols to Unicode.
export const SKIPPED = /[\s\p{P}\p{Cc}`~|+=<>^]/u;

export interface EchoEnd {
  /**
   * `goes`: the character belongs to the echo, and so does what waited. `waits`: the next ones tell. `stays`: it is the
   * first of the answer, unless something waited, which then is.
   */
  readonly take: (char: string) => "goes" | "waits" | "stays";
  /** Whether what waits belongs to the echo when nothing follows. */
  readonly isWhole: () => boolean;
  /** What was opened and is not closed yet. */
  readonly opened: () => Opened;
}

interface Opened {
  /** What would close the quotes and brackets. */
  readonly closers: readonly string[];
  /** The sign of a fence, which has to be closed for the answer not to be shown as code; empty without one. */
  readonly fence: string;
  /** Whether this is a quotation of Markdown that no blank line has ended. */
  readonly isQuoted: boolean;
}

export const NOTHING_OPENED: Opened = { closers: [], fence: "", isQuoted: false };

/** An echo has ended. `lead`: the signs it began with; `before`: what was open before it. */
export function createEchoEnd(lead: string, before: Opened): EchoEnd {
  const closers = [
    ...before.closers,
    ...Array.from(lead).flatMap((char) => CLOSERS.get(char) ?? []),
  ];
  let fence = /([`~])\1\1/.exec(lead)?.[1] ?? before.fence;
  let isQuoted = before.isQuoted || lead.includes(">");
  /** Signs right behind the echo that may still be swallowed; none behind white space. */
  let signsLeft = MAX_SIGNS;
  /** Whether a line has begun behind the echo, and whether nothing but white space is in it. */
  let isNextLine = false;
  let isBlank = false;
  let isRuleDue = true;
  /** The present line as far as it may be one of signs alone. */
  let line = "";

  return {
    take: (char) => {
      if (line !== "") {
        if (char === "\n" && MARK_LINE.test(line)) {
          if (line[0] === fence) fence = "";
          else isRuleDue = false;
          line = "";
          isBlank = true;
          return "goes";
        }
        line += char;
        return MARK_LINE_BEGUN.test(line) && line.length <= MAX_LINE ? "waits" : "stays";
      }
      if (/\s/u.test(char)) {
        signsLeft = 0;
        if (char !== "\n") return "goes";
        if (isBlank) isQuoted = false;
        isNextLine = true;
        isBlank = true;
        return "goes";
      }
      const closed = closers.lastIndexOf(char);
      if (closed !== -1) {
        closers.splice(closed);
        return "goes";
      }
      if (isNextLine && (char === fence || (isRuleDue && RULE_SIGNS.includes(char)))) {
        line = char;
        return "waits";
      }
      if (isNextLine && isQuoted && char === ">") {
        isBlank = false;
        return "goes";
      }
      if (signsLeft === 0 || !SKIPPED.test(char) || /[\p{Ps}\p{Pi}]/u.test(char)) return "stays";
      signsLeft -= 1;
      return "goes";
    },

    isWhole: () => MARK_LINE.test(line),

    opened: () => ({ closers, fence, isQuoted }),
  };
}

/** Signs right behind an echo that go with it. */
const MAX_SIGNS = 16;
/** A longer line of signs is none that ends an echo. */
const MAX_LINE = 64;

/** What closes a quote or bracket, by what opens it. */
const CLOSERS: ReadonlyMap<string, string> = new Map([
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
  ['"', '"'],
  ["'", "'"],
  ["“", "”"],
  ["„", "“"],
  ["”", "”"],
  ["‘", "’"],
  ["‚", "‘"],
  ["’", "’"],
  ["«", "»"],
  ["»", "«"],
  ["‹", "›"],
  ["›", "‹"],
  ["「", "」"],
  ["『", "』"],
]);

const RULE_SIGNS = "-*_";
const MARK_LINE = /^([-*_`~])\1{2,}["')\]”’»]*\s*$/u;
const MARK_LINE_BEGUN = /^([-*_`~])\1*["')\]”’»]*[^\S\n]*$/u;
