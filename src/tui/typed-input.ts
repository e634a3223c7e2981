/**
 * What is typed or pasted, on its way to a line editor that knows single lines alone. It hides bracketed paste
 * and promises that a text of several lines can be pasted, edited and called back as one entry, and that
 * pasted characters are text, never keys.
 */
import { StringDecoder } from "node:string_decoder";
import { Transform } from "node:stream";
import { toTerminalText } from "./terminal-text.ts";

/**
 * What stands for a line feed and a tab within the editor: noncharacters of Unicode, of one cell to the editor,
 * which no text has. The terminal gets a sign for each.
 */
const KEPT = [
  { text: "\n", held: "\ufdd0", sign: "⏎" },
  { text: "\t", held: "\ufdd1", sign: "⇥" },
] as const;

/** A text as one line of the editor. */
export function toEditorLine(text: string): string {
  return KEPT.reduce(
    (line, { text, held }) => line.replaceAll(text, held),
    toTerminalText(text.replace(/\r\n?/g, "\n")),
  );
}

/** The text that a line of the editor stands for. */
export function fromEditorLine(line: string): string {
  return KEPT.reduce((text, { text: own, held }) => text.replaceAll(held, own), line);
}

/** What the editor writes, as the terminal is to get it. */
export function showEditorOutput(output: string): string {
  return KEPT.reduce((text, { held, sign }) => text.replaceAll(held, sign), output);
}

/** Asks the terminal to mark what is pasted, and to stop that. DEC private mode 2004. */
export const PASTE_MARKS = { on: "\u001B[?2004h", off: "\u001B[?2004l" } as const;

const PASTE_START = "\u001B[200~";
const PASTE_END = "\u001B[201~";
const ALT_ENTER = ["\u001B\r", "\u001B\n"] as const;

/** A stream from the terminal to the editor. Alt-Enter begins a new line within the entry. */
export function createTypedInput(): Transform {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let isPasting = false;
  const next = (): string => {
    const mark = isPasting ? PASTE_END : PASTE_START;
    const at = pending.indexOf(mark);
    // A mark may have come in part. Outside of a paste its first character alone is a key, and is not waited for.
    const atLeast = isPasting ? 1 : 2;
    const end = at === -1 ? pending.length - lengthOfPrefix(pending, mark, atLeast) : at;
    const text = pending.slice(0, end);
    const out = isPasting ? toEditorLine(text) : holdKeys(text);
    pending = pending.slice(at === -1 ? end : end + mark.length);
    if (at === -1) return out;
    isPasting = !isPasting;
    return out + next();
  };
  return new Transform({
    transform(chunk, _encoding, done) {
      pending += Buffer.isBuffer(chunk) ? decoder.write(chunk) : String(chunk);
      done(null, next());
    },
  });
}

/** Typed text in which Alt-Enter is a line feed, and the tab key a tab, which the editor would put in as one of no cell. */
function holdKeys(text: string): string {
  return ALT_ENTER.reduce(
    (keys, altEnter) => keys.replaceAll(altEnter, toEditorLine("\n")),
    text.replaceAll("\t", toEditorLine("\t")),
  );
}

/** How many characters at the end of `text`, `atLeast` or more, begin `mark`; 0 when fewer do. */
function lengthOfPrefix(text: string, mark: string, atLeast: number): number {
  for (let length = mark.length - 1; length >= atLeast; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}
