/**
 * Text that a model or a stored row holds, on its way to a terminal. It promises that no character of it acts:
 * what would move the cursor, colour, name the window, ring, copy or turn the writing around stands there as a
 * sign instead, the same for every way in which the text was cut into pieces.
 */

/** Takes one text apart as it streams in. Make a new one for every text. */
export interface TerminalText {
  /** What of the text so far may be written to a terminal now. */
  readonly push: (chunk: string) => string;
  /** What is left when the text has ended. */
  readonly flush: () => string;
}

/** A text as a terminal may get it: line feeds and tabs stay, a CRLF is a line feed. */
export function toTerminalText(text: string): string {
  const stream = createTerminalText();
  return stream.push(text) + stream.flush();
}

/** {@link toTerminalText} for a text that comes in pieces. */
export function createTerminalText(): TerminalText {
  /** A CR that a LF may still join, or the first half of a surrogate pair. */
  let carry = "";
  return {
    push: (chunk) => {
      const text = carry + chunk;
      carry = /[\r\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
      return show(carry === "" ? text : text.slice(0, -1));
    },
    flush: () => {
      const rest = carry;
      carry = "";
      return show(rest);
    },
  };
}

// Each character stands for itself: a sequence without its first character is text, wherever it was cut.
const ACTING = /\r\n|[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

function show(text: string): string {
  return text.replace(ACTING, signOf);
}

function signOf(found: string): string {
  if (found === "\n" || found === "\t") return found;
  // Unicode's own line ends, which terminals do not know.
  if (found === "\r\n" || found === "\u2028" || found === "\u2029") return "\n";
  const code = found.charCodeAt(0);
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  // Control Pictures, U+2400 and on: a sign for each of C0, and one for DEL.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `<${code.toString(16).padStart(2, "0")}>`;
}
